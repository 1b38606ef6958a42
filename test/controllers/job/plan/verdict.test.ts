/** Whether a Job ends, and why. The model checks each reason by itself and takes the first. Source: pkg/controller/job: syncJob. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as State from "../../../../src/controllers/job/state.ts"
import * as Backoff from "../../../../src/controllers/job/plan/backoff.ts"
import * as Snapshot from "../../../../src/controllers/job/plan/snapshot.ts"
import * as Verdict from "../../../../src/controllers/job/plan/verdict.ts"
import type { Deps } from "../../../../src/controllers/job/deps.ts"
import * as Sync from "../../../../src/controllers/job/sync.ts"
import type { Job, Pod } from "../../../../src/kube/resources.ts"
import * as Time from "../../../../src/kube/time.ts"
import { checkProperty } from "../../../support/property.ts"
const now = 100

const Facts = Schema.Struct({
  stored: Schema.Literals(["none", "none", "none", "SuccessCriteriaMet", "FailureTarget", "not FailureTarget", "both"]),
  policy: Schema.Literals(["none", "none", "FailJob", "Ignore"]),
  backoffLimit: Schema.UndefinedOr(Schema.Literals([0, 1, 3])),
  restartPolicy: Schema.Literals(["Never", "OnFailure"]),
  deadline: Schema.UndefinedOr(Schema.Literals([50, 60, 61])),
  /** Undefined: it begins now. */
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

const isIndexed = ({ mode }: Facts): boolean => mode !== "NonIndexed"

const countOf = (one: Facts): number | undefined => one.completions ?? (isIndexed(one) ? 3 : undefined)

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
      ...given("completions", countOf(one)),
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

const lookOf = (one: Facts): Snapshot.Snapshot =>
  Snapshot.take({
    job: jobOf(one),
    pods: one.pods.map(podOf),
    released: new Set(),
    record: Backoff.none,
    isSettled: true,
    now: now * 1000
  })

const ended = (one: Facts, phase: "Succeeded" | "Failed") =>
  one.pods.filter((pod) => pod.phase === phase && (!isIndexed(one) || pod.index < (countOf(one) ?? 0)))

const succeededIndexes = (one: Facts): ReadonlySet<number> => new Set(ended(one, "Succeeded").map(({ index }) => index))

/** Given up: the last pod that it may have has failed. What has succeeded stays so. */
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
      failedIndexes(one).size + succeededIndexes(one).size >= (countOf(one) ?? 0)
  ],
  [
    "Complete SuccessPolicy",
    (one) => isIndexed(one) && one.enough !== undefined && succeededIndexes(one).size >= one.enough
  ]
]

const isFirst = (one: Facts): boolean => {
  const verdict = Verdict.of(lookOf(one))
  const expected = reasons.find(([, holds]) => holds(one))?.[0]
  return (verdict && `${verdict.ends} ${verdict.reason}`) === expected
}

/** Jobs with a limit per index for which nothing else counts. */
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
  checkProperty("the first reason counts, and a stored one before all others", facts, isFirst)

  checkProperty("of a Job whose indexes fail, too", failing, isFirst)

  checkProperty("a verdict has an interim and a terminal condition with the same reason", facts, (one) => {
    const verdict = Verdict.of(lookOf(one))
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

  checkProperty("the deadline counts while the Job is not suspended", facts, (one) => {
    const left = one.deadline === undefined ? undefined : Math.max(0, one.deadline - (now - (one.started ?? now)))
    const isOn = !one.isSuspended && left !== undefined
    return Verdict.untilDeadline(lookOf(one)) === (isOn ? left * 1000 : undefined)
  })

  checkProperty("with enough successes and no active pods the Job is complete", facts, (one) => {
    const succeeded = isIndexed(one) ? succeededIndexes(one).size : ended(one, "Succeeded").length
    const completions = countOf(one)
    const isEnough = completions === undefined ? succeeded > 0 : succeeded >= completions
    return (
      (Verdict.completion(lookOf(one), 0)?.reason === "CompletionsReached") === isEnough &&
      Verdict.completion(lookOf(one), 1) === undefined
    )
  })
})

describe("a Job with an unknown completion mode", () => {
  it.effect("is not reconciled, and an event is recorded", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const job = {
        metadata: { name: "work", namespace: "ns", uid: "u" },
        spec: { template: {}, completionMode: "Odd", selector: { matchLabels: { app: "work" } } }
      } as Job
      // Whatever else is asked of it fails.
      const deps = {
        jobs: { get: () => job },
        events: {
          warning: (_: Job, reason: string, message: string) =>
            Effect.sync(() => {
              told.push(`${reason} ${message}`)
            })
        }
      } as unknown as Deps
      assert.deepInclude(yield* Sync.sync(deps, State.make())("ns/work"), { _tag: "Done" })
      assert.deepStrictEqual(told, ["UnknownCompletionMode Skipped Job sync because completion mode is unknown"])
    })
  )
})
