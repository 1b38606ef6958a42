/**
 * Distributes the objects of an informer again, as updates that change nothing, for controllers that missed something or that also depend
 * on state outside the cluster. It makes no request. Source: controller-runtime's SyncPeriod and kube-controller-manager's ResyncPeriod.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Key } from "../../../kube/Key.ts"
import type { KubeObject } from "../../../kube/Meta.ts"
import type { Updated } from "../../../streams/store/Store.ts"
import type { Readable } from "../../../streams/store/Store.ts"
import type { SharedProcessor } from "../Informer.ts"

export interface Resync {
  readonly period: Duration.Input
  /** `around`: 0.9 to 1.1 times the period. `atLeast`: 1 to 2 times the period, as in kube-controller-manager. */
  readonly spread: "around" | "atLeast"
}

/** How many objects are distributed at once; the fiber yields in between. */
const slice = 500

/** The wait before the next resync, in milliseconds. `random`, in [0, 1), differs for each wait, so that informers do not resync together. */
export const delay = ({ period, spread }: Resync, random: number): number => {
  const millis = Duration.toMillis(period)
  return spread === "around" ? millis * (0.9 + 0.2 * random) : millis * (1 + random)
}

/** Resyncs forever: after each wait it distributes all objects, slice by slice. */
export const run = <A extends KubeObject>(
  resync: Resync,
  store: Readable<A>,
  { logErrors, distribute }: Pick<SharedProcessor<A>, "logErrors" | "distribute">
): Effect.Effect<never> => {
  const turn = (keys: ReadonlyArray<Key>) =>
    Effect.suspend(() => {
      const deltas: Array<Updated<A>> = []
      for (const key of keys) {
        const object = store.get(key)
        if (object !== undefined) deltas.push({ _tag: "Updated", object, previous: object })
      }
      distribute(deltas)
      return Effect.andThen(logErrors(), Effect.yieldNow)
    })
  const round = Effect.gen(function* () {
    yield* Effect.sleep(delay(resync, yield* Random.next))
    const keys = store.keys()
    for (let from = 0; from < keys.length; from += slice) yield* turn(keys.slice(from, from + slice))
  })
  return Effect.forever(round)
}
