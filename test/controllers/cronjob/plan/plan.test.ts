/** The decision for a CronJob and its events, case by case; also for objects that current servers reject. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CronJobLoop from "../../../../src/controllers/CronJob.ts"
import * as Events from "../../../../src/controllers/cronjob/events.ts"
import * as Plan from "../../../../src/controllers/cronjob/plan/plan.ts"
import type * as Deps from "../../../../src/controllers/cronjob/deps.ts"
import type * as Runs from "../../../../src/controllers/cronjob/runs.ts"
import * as Zone from "../../../../src/kube/cron/Zone.ts"
import type { CronJob, Job } from "../../../../src/kube/resources.ts"
import * as Store from "../../../../src/streams/store/Store.ts"

const at = (text: string): number => Date.parse(`2024-01-01T${text}Z`)

const cronJob = (spec: object, metadata: object = {}): CronJob => ({
  metadata: { namespace: "ns", name: "tick", uid: "u", creationTimestamp: "2024-01-01T00:00:00Z", ...metadata },
  spec: { schedule: "*/10 * * * *", concurrencyPolicy: "Allow", jobTemplate: {}, ...spec }
})

const decide = (spec: object, now: string, status: Runs.Status = {}, metadata: object = {}) =>
  Plan.plan({ cronJob: cronJob(spec, metadata), status, now: at(now), zone: Zone.utc })

const recorded = ({ eventDrafts }: Plan.Plan) =>
  eventDrafts.map(({ message, reason, type }) => `${type} ${reason} ${message}`)

const active = (...names: ReadonlyArray<string>): Runs.Status => ({
  active: names.map((name) => ({ name, uid: name }))
})

const minutes = (text: string): number => at(text) / 60_000

describe("a CronJob", () => {
  const stops: Readonly<Record<string, readonly [spec: object, metadata: object, ...events: ReadonlyArray<string>]>> = {
    "while it is being deleted": [{}, { deletionTimestamp: "2024-01-01T00:00:00Z" }],
    "while it is suspended": [{ suspend: true }, {}],
    "with an unknown time zone": [
      { timeZone: "Mars/Olympus" },
      {},
      'Warning UnknownTimeZone invalid timeZone: "Mars/Olympus": unknown time zone Mars/Olympus'
    ],
    "with a schedule that cannot be parsed": [
      { schedule: "at noon" },
      {},
      'Warning UnparseableSchedule unparseable schedule: "at noon" : expected exactly 5 fields, found 2: [at noon]'
    ],
    "with a schedule in an unknown time zone": [
      { schedule: "TZ=Nowhere * * * * *" },
      {},
      'Warning UnsupportedSchedule CRON_TZ or TZ used in schedule "TZ=Nowhere * * * * *" is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
      'Warning UnparseableSchedule unparseable schedule: "TZ=Nowhere * * * * *" : provided bad location Nowhere: unknown time zone Nowhere'
    ],
    "with a schedule that matches no time": [
      { schedule: "0 0 31 2 *" },
      {},
      "Warning InvalidSchedule invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second"
    ]
  }
  for (const [title, [spec, metadata, ...expected]] of Object.entries(stops)) {
    it(`${title} creates no Job and is not synced again`, () => {
      const decision = decide(spec, "01:00:00", {}, metadata)
      assert.deepStrictEqual(recorded(decision), expected)
      assert.deepStrictEqual([decision.run, decision.wait], [undefined, undefined])
    })
  }

  it("before its first time waits until shortly after it", () => {
    assert.deepStrictEqual(decide({}, "00:09:00"), { eventDrafts: [], missed: undefined, run: undefined, wait: 60_100 })
  })

  it("at its time creates a Job, and waits for the next time", () => {
    const run = { time: at("00:10:00"), replaces: [], isAlone: false }
    assert.deepStrictEqual(decide({}, "00:10:00"), { eventDrafts: [], missed: undefined, run, wait: 600_100 })
  })

  it("uses the zone in its schedule before the field", () => {
    const schedule = "CRON_TZ=Asia/Tokyo 30 9 * * *"
    const decision = decide({ schedule, timeZone: "Europe/Berlin" }, "00:31:00")
    assert.strictEqual(decision.run?.time, at("00:30:00"))
    assert.lengthOf(recorded(decision), 1)
  })

  it("runs the last of many missed times, and reports more than a hundred", () => {
    const few = decide({ schedule: "* * * * *" }, "01:40:30")
    assert.deepStrictEqual([few.run?.time, recorded(few)], [at("01:40:00"), []])
    const many = decide({ schedule: "* * * * *" }, "01:41:30")
    assert.deepStrictEqual(
      [many.run?.time, recorded(many)],
      [
        at("01:41:00"),
        [
          "Warning TooManyMissedTimes too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
        ]
      ]
    )
    const bounded = decide({ schedule: "* * * * *", startingDeadlineSeconds: 600 }, "01:41:30")
    assert.deepStrictEqual([bounded.run?.time, recorded(bounded)], [at("01:41:00"), []])
  })

  it("finds the last time of an irregular schedule", () => {
    const schedule = "30 6-16/4 * * 1-5"
    const since = { lastScheduleTime: "2024-01-05T10:30:00Z" }
    const { run } = Plan.plan({
      cronJob: cronJob({ schedule }),
      status: since,
      now: Date.parse("2024-01-08T09:00:00Z"),
      zone: Zone.utc
    })
    assert.strictEqual(run?.time, Date.parse("2024-01-08T06:30:00Z"))
  })

  it("has missed a time whose starting deadline has passed", () => {
    const decision = decide({ startingDeadlineSeconds: 60 }, "00:12:00")
    assert.deepStrictEqual([decision.run, decision.missed, decision.wait], [undefined, at("00:10:00"), 480_100])
    assert.strictEqual(
      Events.missed(at("00:10:00")).message,
      "Missed scheduled time to start a job: Mon, 01 Jan 2024 00:10:00 +0000"
    )
    assert.isUndefined(decide({ startingDeadlineSeconds: 120 }, "00:11:59").missed)
  })

  it("does not run a time that is in the active list, nor one before the last schedule time", () => {
    assert.isUndefined(decide({}, "00:15:00", active(`tick-${minutes("00:10:00")}`)).run)
    assert.isUndefined(decide({}, "00:15:00", { lastScheduleTime: "2024-01-01T00:10:00Z" }).run)
    assert.isUndefined(decide({}, "00:15:00", { lastScheduleTime: "2024-01-01T05:00:00Z" }).run)
  })

  it("applies the concurrency policies", () => {
    const status = active("tick-1", "tick-2")
    assert.deepInclude(decide({}, "00:15:00", status).run, { replaces: [], isAlone: false })
    const forbidden = decide({ concurrencyPolicy: "Forbid" }, "00:15:00", status)
    assert.isUndefined(forbidden.run)
    assert.deepStrictEqual(recorded(forbidden), [
      "Normal JobAlreadyActive Not starting job because prior execution is running and concurrency policy is Forbid"
    ])
    assert.deepInclude(decide({ concurrencyPolicy: "Forbid" }, "00:15:00").run, { replaces: [], isAlone: true })
    const replaced = decide({ concurrencyPolicy: "Replace" }, "00:15:00", status)
    assert.deepInclude(replaced.run, { replaces: status.active ?? [], isAlone: true })
  })
})

describe("an update", () => {
  it.effect("with a schedule that cannot be parsed gets one event, and nothing else is done", () =>
    Effect.gen(function* () {
      const [cronJobs, jobs] = [Store.make<CronJob>(), Store.make<Job>()]
      const events: Array<string> = []
      const unexpected = () => Effect.die("no call is expected")
      const deps: Deps.Deps = {
        cronJobs,
        jobs,
        zone: Zone.utc,
        live: unexpected,
        liveJob: unexpected,
        liveJobs: unexpected,
        updateStatus: unexpected,
        create: unexpected,
        remove: unexpected,
        events: {
          event: (_, type, reason, message) => Effect.sync(() => void events.push(`${type} ${reason} ${message}`))
        },
        queue: { addWithUnsafe: () => undefined }
      }
      const loop = yield* CronJobLoop.loopOf(deps)
      const previous = cronJob({})
      const object = cronJob({ schedule: "at noon" })
      for (const store of [cronJobs, jobs]) {
        store.apply({ _tag: "Restarted" })
        store.apply({ _tag: "Synced", resourceVersion: "1" })
      }
      cronJobs.apply({ _tag: "Changed", events: [{ type: "ADDED", object }], resourceVersion: "2" })
      assert.deepStrictEqual(loop.onCronJob({ _tag: "Updated", key: "ns/tick", previous, object } as never), [
        "ns/tick"
      ])
      yield* loop.reconcile({ key: "ns/tick" })
      assert.deepStrictEqual(events, ["Warning UnParseableCronJobSchedule unparseable schedule for cronjob: at noon"])
    })
  )
})
