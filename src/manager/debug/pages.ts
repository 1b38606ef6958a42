/** The operator pages of the metrics server. Each is rendered at the request. They are served only after authentication and authorization. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { InformerStatus } from "../../layers/Cache.ts"
import { type Group, Inspection } from "../../layers/Inspection.ts"
import * as LoopMetrics from "../../streams/reconcile/loopMetrics.ts"
import { type HttpResponse, type HttpRequest, json, text } from "../../layers/http/handler.ts"
import * as Level from "../logs/level.ts"
import type { Origin } from "../setting/sources.ts"
import { States } from "../runnables/states.ts"
import * as Controllers from "./controllers.ts"
import * as Informers from "./informers.ts"
import { type Page, type Pages, seconds } from "./page.ts"

/** As `setting/sources.ts` resolves them. */
export type Effective = ReadonlyArray<{ readonly name: string; readonly text: string; readonly origin: Origin }>

export interface Options {
  readonly effective: Effective
  /** The selected controllers, in the order of the registry. */
  readonly controllers: ReadonlyArray<Controllers.Controller>
  /** The names of the controllers that were not selected. */
  readonly disabled: ReadonlyArray<string>
}

const prefix = "/debug/controllers/"

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
      ["/debug/leader", get(Effect.flatMap(groups, leaders))],
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
      if (found !== undefined || !path.startsWith(prefix)) return Effect.succeed(found)
      return Effect.provideContext(ofController(options, path.slice(prefix.length).split("/"), get), context)
    }
  })

const groups = Effect.flatMap(Inspection, (inspection) => inspection.groups.all)

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
const leaders = (groups: ReadonlyArray<Group>) =>
  Effect.map(
    Effect.forEach(groups, ({ controllers, leadership }) =>
      Effect.gen(function* () {
        const provenFor = yield* leadership.provenFor
        const { identity, lease } = leadership
        return {
          lease: lease === undefined ? null : `${lease.namespace}/${lease.name}`,
          identity: lease === undefined ? null : identity,
          leader: lease === undefined ? null : ((yield* leadership.leader) ?? null),
          leads: provenFor !== undefined,
          /** Null without an election, because nothing can expire, and while another process leads. */
          validForSeconds: seconds(provenFor),
          controllers
        }
      })
    ),
    (groups) => ({ groups })
  )

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

const status: Effect.Effect<ReadonlyArray<InformerStatus>> = Effect.gen(function* () {
  const all = yield* (yield* Inspection).informers.all
  return (yield* Effect.all(all)).flat()
})

const informers = Effect.flatMap(status, (all) =>
  Effect.map(Clock.currentTimeMillis, (now) => Informers.render(all, now))
)

const overview = ({ controllers, disabled }: Options) =>
  Effect.gen(function* () {
    const seen = yield* seenOf(controllers, 0)
    return { controllers: [...seen.map(Controllers.row), ...disabled.map(Controllers.disabled)] }
  })

/** `keys`: the most keys of each controller. */
const seenOf = Effect.fnUntraced(function* (controllers: ReadonlyArray<Controllers.Controller>, keys: number) {
  const states = (yield* States).all()
  const all = yield* status
  const led = yield* groups
  return yield* Effect.forEach(controllers, (controller) =>
    Effect.gen(function* () {
      const metrics = yield* LoopMetrics.of(controller.name)
      const seen: Controllers.Seen = {
        controller,
        snapshot: metrics.look(keys),
        state: states.get(controller.name),
        awaited: yield* awaited(controller, led),
        informers: all
      }
      return seen
    })
  )
})

const awaited = Effect.fnUntraced(function* ({ name }: Controllers.Controller, led: ReadonlyArray<Group>) {
  const group = led.find(({ controllers }) => controllers.includes(name))
  if (group === undefined || (yield* group.leadership.provenFor) !== undefined) return undefined
  const { lease } = group.leadership
  return {
    lease: lease === undefined ? "" : `${lease.namespace}/${lease.name}`,
    leader: yield* group.leadership.leader
  }
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
    return get(Effect.map(seenOf([controller], Controllers.limit), (seen) => seen.map(Controllers.detail)[0]))
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
