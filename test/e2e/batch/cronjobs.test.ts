/** What Kubernetes' end-to-end suite asks of CronJobs: test/e2e/apps/cronjob.go. */
import { assert } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { CronJob, Event, Job, Pod } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { Recorder } from "../../../src/layers/Recorder.ts"
import * as World from "../stand.ts"

const endures = ["sleep", "300"]

/** How long that suite waits for a CronJob. */
const patience = "5 minutes"

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
          spec: World.spec("work:1", command, { restartPolicy: "OnFailure", volumes: [{ name: "data", emptyDir: {} }] })
        }
      }
    },
    ...spec
  }
})

const active = Effect.map(World.get(CronJob, "tick"), ({ status }) => status?.active ?? [])

const jobs = World.list(Job)

const isFinished = ({ status }: Job): boolean =>
  status?.conditions?.some(({ status: holds, type }) => holds === "True" && ["Complete", "Failed"].includes(type)) ===
  true

const finished = Effect.map(jobs, (all) => all.filter(isFinished))

const running = Effect.map(jobs, (all) => all.filter((job) => !isFinished(job)))

/** Waits until the list of runs under way has at least so many. */
const isActive = (count: number) =>
  World.until(
    Effect.map(active, (all) => assert.isAtLeast(all.length, count)),
    patience
  )

const reasons = Effect.gen(function* () {
  yield* (yield* Recorder).drained
  return (yield* World.list(Event))
    .filter(({ involvedObject }) => involvedObject.kind === "CronJob")
    .map(({ reason }) => reason)
})

const remove = World.remove(CronJob, "tick", { propagationPolicy: "Background" })

World.scenario(
  "schedules several Jobs at once, and they go with it",
  Effect.gen(function* () {
    yield* World.create(CronJob, cronJob(endures))
    yield* isActive(2)
    assert.isAtLeast((yield* running).length, 2)
    yield* remove
    yield* World.until(
      Effect.map(jobs, (all) => assert.isEmpty(all)),
      patience
    )
    yield* World.until(
      Effect.map(World.list(Pod), (all) => assert.isEmpty(all)),
      patience
    )
  })
)

World.scenario(
  "schedules none while it is suspended",
  Effect.gen(function* () {
    yield* World.create(CronJob, cronJob(endures, { suspend: true }))
    for (let minute = 0; minute < 5; minute++) {
      yield* World.advance("1 minute")
      assert.isEmpty(yield* active)
    }
    assert.isEmpty(yield* jobs)
  })
)

World.scenario(
  "schedules no other while one is under way, where that is forbidden",
  Effect.gen(function* () {
    yield* World.create(CronJob, cronJob(endures, { concurrencyPolicy: "Forbid" }))
    yield* isActive(1)
    assert.lengthOf(yield* active, 1)
    assert.lengthOf(yield* running, 1)
    for (let minute = 0; minute < 5; minute++) {
      yield* World.advance("1 minute")
      assert.isBelow((yield* active).length, 2)
    }
  })
)

World.scenario(
  "replaces the one that is under way, where it is told to",
  Effect.gen(function* () {
    yield* World.create(CronJob, cronJob(endures, { concurrencyPolicy: "Replace" }))
    yield* isActive(1)
    const [first, ...others] = yield* running
    assert.isEmpty(others)
    yield* World.until(
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
      patience
    )
  })
)

World.scenario(
  "schedules again after more than a hundred times that were missed",
  Effect.gen(function* () {
    yield* World.advance("3 hours")
    yield* World.create(CronJob, cronJob(endures, { concurrencyPolicy: "Forbid", suspend: true }))
    const lastScheduleTime = Time.format((yield* Clock.currentTimeMillis) - 101 * 60_000)
    yield* World.patch(CronJob, "tick", { status: { lastScheduleTime } }, "status")
    yield* World.patch(CronJob, "tick", { spec: { suspend: false } })
    yield* isActive(1)
    assert.isNotEmpty(yield* running)
    assert.include(yield* reasons, "TooManyMissedTimes")
  })
)

World.scenario(
  "tells of no Job that it did not expect, and of none that went missing",
  Effect.gen(function* () {
    yield* World.create(CronJob, cronJob(["true"]))
    yield* World.until(
      Effect.map(jobs, (all) => assert.isAtLeast(all.length, 2)),
      patience
    )
    yield* World.until(
      Effect.map(finished, (all) => assert.isNotEmpty(all)),
      patience
    )
    yield* World.advance("30 seconds")
    const told = yield* reasons
    for (const reason of ["MissingJob", "UnexpectedJob"]) assert.notInclude(told, reason)
    assert.include(told, "SawCompletedJob")
  })
)

World.scenario(
  "marks a Job with the time that it was made for",
  Effect.gen(function* () {
    yield* World.create(CronJob, cronJob(["true"]))
    yield* World.until(
      Effect.map(jobs, (all) => assert.isNotEmpty(all)),
      patience
    )
    const [job] = yield* jobs
    const text = job?.metadata.annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    assert.strictEqual(Time.parse(text), 60_000)
  })
)

World.scenario(
  "takes Jobs that were deleted off its list, and tells of them",
  Effect.gen(function* () {
    yield* World.create(CronJob, cronJob(endures, { concurrencyPolicy: "Forbid" }))
    yield* isActive(1)
    const [reference, ...others] = yield* active
    assert.isEmpty(others)
    const { name = "" } = reference ?? {}
    yield* World.remove(Job, name, { propagationPolicy: "Background" })
    yield* World.gone(Job, name)
    yield* World.until(
      Effect.map(active, (all) =>
        assert.notInclude(
          all.map((one) => one.name),
          name
        )
      ),
      patience
    )
    assert.include(yield* reasons, "MissingJob")
  })
)

for (const [what, command, limits] of [
  ["succeeded", ["true"], { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }],
  ["failed", ["false"], { successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 1 }]
] as const) {
  World.scenario(
    `keeps one Job that has ${what}, and deletes the ones before with their pods`,
    Effect.gen(function* () {
      yield* World.create(CronJob, cronJob(command, limits))
      yield* World.until(
        Effect.map(finished, (all) => assert.isNotEmpty(all)),
        patience
      )
      const [first, ...others] = yield* finished
      assert.isEmpty(others)
      const { name = "" } = first?.metadata ?? {}
      yield* World.gone(Job, name, patience)
      yield* World.until(
        Effect.map(World.list(Pod, `job-name=${name}`), (all) => assert.isEmpty(all)),
        patience
      )
      yield* World.until(
        Effect.map(finished, (all) => assert.lengthOf(all, 1)),
        patience
      )
    })
  )
}

World.scenario(
  "cannot be in a time zone that is none",
  Effect.gen(function* () {
    const made = yield* Effect.result(World.create(CronJob, cronJob(["true"], { timeZone: "bad-time-zone" })))
    assert.isTrue(Result.isFailure(made) && made.failure.reason._tag === "Invalid")
  })
)

World.scenario(
  "is created, read, changed, its status too, and deleted",
  Effect.gen(function* () {
    const seen = yield* World.watched(CronJob)
    yield* World.create(CronJob, cronJob(["true"], { schedule: "* */1 * * ?" }))
    assert.lengthOf(yield* World.list(CronJob, "special-label=case"), 1)
    yield* World.patch(CronJob, "tick", { metadata: { annotations: { patched: "true" } } })
    yield* World.update(CronJob, "tick", (found) => ({
      ...found,
      metadata: { ...found.metadata, annotations: { ...found.metadata.annotations, updated: "true" } }
    }))
    yield* World.until(
      Effect.sync(() => assert.deepInclude(seen.at(-1)?.metadata.annotations, { patched: "true", updated: "true" }))
    )
    const first = Time.format(1_000)
    const annotations = { patchedstatus: "true" }
    yield* World.patch(CronJob, "tick", { metadata: { annotations }, status: { lastScheduleTime: first } }, "status")
    const patched = yield* World.get(CronJob, "tick")
    assert.strictEqual(patched.status?.lastScheduleTime, first)
    assert.deepInclude(patched.metadata.annotations, annotations)
    const second = Time.format(2_000)
    const changed = (found: CronJob) => ({ ...found, status: { ...found.status, lastScheduleTime: second } })
    yield* World.update(CronJob, "tick", changed, "status")
    assert.strictEqual((yield* World.get(CronJob, "tick")).status?.lastScheduleTime, second)
    yield* World.removeAll(CronJob, "special-label=case")
    assert.isEmpty(yield* World.list(CronJob, "special-label=case"))
  })
)
