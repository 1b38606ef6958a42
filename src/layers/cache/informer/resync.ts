/**
 * Distributes the objects of an informer again, as updates that change nothing, for controllers that missed something or whose state is not
 * only in the cluster. It makes no request. Source:
 * controller-runtime's SyncPeriod and kube-controller-manager's ResyncPeriod.
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
  /** `around`: a tenth less to a tenth more. `atLeast`: once to twice the period, as kube-controller-manager has it. */
  readonly spread: "around" | "atLeast"
}

/** Objects distributed at once; the fiber yields between two slices. */
const slice = 500

/** The wait before a round, in milliseconds; `random` from 0 to below 1, drawn anew for each, so that no two informers go in step. */
export const delay = ({ period, spread }: Resync, random: number): number => {
  const millis = Duration.toMillis(period)
  return spread === "around" ? millis * (0.9 + 0.2 * random) : millis * (1 + random)
}

/** Round after round: everything that is there, as updates that change nothing, a slice a turn. */
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
