/** The cases for CronJobs from Kubernetes' end-to-end suite: test/e2e/apps/cronjob.go. */
import { assert } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { CronJob, Event, Job, Pod } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { Recorder } from "../../../src/layers/Recorder.ts"
import * as Harness from "../harness.ts"

const keepsRunning = ["sleep", "300"]

/** How long that suite waits for a CronJob. */
const timeout = "5 minutes"

const cronJob = (command: ReadonlyArray<string>, spec: object = {}) => ({
  metadata: { name: "tick", labels: { "special-label": "case" } },
  spec: {
    schedule: "*/1 * * * ?",
    concurrencyPolicy: "Allow",
    jobTemplate: {
      spec: {
        parallelism: 1,
        completions: 1,
        backoffLimit: 1,
        template: {
          spec: Harness.spec("work:1", command, {
            restartPolicy: "OnFailure",
            volumes: [{ name: "data", emptyDir: {} }]
          })
        }
      }
    },
    ...spec
  }
})

const active = Effect.map(Harness.get(CronJob, "tick"), ({ status }) => status?.active ?? [])

const jobs = Harness.list(Job)

const isFinished = ({ status }: Job): boolean =>
  status?.conditions?.some(({ status: holds, type }) => holds === "True" && ["Complete", "Failed"].includes(type)) ===
  true

const finished = Effect.map(jobs, (all) => all.filter(isFinished))

const running = Effect.map(jobs, (all) => all.filter((job) => !isFinished(job)))

/** Waits until the list of active runs has at least this many entries. */
const isActive = (count: number) =>
  Harness.until(
    Effect.map(active, (all) => assert.isAtLeast(all.length, count)),
    timeout
  )

const reasons = Effect.gen(function* () {
  yield* (yield* Recorder).drained
  return (yield* Harness.list(Event))
    .filter(({ involvedObject }) => involvedObject.kind === "CronJob")
    .map(({ reason }) => reason)
})

const remove = Harness.remove(CronJob, "tick", { propagationPolicy: "Background" })

Harness.scenario(
  "a CronJob creates several Jobs at once, and they are deleted with it",
  Effect.gen(function* () {
    yield* Harness.create(CronJob, cronJob(keepsRunning))
    yield* isActive(2)
    assert.isAtLeast((yield* running).length, 2)
    yield* remove
    yield* Harness.until(
      Effect.map(jobs, (all) => assert.isEmpty(all)),
      timeout
    )
    yield* Harness.until(
      Effect.map(Harness.list(Pod), (all) => assert.isEmpty(all)),
      timeout
    )
  })
)

Harness.scenario(
  "a suspended CronJob creates no Job",
  Effect.gen(function* () {
    yield* Harness.create(CronJob, cronJob(keepsRunning, { suspend: true }))
    for (let minute = 0; minute < 5; minute++) {
      yield* Harness.advance("1 minute")
      assert.isEmpty(yield* active)
    }
    assert.isEmpty(yield* jobs)
  })
)

Harness.scenario(
  "a CronJob with the policy Forbid creates no Job while another one is active",
  Effect.gen(function* () {
    yield* Harness.create(CronJob, cronJob(keepsRunning, { concurrencyPolicy: "Forbid" }))
    yield* isActive(1)
    assert.lengthOf(yield* active, 1)
    assert.lengthOf(yield* running, 1)
    for (let minute = 0; minute < 5; minute++) {
      yield* Harness.advance("1 minute")
      assert.isBelow((yield* active).length, 2)
    }
  })
)

Harness.scenario(
  "a CronJob with the policy Replace replaces the active Job",
  Effect.gen(function* () {
    yield* Harness.create(CronJob, cronJob(keepsRunning, { concurrencyPolicy: "Replace" }))
    yield* isActive(1)
    const [first, ...others] = yield* running
    assert.isEmpty(others)
    yield* Harness.until(
      Effect.map(jobs, (all) => {
        assert.lengthOf(
          all.filter((job) => !isFinished(job)),
          1
        )
        assert.notInclude(
          all.map(({ metadata }) => metadata.name),
          first?.metadata.name
        )
      }),
      timeout
    )
  })
)

Harness.scenario(
  "a CronJob creates Jobs again after more than a hundred missed times",
  Effect.gen(function* () {
    yield* Harness.advance("3 hours")
    yield* Harness.create(CronJob, cronJob(keepsRunning, { concurrencyPolicy: "Forbid", suspend: true }))
    const lastScheduleTime = Time.format((yield* Clock.currentTimeMillis) - 101 * 60_000)
    yield* Harness.patch(CronJob, "tick", { status: { lastScheduleTime } }, "status")
    yield* Harness.patch(CronJob, "tick", { spec: { suspend: false } })
    yield* isActive(1)
    assert.isNotEmpty(yield* running)
    assert.include(yield* reasons, "TooManyMissedTimes")
  })
)

Harness.scenario(
  "a CronJob records no event about an unexpected or a missing Job",
  Effect.gen(function* () {
    yield* Harness.create(CronJob, cronJob(["true"]))
    yield* Harness.until(
      Effect.map(jobs, (all) => assert.isAtLeast(all.length, 2)),
      timeout
    )
    yield* Harness.until(
      Effect.map(finished, (all) => assert.isNotEmpty(all)),
      timeout
    )
    yield* Harness.advance("30 seconds")
    const told = yield* reasons
    for (const reason of ["MissingJob", "UnexpectedJob"]) assert.notInclude(told, reason)
    assert.include(told, "SawCompletedJob")
  })
)

Harness.scenario(
  "a Job has an annotation with the time for which its CronJob created it",
  Effect.gen(function* () {
    yield* Harness.create(CronJob, cronJob(["true"]))
    yield* Harness.until(
      Effect.map(jobs, (all) => assert.isNotEmpty(all)),
      timeout
    )
    const [job] = yield* jobs
    const text = job?.metadata.annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    assert.strictEqual(Time.parse(text), 60_000)
  })
)

Harness.scenario(
  "a CronJob removes deleted Jobs from its list, and records events about them",
  Effect.gen(function* () {
    yield* Harness.create(CronJob, cronJob(keepsRunning, { concurrencyPolicy: "Forbid" }))
    yield* isActive(1)
    const [reference, ...others] = yield* active
    assert.isEmpty(others)
    const { name = "" } = reference ?? {}
    yield* Harness.remove(Job, name, { propagationPolicy: "Background" })
    yield* Harness.gone(Job, name)
    yield* Harness.until(
      Effect.map(active, (all) =>
        assert.notInclude(
          all.map((one) => one.name),
          name
        )
      ),
      timeout
    )
    assert.include(yield* reasons, "MissingJob")
  })
)

for (const [what, command, limits] of [
  ["succeeded", ["true"], { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }],
  ["failed", ["false"], { successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 1 }]
] as const) {
  Harness.scenario(
    `a CronJob keeps one Job that has ${what}, and deletes the earlier ones with their pods`,
    Effect.gen(function* () {
      yield* Harness.create(CronJob, cronJob(command, limits))
      yield* Harness.until(
        Effect.map(finished, (all) => assert.isNotEmpty(all)),
        timeout
      )
      const [first, ...others] = yield* finished
      assert.isEmpty(others)
      const { name = "" } = first?.metadata ?? {}
      yield* Harness.gone(Job, name, timeout)
      yield* Harness.until(
        Effect.map(Harness.list(Pod, `job-name=${name}`), (all) => assert.isEmpty(all)),
        timeout
      )
      yield* Harness.until(
        Effect.map(finished, (all) => assert.lengthOf(all, 1)),
        timeout
      )
    })
  )
}

Harness.scenario(
  "a CronJob with an invalid time zone is refused",
  Effect.gen(function* () {
    const made = yield* Effect.result(Harness.create(CronJob, cronJob(["true"], { timeZone: "bad-time-zone" })))
    assert.isTrue(Result.isFailure(made) && made.failure.reason._tag === "Invalid")
  })
)

Harness.scenario(
  "a CronJob and its status can be created, read, changed and deleted",
  Effect.gen(function* () {
    const seen = yield* Harness.watched(CronJob)
    yield* Harness.create(CronJob, cronJob(["true"], { schedule: "* */1 * * ?" }))
    assert.lengthOf(yield* Harness.list(CronJob, "special-label=case"), 1)
    yield* Harness.patch(CronJob, "tick", { metadata: { annotations: { patched: "true" } } })
    yield* Harness.update(CronJob, "tick", (found) => ({
      ...found,
      metadata: { ...found.metadata, annotations: { ...found.metadata.annotations, updated: "true" } }
    }))
    yield* Harness.until(
      Effect.sync(() => assert.deepInclude(seen.at(-1)?.metadata.annotations, { patched: "true", updated: "true" }))
    )
    const first = Time.format(1_000)
    const annotations = { patchedstatus: "true" }
    yield* Harness.patch(CronJob, "tick", { metadata: { annotations }, status: { lastScheduleTime: first } }, "status")
    const patched = yield* Harness.get(CronJob, "tick")
    assert.strictEqual(patched.status?.lastScheduleTime, first)
    assert.deepInclude(patched.metadata.annotations, annotations)
    const second = Time.format(2_000)
    const changed = (found: CronJob) => ({ ...found, status: { ...found.status, lastScheduleTime: second } })
    yield* Harness.update(CronJob, "tick", changed, "status")
    assert.strictEqual((yield* Harness.get(CronJob, "tick")).status?.lastScheduleTime, second)
    yield* Harness.removeAll(CronJob, "special-label=case")
    assert.isEmpty(yield* Harness.list(CronJob, "special-label=case"))
  })
)
