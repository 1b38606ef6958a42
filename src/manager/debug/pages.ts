/** The operator pages of the metrics server. Each is rendered at the request. They are served only after authentication and authorization. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Inspection } from "../../layers/Inspection.ts"
import { type HttpResponse, type HttpRequest, json, text } from "../../layers/http/handler.ts"
import * as Level from "../logs/level.ts"
import type { Origin } from "../setting/sources.ts"
import * as Controllers from "./controllers.ts"
import * as Informers from "./informers.ts"
import { type Page, type Pages, seconds } from "./page.ts"
import * as Seen from "./seen.ts"

/** As `setting/sources.ts` resolves them. */
export type Effective = ReadonlyArray<{ readonly name: string; readonly text: string; readonly origin: Origin }>

export interface Options extends Controllers.Selected {
  readonly effective: Effective
}

const prefixes = { controllers: "/debug/controllers/", objects: "/debug/objects/" }

/** Each request uses the services of the caller of `make`. */
export const make = (options: Options): Effect.Effect<Pages> =>
  Effect.map(Effect.context(), (context): Pages => {
    const get = (value: Effect.Effect<unknown>): Page => ({
      method: "GET",
      answer: () => Effect.provideContext(Effect.map(value, json), context)
    })
    const fixed: ReadonlyMap<string, Page> = new Map([
      [
        "/configz",
        get(Effect.map(Level.Current, ({ current }) => configuration(options.effective, { logLevel: current })))
      ],
      ["/debug/controllers", get(overview(options))],
      ["/debug/informers", get(informers)],
      ["/debug/leader", get(leaders)],
      [
        "/debug/flags/v",
        {
          method: "PUT",
          answer: (request) =>
            Effect.provideContext(
              Effect.flatMap(Level.Current, (level) => putLogLevel(level)(request)),
              context
            )
        }
      ]
    ])
    return (path) => {
      const found = fixed.get(path)
      const under = (prefix: string) => path.slice(prefix.length).split("/")
      if (path.startsWith(prefixes.controllers)) {
        return Effect.provideContext(ofController(options, under(prefixes.controllers), get), context)
      }
      if (path.startsWith(prefixes.objects)) {
        return Effect.provideContext(ofObject(options, under(prefixes.objects), get), context)
      }
      return Effect.succeed(found)
    }
  })

/** `/configz`: every setting with the value in force and its origin, by its name in the configuration file; `now` has what was changed since the start. */
export const configuration = (effective: Effective, now: { readonly logLevel: string }) => ({
  settings: Object.fromEntries(
    effective.map(({ name, origin, text }) => [name, { value: text, origin: said(origin) }])
  ),
  now
})

/** `flag --sync-period`, `environment CM_SYNC_PERIOD`, `file manager.yaml`, `default`. */
const said = (origin: Origin): string => {
  switch (origin._tag) {
    case "Flag":
      return `flag ${origin.name}`
    case "Environment":
      return `environment ${origin.name}`
    case "File":
      return `file ${origin.path}`
    case "Default":
      return "default"
  }
}

/** `/debug/leader`: for each group of controllers that lead together, the lease, our identity, the leader, and for how long we provably lead. */
const leaders = Effect.map(Seen.leaders, (groups) => ({
  groups: groups.map(({ controllers, identity, leader, leads, lease, validFor }) => ({
    lease,
    identity,
    leader,
    leads,
    validForSeconds: seconds(validFor),
    controllers
  }))
}))

/** `PUT /debug/flags/v`: changes the log level from the next line on. The body is a word or a verbosity. Source: k8s.io/apiserver pkg/server/routes: DebugFlags. */
const putLogLevel =
  (level: Level.MinimumLevel) =>
  ({ body }: HttpRequest): Effect.Effect<HttpResponse> =>
    Effect.flatMap(body, (said) => {
      if (typeof said !== "string") return Effect.succeed(said)
      const before = level.current
      const changed = level.set(said)
      if (Result.isFailure(changed)) return Effect.succeed(text(400, `${changed.failure}\n`))
      const message = `The log level was ${before} and is ${changed.success}`
      return Effect.as(Effect.logInfo(message), text(200, `${message}\n`))
    })

const informers = Effect.flatMap(Seen.status, (all) =>
  Effect.map(Clock.currentTimeMillis, (now) => Informers.render(all, now))
)

const overview = ({ controllers, disabled }: Options) =>
  Effect.gen(function* () {
    const seen = yield* Seen.seenOf(controllers, 0)
    return { controllers: [...seen.map(Controllers.row), ...disabled.map(Controllers.disabled)] }
  })

/** `Pod/default/web-1`, `nodes/worker-1`. */
const ofObject = Effect.fnUntraced(function* (
  options: Options,
  names: ReadonlyArray<string>,
  get: (value: Effect.Effect<unknown>) => Page
) {
  const { readObject } = yield* Effect.promise(() => import("../console/readObject.ts"))
  const found = yield* readObject(options, names)
  return found === undefined ? undefined : get(Effect.succeed(found))
})

/** `deployment`, `garbagecollector/graph`. */
const ofController = Effect.fnUntraced(function* (
  { controllers, disabled }: Options,
  [name = "", page, ...deeper]: ReadonlyArray<string>,
  get: (value: Effect.Effect<unknown>) => Page
) {
  const controller = controllers.find((one) => one.name === name)
  if (deeper.length > 0) return undefined
  if (controller === undefined) {
    return page === undefined && disabled.includes(name) ? get(Effect.succeed(Controllers.disabled(name))) : undefined
  }
  if (page === undefined) {
    return get(Effect.map(Seen.seenOf([controller], Controllers.limit), (seen) => seen.map(Controllers.detail)[0]))
  }
  if (controller.debug === undefined || !Object.hasOwn(controller.debug, page)) return undefined
  const shown = (yield* (yield* Inspection).pages.all).find((one) => one.controller === name && one.name === page)
  return {
    method: "GET" as const,
    answer: ({ query }: { readonly query: URLSearchParams }): Effect.Effect<HttpResponse> =>
      shown === undefined
        ? Effect.succeed(text(503, `${name} does not run here at this moment\n`))
        : Effect.map(shown.read(query), (body) => ({ status: 200, body, contentType: shown.contentType }))
  }
})
