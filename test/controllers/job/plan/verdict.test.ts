/** Whether a Job ends, and why. The model checks each reason by itself and takes the first. Source: pkg/controller/job: syncJob. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as State from "../../../../src/controllers/job/state.ts"
import type * as Snapshot from "../../../../src/controllers/job/snapshot.ts"
import * as Verdict from "../../../../src/controllers/job/plan/verdict.ts"
import type { Deps } from "../../../../src/controllers/job/deps.ts"
import * as Sync from "../../../../src/controllers/job/sync.ts"
import type { Job, Pod } from "../../../../src/kube/resources.ts"
import * as Time from "../../../../src/kube/time.ts"
import { checkProperty } from "../../../support/property.ts"
import * as Snapshots from "./snapshots.ts"
import { completionsOf, isIndexed, job, pod, take } from "./snapshots.ts"

/** In seconds. */
const now = Snapshots.now / 1000

const Facts = Schema.Struct({
  stored: Schema.Literals(["none", "none", "none", "SuccessCriteriaMet", "FailureTarget", "not FailureTarget", "both"]),
  policy: Schema.Literals(["none", "none", "FailJob", "Ignore"]),
  backoffLimit: Schema.UndefinedOr(Schema.Literals([0, 1, 3])),
  restartPolicy: Schema.Literals(["Never", "OnFailure"]),
  deadline: Schema.UndefinedOr(Schema.Literals([50, 60, 61])),
  /** Undefined if the Job starts now. */
  started: Schema.UndefinedOr(Schema.Literals([40])),
  isSuspended: Schema.Literals([false, false, true]),
  mode: Schema.Literals(["NonIndexed", "Indexed", "perIndex"]),
  completions: Schema.UndefinedOr(Schema.Literals([0, 1, 3])),
  maxFailed: Schema.UndefinedOr(Schema.Literals([0, 1])),
  enough: Schema.UndefinedOr(Schema.Literals([1, 2])),
  failedBefore: Schema.Literals([0, 0, 1, 7]),
  pods: Schema.Array(
    Schema.Struct({
      phase: Schema.Literals(["Pending", "Running", "Succeeded", "Failed"]),
      index: Schema.Literals([0, 1, 2]),
      restarts: Schema.Literals([0, 0, 1, 2]),
      isLast: Schema.Boolean
    })
  ).check(Schema.isMaxLength(4))
})

type Facts = typeof Facts.Type

const facts = Arbitrary.schema(Facts)

const conditionsOf = ({ stored }: Facts) => {
  const condition = (type: string, status = "True") => ({ type, status, reason: `${type} before`, message: "so" })
  switch (stored) {
    case "none":
      return []
    case "both":
      return [condition("FailureTarget"), condition("SuccessCriteriaMet")]
    case "not FailureTarget":
      return [condition("FailureTarget", "False")]
    default:
      return [condition(stored)]
  }
}

const given = <A>(key: string, value: A | undefined): object => (value === undefined ? {} : { [key]: value })

const jobOf = (one: Facts): Job =>
  ({
    metadata: { name: "work", namespace: "ns", uid: "u" },
    spec: {
      template: { spec: { restartPolicy: one.restartPolicy } },
      suspend: one.isSuspended,
      ...given("completions", completionsOf(one)),
      ...given("backoffLimit", one.backoffLimit),
      ...given("activeDeadlineSeconds", one.deadline),
      ...(isIndexed(one) ? { completionMode: "Indexed" } : {}),
      ...(one.mode === "perIndex" ? { backoffLimitPerIndex: 1, ...given("maxFailedIndexes", one.maxFailed) } : {}),
      ...(one.enough === undefined || !isIndexed(one)
        ? {}
        : { successPolicy: { rules: [{ succeededCount: one.enough }] } }),
      ...(one.policy === "none"
        ? {}
        : { podFailurePolicy: { rules: [{ action: one.policy, onPodConditions: [{ type: "Bad", status: "True" }] }] } })
    },
    status: {
      ...(one.started === undefined ? {} : { startTime: Time.format(one.started * 1000) }),
      failed: one.failedBefore,
      conditions: conditionsOf(one)
    }
  }) as unknown as Job

const podOf = (pod: Facts["pods"][number], i: number): Pod => ({
  metadata: {
    namespace: "ns",
    name: `p${i}`,
    uid: `u${i}`,
    finalizers: ["batch.kubernetes.io/job-tracking"],
    annotations: {
      "batch.kubernetes.io/job-completion-index": `${pod.index}`,
      "batch.kubernetes.io/job-index-failure-count": pod.isLast ? "1" : "0"
    }
  },
  status: {
    phase: pod.phase,
    conditions: [{ type: "Bad", status: "True" }],
    containerStatuses: [
      { name: "main", image: "", imageID: "", ready: false, restartCount: pod.restarts, state: { running: {} } }
    ]
  }
})

const snapshotOf = (one: Facts): Snapshot.Snapshot => take(jobOf(one), one.pods.map(podOf))

const ended = (one: Facts, phase: "Succeeded" | "Failed") =>
  one.pods.filter((pod) => pod.phase === phase && (!isIndexed(one) || pod.index < (completionsOf(one) ?? 0)))

const succeededIndexes = (one: Facts): ReadonlySet<number> => new Set(ended(one, "Succeeded").map(({ index }) => index))

/** Indexes whose last allowed pod has failed; an index that has succeeded does not fail. */
const failedIndexes = (one: Facts): ReadonlySet<number> =>
  new Set(
    ended(one, "Failed")
      .filter(({ index, isLast }) => isLast && one.policy !== "Ignore" && !succeededIndexes(one).has(index))
      .map(({ index }) => index)
  )

const limitOf = ({ backoffLimit, mode }: Facts): number => backoffLimit ?? (mode === "perIndex" ? Infinity : 6)

const reasons: ReadonlyArray<readonly [string, (one: Facts) => boolean]> = [
  ["Complete SuccessCriteriaMet before", ({ stored }) => stored === "SuccessCriteriaMet" || stored === "both"],
  ["Failed FailureTarget before", ({ stored }) => stored === "FailureTarget"],
  [
    "Failed PodFailurePolicy",
    ({ pods, policy }) => policy === "FailJob" && pods.some(({ phase }) => phase === "Failed")
  ],
  [
    "Failed BackoffLimitExceeded",
    (one) => {
      const failed = one.failedBefore + (one.policy === "Ignore" ? 0 : ended(one, "Failed").length)
      const running = one.pods.filter(({ phase }) => phase === "Pending" || phase === "Running")
      const restarts = running.reduce((sum, pod) => sum + pod.restarts, 0)
      const isRestarted = one.restartPolicy === "OnFailure" && restarts > 0 && restarts >= limitOf(one)
      return failed > limitOf(one) || isRestarted
    }
  ],
  [
    "Failed DeadlineExceeded",
    ({ deadline, isSuspended, started }) => deadline !== undefined && !isSuspended && now - (started ?? now) >= deadline
  ],
  [
    "Failed MaxFailedIndexesExceeded",
    (one) => one.mode === "perIndex" && one.maxFailed !== undefined && failedIndexes(one).size > one.maxFailed
  ],
  [
    "Failed FailedIndexes",
    (one) =>
      one.mode === "perIndex" &&
      failedIndexes(one).size > 0 &&
      failedIndexes(one).size + succeededIndexes(one).size >= (completionsOf(one) ?? 0)
  ],
  [
    "Complete SuccessPolicy",
    (one) => isIndexed(one) && one.enough !== undefined && succeededIndexes(one).size >= one.enough
  ]
]

const isFirst = (one: Facts): boolean => {
  const verdict = Verdict.of(snapshotOf(one))
  const expected = reasons.find(([, holds]) => holds(one))?.[0]
  return (verdict && `${verdict.ends} ${verdict.reason}`) === expected
}

/** Jobs with a limit per index, without any other reason to end. */
const failing = Arbitrary.map(facts, ({ completions, maxFailed, pods }): Facts => ({
  stored: "none",
  policy: "none",
  backoffLimit: undefined,
  restartPolicy: "Never",
  deadline: undefined,
  started: undefined,
  isSuspended: false,
  mode: "perIndex",
  completions: completions === 0 ? 1 : completions,
  maxFailed,
  enough: undefined,
  failedBefore: 0,
  pods
}))

describe("Verdict", () => {
  checkProperty("the first reason counts, and a stored interim condition comes before all others", facts, isFirst)

  checkProperty("the first reason counts for a Job with failed indexes", failing, isFirst)

  checkProperty("a verdict has an interim and a terminal condition with the same reason", facts, (one) => {
    const verdict = Verdict.of(snapshotOf(one))
    if (verdict === undefined) return true
    const [first, last] = [Verdict.interim(verdict), Verdict.terminal(verdict)]
    return (
      first.type === (verdict.ends === "Complete" ? "SuccessCriteriaMet" : "FailureTarget") &&
      last.type === verdict.ends &&
      first.reason === last.reason &&
      first.message === last.message &&
      verdict.isStored === verdict.reason.endsWith(" before")
    )
  })

  checkProperty("the active deadline applies while the Job is not suspended", facts, (one) => {
    const left = one.deadline === undefined ? undefined : Math.max(0, one.deadline - (now - (one.started ?? now)))
    const isOn = !one.isSuspended && left !== undefined
    return Verdict.untilDeadline(snapshotOf(one)) === (isOn ? left * 1000 : undefined)
  })

  checkProperty("with enough successes and no active pods the Job is complete", facts, (one) => {
    const succeeded = isIndexed(one) ? succeededIndexes(one).size : ended(one, "Succeeded").length
    const completions = completionsOf(one)
    const isEnough = completions === undefined ? succeeded > 0 : succeeded >= completions
    return (
      (Verdict.completion(snapshotOf(one), 0)?.reason === "CompletionsReached") === isEnough &&
      Verdict.completion(snapshotOf(one), 1) === undefined
    )
  })
})

describe("the verdict of a Job", () => {
  const verdictOf = (spec: Partial<NonNullable<Job["spec"]>>, status: Job["status"], ...pods: ReadonlyArray<Pod>) => {
    const { ends, message, reason } = Verdict.of(take(job(spec, status), pods)) ?? {}
    return [ends, reason, message]
  }
  const perIndex = { completions: 3, completionMode: "Indexed", backoffLimitPerIndex: 0 }

  it("has the reasons and messages of kube-controller-manager", () => {
    const failed = pod("a", "Failed", 0)
    const startTime = Time.format(0)
    assert.deepStrictEqual(
      [
        verdictOf({ backoffLimit: 0 }, {}, failed),
        verdictOf({ activeDeadlineSeconds: 1 }, { startTime }),
        verdictOf({ ...perIndex, maxFailedIndexes: 0 }, {}, failed),
        verdictOf(perIndex, { completedIndexes: "1,2" }, failed),
        verdictOf({ ...perIndex, successPolicy: { rules: [{ succeededCount: 1 }] } }, { completedIndexes: "1" })
      ],
      [
        ["Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"],
        ["Failed", "DeadlineExceeded", "Job was active longer than specified deadline"],
        ["Failed", "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes"],
        ["Failed", "FailedIndexes", "Job has failed indexes"],
        ["Complete", "SuccessPolicy", "Matched rules at index 0"]
      ]
    )
    assert.deepStrictEqual(Verdict.completion(take(job({}, { succeeded: 1 }), []), 0), {
      ends: "Complete",
      reason: "CompletionsReached",
      message: "Reached expected number of succeeded pods",
      isStored: false
    })
  })

  it("is that of a stored interim condition, even one without reason and message", () => {
    assert.deepStrictEqual(verdictOf({}, { conditions: [{ type: "FailureTarget", status: "True" }] }), [
      "Failed",
      "",
      ""
    ])
  })

  it("counts restarts also if another pod has no container statuses yet", () => {
    const template = { spec: { restartPolicy: "OnFailure", containers: [] } }
    const main = { name: "main", image: "", imageID: "", ready: true, restartCount: 2 }
    const restarted = { ...pod("a", "Running"), status: { phase: "Running", containerStatuses: [main] } }
    const [, reason] = verdictOf({ template, backoffLimit: 2 }, {}, pod("b", "Pending"), restarted)
    assert.strictEqual(reason, "BackoffLimitExceeded")
  })
})

describe("a Job with an unknown completion mode", () => {
  it.effect("is not reconciled, and an event is recorded", () =>
    Effect.gen(function* () {
      const recorded: Array<string> = []
      const job = {
        metadata: { name: "work", namespace: "ns", uid: "u" },
        spec: { template: {}, completionMode: "Odd", selector: { matchLabels: { app: "work" } } }
      } as Job
      // All other calls fail, because they are missing.
      const deps = {
        jobs: { get: () => job },
        events: {
          warning: (_: Job, reason: string, message: string) =>
            Effect.sync(() => {
              recorded.push(`${reason} ${message}`)
            })
        }
      } as unknown as Deps
      assert.deepInclude(yield* Sync.sync(deps, State.make())("ns/work"), { _tag: "Done" })
      assert.deepStrictEqual(recorded, ["UnknownCompletionMode Skipped Job sync because completion mode is unknown"])
    })
  )
})
