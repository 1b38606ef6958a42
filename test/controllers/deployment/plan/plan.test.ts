import { assert, describe, it } from "@effect/vitest"
import * as Annotations from "../../../../src/controllers/deployment/annotations.ts"
import * as Plan from "../../../../src/controllers/deployment/plan/plan.ts"
import type { Sets } from "../../../../src/controllers/deployment/snapshot.ts"
import type { Deployment, Pod } from "../../../../src/kube/resources.ts"
import { deployment, replicaSet } from "../objects.ts"

const planOf = (of: Deployment, sets: Sets) => Plan.plan({ deployment: of, sets })

const none = { current: undefined, old: [] }
const scaledFor = (desired: number) => ({ current: replicaSet({ size: 3, desired }), old: [] })

describe("the path of a sync", () => {
  it("is the first that applies", () => {
    const rollback = { [Annotations.rollbackTo]: "7" }
    const everything = deployment({ annotations: rollback, spec: { paused: true } })
    const leaving = { ...everything, metadata: { ...everything.metadata, deletionTimestamp: "2026-01-31T12:00:00Z" } }
    assert.deepStrictEqual(planOf(leaving, scaledFor(2)), { _tag: "Report" })
    assert.deepStrictEqual(planOf(everything, scaledFor(2)), { _tag: "Scale" })
    assert.deepStrictEqual(planOf(deployment({ annotations: rollback }), scaledFor(2)), {
      _tag: "Rollback",
      revision: 7n
    })
    assert.deepStrictEqual(planOf(deployment(), scaledFor(2)), { _tag: "Scale" })
    assert.deepStrictEqual(planOf(deployment(), scaledFor(3)), { _tag: "Rolling" })
    assert.deepStrictEqual(planOf(deployment({ strategy: "Recreate" }), none), { _tag: "Recreate" })
    assert.deepStrictEqual(planOf(deployment({ strategy: "Blue" }), none), {
      _tag: "UnknownStrategy",
      type: "Blue"
    })
  })

  it("ignores annotations that cannot be parsed", () => {
    const unreadable = {
      current: replicaSet({ size: 3, annotations: { [Annotations.desiredReplicas]: "many" } }),
      old: []
    }
    assert.deepStrictEqual(planOf(deployment(), unreadable), { _tag: "Rolling" })
    const request = deployment({ annotations: { [Annotations.rollbackTo]: "the last one" } })
    assert.deepStrictEqual(planOf(request, none), { _tag: "Rolling" })
  })

  it("is refused for a selector that selects every pod", () => {
    const selecting = (selector: object) => Plan.selectsEverything(deployment({ spec: { selector } }))
    assert.deepStrictEqual([{}, { matchLabels: {} }, { matchExpressions: [] }].map(selecting), [true, true, true])
    assert.isFalse(selecting({ matchLabels: { app: "web" } }))
    assert.isFalse(selecting({ matchExpressions: [{ key: "app", operator: "Exists" }] }))
  })
})

describe("Recreate", () => {
  const pod = (phase: string, metadata: object = {}): Pod => ({
    metadata: { name: "p", ...metadata },
    status: { phase }
  })
  const waits = (pods: ReadonlyArray<Pod>, replicas = 0) =>
    Plan.isWaitingForPods(
      { current: replicaSet({ name: "new", replicas: 3 }), old: [replicaSet({ replicas })] },
      (set) => (set.metadata.name === "new" ? [pod("Running")] : pods)
    )

  it("waits for every old pod that is not terminal", () => {
    assert.isFalse(waits([]))
    assert.isFalse(waits([pod("Succeeded"), pod("Failed")]))
    for (const phase of ["Pending", "Running", "Unknown"]) assert.isTrue(waits([pod("Failed"), pod(phase)]), phase)
    assert.isTrue(waits([pod("Running", { deletionTimestamp: "2026-01-31T12:00:00Z" })]))
    assert.isTrue(waits([], 1))
    const old = [replicaSet({ name: "ended", replicas: 0 }), replicaSet({ name: "running", replicas: 0 })]
    const podsOf = (set: { readonly metadata: { readonly name: string } }) =>
      set.metadata.name === "running" ? [pod("Running")] : []
    assert.isTrue(Plan.isWaitingForPods({ current: undefined, old }, podsOf))
  })

  it("scales all old sets to zero, and then the new set to its full size", () => {
    const sets = { current: replicaSet({ name: "new" }), old: [replicaSet({ size: 2 }), replicaSet({ size: 0 })] }
    assert.deepStrictEqual(
      Plan.shrinkToZero(sets).map(({ set, size }) => [set, size]),
      [[sets.old[0], 0]]
    )
    assert.deepStrictEqual(
      Plan.growAtOnce(deployment({ replicas: 4 }), sets).map(({ size }) => size),
      [4]
    )
    assert.deepStrictEqual(Plan.growAtOnce(deployment(), none), [])
  })
})
