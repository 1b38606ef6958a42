/** Edge cases of counting that random sequences seldom reach. Source: pkg/controller/job: trackJobStatusAndRemoveFinalizers. */
import { assert, describe, it } from "@effect/vitest"
import * as Plan from "../../../src/controllers/job/plan/plan.ts"
import * as Status from "../../../src/controllers/job/status.ts"
import * as Verdict from "../../../src/controllers/job/plan/verdict.ts"
import { job, pod, take } from "./plan/snapshots.ts"

const many = (count: number, phase: string) => Array.from({ length: count }, (_, i) => pod(`pod-${i}`, phase))

const condition = (type: string) => ({ type, status: "True", reason: "Because", message: "so" })

describe("the limit of 500 for one sync", () => {
  it("applies to the uids in the status, and the Job does not end before the others are counted", () => {
    const snapshot = take(job({ completions: 600 }), many(600, "Succeeded"))
    const verdict = Verdict.completion(snapshot, 0)
    assert.strictEqual(verdict?.reason, "CompletionsReached")
    const round = Status.status(snapshot, { ...Status.unchanged(snapshot), verdict })
    assert.lengthOf(round.removable, 500)
    assert.lengthOf(round.status.uncountedTerminatedPods?.succeeded ?? [], 500)
    assert.isTrue(round.isFull)
    const settled = Status.settle(round.status, new Set())
    assert.strictEqual(settled.succeeded, 500)
    assert.strictEqual(Status.conclude(settled, { verdict }, round.isFull, 0), settled)
  })

  it("applies to creations and deletions", () => {
    const creation = Plan.step(take(job({ completions: 900, parallelism: 900 }), []))
    assert.deepStrictEqual(creation, { _tag: "Create", count: 500, indexes: undefined })
    const deletion = Plan.step(take(job({ completions: 900, parallelism: 0 }), many(700, "Running")))
    assert.strictEqual(deletion._tag === "Delete" ? deletion.pods.length : 0, 500)
  })
})

describe("a verdict whose interim condition is stored", () => {
  it("is not reconsidered", () => {
    const failed = [pod("a", "Failed"), pod("b", "Failed")]
    const met = job({ backoffLimit: 0 }, { conditions: [condition("SuccessCriteriaMet")] })
    assert.deepInclude(Verdict.of(take(met, failed)), { ends: "Complete", reason: "Because", isStored: true })
    const target = job({ completions: 1 }, { conditions: [condition("FailureTarget")] })
    assert.deepInclude(Verdict.of(take(target, [pod("a", "Succeeded")])), { ends: "Failed", message: "so" })
  })

  it("is not written again", () => {
    const snapshot = take(job({}, { conditions: [condition("FailureTarget")] }), [])
    const verdict = Verdict.of(snapshot)
    const { status } = Status.status(snapshot, { ...Status.unchanged(snapshot), verdict })
    assert.lengthOf(status.conditions ?? [], 1)
    const types = Status.conclude(status, { verdict }, false, 0).conditions?.map(({ type }) => type)
    assert.deepStrictEqual(types, ["FailureTarget", "Failed"])
  })
})

describe("a pod that was counted as failed", () => {
  const status = { uncountedTerminatedPods: { failed: ["a"] } }

  it("has not succeeded, however it ended", () => {
    const snapshot = take(job({ completions: 1 }, status), [pod("a", "Succeeded")])
    assert.deepInclude(snapshot, { succeeded: 0, failed: 1 })
    const round = Status.status(snapshot, Status.unchanged(snapshot))
    assert.deepStrictEqual(round.status.uncountedTerminatedPods, { failed: ["a"] })
  })

  it("has not completed its index", () => {
    const indexed = job({ completions: 2, completionMode: "Indexed" }, status)
    const snapshot = take(indexed, [pod("a", "Succeeded", 0)])
    assert.strictEqual(snapshot.succeeded, 0)
    assert.isUndefined(Status.status(snapshot, Status.unchanged(snapshot)).status.completedIndexes)
  })
})

describe("an index has one end", () => {
  const spec = { completions: 3, completionMode: "Indexed", backoffLimitPerIndex: 0 } as const

  it("a failed index is not completed by a later pod", () => {
    const snapshot = take(job(spec, { failedIndexes: "0" }), [pod("a", "Succeeded", 0)])
    const { removable, status } = Status.status(snapshot, Status.unchanged(snapshot))
    assert.deepInclude(status, { failedIndexes: "0", succeeded: 0 })
    assert.isUndefined(status.completedIndexes)
    assert.lengthOf(removable, 1)
  })

  it("a completed index does not fail with another pod", () => {
    const snapshot = take(job(spec), [pod("a", "Succeeded", 1), pod("b", "Failed", 1)])
    const { status } = Status.status(snapshot, Status.unchanged(snapshot))
    assert.deepInclude(status, { failedIndexes: "", completedIndexes: "1" })
  })
})

describe("an unknown completion mode", () => {
  it("is not indexed", () => assert.isUndefined(take(job({ completionMode: "Other" }), []).progress))
})
