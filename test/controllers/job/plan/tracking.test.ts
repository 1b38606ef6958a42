/** Edge cases of counting that random sequences seldom reach. Source: pkg/controller/job: trackJobStatusAndRemoveFinalizers. */
import { assert, describe, it } from "@effect/vitest"
import * as Backoff from "../../../../src/controllers/job/plan/backoff.ts"
import * as Snapshot from "../../../../src/controllers/job/plan/snapshot.ts"
import * as Manage from "../../../../src/controllers/job/plan/manage.ts"
import * as Tracking from "../../../../src/controllers/job/plan/tracking.ts"
import * as Verdict from "../../../../src/controllers/job/plan/verdict.ts"
import type { Job, Pod } from "../../../../src/kube/resources.ts"
import * as Harness from "../harness.ts"

const job = (spec: Partial<NonNullable<Job["spec"]>>, status: Job["status"] = {}): Job => ({
  metadata: { name: "work", namespace: "default", uid: "job" },
  spec: { template: {}, ...spec },
  status
})

const pod = (name: string, phase: string, index?: number): Pod => ({
  metadata: {
    name,
    namespace: "default",
    uid: name,
    finalizers: [Harness.finalizer],
    ...(index === undefined ? {} : { annotations: { [Harness.indexKey]: `${index}` } })
  },
  status: { phase }
})

const snapshot = (of: Job, pods: ReadonlyArray<Pod>, more: Partial<Snapshot.Gathered> = {}) =>
  Snapshot.take({ job: of, pods, released: new Set(), record: Backoff.none, isSettled: true, now: 0, ...more })

const many = (count: number, phase: string) => Array.from({ length: count }, (_, i) => pod(`pod-${i}`, phase))

const condition = (type: string) => ({ type, status: "True", reason: "Because", message: "so" })

describe("so many uids at a time", () => {
  it("wait in the status, and the Job does not end before the rest", () => {
    const seen = snapshot(job({ completions: 600 }), many(600, "Succeeded"))
    const verdict = Verdict.completion(seen, 0)
    assert.strictEqual(verdict?.reason, "CompletionsReached")
    const round = Tracking.count(seen, { ...Tracking.unchanged(seen), verdict })
    assert.lengthOf(round.removable, 500)
    assert.lengthOf(round.status.uncountedTerminatedPods?.succeeded ?? [], 500)
    assert.isTrue(round.isFull)
    const settled = Tracking.settle(round.status, new Set())
    assert.strictEqual(settled.succeeded, 500)
    assert.strictEqual(Tracking.conclude(settled, { verdict }, round.isFull, 0), settled)
  })

  it("limits creations and deletions too", () => {
    const made = Manage.step(snapshot(job({ completions: 900, parallelism: 900 }), []))
    assert.deepStrictEqual(made, { _tag: "Create", count: 500, indexes: undefined })
    const step = Manage.step(snapshot(job({ completions: 900, parallelism: 0 }), many(700, "Running")))
    assert.strictEqual(step._tag === "Delete" ? step.pods.length : 0, 500)
  })
})

describe("a verdict whose interim condition is stored", () => {
  it("is not reconsidered", () => {
    const failed = [pod("a", "Failed"), pod("b", "Failed")]
    const met = job({ backoffLimit: 0 }, { conditions: [condition("SuccessCriteriaMet")] })
    assert.deepInclude(Verdict.of(snapshot(met, failed)), { ends: "Complete", reason: "Because", isStored: true })
    const target = job({ completions: 1 }, { conditions: [condition("FailureTarget")] })
    assert.deepInclude(Verdict.of(snapshot(target, [pod("a", "Succeeded")])), { ends: "Failed", message: "so" })
  })

  it("is not written again", () => {
    const seen = snapshot(job({}, { conditions: [condition("FailureTarget")] }), [])
    const verdict = Verdict.of(seen)
    const { status } = Tracking.count(seen, { ...Tracking.unchanged(seen), verdict })
    assert.lengthOf(status.conditions ?? [], 1)
    const types = Tracking.conclude(status, { verdict }, false, 0).conditions?.map(({ type }) => type)
    assert.deepStrictEqual(types, ["FailureTarget", "Failed"])
  })
})

describe("a pod that was counted as failed", () => {
  const status = { uncountedTerminatedPods: { failed: ["a"] } }

  it("has not succeeded, however it ended", () => {
    const seen = snapshot(job({ completions: 1 }, status), [pod("a", "Succeeded")])
    assert.deepInclude(seen, { succeeded: 0, failed: 1 })
    const round = Tracking.count(seen, Tracking.unchanged(seen))
    assert.deepStrictEqual(round.status.uncountedTerminatedPods, { failed: ["a"] })
  })

  it("has not completed its index", () => {
    const indexed = job({ completions: 2, completionMode: "Indexed" }, status)
    const seen = snapshot(indexed, [pod("a", "Succeeded", 0)])
    assert.strictEqual(seen.succeeded, 0)
    assert.isUndefined(Tracking.count(seen, Tracking.unchanged(seen)).status.completedIndexes)
  })
})

describe("an index has one end", () => {
  const spec = { completions: 3, completionMode: "Indexed", backoffLimitPerIndex: 0 } as const

  it("a failed index is not completed by a later pod", () => {
    const seen = snapshot(job(spec, { failedIndexes: "0" }), [pod("a", "Succeeded", 0)])
    const { removable, status } = Tracking.count(seen, Tracking.unchanged(seen))
    assert.deepInclude(status, { failedIndexes: "0", succeeded: 0 })
    assert.isUndefined(status.completedIndexes)
    assert.lengthOf(removable, 1)
  })

  it("a completed index does not fail with another pod", () => {
    const seen = snapshot(job(spec), [pod("a", "Succeeded", 1), pod("b", "Failed", 1)])
    const { status } = Tracking.count(seen, Tracking.unchanged(seen))
    assert.deepInclude(status, { failedIndexes: "", completedIndexes: "1" })
  })
})

describe("an unknown completion mode", () => {
  it("is not indexed", () => assert.isUndefined(snapshot(job({ completionMode: "Other" }), []).progress))
})
