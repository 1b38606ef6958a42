/**
 * Autoscalers under fault injection: conflicts, refusals, lost responses, a lagging cache, an unavailable metrics
 * server, and processes that end between any two writes. The size always stays within its bounds and rate limits; in
 * the end it is what the metric requires, and nothing is written any more.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { Deployment, HorizontalPodAutoscaler } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type { Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { checkSequences, int, oneOf } from "../../support/property.ts"
import { leaderLost, writeFaults } from "../../support/cluster.ts"
import * as Harness from "./harness.ts"

const bounds = { minReplicas: 2, maxReplicas: 12 }

const step = Arbitrary.all({
  what: oneOf("use", "use", "use", "follow", "follow", "resize", "change", "away", "wait"),
  /** Percent of the request that each pod uses, or replicas. */
  amount: int(0, 150),
  fault: oneOf("none", "none", "conflict", "refusal", "lost", "lagging", "crash"),
  times: int(1, 3)
})
const history = Arbitrary.array(step, { minLength: 1, maxLength: 8 })

type Step = typeof step extends Arbitrary.Arbitrary<infer A> ? A : never

const written = new Set(["deployments.apps/scale", "horizontalpodautoscalers.autoscaling/status"])

const rulesOf = ({ fault, times }: Step): ReadonlyArray<Rule> => {
  const onWrites = writeFaults[fault]
  if (onWrites !== undefined) {
    const match: Rule["match"] = ({ context, method }) => method === "PUT" && written.has(context.resource ?? "")
    return [{ match, fault: onWrites, times }]
  }
  if (fault !== "lagging") return []
  const resource = "horizontalpodautoscalers.autoscaling"
  return [{ match: { verb: "watch", resource }, fault: { _tag: "CutWatch", after: 0, how: "reset" }, times }]
}

const act = (measured: Harness.Measured, { amount, what }: Step) => {
  switch (what) {
    case "use":
      return Effect.andThen(Harness.follow, () => Harness.uses(measured, { cpu: `${amount * 10}m` }))
    case "follow":
      return Harness.follow
    case "resize":
      return Harness.resize(1 + (amount % 15))
    case "change":
      return Harness.change({ minReplicas: 1 + (amount % 4) })
    case "away":
      return Effect.sync(() => void (measured.usage = undefined))
    case "wait":
      return Harness.advance("3 minutes")
  }
}

const sizeNow = Effect.flatMap(ApiServer, (server) =>
  Effect.map(server.snapshot(Deployment), ([one]) =>
    Number((one?.["spec"] as { readonly replicas?: number })?.replicas)
  )
)

/** It lasts less than five minutes, and no other client changed the size. */
const isEarly = (steps: ReadonlyArray<Step>): boolean =>
  steps.every(({ what }) => what === "use" || what === "follow" || what === "away")

/** Runs the steps, and returns the violations. */
const run = (steps: ReadonlyArray<Step>) =>
  Harness.scenario(
    (measured) =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        const server = yield* ApiServer
        const flaws: Array<string> = []
        yield* Harness.target(3)
        yield* Harness.autoscaler(bounds)
        let running = yield* Harness.start(measured)
        for (const [i, one] of steps.entries()) {
          yield* server.setFaults([])
          yield* act(measured, one)
          yield* server.setFaults(rulesOf(one))
          const before = yield* sizeNow
          yield* Harness.advance("15 seconds")
          const after = yield* sizeNow
          if (after !== before && (after > bounds.maxReplicas || after < 1)) flaws.push(`out of bounds: ${after}`)
          if (after > Math.max(2 * before, 4)) flaws.push(`too fast: ${before} to ${after}`)
          if (after < before && isEarly(steps.slice(0, i + 1))) flaws.push(`too early: ${before} to ${after}`)
          if (one.fault !== "crash") continue
          yield* running.stop(leaderLost)
          running = yield* Harness.start(measured)
        }
        yield* server.setFaults([])
        yield* Harness.change({ minReplicas: 2 })
        for (let i = 0; i < 3; i++) {
          yield* Harness.follow
          yield* Harness.uses(measured, { cpu: "100m" })
          yield* Harness.advance("6 minutes")
        }
        const replicas = yield* sizeNow
        if (replicas !== 2) flaws.push(`${replicas} replicas in the end`)
        const calls: Array<string> = []
        const match: Rule["match"] = ({ context, method }) => {
          if (method !== "GET") calls.push(`${method} ${context.resource}`)
          return false
        }
        yield* server.setFaults([{ match, fault: { _tag: "Drop" } }])
        yield* Harness.follow
        yield* Harness.uses(measured, { cpu: "500m" })
        yield* Harness.advance("1 minute")
        calls.length = 0
        yield* Harness.advance("5 minutes")
        if (calls.length > 0) flaws.push(`writes although nothing changed: ${calls.join()}`)
        const [recorded] = yield* cluster.snapshot(HorizontalPodAutoscaler)
        const { currentReplicas, desiredReplicas } = recorded?.status ?? {}
        if (currentReplicas !== 2 || desiredReplicas !== 2)
          flaws.push(`the status has ${currentReplicas} and ${desiredReplicas} replicas`)
        return flaws
      }),
    { isStarted: false }
  )

describe("random operation sequences under fault injection", () => {
  checkSequences("a target has the size that its metric requires, and is not written any more", history, run)
})

/** Every kind of step and of fault, one after the other. */
const all: ReadonlyArray<Step> = [
  { what: "use", amount: 100, fault: "conflict", times: 1 },
  { what: "use", amount: 100, fault: "lost", times: 1 },
  { what: "away", amount: 0, fault: "none", times: 1 },
  { what: "use", amount: 150, fault: "crash", times: 2 },
  { what: "resize", amount: 14, fault: "refusal", times: 1 },
  { what: "change", amount: 3, fault: "lagging", times: 2 },
  { what: "use", amount: 10, fault: "crash", times: 1 },
  { what: "wait", amount: 0, fault: "refusal", times: 3 }
]

describe("fixed operation sequences", () => {
  const use = { what: "use", amount: 100, fault: "none", times: 1 } as const

  for (const [title, steps] of [
    ["every kind of step and fault", all],
    ["usage at twice the target", [use]],
    ["usage at three times the target", [{ ...use, amount: 150 }]],
    ["a restart while usage falls", [use, { ...use, what: "use", amount: 1, fault: "crash" }, { ...use, amount: 1 }]]
  ] as const) {
    it.effect(`a target has the size that its metric requires after ${title}`, () =>
      Effect.map(run(steps), (flaws) => assert.deepStrictEqual(flaws, []))
    )
  }
})
