/**
 * The pages that the metrics server has for operators, each made when somebody asks for it, of state that lives elsewhere. They are
 * mounted only behind the filter that knows who asks. Source: framework.md 5.2.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { InformerStatus } from "../../layers/Cache.ts"
import { type Group, Inspection } from "../../layers/Inspection.ts"
import * as LoopMetrics from "../../streams/reconcile/loopMetrics.ts"
import { type Answer, json, text } from "../http/exchange.ts"
import * as Level from "../logs/level.ts"
import { States } from "../roster/states.ts"
import * as Configuration from "./configuration.ts"
import * as Controllers from "./controllers.ts"
import * as Informers from "./informers.ts"
import * as Leader from "./leader.ts"
import * as LogLevel from "./logLevel.ts"
import type { Page, Pages } from "./page.ts"

export interface Options {
  readonly effective: Configuration.Effective
  /** Those that were chosen, in the order of the roster. */
  readonly controllers: ReadonlyArray<Controllers.Controller>
  /** Names of those that were not. */
  readonly disabled: ReadonlyArray<string>
}

const prefix = "/debug/controllers/"

/** Reads the services of whoever makes it, when it is asked. */
export const make = (options: Options): Effect.Effect<Pages> =>
  Effect.map(Effect.context(), (context): Pages => {
    const get = (value: Effect.Effect<unknown>): Page => ({
      method: "GET",
      answer: () => Effect.provideContext(Effect.map(value, json), context)
    })
    const fixed: ReadonlyMap<string, Page> = new Map([
      [
        "/configz",
        get(Effect.map(Level.Current, ({ current }) => Configuration.render(options.effective, { logLevel: current })))
      ],
      ["/debug/controllers", get(overview(options))],
      ["/debug/informers", get(informers)],
      ["/debug/leader", get(Effect.flatMap(groups, Leader.render))],
      [
        "/debug/flags/v",
        {
          method: "PUT",
          answer: (asked) =>
            Effect.provideContext(
              Effect.flatMap(Level.Current, (level) => LogLevel.put(level)(asked)),
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

const status: Effect.Effect<ReadonlyArray<InformerStatus>> = Effect.gen(function* () {
  const all = yield* (yield* Inspection).informers.all
  return (yield* Effect.all(all)).flat()
})

const informers = Effect.flatMap(status, (all) =>
  Effect.map(Clock.currentTimeMillis, (now) => Informers.render(all, now))
)

const overview = ({ controllers, disabled }: Options) =>
  Effect.gen(function* () {
    const seen = yield* look(controllers, 0)
    return { controllers: [...seen.map(Controllers.row), ...disabled.map(Controllers.disabled)] }
  })

/** With so many keys of each. */
const look = Effect.fnUntraced(function* (controllers: ReadonlyArray<Controllers.Controller>, keys: number) {
  const states = (yield* States).all()
  const all = yield* status
  const led = yield* groups
  return yield* Effect.forEach(controllers, (controller) =>
    Effect.gen(function* () {
      const metrics = yield* LoopMetrics.of(controller.name)
      const seen: Controllers.Seen = {
        controller,
        look: metrics.look(keys),
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
    return get(Effect.map(look([controller], Controllers.limit), (seen) => seen.map(Controllers.detail)[0]))
  }
  if (controller.debug === undefined || !Object.hasOwn(controller.debug, page)) return undefined
  const shown = (yield* (yield* Inspection).pages.all).find((one) => one.controller === name && one.name === page)
  return {
    method: "GET" as const,
    answer: ({ query }: { readonly query: URLSearchParams }): Effect.Effect<Answer> =>
      shown === undefined
        ? Effect.succeed(text(503, `${name} does not run here at this moment\n`))
        : Effect.map(shown.read(query), (body) => ({ status: 200, body, contentType: shown.contentType }))
  }
})
