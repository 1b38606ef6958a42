/**
 * `/debug/pprof/`: profiles of the process, under Go's paths and in V8's formats. Only one profile is taken at a time, with a time limit, because
 * each slows the process down. Pure. Source: net/http/pprof.
 */
import * as Effect from "effect/Effect"
import type { FiberState, Profiler } from "../../layers/Process.ts"
import { type HttpResponse, type HttpRequest, type Handler, json, notFound, text } from "../../layers/http/handler.ts"
import { cut } from "./page.ts"

/** Seconds of a profile. Source of the default: net/http/pprof. */
export const seconds = { usual: 30, most: 300 }

const index = `profile?seconds=${seconds.usual}   what the processor does, for 1 to ${seconds.most} seconds: a .cpuprofile for the developer tools of Chrome
heap                 everything on the heap: a .heapsnapshot for the same tools; the process stands still meanwhile
heap?stats           how much memory there is of what
fibers               what is going on or waiting
cmdline              the arguments of the process
`

const busy: HttpResponse = text(409, "another profile is being taken\n")

/** `commandLine`: the arguments of the process, without secrets. */
export const handler = (profiler: Profiler, commandLine: ReadonlyArray<string>): Handler => {
  /** True while a profile is taken, until the last byte of the response was sent. */
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
      return alone(Effect.map(profiler.cpuProfile(wanted), (profile) => download(profile, "profile.cpuprofile")))
    },
    heap: ({ method, query }) => {
      if (query.has("stats")) return Effect.map(profiler.heapStatistics, json)
      if (method === "HEAD") return Effect.succeed(download("", "heap.heapsnapshot"))
      return alone(Effect.map(profiler.heapSnapshot, (snapshot) => download(snapshot, "heap.heapsnapshot")))
    },
    fibers: () => alone(Effect.map(profiler.fibers, (fibers) => text(200, fiberDump(fibers)))),
    // Go's response separates the arguments by a zero byte; in /proc each argument ends with one.
    cmdline: () => Effect.succeed(text(200, commandLine.join("\0")))
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

/** The most entries of a dump, and the most ids of an entry. */
const dumped = { entries: 1000, ids: 10 }

/** Fibers as text: equal fibers are one entry with their number, the most numerous first, so that a leak is at the top. */
export const fiberDump = (fibers: ReadonlyArray<FiberState>): string => {
  const groups = new Map<string, Array<FiberState>>()
  for (const fiber of fibers) {
    const key = JSON.stringify([fiber.annotations, fiber.calls])
    groups.set(key, [...(groups.get(key) ?? []), fiber])
  }
  const { items, omitted } = cut(
    Array.from(groups.values()).sort((a, b) => b.length - a.length),
    dumped.entries
  )
  return [
    `${fibers.length} fibers that have not ended`,
    ...items.map(fiberEntry),
    ...(omitted === undefined ? [] : [`${omitted} more sorts of fibers are not shown`]),
    ""
  ].join("\n\n")
}

const fiberEntry = (group: ReadonlyArray<FiberState>): string => {
  const [first] = group
  const ids = cut(
    group.map(({ id }) => `#${id}`),
    dumped.ids
  )
  const more = ids.omitted === undefined ? "" : " ..."
  return [
    `${group.length} x ${[`${ids.items.join(" ")}${more}`, ...(first?.annotations ?? [])].join("  ")}`,
    ...(first?.calls ?? []).map((call) => `    in ${call}`)
  ].join("\n")
}
