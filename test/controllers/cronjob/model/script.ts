/** What may happen to a CronJob, as data that shrinks: caches that lag, time, runs that end, users, bad luck, and processes that die. */
import * as Schema from "effect/Schema"

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

export const Setup = Schema.Struct({
  policy: Schema.Literals(["Allow", "Forbid", "Forbid", "Replace"]),
  succeededKept: int(0, 2),
  failedKept: int(0, 1),
  deadline: Schema.Literals([0, 0, 90])
})
export type Setup = typeof Setup.Type

export const Action = Schema.Union([
  Schema.TaggedStruct("Sync", {}),
  Schema.TaggedStruct("Sync", {}),
  Schema.TaggedStruct("Wait", { seconds: int(1, 200) }),
  Schema.TaggedStruct("Wait", { seconds: int(1, 200) }),
  Schema.TaggedStruct("ShowCronJob", { events: int(1, 3) }),
  Schema.TaggedStruct("ShowJobs", { events: int(1, 3) }),
  /** The next time comes, and nobody has heard anything until then. */
  Schema.TaggedStruct("Hurry", {}),
  Schema.TaggedStruct("Hurry", {}),
  /** A process dies as soon as it has made a run, which ends; the next one dies after its first write. */
  Schema.TaggedStruct("DieTwice", {}),
  /** Everything is quiet for a while: the caches are up to date, what is due is done. */
  Schema.TaggedStruct("Rest", {}),
  Schema.TaggedStruct("Finish", { which: int(0, 3), end: Schema.Literals(["Complete", "Failed"]) }),
  /** Somebody deletes a run that is written down. */
  Schema.TaggedStruct("Delete", { which: int(0, 3) }),
  Schema.TaggedStruct("Suspend", { suspend: Schema.Boolean }),
  Schema.TaggedStruct("Touch", {}),
  Schema.TaggedStruct("Reschedule", { schedule: int(0, 2) }),
  /** The process ends, and another that is so many events behind takes over. */
  Schema.TaggedStruct("Crash", { cronJobLag: int(0, 3), jobLag: int(0, 3) }),
  /** A write of the next sync is the last of the process, before or after it is done; or its answer is lost. */
  Schema.TaggedStruct("BadWrite", { write: int(1, 3), luck: Schema.Literals(["before", "after", "lost"]) }),
  Schema.TaggedStruct("Refuse", { verb: Schema.Literals(["create", "delete", "update", "get"]), times: int(1, 2) })
])
export type Action = typeof Action.Type

export const schedules = ["* * * * *", "*/3 * * * *", "1-59/2 * * * *"] as const
