import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Conditions from "../../../src/controllers/deployment/conditions.ts"
import type * as Snapshot from "../../../src/controllers/deployment/snapshot.ts"
import * as Status from "../../../src/controllers/deployment/status.ts"
import { checkProperty, int, oneOf } from "../../support/property.ts"
import { deployment, replicaSet } from "./objects.ts"

const set = Arbitrary.all({
  size: int(0, 4),
  replicas: int(0, 4),
  ready: int(0, 4),
  available: int(0, 4),
  /** Absent: not reported. */
  terminating: oneOf(-1, 0, 2),
  observed: oneOf(0, 1),
  failure: oneOf("", "FailedCreate", "FailedDelete")
})

const scene = Arbitrary.all({
  sets: Arbitrary.array(set, { maxLength: 4 }),
  hasNew: oneOf(true, false),
  replicas: int(0, 8),
  unavailable: int(0, 2),
  collisionCount: oneOf(-1, 0, 3),
  had: oneOf("nothing", "Available", "ReplicaFailure")
})

type Scene = typeof scene extends Arbitrary.Arbitrary<infer A> ? A : never

const now = 60_000
const failedAt = "1970-01-01T00:00:30Z"

const replicaSetOf = (facts: Scene["sets"][number], i: number) =>
  replicaSet({
    name: `web-${i}`,
    created: i,
    size: facts.size,
    replicas: facts.replicas,
    available: facts.available,
    status: {
      readyReplicas: facts.ready,
      observedGeneration: facts.observed,
      ...(facts.terminating < 0 ? {} : { terminatingReplicas: facts.terminating }),
      ...(facts.failure === ""
        ? {}
        : {
            conditions: [
              { type: "Other", status: "True" },
              {
                type: "ReplicaFailure",
                status: "True",
                reason: facts.failure,
                message: `of ${i}`,
                lastTransitionTime: failedAt
              }
            ]
          })
    }
  })

const setsOf = ({ hasNew, sets }: Scene): Snapshot.Sets => {
  const all = sets.map(replicaSetOf)
  return hasNew ? { current: all.at(-1), old: all.slice(0, -1) } : { current: undefined, old: all }
}

const stored = ({ collisionCount, had, replicas, unavailable }: Scene) =>
  deployment({
    replicas,
    unavailable,
    surge: 1,
    status: {
      ...(collisionCount < 0 ? {} : { collisionCount }),
      conditions: had === "nothing" ? [] : [Conditions.make(had, "True", "MinimumReplicasAvailable", "old", 0)]
    }
  })

const sum = ({ sets }: Scene, of: (set: Scene["sets"][number]) => number): number => sets.reduce((a, b) => a + of(b), 0)

describe("Status", () => {
  checkProperty("counts are sums over the sets, and those of the new set are updated", scene, (facts) => {
    const status = Status.counted({ deployment: stored(facts), sets: setsOf(facts), now })
    const available = sum(facts, (set) => set.available)
    const expected = {
      observedGeneration: 1,
      replicas: sum(facts, (set) => set.replicas),
      updatedReplicas: facts.hasNew ? (facts.sets.at(-1)?.replicas ?? 0) : 0,
      readyReplicas: sum(facts, (set) => set.ready),
      availableReplicas: available,
      unavailableReplicas: Math.max(0, sum(facts, (set) => set.size) - available)
    } as const
    return Object.entries(expected).every(([key, value]) => {
      const found = Object.entries(status).find(([name]) => name === key)?.[1]
      return value === 0 ? found === undefined : found === value
    })
  })

  checkProperty(
    "a collision count stays; terminating pods are known if every synced set reports them",
    scene,
    (facts) => {
      const status = Status.counted({ deployment: stored(facts), sets: setsOf(facts), now })
      const isUnknown = facts.sets.some((set) => set.terminating < 0 && set.observed > 0)
      return (
        status.collisionCount === (facts.collisionCount < 0 ? undefined : facts.collisionCount) &&
        status.terminatingReplicas === (isUnknown ? undefined : sum(facts, (set) => Math.max(0, set.terminating)))
      )
    }
  )

  checkProperty("is available while at most maxUnavailable pods are unavailable", scene, (facts) => {
    const status = Status.counted({ deployment: stored(facts), sets: setsOf(facts), now })
    const condition = Conditions.get(status.conditions ?? [], "Available")
    const isEnough = sum(facts, (set) => set.available) >= facts.replicas - Math.min(facts.unavailable, facts.replicas)
    return isEnough
      ? condition?.status === "True" &&
          condition.reason === "MinimumReplicasAvailable" &&
          condition.message === (facts.had === "Available" ? "old" : "Deployment has minimum availability.")
      : condition?.status === "False" &&
          condition.reason === "MinimumReplicasUnavailable" &&
          condition.message === "Deployment does not have minimum availability."
  })

  checkProperty(
    "has the failure of a set, the new one's first; without a failure it has no such condition",
    scene,
    (facts) => {
      const status = Status.status({ deployment: stored(facts), sets: setsOf(facts), now })
      const found = Conditions.get(status.conditions ?? [], "ReplicaFailure")
      const order = facts.sets.map(({ failure }, i) => ({ failure, i }))
      if (facts.hasNew && order.length > 0) order.unshift(...order.splice(-1))
      const first = order.find(({ failure }) => failure !== "")
      if (first === undefined) return found === undefined
      return (
        found?.reason === first.failure &&
        found.message === `of ${first.i}` &&
        found.lastUpdateTime === failedAt &&
        found.status === "True" &&
        found.lastTransitionTime === (facts.had === "ReplicaFailure" ? "1970-01-01T00:00:00Z" : failedAt)
      )
    }
  )

  checkProperty("equals itself, and itself with zeros for absent counts; any difference is one", scene, (facts) => {
    const status = Status.counted({ deployment: stored(facts), sets: setsOf(facts), now })
    const zeros = {
      replicas: 0,
      updatedReplicas: 0,
      readyReplicas: 0,
      availableReplicas: 0,
      unavailableReplicas: 0
    }
    const conditions = status.conditions ?? []
    const last = conditions.at(-1) ?? Conditions.make("Available", "True", "Why", "nothing", now)
    const others = [
      { ...status, readyReplicas: (status.readyReplicas ?? 0) + 1 },
      { ...status, collisionCount: (status.collisionCount ?? -1) + 1 },
      { ...status, terminatingReplicas: (status.terminatingReplicas ?? -1) + 1 },
      { ...status, conditions: conditions.slice(1) },
      { ...status, conditions: [...conditions.slice(0, -1), { ...last, message: "other" }] },
      { ...status, conditions: [...conditions.slice(0, -1), { ...last, lastUpdateTime: "other" }] }
    ]
    const copy = { ...zeros, ...structuredClone(status) }
    return (
      Status.isSame(status, copy, true) &&
      others.every((other) => !Status.isSame(status, other, true) && !Status.isSame(other, status, true))
    )
  })
})

describe("a status", () => {
  it("of a Deployment without sets has zero counts", () => {
    const { conditions: _, ...counts } = Status.counted({
      deployment: deployment(),
      sets: { current: undefined, old: [] },
      now
    })
    assert.deepStrictEqual(counts, { observedGeneration: 1, terminatingReplicas: 0 })
  })
})
