/**
 * The plan for the pods of an active Job, on random snapshots: never more active pods than allowed, none for an index that has succeeded, none for
 * an index that has a pod. Source: pkg/controller/job: manageJob.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Backoff from "../../../../src/controllers/job/plan/backoff.ts"
import type * as Snapshot from "../../../../src/controllers/job/snapshot.ts"
import * as Plan from "../../../../src/controllers/job/plan/plan.ts"
import type { Job, Pod } from "../../../../src/kube/resources.ts"
import * as Time from "../../../../src/kube/time.ts"
import { checkProperty } from "../../../support/property.ts"
import * as Snapshots from "./snapshots.ts"
import { completionsOf, isIndexed, job, pod, take } from "./snapshots.ts"

/** In seconds. */
const now = 1000

const PodFacts = Schema.Struct({
  index: Schema.Literals([0, 1, 2, 3, 9, "none"]),
  phase: Schema.Literals(["Pending", "Running", "Running", "Succeeded", "Failed"]),
  isTerminating: Schema.Literals([false, false, true]),
  isTracked: Schema.Literals([true, true, false]),
  /** Seconds since it ended, if it has. */
  ended: Schema.Literals([1, 9, 10, 15, 500]),
  failuresBefore: Schema.Literals([0, 1])
})

type PodFacts = typeof PodFacts.Type

const Facts = Schema.Struct({
  parallelism: Schema.Literals([0, 1, 2, 3]),
  completions: Schema.UndefinedOr(Schema.Literals([0, 1, 3, 4])),
  mode: Schema.Literals(["NonIndexed", "Indexed", "perIndex"]),
  replaces: Schema.UndefinedOr(Schema.Literals(["Failed", "TerminatingOrFailed"])),
  isSuspended: Schema.Literals([false, false, false, true]),
  isBeingDeleted: Schema.Literals([false, false, false, true]),
  isSettled: Schema.Literals([true, true, true, false]),
  succeeded: Schema.Literals([0, 0, 1]),
  completed: Schema.Literals(["", "", "0", "1-2"]),
  failedBefore: Schema.Literals([0, 0, 0, 1]),
  pods: Schema.Array(PodFacts).check(Schema.isMaxLength(6))
})

type Facts = typeof Facts.Type

const facts = Arbitrary.schema(Facts)

const jobOf = (one: Facts): Job => {
  const completions = completionsOf(one)
  return {
    metadata: {
      name: "work",
      namespace: "ns",
      uid: "u",
      ...(one.isBeingDeleted ? { deletionTimestamp: Time.format(0) } : {})
    },
    spec: {
      template: {},
      parallelism: one.parallelism,
      backoffLimit: 99,
      suspend: one.isSuspended,
      ...(completions === undefined ? {} : { completions }),
      ...(isIndexed(one) ? { completionMode: "Indexed" } : {}),
      ...(one.mode === "perIndex" ? { backoffLimitPerIndex: 5 } : {}),
      ...(one.replaces === undefined ? {} : { podReplacementPolicy: one.replaces })
    },
    status: isIndexed(one)
      ? one.completed === ""
        ? {}
        : { completedIndexes: one.completed }
      : { succeeded: one.succeeded }
  }
}

const podOf = (one: PodFacts, i: number): Pod => ({
  metadata: {
    name: `p${i}`,
    uid: `u${i}`,
    finalizers: one.isTracked ? ["batch.kubernetes.io/job-tracking"] : [],
    ...(one.isTerminating ? { deletionTimestamp: Time.format(now * 1000) } : {}),
    annotations: {
      "batch.kubernetes.io/job-index-failure-count": `${one.failuresBefore}`,
      ...(one.index === "none" ? {} : { "batch.kubernetes.io/job-completion-index": `${one.index}` })
    }
  },
  status: {
    phase: one.phase,
    conditions: [{ type: "Ready", status: "False", lastTransitionTime: Time.format((now - one.ended) * 1000) }]
  }
})

const snapshotOf = (one: Facts): Snapshot.Snapshot =>
  take(jobOf(one), one.pods.map(podOf), {
    record: one.failedBefore === 0 ? Backoff.none : { failures: 1, last: (now - 5) * 1000 },
    isSettled: one.isSettled,
    now: now * 1000
  })

const isEnded = ({ phase }: PodFacts): boolean => phase === "Succeeded" || phase === "Failed"
const isActive = (pod: PodFacts): boolean => !isEnded(pod) && !pod.isTerminating
const isValid = (one: Facts, { index }: PodFacts): boolean => index !== "none" && index < (completionsOf(one) ?? 0)

/** Indexes that have succeeded. */
const succeededIndexes = (one: Facts): ReadonlySet<number | string> => {
  const counted = { "": [], "0": [0], "1-2": [1, 2] }[one.completed].filter(
    (index) => index < (completionsOf(one) ?? 0)
  )
  const now = one.pods.filter((pod) => pod.phase === "Succeeded" && pod.isTracked && isValid(one, pod))
  return new Set([...counted, ...now.map(({ index }) => index)])
}

const succeededOf = (one: Facts): number =>
  isIndexed(one)
    ? succeededIndexes(one).size
    : one.succeeded + one.pods.filter(({ isTracked, phase }) => phase === "Succeeded" && isTracked).length

/** The number of pods that should be active. */
const wantedOf = (one: Facts): number => {
  const completions = completionsOf(one)
  if (completions === undefined) return succeededOf(one) > 0 ? one.pods.filter(isActive).length : one.parallelism
  return Math.max(0, Math.min(one.parallelism, completions - succeededOf(one)))
}

/** Active pods of an indexed Job without a valid index. */
const withoutIndex = (one: Facts): ReadonlyArray<PodFacts> =>
  isIndexed(one) ? one.pods.filter((pod) => isActive(pod) && !isValid(one, pod)) : []

const isManaged = (one: Facts): boolean => one.isSettled && !one.isBeingDeleted

/** The pods that are active after the step. */
const activeAfter = (one: Facts, step: Plan.Step): ReadonlyArray<PodFacts> => {
  const deleted = step._tag === "Delete" ? new Set(step.pods.map(({ metadata }) => metadata.name)) : new Set()
  return one.pods.filter((pod, i) => isActive(pod) && !deleted.has(`p${i}`))
}

/** Whether the step creates pods for the lowest free indexes; with a limit per index, for some free indexes. */
const areLowestFree = (one: Facts): boolean => {
  const { step } = Plan.plan(snapshotOf(one))
  if (step._tag !== "Create" || !isIndexed(one)) return step._tag !== "Create" || step.indexes === undefined
  const { indexes = [] } = step
  const terminating = one.pods.filter((pod) => pod.isTerminating && !isEnded(pod))
  const busy = new Set(
    [...one.pods.filter(isActive), ...(one.replaces === "Failed" ? terminating : [])].map(({ index }) => index)
  )
  const isFree = (index: number): boolean =>
    index < (completionsOf(one) ?? 0) && !busy.has(index as never) && !succeededIndexes(one).has(index)
  const skipped = Array.from({ length: indexes.at(-1) ?? 0 }, (_, i) => i).filter(
    (i) => isFree(i) && !indexes.includes(i)
  )
  return (
    indexes.length === step.count &&
    indexes.every((index, i) => isFree(index) && index > (indexes[i - 1] ?? -1)) &&
    (one.mode === "perIndex" || skipped.length === 0)
  )
}

/** Jobs with podReplacementPolicy Failed, some of whose pods are terminating. */
const replacing = Arbitrary.map(facts, ({ pods }): Facts => ({
  replaces: "Failed",
  mode: "Indexed",
  parallelism: 3,
  completions: 4,
  completed: "",
  succeeded: 0,
  failedBefore: 0,
  isSuspended: false,
  isBeingDeleted: false,
  isSettled: true,
  pods: pods.slice(0, 3).map(({ failuresBefore, index, isTerminating, isTracked }) => ({
    ended: 1,
    failuresBefore,
    index,
    isTerminating,
    isTracked,
    phase: "Running"
  }))
}))

describe("Plan", () => {
  checkProperty("nothing is done for a Job that is being deleted, or while expectations are pending", facts, (one) => {
    const { step, verdict, wasManaged } = Plan.plan(snapshotOf(one))
    return wasManaged === (isManaged(one) && verdict === undefined) && (wasManaged || step._tag === "Nothing")
  })

  checkProperty("a suspended Job deletes all its active pods", facts, (one) => {
    const { step, wasManaged } = Plan.plan(snapshotOf(one))
    if (!one.isSuspended || !wasManaged) return true
    return activeAfter(one, step).length === 0 && step._tag !== "Create" && step._tag !== "Wait"
  })

  checkProperty("no more pods are created than are wanted and than the limit per sync", facts, (one) => {
    const { step } = Plan.plan(snapshotOf(one))
    if (step._tag !== "Create") return true
    const terminating = one.pods.filter((pod) => pod.isTerminating && !isEnded(pod)).length
    const held = one.replaces === "Failed" ? terminating : 0
    const active = one.pods.filter(isActive).length
    return step.count > 0 && active + held + step.count <= Math.min(one.parallelism, wantedOf(one))
  })

  checkProperty("without limits per index all missing pods are created at once", facts, (one) => {
    const { step, wasManaged } = Plan.plan(snapshotOf(one))
    if (!wasManaged || one.isSuspended || one.mode === "perIndex" || step._tag === "Delete" || step._tag === "Wait")
      return true
    const terminating = one.pods.filter((pod) => pod.isTerminating && !isEnded(pod))
    const held = one.replaces === "Failed" ? terminating.length : 0
    const missing = wantedOf(one) - one.pods.filter(isActive).length - held
    const busy = new Set(
      [...one.pods.filter(isActive), ...(one.replaces === "Failed" ? terminating : [])].map(({ index }) => index)
    )
    const free = isIndexed(one)
      ? Array.from({ length: completionsOf(one) ?? 0 }, (_, i) => i).filter(
          (i) => !busy.has(i as never) && !succeededIndexes(one).has(i)
        ).length
      : Infinity
    return (step._tag === "Create" ? step.count : 0) === Math.max(0, Math.min(missing, free))
  })

  checkProperty("the lowest indexes without a pod that have not finished get one, each once", facts, areLowestFree)

  checkProperty("indexes of terminating pods are not free with podReplacementPolicy Failed", replacing, areLowestFree)

  checkProperty("surplus pods are deleted, first those with invalid or duplicate indexes", facts, (one) => {
    const { step, wasManaged } = Plan.plan(snapshotOf(one))
    if (!wasManaged || one.isSuspended) return true
    const active = one.pods.filter(isActive)
    const useful = isIndexed(one)
      ? new Set(active.filter((pod) => isValid(one, pod)).map(({ index }) => index)).size
      : active.length
    const expected = Math.min(useful, wantedOf(one))
    const remaining = activeAfter(one, step)
    if (step._tag === "Delete" && !step.pods.every((pod) => one.pods[Number(pod.metadata.name.slice(1))] !== undefined))
      return false
    return (
      remaining.length === expected &&
      (step._tag !== "Delete" || withoutIndex(one).every((pod) => !remaining.includes(pod))) &&
      (!isIndexed(one) || new Set(remaining.map(({ index }) => index)).size === remaining.length)
    )
  })

  checkProperty("after a failure no pod is created during the backoff", facts, (one) => {
    const { step } = Plan.plan(snapshotOf(one))
    if (one.mode === "perIndex" || step._tag === "Nothing" || step._tag === "Delete") return true
    const { record } = snapshotOf(one)
    const wait = Backoff.remaining(record, now * 1000)
    return step._tag === "Wait" ? step.millis === wait && wait > 0 : wait === 0
  })

  checkProperty("with a limit per index each has a backoff of its own", facts, (one) => {
    const snapshot = snapshotOf(one)
    const { step } = Plan.plan(snapshot)
    if (one.mode !== "perIndex" || (step._tag !== "Create" && step._tag !== "Wait")) return true
    const waitOf = (index: number): number => Backoff.remainingOf(snapshot.retained.get(index), now * 1000)
    return step._tag === "Create" ? (step.indexes ?? []).every((index) => waitOf(index) === 0) : step.millis > 0
  })
})

describe("the decision of a sync", () => {
  const idle: Facts = {
    parallelism: 2,
    completions: 3,
    mode: "NonIndexed",
    replaces: undefined,
    isSuspended: false,
    isBeingDeleted: false,
    isSettled: true,
    succeeded: 0,
    completed: "",
    failedBefore: 0,
    pods: []
  }
  const running: PodFacts = {
    index: "none",
    phase: "Running",
    isTerminating: false,
    isTracked: true,
    ended: 1,
    failuresBefore: 0
  }
  const terminating = { ...running, isTerminating: true }
  const decided = (change: Partial<Facts>) => {
    const { action, step } = Plan.plan(snapshotOf({ ...idle, ...change }))
    const count = step._tag === "Create" ? ` ${step.count}` : step._tag === "Delete" ? ` ${step.pods.length}` : ""
    return `${action}, ${step._tag}${count}`
  }

  it("has the action that the metrics of kube-controller-manager name", () => {
    assert.strictEqual(decided({}), "pods_created, Create 2")
    assert.strictEqual(decided({ failedBefore: 1 }), "pods_created, Wait")
    assert.strictEqual(decided({ pods: [running, running] }), "tracking, Nothing")
    assert.strictEqual(decided({ pods: [running, running, running] }), "pods_deleted, Delete 1")
    assert.strictEqual(decided({ isSuspended: true }), "pods_deleted, Nothing")
    assert.strictEqual(decided({ isSuspended: true, pods: [running, terminating] }), "pods_deleted, Delete 1")
    for (const change of [{ isBeingDeleted: true }, { isSettled: false }])
      assert.strictEqual(decided(change), "reconciling, Nothing")
  })

  it("counts pods that are being deleted towards the parallelism only if the Job replaces only failed pods", () => {
    assert.strictEqual(decided({ replaces: "Failed", pods: [terminating] }), "pods_created, Create 1")
    assert.strictEqual(
      decided({ replaces: "Failed", pods: [terminating, terminating, terminating] }),
      "tracking, Nothing"
    )
    // Here the deletion counts as a failure, so that the next pod waits for the backoff.
    assert.strictEqual(decided({ replaces: "TerminatingOrFailed", pods: [terminating] }), "pods_created, Wait")
  })

  it("creates and deletes no pods for a Job without completions after the first success", () => {
    const { completions: _, ...open } = idle
    const decide = (change: Partial<Facts>) =>
      Plan.plan(snapshotOf({ ...open, completions: undefined, ...change })).step
    assert.deepInclude(decide({}), { _tag: "Create", count: 2 })
    assert.strictEqual(decide({ succeeded: 1 })._tag, "Nothing")
    assert.strictEqual(decide({ succeeded: 1, pods: [running, running, running] })._tag, "Nothing")
  })
})

describe("the pods of an indexed Job", () => {
  const indexed = { completions: 4, parallelism: 4, completionMode: "Indexed" }
  const deleted = (spec: object, ...pods: ReadonlyArray<Pod>) => {
    const step = Plan.step(take(job({ ...indexed, ...spec }), pods))
    return step._tag === "Delete" ? step.pods.map(({ metadata }) => metadata.name).toSorted() : []
  }

  it("are deleted down to one for each index, and those without a valid index all", () => {
    const [a, b, c] = ["a", "b", "c"].map((name) => pod(name, "Pending", 0)) as [Pod, Pod, Pod]
    const [other, none, beyond] = [pod("other", "Running", 1), pod("none", "Running"), pod("beyond", "Running", 4)]
    assert.lengthOf(deleted({}, a, b, c, other), 2)
    assert.notInclude(deleted({}, a, b, c, other), "other")
    assert.deepStrictEqual(deleted({}, a, other, none, beyond), ["beyond", "none"])
    assert.deepStrictEqual(deleted({ parallelism: 2 }, a, other), [])
  })

  it("are deleted down to the parallelism after those without a valid index", () => {
    const valid = [0, 1, 2].map((index) => pod(`p${index}`, "Running", index))
    const names = deleted({ parallelism: 1 }, pod("none", "Running"), ...valid)
    assert.lengthOf(names, 3)
    assert.include(names, "none")
  })

  describe("with a limit per index", () => {
    const perIndex = job({ ...indexed, completions: 3, parallelism: 3, backoffLimitPerIndex: 5 })
    const failed = (name: string, index: number, secondsAgo: number) =>
      pod(name, "Failed", index, { creationTimestamp: Time.format(Snapshots.now - secondsAgo * 1000) })

    it("are created for the indexes whose own backoff is over", () => {
      assert.deepStrictEqual(Plan.step(take(perIndex, [failed("a", 0, 5), failed("b", 1, 10)])), {
        _tag: "Create",
        count: 2,
        indexes: [1, 2]
      })
    })

    it("wait for the shortest backoff if none is over", () => {
      const pods = [failed("a", 0, 5), failed("b", 1, 8), pod("c", "Running", 2)]
      assert.deepStrictEqual(Plan.step(take(perIndex, pods)), { _tag: "Wait", millis: 2000 })
    })

    it("are not created if the indexes without a pod have all failed", () => {
      const status = { failedIndexes: "0" }
      const pods = [pod("b", "Running", 1), pod("c", "Running", 2)]
      assert.deepStrictEqual(Plan.step(take({ ...perIndex, status }, pods)), Plan.nothing)
    })
  })
})

describe("a Job with a verdict", () => {
  it("is not managed", () => {
    const conditions = [{ type: "FailureTarget", status: "True", reason: "Because", message: "so" }]
    const { action, step, verdict, wasManaged } = Plan.plan(take(job({}, { conditions }), []))
    assert.deepStrictEqual([action, step, wasManaged], ["reconciling", Plan.nothing, false])
    assert.deepInclude(verdict, { ends: "Failed", reason: "Because" })
  })
})
