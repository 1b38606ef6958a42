/** What users see of a DaemonSet: its pods on their nodes, their shape, and what the status says. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stand from "./daemonset/stand.ts"

const counts = (desired: number, more: object = {}) => ({
  currentNumberScheduled: desired,
  numberMisscheduled: 0,
  desiredNumberScheduled: desired,
  numberReady: desired,
  updatedNumberScheduled: desired,
  numberAvailable: desired,
  observedGeneration: 1,
  ...more
})

Stand.scenario(
  "puts one pod on every node that takes it, and says so",
  2,
  Effect.gen(function* () {
    yield* Stand.create(Stand.DaemonSet, Stand.daemonSet())
    yield* Stand.advance("30 seconds")
    assert.deepStrictEqual(yield* Stand.places, ["worker-1", "worker-2"])
    assert.deepStrictEqual(yield* Stand.status, counts(2))
  })
)
