/**
 * `/debug/pprof/`: the process looked into from inside, in V8's formats. The paths are Go's, what takes the pictures comes from
 * outside. One picture at a time, each bounded in time, because each of them slows everything else down. Pure.
 * Source: net/http/pprof.
 */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import { type HttpResponse, type HttpRequest, type Handler, json, notFound, text } from "../../layers/http/handler.ts"
import * as Fibers from "./fiberDump.ts"

/** What the platform can tell of the process. */
export interface Platform {
  /** Samples what the processor does for so many seconds; the text of a `.cpuprofile`. */
  readonly cpuProfile: (seconds: number) => Effect.Effect<string>
  /** Everything on the heap, as a `.heapsnapshot`. The process stands still while it is taken. */
  readonly heapSnapshot: Effect.Effect<Stream.Stream<Uint8Array, unknown>>
  readonly heapStatistics: Effect.Effect<unknown>
  readonly fibers: Effect.Effect<ReadonlyArray<Fibers.Seen>>
  /** The arguments of the process, without secrets. */
  readonly commandLine: ReadonlyArray<string>
}

/** Seconds of a profile. Source of the default: net/http/pprof. */
export const seconds = { usual: 30, most: 300 }

const index = `profile?seconds=${seconds.usual}   what the processor does, for 1 to ${seconds.most} seconds: a .cpuprofile for the developer tools of Chrome
heap                 everything on the heap: a .heapsnapshot for the same tools; the process stands still meanwhile
heap?stats           how much memory there is of what
fibers               what is going on or waiting
cmdline              the arguments of the process
`

const busy: HttpResponse = text(409, "another profile is being taken\n")

export const handler = (platform: Platform): Handler => {
  /** While a picture is taken, until the last byte of it has gone. */
  let isBusy = false
  const alone = (make: Effect.Effect<HttpResponse>): Effect.Effect<HttpResponse> =>
    Effect.suspend(() => {
      if (isBusy) return Effect.succeed(busy)
      isBusy = true
      return Effect.ensuring(
        make,
        Effect.sync(() => (isBusy = false))
      )
    })
  const routes: Readonly<Record<string, (request: HttpRequest) => Effect.Effect<HttpResponse>>> = {
    "": () => Effect.succeed(text(200, index)),
    profile: ({ method, query }) => {
      const wanted = secondsIn(query.get("seconds"))
      if (wanted === undefined) return Effect.succeed(text(400, `seconds: a number from 1 to ${seconds.most}\n`))
      // A HEAD request must not take a profile for half a minute.
      if (method === "HEAD") return Effect.succeed(download("", "profile.cpuprofile"))
      return alone(Effect.map(platform.cpuProfile(wanted), (profile) => download(profile, "profile.cpuprofile")))
    },
    heap: ({ method, query }) => {
      if (query.has("stats")) return Effect.map(platform.heapStatistics, json)
      if (method === "HEAD") return Effect.succeed(download("", "heap.heapsnapshot"))
      return alone(Effect.map(platform.heapSnapshot, (snapshot) => download(snapshot, "heap.heapsnapshot")))
    },
    fibers: () => alone(Effect.map(platform.fibers, (fibers) => text(200, Fibers.render(fibers)))),
    // Arguments end with a zero byte in /proc, and are divided by one in Go's answer.
    cmdline: () => Effect.succeed(text(200, platform.commandLine.join("\0")))
  }
  return (request) => {
    const name = /^\/debug\/pprof\/?([a-z]*)$/.exec(request.path)?.[1]
    const route = name !== undefined && Object.hasOwn(routes, name) ? routes[name] : undefined
    return route === undefined ? Effect.succeed(notFound) : route(request)
  }
}

const secondsIn = (text: string | null): number | undefined => {
  if (text === null) return seconds.usual
  const wanted = /^\d{1,4}$/.test(text) ? Number(text) : 0
  return wanted >= 1 && wanted <= seconds.most ? wanted : undefined
}

const download = (body: HttpResponse["body"], filename: string): HttpResponse => ({
  status: 200,
  body,
  contentType: "application/json",
  headers: { "content-disposition": `attachment; filename="${filename}"` }
})
