/** The counts in the status of a StatefulSet. Upstream: stateful_set_control.go, updateStatus and completeRollingUpdate. */
import { assert, describe, it } from "@effect/vitest"
import * as Status from "../../../src/controllers/statefulset/status.ts"
import * as Step from "../../../src/controllers/statefulset/plan/step.ts"
import { type Facts, snapshotOf, now } from "./plan/fixture.ts"

const count = (facts: Facts, done = Step.nothing) => Status.count(snapshotOf(facts), done, 4)

const onDelete = { updateStrategy: { type: "OnDelete" } }

describe("the counts of a StatefulSet", () => {
  it("include surplus pods", () => {
    const counts = count({ pods: "rRtu.pfR", replicas: 5, metadata: { generation: 3 } })
    assert.deepStrictEqual(counts, {
      observedGeneration: 3,
      replicas: 7,
      readyReplicas: 4,
      availableReplicas: 4,
      currentReplicas: 2,
      updatedReplicas: 4,
      currentRevision: "old",
      updateRevision: "new",
      collisionCount: 4
    })
    assert.notProperty(count({ pods: "", replicas: 0 }), "observedGeneration")
  })

  it("have a replica as available after minReadySeconds", () => {
    const available = (readySince: number) =>
      count({ pods: "rru", replicas: 3, readySince, spec: { minReadySeconds: 10 } })
    assert.deepInclude(available(90), { readyReplicas: 2, availableReplicas: 2 })
    assert.deepInclude(available(91), { readyReplicas: 2, availableReplicas: 0 })
  })

  it("include the pods that the step has created, and exclude deleted pods from those of a revision", () => {
    const facts: Facts = { pods: "RrR", replicas: 5, spec: onDelete }
    const made = ["new", "new", "old"].map((name) => ({ name, template: {} }))
    const snapshot = snapshotOf(facts)
    const gone = new Set(snapshot.places.slice(0, 1).flatMap(({ pod }) => pod ?? []))
    assert.deepInclude(Status.count(snapshot, { gone, made }, 0), {
      replicas: 6,
      readyReplicas: 3,
      currentReplicas: 2,
      updatedReplicas: 3
    })
  })

  it("have the new revision as current when all replicas have it and are ready, and there are no others", () => {
    const done = { currentRevision: "new", currentReplicas: 2, updatedReplicas: 2 }
    const open = { currentRevision: "old" }
    assert.deepInclude(count({ pods: "rr", replicas: 2 }), done)
    assert.deepInclude(count({ pods: "rr", replicas: 2, spec: onDelete }), open)
    for (const pods of ["rR", "ru", "r", "rrr", "rru", "rrR", "rrU", "rt"])
      assert.deepInclude(count({ pods, replicas: 2 }), open, pods)
  })
})

describe("a status with counts", () => {
  const counts = { ...count({ pods: "rR", replicas: 2, metadata: { generation: 3 } }), availableReplicas: 1 }
  const before: Status.Status = { ...counts, conditions: [{ type: "A", status: "True" }] }

  it("is the same object if no count differs; absent counts are zero", () => {
    assert.strictEqual(Status.status(before, counts, true), before)
    const { collisionCount: _, ...without } = before
    assert.strictEqual(Status.status(without, { ...counts, collisionCount: 0 }, true), without)
  })

  it("keeps other fields, and is written if any count differs", () => {
    assert.deepStrictEqual(Status.status(undefined, counts, true), counts)
    for (const change of [
      { observedGeneration: 4 },
      { replicas: 9 },
      { readyReplicas: 9 },
      { availableReplicas: 9 },
      { currentReplicas: 9 },
      { updatedReplicas: 9 },
      { collisionCount: 9 },
      { currentRevision: "other" },
      { updateRevision: "other" }
    ])
      assert.deepStrictEqual(Status.status(before, { ...counts, ...change }, true), { ...before, ...change })
  })

  it("is not written for availableReplicas alone if the server does not store them", () => {
    assert.strictEqual(Status.status(before, { ...counts, availableReplicas: 9 }, false), before)
  })
})

describe("a StatefulSet is reconciled again", () => {
  const recheck = (facts: Partial<Facts>) => Status.recheck(snapshotOf({ pods: "ru", replicas: 2, ...facts }))
  const spec = { minReadySeconds: 10 }

  it("when a ready replica becomes available", () => {
    assert.strictEqual(recheck({ spec, readySince: 97 }), 7000)
    assert.isUndefined(recheck({ spec, readySince: 90 }))
    assert.isUndefined(recheck({ readySince: now / 1000 }))
    assert.isUndefined(recheck({ spec, pods: "u", readySince: 97 }))
    assert.strictEqual(recheck({ spec, pods: ".r", replicas: 0, readySince: 97 }), 7000)
    const failed: Facts["change"] = (pod) => ({ ...pod, status: { ...pod.status, phase: "Failed" } })
    assert.isUndefined(recheck({ spec, readySince: 97, change: failed }))
  })
})
