/** Writes: schedules and time zones of a CronJob, their defaults and table columns. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Cause, done, invalid, merge, table } from "../assertions.ts"
import type { Case } from "../Case.ts"

const at = (namespace: string) => `/apis/batch/v1/namespaces/${namespace}/cronjobs`

const cronJob = (name: string, spec: object) => ({
  metadata: { name },
  spec: {
    schedule: "*/5 * * * *",
    jobTemplate: {
      spec: {
        template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "registry.example/app:1" }] } }
      }
    },
    ...spec
  }
})

const accepted = [
  "0 0 1,15 * mon-fri/2",
  "59 23 31 2 *",
  "? ? ? ? ?",
  "5/20 1-5/2 * JAN,feb Sun",
  "@hourly",
  "@every 1h30m",
  "1,,2 * * * *"
]

const of = (field: string, phrase: string): Cause => [`spec.${field}`, "FieldValueInvalid", phrase]

const inline = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"

const refused: ReadonlyArray<readonly [spec: object, ...causes: ReadonlyArray<Cause>]> = [
  [{ schedule: "* * * *" }, of("schedule", "expected exactly 5 fields, found 4: [* * * *]")],
  [{ schedule: "61 * * * *" }, of("schedule", "end of range (61) above maximum (59): 61")],
  [{ schedule: "* * 0 * *" }, of("schedule", "beginning of range (0) below minimum (1): 0")],
  [{ schedule: "5-1 * * * *" }, of("schedule", "beginning of range (5) beyond end of range (1): 5-1")],
  [{ schedule: "*/0 * * * *" }, of("schedule", "step of range should be a positive number: */0")],
  [{ schedule: "1-2-3 * * * *" }, of("schedule", "too many hyphens: 1-2-3")],
  [{ schedule: "1/2/3 * * * *" }, of("schedule", "too many slashes: 1/2/3")],
  [{ schedule: "@noon" }, of("schedule", "unrecognized descriptor: @noon")],
  [{ schedule: "@every soon" }, of("schedule", 'failed to parse duration @every soon: time: invalid duration "soon"')],
  [{ schedule: "TZ=UTC 0 * * * *" }, of("schedule", inline)],
  [{ schedule: "CRON_TZ=UTC 0 * * * *", timeZone: "UTC" }, of("schedule", inline)],
  [{ timeZone: "" }, of("timeZone", "timeZone must be nil or non-empty string")],
  [{ timeZone: "bad-time-zone" }, of("timeZone", "unknown time zone bad-time-zone")],
  [{ timeZone: "../UTC" }, of("timeZone", "unknown time zone ../UTC")],
  [{ timeZone: "Local" }, of("timeZone", "timeZone must be an explicit time zone as defined in")]
]

const rule = "batch ValidateCronJobCreate, ValidateCronJobUpdate"

export const schedules: ReadonlyArray<Case> = [
  {
    title: "a CronJob must have a valid schedule and a known time zone",
    since: 35,
    rule,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const path = at(namespace)
      for (const [index, schedule] of accepted.entries()) {
        const made = done(yield* ask("POST", path, cronJob(`a${index}`, { schedule, timeZone: "Europe/Berlin" })))
        assert.deepInclude(made.spec, {
          schedule,
          timeZone: "Europe/Berlin",
          concurrencyPolicy: "Allow",
          suspend: false,
          successfulJobsHistoryLimit: 3,
          failedJobsHistoryLimit: 1
        })
      }
      for (const [spec, ...causes] of refused) {
        invalid(yield* ask("POST", path, cronJob("b", spec)), 'CronJob.batch "b"', ...causes)
        invalid(yield* ask("PATCH", `${path}/a0`, { spec }, merge), 'CronJob.batch "a0"', ...causes)
      }
    })
  },
  {
    title: "the status of a CronJob is written through its subresource, and has table columns",
    since: 35,
    rule: "batch CronJob status strategy and printers",
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const path = at(namespace)
      done(yield* ask("POST", path, cronJob("a", { timeZone: "Asia/Tokyo" })))
      const active = [{ apiVersion: "batch/v1", kind: "Job", namespace, name: "a-1", uid: "1" }]
      const status = { active, lastScheduleTime: "2020-01-01T00:00:00Z", lastSuccessfulTime: "2020-01-01T00:00:09Z" }
      const written = done(yield* ask("PATCH", `${path}/a/status`, { status, spec: { suspend: true } }, merge))
      assert.deepStrictEqual(written.status, status)
      assert.isFalse(written.spec.suspend)
      assert.strictEqual(written.metadata.generation, 1)
      const shown = done(yield* ask("GET", path, undefined, table))
      const column = (name: string) =>
        shown.rows[0].cells[shown.columnDefinitions.findIndex((one: { name: string }) => one.name === name)]
      assert.deepStrictEqual(["Schedule", "Timezone", "Suspend", "Active"].map(column), [
        "*/5 * * * *",
        "Asia/Tokyo",
        "False",
        1
      ])
    })
  }
]
