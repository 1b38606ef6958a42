/**
 * The operations of a script, as data that shrinks: lagging caches, time, finished Jobs, user actions, faulty writes
 * and restarts.
 */
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
  /** The next time is due, and no event was delivered until then. */
  Schema.TaggedStruct("Hurry", {}),
  Schema.TaggedStruct("Hurry", {}),
  /** A process ends after it created a Job, which finishes; the next process ends after its first write. */
  Schema.TaggedStruct("DieTwice", {}),
  /** All events are delivered and all due syncs are done. */
  Schema.TaggedStruct("Rest", {}),
  Schema.TaggedStruct("Finish", { which: int(0, 3), end: Schema.Literals(["Complete", "Failed"]) }),
  /** A user deletes a recorded Job. */
  Schema.TaggedStruct("Delete", { which: int(0, 3) }),
  Schema.TaggedStruct("Suspend", { suspend: Schema.Boolean }),
  Schema.TaggedStruct("Touch", {}),
  Schema.TaggedStruct("Reschedule", { schedule: int(0, 2) }),
  /** The process ends; the next one starts with caches this many events behind. */
  Schema.TaggedStruct("Crash", { cronJobLag: int(0, 3), jobLag: int(0, 3) }),
  /** A write of the next sync is the last of the process, before or after it is stored; or its response is lost. */
  Schema.TaggedStruct("FaultyWrite", { write: int(1, 3), fault: Schema.Literals(["before", "after", "lost"]) }),
  Schema.TaggedStruct("Refuse", { verb: Schema.Literals(["create", "delete", "update", "get"]), times: int(1, 2) })
])
export type Action = typeof Action.Type

export const schedules = ["* * * * *", "*/3 * * * *", "1-59/2 * * * *"] as const
