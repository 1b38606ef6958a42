/** Reads from the running program what is known of one object: for the console, and for `/debug/objects`. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Key from "../../kube/Key.ts"
import * as Resource from "../../kube/Resource.ts"
import type { Cache } from "../../layers/Cache.ts"
import { Inspection } from "../../layers/Inspection.ts"
import { Timeline } from "../../layers/Timeline.ts"
import * as LoopMetrics from "../../streams/reconcile/loopMetrics.ts"
import type * as Controllers from "../debug/controllers.ts"
import * as Objects from "./objects.ts"
import { isKind } from "./search.ts"

export interface Options extends Pick<Controllers.Selected, "controllers"> {
  /** A cache with all nodes and pods, to show the whole cluster. */
  readonly cluster?: Cache["Service"] | undefined
}

/** The stores of the program, and those of the cluster. */
export const held = Effect.fnUntraced(function* ({ cluster }: Options) {
  const all = yield* (yield* Inspection).stores.all
  return (yield* Effect.all(cluster === undefined ? all : [...all, cluster.informers])).flat()
})

/**
 * `pods/default/web-1`, `Deployment/default/web`, `nodes/worker-1`. Any name of a kind in the cache is accepted. Undefined: it names no object.
 */
export const readObject = Effect.fnUntraced(function* (options: Options, names: ReadonlyArray<string>) {
  const [word = "", first = "", second] = names
  if (names.length < 2 || names.length > 3 || names.includes("")) return undefined
  const stores = yield* held(options)
  const known = stores.find(({ resource }) => isKind(word.toLowerCase(), resource))?.resource
  const question = {
    resource: known === undefined ? word : Resource.qualifiedName(known),
    key: second === undefined ? first : Key.make(first, second)
  }
  return Objects.view(stores, question, yield* Timeline, yield* dueOf(options, question))
})

/** Of the controllers that reconcile objects of this kind. */
const dueOf = Effect.fnUntraced(function* ({ controllers }: Options, { key, resource }: Objects.Question) {
  const now = yield* Clock.currentTimeMillis
  const ofKind = controllers.filter((one) => one.for !== undefined && Resource.qualifiedName(one.for) === resource)
  const found = yield* Effect.forEach(ofKind, ({ name }) =>
    Effect.map(LoopMetrics.of(name), (metrics) =>
      metrics
        .dueOf(key)
        .map(({ dueIn, failures }) => ({ controller: name, at: Math.round(now + Math.max(0, dueIn)), failures }))
    )
  )
  return found.flat()
})
