/** What one sync of a Job counts and writes, and whose finalizers it removes. Source: pkg/controller/job: trackJobStatusAndRemoveFinalizers, ensureJobConditionStatus. */
import { assert, describe, it } from "@effect/vitest"
import type * as Snapshot from "../../../src/controllers/job/snapshot.ts"
import * as Status from "../../../src/controllers/job/status.ts"
import * as Verdict from "../../../src/controllers/job/plan/verdict.ts"
import type { Job, Pod } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { job, now, pod, take } from "./plan/snapshots.ts"

const time = Time.format(now)

type Outcome = Partial<Status.Outcome>

/** The round of a sync, with names of pods instead of pods. */
const count = (of: Job, pods: ReadonlyArray<Pod>, outcome: Outcome = {}, more: Partial<Snapshot.Gathered> = {}) => {
  const taken = take(of, pods, more)
  const { removable, ...round } = Status.status(taken, { ...Status.unchanged(taken), ...outcome })
  return { ...round, removable: removable.map(({ metadata }) => metadata.name) }
}

const ends = (type: "Complete" | "Failed"): Verdict.Verdict => ({
  ends: type,
  reason: "Because",
  message: "so",
  isStored: false
})

const leaving = { deletionTimestamp: time }
const ignoring = {
  podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "Ready", status: "False" }] }] }
}

describe("the pods that a sync counts", () => {
  it("are those that have ended; their uids are in the status", () => {
    const pods = [pod("a", "Succeeded"), pod("b", "Failed"), pod("c", "Running"), pod("d", "Pending")]
    const { removable, status, ...rest } = count(job({ completions: 9 }), pods)
    assert.deepStrictEqual(removable, ["a", "b"])
    assert.deepStrictEqual(status, {
      active: 2,
      ready: 1,
      terminating: 0,
      startTime: time,
      uncountedTerminatedPods: { succeeded: ["a"], failed: ["b"] }
    })
    assert.deepStrictEqual(rest, { hasChanged: true, isFull: false, suspension: undefined, actions: [] })
  })

  it("do not include pods without the finalizer, or pods whose finalizer was removed in an earlier sync", () => {
    const pods = [pod("a", "Succeeded", undefined, { finalizers: [] }), pod("b", "Failed")]
    const { removable, status } = count(job({}), pods, {}, { released: new Set(["b"]) })
    assert.deepStrictEqual([removable, status.uncountedTerminatedPods], [[], {}])
  })

  it("include a pod that is being deleted as failed, unless the Job replaces only pods that have failed", () => {
    const pods = [pod("a", "Running", undefined, leaving)]
    const terminating = { active: 0, terminating: 1 }
    const first = count(job({}), pods)
    assert.deepStrictEqual(first.removable, ["a"])
    assert.deepInclude(first.status, { ...terminating, uncountedTerminatedPods: { failed: ["a"] } })
    const second = count(job({ podReplacementPolicy: "Failed" }), pods)
    assert.deepStrictEqual(second.removable, [])
    assert.deepInclude(second.status, { ...terminating, uncountedTerminatedPods: {} })
  })

  it("lose the finalizer without being counted when a policy ignores their failure", () => {
    const { actions, removable, status } = count(job(ignoring), [pod("a", "Failed"), pod("b", "Running")])
    assert.deepStrictEqual([removable, actions, status.uncountedTerminatedPods], [["a"], ["Ignore"], {}])
  })

  it("include running pods as failed when the Job fails, and not at all when it completes", () => {
    const pods = [pod("a", "Running"), pod("b", "Succeeded")]
    const failed = count(job({}), pods, { verdict: ends("Failed") })
    assert.deepStrictEqual(failed.removable, ["a", "b"])
    assert.deepStrictEqual(failed.status.uncountedTerminatedPods, { succeeded: ["b"], failed: ["a"] })
    const completed = count(job({}), pods, { verdict: ends("Complete") })
    assert.deepStrictEqual(completed.removable, ["a", "b"])
    assert.deepStrictEqual(completed.status.uncountedTerminatedPods, { succeeded: ["b"] })
  })

  it("do not include running pods when the Job is being deleted, but all pods lose the finalizer", () => {
    const { removable, status } = count(job({}, {}, leaving), [pod("a", "Running"), pod("b", "Failed")])
    assert.deepStrictEqual([removable, status.uncountedTerminatedPods], [["a", "b"], { failed: ["b"] }])
  })

  it("are counted once: a uid in the status is not added again", () => {
    const status = { succeeded: 1, failed: 2, uncountedTerminatedPods: { succeeded: ["a"], failed: ["b"] } }
    const round = count(job({}, status), [pod("a", "Succeeded"), pod("b", "Failed"), pod("c", "Succeeded")])
    assert.deepStrictEqual(round.removable, ["a", "b", "c"])
    assert.deepInclude(round.status, {
      succeeded: 1,
      failed: 2,
      uncountedTerminatedPods: { succeeded: ["a", "c"], failed: ["b"] }
    })
  })

  it("move to the counters once their uids are in the status and the pods have no finalizer", () => {
    const status = { succeeded: 1, failed: 2, uncountedTerminatedPods: { succeeded: ["a", "x"], failed: ["b", "y"] } }
    const round = count(job({}, status), [pod("x", "Succeeded"), pod("y", "Failed")])
    assert.deepInclude(round.status, {
      succeeded: 2,
      failed: 3,
      uncountedTerminatedPods: { succeeded: ["x"], failed: ["y"] }
    })
  })

  it("of an indexed Job complete their index, lowest index first, and do not count with an index beyond the completions", () => {
    const pods = [pod("a", "Succeeded", 3), pod("b", "Succeeded", 0), pod("c", "Failed", 2), pod("d", "Succeeded", 7)]
    const indexed = job({ completions: 5, completionMode: "Indexed" }, { completedIndexes: "1", succeeded: 1 })
    const { removable, status } = count(indexed, [...pods, pod("e", "Succeeded", 1)])
    assert.deepStrictEqual(removable, ["b", "e", "c", "a", "d"])
    assert.deepInclude(status, {
      succeeded: 3,
      completedIndexes: "0,1,3",
      uncountedTerminatedPods: { failed: ["c"] }
    })
    assert.notProperty(status, "failedIndexes")
  })

  it("of an indexed Job with fewer completions than before no longer count with the indexes above", () => {
    const indexed = job({ completions: 2, completionMode: "Indexed" }, { completedIndexes: "1,5", succeeded: 2 })
    assert.deepInclude(count(indexed, []).status, { succeeded: 1, completedIndexes: "1" })
    const none = job({ completions: 1, completionMode: "Indexed" }, { completedIndexes: "1,5", succeeded: 2 })
    assert.notProperty(count(none, []).status, "completedIndexes")
  })

  it("of a Job with a limit per index do not include the last failed pod of an index until another pod replaces it", () => {
    const indexed = job({ completions: 3, completionMode: "Indexed", backoffLimitPerIndex: 5 })
    const failed = pod("a", "Failed", 0)
    assert.deepStrictEqual(count(indexed, [failed, pod("b", "Running", 1)]).removable, [])
    assert.deepStrictEqual(count(indexed, [failed, pod("b", "Running", 0)]).removable, ["a"])
  })

  it("fill the status up to 500 uids and indexes", () => {
    const many = (length: number) =>
      Array.from({ length }, (_, i) => pod(`p${i}`, i % 2 === 0 ? "Succeeded" : "Failed", i))
    for (const spec of [{ completions: 900 }, { completions: 900, completionMode: "Indexed" }]) {
      assert.deepInclude(count(job(spec), many(499)), { isFull: false })
      const full = count(job(spec), many(501))
      assert.isTrue(full.isFull)
      assert.lengthOf(full.removable, 500)
    }
  })
})

describe("a status", () => {
  const uncountedTerminatedPods = {}
  const stored = { ready: 1, terminating: 0, active: 1, startTime: time, uncountedTerminatedPods }

  it("is written when one of its fields has changed; for most counts zero equals absent", () => {
    const hasChanged = (status: Job["status"], pods = [pod("a", "Running")]) => count(job({}, status), pods).hasChanged
    assert.isFalse(hasChanged(stored))
    assert.isFalse(hasChanged({ ...stored, succeeded: 0, failed: 0, completedIndexes: "" }))
    for (const change of [{ ready: 0 }, { terminating: 1 }, { active: 0 }])
      assert.isTrue(hasChanged({ ...stored, ...change }), JSON.stringify(change))
    const { ready: _, ...unready } = stored
    assert.isTrue(hasChanged(unready))
    const { startTime: __, ...unstarted } = stored
    assert.isTrue(hasChanged(unstarted))
    const { uncountedTerminatedPods: ___, ...uncounted } = stored
    assert.isTrue(hasChanged(uncounted))
    assert.isTrue(hasChanged(stored, [pod("a", "Running"), pod("b", "Succeeded")]))
    assert.isTrue(hasChanged({ ...stored, uncountedTerminatedPods: { failed: ["gone"] } }))
    assert.isTrue(count(job({}, stored), [pod("a", "Running")], { verdict: ends("Complete") }).hasChanged)
  })

  it("has no startTime while the Job is suspended", () => {
    assert.notProperty(count(job({ suspend: true }), []).status, "startTime")
    assert.strictEqual(count(job({}, { startTime: Time.format(0) }), []).status.startTime, Time.format(0))
  })
})

describe("the condition Suspended", () => {
  const suspended = (status: string, reason: string, message: string) => ({
    type: "Suspended",
    status,
    lastProbeTime: time,
    lastTransitionTime: time,
    reason,
    message
  })
  const managed = (of: Job, outcome: Outcome = {}) => {
    const { status, suspension } = count(of, [], { wasManaged: true, ...outcome })
    return { suspension, startTime: status.startTime, conditions: status.conditions }
  }
  const before = { ...suspended("True", "JobSuspended", "Job suspended"), lastTransitionTime: Time.format(0) }

  it("is True once the Job is suspended, and startTime is removed", () => {
    assert.deepStrictEqual(managed(job({ suspend: true }, { startTime: Time.format(0) })), {
      suspension: "Suspended",
      startTime: undefined,
      conditions: [suspended("True", "JobSuspended", "Job suspended")]
    })
    const again = managed(job({ suspend: true }, { conditions: [before] }))
    assert.deepStrictEqual(again, { suspension: undefined, startTime: undefined, conditions: [before] })
  })

  it("is False once the Job is resumed, and startTime is the time of the resumption", () => {
    const resumed = managed(job({}, { startTime: Time.format(0), conditions: [before] }))
    assert.deepStrictEqual(resumed, {
      suspension: "Resumed",
      startTime: time,
      conditions: [suspended("False", "JobResumed", "Job resumed")]
    })
  })

  it("is not written for a Job that was never suspended, that ends, or whose pods were not managed", () => {
    assert.isUndefined(managed(job({})).conditions)
    assert.isUndefined(managed(job({ suspend: true }), { wasManaged: false }).suspension)
    const ended = managed(job({ suspend: true }), { verdict: ends("Failed") })
    assert.deepStrictEqual(
      [ended.suspension, ended.conditions?.map(({ status, type }) => `${type} ${status}`)],
      [undefined, ["FailureTarget True"]]
    )
  })
})

describe("the end of a Job", () => {
  const conclude = (status: Job["status"], verdict: Verdict.Verdict | undefined = ends("Complete"), isFull = false) =>
    Status.conclude(status ?? {}, { verdict }, isFull, now)

  it("is written once no pod is left to be counted or to end", () => {
    const complete = { type: "Complete", status: "True", reason: "Because", message: "so" }
    const times = { lastProbeTime: time, lastTransitionTime: time }
    assert.deepStrictEqual(conclude({}), { conditions: [{ ...complete, ...times }], completionTime: time })
    assert.deepStrictEqual(conclude({ terminating: 0, uncountedTerminatedPods: {} }, ends("Failed")), {
      terminating: 0,
      uncountedTerminatedPods: {},
      conditions: [{ ...complete, type: "Failed", ...times }]
    })
    for (const waiting of [
      { terminating: 1 },
      { uncountedTerminatedPods: { failed: ["a"] } },
      { uncountedTerminatedPods: { succeeded: ["a"] } }
    ])
      assert.strictEqual(conclude(waiting), waiting)
    const status = {}
    assert.strictEqual(conclude(status, ends("Complete"), true), status)
    assert.strictEqual(Status.conclude(status, { verdict: undefined }, false, now), status)
  })

  it("has excess successes when more pods have succeeded than the Job's completions", () => {
    const hasExcessSuccesses = (completions: number | undefined, succeeded?: number) =>
      Status.hasExcessSuccesses(
        job(completions === undefined ? {} : { completions }),
        succeeded === undefined ? {} : { succeeded }
      )
    assert.deepStrictEqual(
      [hasExcessSuccesses(2, 3), hasExcessSuccesses(2, 2), hasExcessSuccesses(undefined, 3), hasExcessSuccesses(0)],
      [true, false, false, false]
    )
  })
})

describe("a condition", () => {
  const claim = { type: "A", reason: "Because", message: "so" }
  const times = { lastProbeTime: time, lastTransitionTime: time }
  const other = { type: "B", status: "True" }
  const a = { ...claim, status: "True", lastProbeTime: "x", lastTransitionTime: "x" }

  it("is added when it is True, and not when it is False", () => {
    assert.deepStrictEqual(Verdict.ensure(undefined, claim, "True", now), [{ ...claim, status: "True", ...times }])
    assert.deepStrictEqual(Verdict.ensure([other], claim, "True", now), [other, { ...claim, status: "True", ...times }])
    assert.isUndefined(Verdict.ensure(undefined, claim, "False", now))
    const before = [other]
    assert.strictEqual(Verdict.ensure(before, claim, "False", now), before)
  })

  it("stays as it is when status, reason and message are equal, and else is replaced in its place", () => {
    const before = [a, other]
    assert.strictEqual(Verdict.ensure(before, claim, "True", now), before)
    for (const [changed, status] of [
      [claim, "False"],
      [{ ...claim, reason: "Other" }, "True"],
      [{ ...claim, message: "other" }, "True"]
    ] as const)
      assert.deepStrictEqual(Verdict.ensure(before, changed, status, now), [{ ...changed, status, ...times }, other])
  })
})

describe("the snapshot of a Job", () => {
  it("counts what is counted, what waits in the status and what has just ended", () => {
    const status = { succeeded: 3, failed: 4, uncountedTerminatedPods: { succeeded: ["a"], failed: ["b", "x"] } }
    const pods = [
      pod("a", "Succeeded"),
      pod("b", "Failed"),
      pod("c", "Succeeded"),
      pod("d", "Failed"),
      pod("e", "Running"),
      pod("f", "Running", undefined, leaving)
    ]
    const { active, failed, ready, succeeded, terminating, tracked } = take(job({}, status), pods)
    assert.deepStrictEqual([succeeded, failed, ready], [5, 8, 1])
    assert.deepStrictEqual(
      [active, terminating, tracked].map((some) => some.map(({ metadata }) => metadata.name)),
      [["e"], ["f"], ["a", "b", "c", "d", "e", "f"]]
    )
    assert.strictEqual(take(job(ignoring), pods.slice(0, 4)).failed, 0)
  })

  it("keeps of each index the failed pod with the most failures before it, and of those the last to end", () => {
    const failed = (uid: string, failures: number, ended: number, index = 0): Pod => {
      const one = pod(uid, "Failed", index)
      const annotations = { ...one.metadata.annotations, "batch.kubernetes.io/job-index-failure-count": `${failures}` }
      return {
        ...one,
        metadata: { ...one.metadata, annotations },
        status: {
          phase: "Failed",
          conditions: [{ type: "Ready", status: "False", lastTransitionTime: Time.format(ended * 1000) }]
        }
      }
    }
    const spec = { completions: 3, completionMode: "Indexed", backoffLimitPerIndex: 5 }
    const retained = (pods: ReadonlyArray<Pod>, more: object = {}, status: Job["status"] = {}) =>
      Array.from(take(job({ ...spec, ...more }, status), pods).retained, ([index, { metadata }]) => [
        index,
        metadata.name
      ])
    const pods = [failed("a", 0, 1), failed("b", 1, 2), failed("c", 0, 3, 2), failed("d", 1, 2)]
    assert.deepStrictEqual(retained(pods), [
      [0, "d"],
      [2, "c"]
    ])
    assert.deepStrictEqual(retained(pods.toReversed()), [
      [0, "b"],
      [2, "c"]
    ])
    assert.deepStrictEqual(retained([...pods, pod("e", "Running", 0)]), [[2, "c"]])
    assert.deepStrictEqual(retained([...pods, pod("e", "Succeeded", 2)]), [[0, "d"]])
    assert.deepStrictEqual(retained(pods, {}, { failedIndexes: "0" }), [[2, "c"]])
    assert.deepStrictEqual(retained(pods, { backoffLimitPerIndex: 1 }), [[2, "c"]])
    assert.deepStrictEqual(retained(pods, { backoffLimitPerIndex: undefined }), [])
    assert.deepStrictEqual(retained(pods, { completions: 1 }), [[0, "d"]])
    // A pod with fewer failures before it does not replace one with more, even if it ended later.
    assert.deepStrictEqual(retained([failed("x", 1, 1), failed("y", 0, 5)]), [[0, "x"]])
  })

  it("counts failures of pods with a valid index only", () => {
    const indexed = job({ completions: 2, completionMode: "Indexed" })
    const pods = [pod("a", "Failed", 0), pod("b", "Failed", 2), pod("c", "Failed")]
    assert.strictEqual(take(indexed, pods).failed, 1)
  })

  it("lets an index fail at once by a FailIndex rule, and otherwise by its backoff limit", () => {
    const rules = [{ action: "FailIndex", onPodConditions: [{ type: "Ready", status: "False" }] }]
    const spec = { completions: 2, completionMode: "Indexed", backoffLimitPerIndex: 3 }
    const failed = [pod("a", "Failed", 1)]
    assert.deepStrictEqual(take(job(spec), failed).progress?.failed, [])
    assert.deepStrictEqual(take(job({ ...spec, podFailurePolicy: { rules } }), failed).progress?.failed, [[1, 1]])
    assert.deepStrictEqual(take(job({ ...spec, backoffLimitPerIndex: 0 }), failed).progress?.failed, [[1, 1]])
  })
})
