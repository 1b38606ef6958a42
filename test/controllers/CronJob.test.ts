/**
 * The CronJob controller on the embedded API server. The clock starts in 1970, and the names of the Jobs contain the
 * minutes since then.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import { CronJob, Job } from "../../src/kube/resources.ts"
import * as ClusterTest from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Jobs from "./job/harness.ts"
import * as Harness from "./cronjob/harness.ts"

const none: ReadonlyArray<string> = []

/** Runs the test without the controller, which the test starts later. */
const withoutController = <A, E>(test: Effect.Effect<A, E, ClusterTest.Provides | Scope.Scope>) =>
  test.pipe(Effect.scoped, Effect.provide(ClusterTest.ClusterTest.layer()))

const created = (...minutes: ReadonlyArray<number>) =>
  minutes.map((minute) => `Normal SuccessfulCreate Created job tick-${minute}`)

describe("a Job of a CronJob", () => {
  it.effect("has the template, the scheduled time, and its CronJob as owner", () =>
    Harness.scenario(
      Effect.gen(function* () {
        const metadata = { labels: { app: "work" }, annotations: { why: "because" } }
        yield* Harness.apply(
          Harness.cronJob({ jobTemplate: { metadata, spec: { backoffLimit: 3, template: Harness.template } } })
        )
        yield* Harness.advance("1 minute")
        assert.deepStrictEqual(yield* Harness.runs, none)
        yield* Harness.advance("100 millis")
        const job = yield* Harness.run("tick-1")
        const owner = yield* Harness.get()
        assert.deepInclude(job.metadata, {
          labels: { app: "work" },
          annotations: {
            why: "because",
            "batch.kubernetes.io/cronjob-scheduled-timestamp": "1970-01-01T00:01:00Z"
          },
          ownerReferences: [
            {
              apiVersion: "batch/v1",
              kind: "CronJob",
              name: "tick",
              uid: owner.metadata.uid ?? "",
              controller: true,
              blockOwnerDeletion: true
            }
          ]
        })
        assert.deepInclude(job.spec, { backoffLimit: 3 })
        assert.deepStrictEqual(owner.status, {
          active: [
            {
              apiVersion: "batch/v1",
              kind: "Job",
              name: "tick-1",
              namespace: "default",
              uid: job.metadata.uid ?? "",
              resourceVersion: job.metadata.resourceVersion ?? ""
            }
          ],
          lastScheduleTime: "1970-01-01T00:01:00Z"
        })
        assert.deepStrictEqual(yield* Jobs.events("tick"), [
          { text: "Normal SuccessfulCreate Created job tick-1", component: "cronjob-controller" }
        ])
      })
    )
  )

  it.effect("has its time in the CronJob's zone", () =>
    Harness.scenario(
      Effect.gen(function* () {
        const zones = { "Asia/Kolkata": "+05:30", "America/New_York": "-05:00", "Africa/Abidjan": "Z" }
        for (const [index, timeZone] of Object.keys(zones).entries())
          yield* Harness.apply(Harness.cronJob({ timeZone }, { name: `tick-${index}` }))
        yield* Harness.advance("61 seconds")
        for (const [index, offset] of Object.values(zones).entries()) {
          const { metadata } = yield* Harness.run(`tick-${index}-1`)
          const text = metadata.annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"] ?? ""
          assert.strictEqual(Date.parse(text), 60_000)
          assert.isTrue(text.endsWith(offset), text)
        }
      })
    )
  )

  it.effect("is created by the schedule of the zone, or of the process's zone", () =>
    Harness.scenario(
      Effect.gen(function* () {
        // 1970 began at half past five in that zone.
        yield* Harness.apply(Harness.cronJob({ schedule: "0 6 * * *", timeZone: "Asia/Kolkata" }))
        yield* Harness.apply(Harness.cronJob({ schedule: "0 6 * * *" }, { name: "local" }))
        yield* Harness.advance("31 minutes")
        assert.deepStrictEqual(yield* Harness.runs, ["tick-30"])
        yield* Harness.advance("6 hours")
        assert.deepStrictEqual(yield* Harness.runs, ["local-360", "tick-30"])
      })
    )
  )

  it.effect("is created each minute while the CronJob exists", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.cronJob())
        yield* Harness.advance("3 minutes")
        yield* Harness.advance("1 second")
        assert.deepStrictEqual(yield* Harness.active, ["tick-1", "tick-2", "tick-3"])
        yield* Harness.remove(CronJob, "tick", { propagationPolicy: "Orphan" })
        yield* Harness.advance("10 minutes")
        assert.lengthOf(yield* Harness.runs, 3)
        assert.deepStrictEqual(yield* Harness.eventTexts(), created(1, 2, 3))
      })
    )
  )

  it.effect("whose creation fails leads to an event, and is retried", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.cronJob())
        yield* Harness.recording([
          { match: { verb: "create", resource: "jobs.batch" }, fault: { _tag: "Status", code: 403 }, times: 3 }
        ])
        yield* Harness.advance("62 seconds")
        assert.deepStrictEqual(yield* Harness.runs, ["tick-1"])
        assert.deepStrictEqual(yield* Harness.eventTexts(), [
          "Warning FailedCreate Error creating job: scripted status 403",
          "Normal SuccessfulCreate Created job tick-1"
        ])
      })
    )
  )

  it.effect("whose name another object has is not created and not adopted; the next one is created", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Jobs.job({}, { name: "tick-1" }), Harness.cronJob())
        yield* Harness.advance("61 seconds")
        assert.deepStrictEqual(yield* Harness.statusOf(), {})
        yield* Harness.advance("1 minute")
        assert.deepStrictEqual(yield* Harness.active, ["tick-2"])
        assert.deepStrictEqual(yield* Harness.eventTexts(), created(2))
      })
    )
  )

  it.effect("counts in the histogram of the creation skew", () =>
    Harness.scenario(
      Effect.gen(function* () {
        const registry = yield* Metric.snapshot
        const count = () =>
          registry.length === 0
            ? Effect.succeed(0)
            : Effect.map(Metric.snapshot, (all) =>
                all
                  .filter(({ id }) => id === "cronjob_controller_job_creation_skew_duration_seconds")
                  .reduce((sum, { state }) => sum + Number((state as { count?: number | bigint }).count ?? 0), 0)
              )
        const before = yield* count()
        yield* Harness.apply(Harness.cronJob())
        yield* Harness.advance("2 minutes")
        yield* Harness.advance("1 second")
        assert.strictEqual((yield* count()) - before, 2)
      })
    )
  )
})

describe("a finished Job", () => {
  for (const type of ["Complete", "Failed"] as const) {
    it.effect(`is removed from the active list (${type})`, () =>
      Harness.scenario(
        Effect.gen(function* () {
          yield* Harness.apply(Harness.cronJob({ schedule: "@hourly" }))
          yield* Harness.advance("61 minutes")
          yield* Harness.end("tick-60", type)
          assert.deepStrictEqual(yield* Harness.statusOf(), {
            lastScheduleTime: "1970-01-01T01:00:00Z",
            ...(type === "Complete" ? { lastSuccessfulTime: "1970-01-01T01:01:00Z" } : {})
          })
          assert.deepStrictEqual(yield* Harness.eventTexts(), [
            ...created(60),
            `Normal SawCompletedJob Saw completed job: tick-60, condition: ${type}`
          ])
        })
      )
    )
  }

  it.effect("above the history limit is deleted, oldest start first, failed ones by their own limit", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.cronJob({ successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 }))
        const calls = yield* Harness.recording()
        for (let minute = 1; minute <= 6; minute++) {
          yield* Harness.advance("1 minute")
          yield* Harness.advance("1 second")
          yield* Harness.end(`tick-${minute}`, minute % 2 === 0 ? "Failed" : "Complete")
        }
        assert.deepStrictEqual(yield* Harness.runs, ["tick-3", "tick-5", "tick-6"])
        assert.deepStrictEqual(
          (yield* Harness.eventTexts()).filter((text) => text.includes("Delete")),
          ["tick-2", "tick-1", "tick-4"].map((name) => `Normal SuccessfulDelete Deleted job ${name}`)
        )
        const removals = calls.filter(({ context }) => context.verb === "delete")
        assert.deepStrictEqual(
          removals.map(({ body }) => (body as { propagationPolicy?: string }).propagationPolicy),
          ["Background", "Background", "Background"]
        )
        assert.deepStrictEqual(yield* Harness.active, none)
      })
    )
  )

  it.effect("is deleted at once with a history limit of zero, and its time is not run again", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(
          Harness.cronJob({ schedule: "@hourly", successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0 })
        )
        yield* Harness.advance("61 minutes")
        yield* Harness.end("tick-60")
        assert.deepStrictEqual(yield* Harness.runs, none)
        yield* Harness.advance("50 minutes")
        assert.deepStrictEqual(yield* Harness.runs, none)
        assert.deepStrictEqual(yield* Harness.statusOf(), {
          lastScheduleTime: "1970-01-01T01:00:00Z",
          lastSuccessfulTime: "1970-01-01T01:01:00Z"
        })
        assert.deepStrictEqual(yield* Harness.reasons(), ["SuccessfulCreate", "SuccessfulDelete"])
      })
    )
  )

  it.effect("whose deletion fails leads to an event, and is retried", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.cronJob({ schedule: "@hourly", successfulJobsHistoryLimit: 0 }))
        yield* Harness.advance("61 minutes")
        yield* Harness.recording([
          { match: { verb: "delete", resource: "jobs.batch" }, fault: { _tag: "Status", code: 403 }, times: 2 }
        ])
        yield* Harness.end("tick-60")
        yield* Harness.advance("10 seconds")
        assert.deepStrictEqual(yield* Harness.runs, none)
        const recorded = yield* Harness.eventTexts()
        assert.include(recorded, "Warning FailedDelete Deleted job: scripted status 403")
        assert.include(recorded, "Normal SuccessfulDelete Deleted job tick-60")
        assert.deepStrictEqual(yield* Harness.active, none)
      })
    )
  )

  it.effect("is kept without a history limit", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.cronJob())
        yield* Harness.change({ successfulJobsHistoryLimit: 100 })
        for (let minute = 1; minute <= 8; minute++) {
          yield* Harness.advance("1 minute")
          yield* Harness.advance("1 second")
          yield* Harness.end(`tick-${minute}`)
        }
        assert.lengthOf(yield* Harness.runs, 8)
      })
    )
  )
})

describe("the active list", () => {
  it.effect("drops a Job that a user deleted, with an event", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.cronJob({ schedule: "@hourly", concurrencyPolicy: "Forbid" }))
        yield* Harness.advance("61 minutes")
        yield* Harness.remove(Job, "tick-60", { propagationPolicy: "Background" })
        yield* Harness.settle
        assert.deepStrictEqual(yield* Harness.active, none)
        assert.include(yield* Harness.eventTexts(), "Normal MissingJob Active job went missing: tick-60")
        yield* Harness.advance("1 hour")
        assert.deepStrictEqual(yield* Harness.active, ["tick-120"])
      })
    )
  )

  it.effect("does not include Jobs that the controller did not create, and reports each once", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.cronJob({ schedule: "*/40 * * * *", concurrencyPolicy: "Forbid" }))
        const { metadata } = yield* Harness.get()
        const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid: metadata.uid, controller: true }
        yield* Harness.apply(Jobs.job({}, { name: "by-hand", ownerReferences: [owner] }))
        yield* Harness.advance("30 minutes")
        yield* Harness.patch(Job, "by-hand", { metadata: { labels: { a: "b" } } })
        yield* Harness.advance("11 minutes")
        assert.deepStrictEqual(yield* Harness.active, ["tick-40"])
        yield* Harness.end("by-hand")
        assert.deepStrictEqual(yield* Harness.eventTexts(), [
          "Warning UnexpectedJob Saw a job that the controller did not create or forgot: by-hand",
          ...created(40)
        ])
        assert.strictEqual((yield* Harness.statusOf())?.lastSuccessfulTime, "1970-01-01T00:41:00Z")
      })
    )
  )

  it.effect("of a recreated CronJob is empty, and the Jobs of the first one are cleaned up", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.cronJob({ schedule: "@hourly", successfulJobsHistoryLimit: 0 }))
        yield* Harness.advance("61 minutes")
        yield* Harness.remove(CronJob, "tick", { propagationPolicy: "Background" })
        yield* Harness.apply(Harness.cronJob({ schedule: "@hourly", successfulJobsHistoryLimit: 0 }))
        assert.deepStrictEqual(yield* Harness.active, none)
        yield* Harness.end("tick-60")
        yield* Harness.advance("1 hour")
        assert.deepStrictEqual(yield* Harness.runs, ["tick-120"])
      })
    )
  )
})

describe("concurrent Jobs", () => {
  const overlap = (concurrencyPolicy: string) =>
    Effect.gen(function* () {
      yield* Harness.apply(Harness.cronJob({ concurrencyPolicy }))
      yield* Harness.advance("121 seconds")
    })

  it.effect("are created with the policy Allow", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* overlap("Allow")
        assert.deepStrictEqual(yield* Harness.active, ["tick-1", "tick-2"])
      })
    )
  )

  it.effect(
    "are skipped with the policy Forbid, until the active Job has finished; then the last missed time is run",
    () =>
      Harness.scenario(
        Effect.gen(function* () {
          yield* overlap("Forbid")
          assert.deepStrictEqual(yield* Harness.active, ["tick-1"])
          assert.deepStrictEqual(yield* Harness.runs, ["tick-1"])
          assert.deepStrictEqual(yield* Harness.eventTexts(), [
            ...created(1),
            "Normal JobAlreadyActive Not starting job because prior execution is running and concurrency policy is Forbid"
          ])
          yield* Harness.advance("30 seconds")
          yield* Harness.end("tick-1")
          assert.deepStrictEqual(yield* Harness.active, ["tick-2"])
        })
      )
  )

  it.effect("replace the active Job with the policy Replace", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* overlap("Replace")
        assert.deepStrictEqual(yield* Harness.active, ["tick-2"])
        assert.deepStrictEqual(yield* Harness.runs, ["tick-2"])
        assert.deepStrictEqual(yield* Harness.eventTexts(), [
          ...created(1),
          "Normal SuccessfulDelete Deleted job tick-1",
          ...created(2)
        ])
      })
    )
  )

  it.effect("are not created before the replaced Job is deleted: a refusal leads to an event, and is retried", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.cronJob({ concurrencyPolicy: "Replace" }))
        yield* Harness.advance("61 seconds")
        const refused = { _tag: "Status", code: 403 } as const
        yield* Harness.recording([
          { match: { verb: "get", resource: "jobs.batch" }, fault: refused, times: 1 },
          { match: { verb: "delete", resource: "jobs.batch" }, fault: refused, times: 1 }
        ])
        yield* Harness.advance("62 seconds")
        assert.deepStrictEqual(yield* Harness.runs, ["tick-2"])
        assert.deepStrictEqual(yield* Harness.eventTexts(), [
          ...created(1),
          "Warning FailedGet Get job: scripted status 403",
          "Warning FailedDelete Deleted job: scripted status 403",
          "Normal SuccessfulDelete Deleted job tick-1",
          ...created(2)
        ])
      })
    )
  )
})

describe("missed times", () => {
  /** Creates a CronJob, and starts the controller this many minutes and thirty seconds later. */
  const startAfter = (minutes: number, spec: object = {}) =>
    Effect.gen(function* () {
      yield* Harness.apply(Harness.cronJob(spec))
      yield* Harness.advance(`${minutes} minutes`)
      yield* Harness.advance("30 seconds")
      yield* Harness.start
      yield* Harness.settle
    })

  it.effect("lead to one Job, for the last of them", () =>
    Effect.gen(function* () {
      yield* startAfter(50)
      assert.deepStrictEqual(yield* Harness.runs, ["tick-50"])
      assert.deepStrictEqual(yield* Harness.eventTexts(), created(50))
    }).pipe(withoutController)
  )

  it.effect("more than a hundred of them lead to an event, and to one Job", () =>
    Effect.gen(function* () {
      yield* startAfter(101)
      assert.deepStrictEqual(yield* Harness.runs, ["tick-101"])
      assert.deepStrictEqual(yield* Harness.eventTexts(), [
        "Warning TooManyMissedTimes too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew",
        ...created(101)
      ])
    }).pipe(withoutController)
  )

  it.effect("before the starting deadline do not count", () =>
    Effect.gen(function* () {
      yield* startAfter(300, { startingDeadlineSeconds: 200 })
      assert.deepStrictEqual(yield* Harness.eventTexts(), created(300))
    }).pipe(withoutController)
  )

  it.effect("whose starting deadline has passed are not run, lead to one event, and do not affect the next time", () =>
    Effect.gen(function* () {
      yield* startAfter(1, { startingDeadlineSeconds: 20 })
      yield* Harness.patch(CronJob, "tick", { metadata: { labels: { touched: "yes" } } })
      yield* Harness.settle
      assert.deepStrictEqual(yield* Harness.runs, none)
      assert.deepStrictEqual(yield* Harness.eventTexts(), [
        "Warning MissSchedule Missed scheduled time to start a job: Thu, 01 Jan 1970 00:01:00 +0000"
      ])
      yield* Harness.advance("31 seconds")
      assert.deepStrictEqual(yield* Harness.runs, ["tick-2"])
    }).pipe(withoutController)
  )
})

describe("a CronJob", () => {
  it.effect("that is suspended creates nothing; when resumed, the last missed time is run", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.cronJob({ suspend: true }))
        yield* Harness.advance("10 minutes")
        assert.deepStrictEqual(yield* Harness.runs, none)
        yield* Harness.change({ suspend: false })
        assert.deepStrictEqual(yield* Harness.runs, ["tick-10"])
        yield* Harness.change({ suspend: true })
        yield* Harness.advance("10 minutes")
        assert.deepStrictEqual(yield* Harness.runs, ["tick-10"])
      })
    )
  )

  it.effect("whose schedule changes does not run past times of the new schedule", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.cronJob({ schedule: "0 12 * * *" }))
        yield* Harness.advance("10 hours")
        yield* Harness.change({ schedule: "0 9 * * *" })
        yield* Harness.advance("1 hour")
        assert.deepStrictEqual(yield* Harness.runs, none)
        yield* Harness.change({ schedule: "30 11 * * *" })
        yield* Harness.advance("31 minutes")
        assert.deepStrictEqual(yield* Harness.runs, ["tick-690"])
        yield* Harness.change({ timeZone: "Asia/Kolkata", schedule: "15 17 * * *" })
        yield* Harness.advance("15 minutes")
        assert.deepStrictEqual(yield* Harness.runs, ["tick-690", "tick-705"])
      })
    )
  )

  it.effect("that is being deleted creates nothing more, and keeps its status current", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.cronJob({}, { finalizers: ["example.com/held"] }))
        yield* Harness.advance("61 seconds")
        yield* Harness.remove(CronJob, "tick")
        yield* Harness.advance("10 minutes")
        assert.deepStrictEqual(yield* Harness.active, ["tick-1"])
        yield* Harness.end("tick-1")
        assert.deepStrictEqual(yield* Harness.active, none)
      })
    )
  )

  it.effect("with an @every schedule counts from its creation or its last Job", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.advance("17 seconds")
        yield* Harness.apply(Harness.cronJob({ schedule: "@every 90s" }))
        yield* Harness.advance("4 minutes")
        const job = yield* Harness.run("tick-1")
        assert.strictEqual(
          job.metadata.annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"],
          "1970-01-01T00:01:47Z"
        )
        assert.deepStrictEqual(yield* Harness.runs, ["tick-1", "tick-3"])
      })
    )
  )

  it.effect("whose schedule matches no time gets an event, and creates nothing", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.cronJob({ schedule: "59 23 31 2 *" }))
        const calls = yield* Harness.recording()
        yield* Harness.advance("40 minutes")
        assert.deepStrictEqual(yield* Harness.eventTexts(), [
          "Warning InvalidSchedule invalid schedule: 59 23 31 2 * : time difference between two schedules is less than 1 second"
        ])
        yield* Harness.advance("2 days")
        assert.deepStrictEqual(calls, [])
      })
    )
  )

  it.effect("writes nothing while no time is due and no Job finishes", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.cronJob({ schedule: "@hourly" }))
        yield* Harness.advance("61 minutes")
        const calls = yield* Harness.recording()
        yield* Harness.advance("58 minutes")
        yield* Harness.patch(Job, "tick-60", { metadata: { labels: { touched: "yes" } } })
        yield* Harness.settle
        assert.deepStrictEqual(calls.map(Jobs.line), ["patch jobs.batch"])
      })
    )
  )

  it.effect("runs each time of a week once", () =>
    Harness.scenario(
      Effect.gen(function* () {
        yield* Harness.apply(Harness.cronJob({ schedule: "30 */6 * * 1-5", timeZone: "Europe/Berlin" }))
        const client = yield* KubeClient
        const times: Array<number> = []
        for (let day = 0; day < 7; day++) {
          yield* Harness.advance("1 day")
          for (const { metadata, status } of (yield* client.list(Job, { namespace: "default" })).items) {
            if (status?.conditions !== undefined) continue
            times.push(Number(metadata.name.slice("tick-".length)))
            yield* Harness.end(metadata.name)
          }
        }
        // Five working days, four runs each; 1970 began with a Thursday.
        assert.lengthOf(new Set(times), times.length)
        assert.lengthOf(times, 20)
        assert.lengthOf(yield* Harness.runs, 3)
      })
    )
  )
})
