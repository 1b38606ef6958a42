/** Steps and faults that the random operation sequences of several controllers share. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import type { Fault, Rule } from "../../src/apiserver/faults.ts"
import type { Descriptor } from "../../src/layers/Controller.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { leaderLost } from "./cluster.ts"

/** The process ends without finishing what it was doing, and another process takes over. */
export const Crash = Schema.TaggedStruct("Crash", {})

/** After how many events each watch breaks, again and again, so that the cache lags; `none` if watches go on. */
export const Lag = Schema.Literals(["none", 0, 1, 2])

export const lagging = (lag: typeof Lag.Type, ...resources: ReadonlyArray<string>): ReadonlyArray<Rule> =>
  lag === "none"
    ? []
    : resources.map((resource) => ({
        match: { verb: "watch", resource },
        fault: { _tag: "CutWatch", after: lag, how: "reset" }
      }))

export const faultOf = (fault: "Conflict" | "Drop" | "DropAnswer" | "Forbidden"): Fault =>
  fault === "Forbidden" ? { _tag: "Status", code: 403 } : { _tag: fault }

/** What happens to requests or to watches of a resource. */
export const Disturbance = Schema.Struct({
  how: Schema.Literals(["conflict", "error", "drop", "lost", "slow", "stale", "relist"]),
  times: Schema.Literals([1, 2, 3])
})

/** The rule of a disturbance; `writes` matches the writes that it affects. */
export const disturb = ({ how, times }: typeof Disturbance.Type, resource: string, writes: Rule["match"]): Rule => {
  const onWrites = (fault: Fault): Rule => ({ match: writes, fault, times })
  const onWatch = (fault: Fault): Rule => ({ match: { verb: "watch", resource }, fault, times })
  switch (how) {
    case "conflict":
      return onWrites({ _tag: "Conflict" })
    case "error":
      return onWrites({ _tag: "Status", code: 500 })
    case "drop":
      return onWrites({ _tag: "Drop" })
    case "lost":
      return onWrites({ _tag: "DropAnswer" })
    case "slow":
      return onWrites({ _tag: "Delay", millis: 2000 })
    case "stale":
      return onWatch({ _tag: "CutWatch", after: 2, how: "silence" })
    case "relist":
      return onWatch({ _tag: "Gone", after: 1 })
  }
}

/** A user's request that may fail, in the background: the next step does not wait for its response. */
export const inBackground = <A, E, R>(request: Effect.Effect<A, E, R>) =>
  Effect.asVoid(Effect.forkScoped(Effect.ignore(request), { startImmediately: true }))

/**
 * Runs the controllers while `act` performs each step under the faults of that step. After a `crash` other processes take over. In the end
 * the faults stop, and ten minutes pass.
 */
export const performSteps = Effect.fnUntraced(function* <Step extends { readonly fault: string }, E, R, R2>(
  controllers: ReadonlyArray<Descriptor<R>>,
  steps: ReadonlyArray<Step>,
  rulesOf: (step: Step) => ReadonlyArray<Rule>,
  act: (step: Step, index: number) => Effect.Effect<unknown, E, R2>
) {
  const cluster = yield* ClusterTest
  const server = yield* ApiServer
  const start = Effect.forEach(controllers, (one) => cluster.run(one))
  let running = yield* start
  for (const [index, step] of steps.entries()) {
    yield* server.setFaults(rulesOf(step))
    yield* act(step, index)
    if (step.fault !== "crash") continue
    yield* Effect.forEach(running, ({ stop }) => stop(leaderLost))
    running = yield* start
  }
  yield* server.setFaults([])
  yield* cluster.advance("10 minutes")
})
