/** The operations on a Job, as data: they can be generated, shrunk, printed and replayed. */
import * as Schema from "effect/Schema"

const some = Schema.Literals([0, 1, 2, 3])
const few = Schema.Literals([1, 2, 3])

export const Action = Schema.Union([
  /** A running pod ends. */
  Schema.TaggedStruct("End", { pod: some, how: Schema.Literals(["Succeeded", "Succeeded", "Failed"]) }),
  /** The same, and all events are delivered. */
  Schema.TaggedStruct("EndShown", { pod: some, how: Schema.Literals(["Succeeded", "Failed"]) }),
  /** A user deletes a pod, which continues to run until `Stop`. */
  Schema.TaggedStruct("Delete", { pod: some }),
  /** All terminating pods end. */
  Schema.TaggedStruct("Stop", {}),
  Schema.TaggedStruct("Suspend", { suspend: Schema.Boolean, shown: Schema.Boolean }),
  Schema.TaggedStruct("Parallelism", { parallelism: Schema.Literals([0, 1, 2, 3]), shown: Schema.Boolean }),
  /** The next `times` calls of that verb are refused. */
  Schema.TaggedStruct("Refuse", { verb: Schema.Literals(["create", "delete", "patch", "update"]), times: few }),
  /** The cache receives this many events of pods. */
  Schema.TaggedStruct("ShowPods", { events: few }),
  Schema.TaggedStruct("ShowJob", {}),
  /** A sync, during which the cache receives this many events of pods after each write. */
  Schema.TaggedStruct("Sync", { meanwhile: Schema.Literals([0, 1, 2]) }),
  /** Two syncs, between which the cache receives the events of the Job but none of pods. */
  Schema.TaggedStruct("SyncBehind", {}),
  /** A sync whose n-th write ends the process, after it is stored (`done`) or before; then another process starts. */
  Schema.TaggedStruct("Crash", {
    write: Schema.Literals([1, 2, 3, 4, 5, 6]),
    done: Schema.Boolean,
    /** Whether the cache of the next process has received all events. */
    fresh: Schema.Boolean
  }),
  /** A sync whose n-th write is stored, but its response is lost. */
  Schema.TaggedStruct("Lose", { write: Schema.Literals([1, 2, 3, 4]) }),
  /** Time passes. More than a minute delivers all events, because no cache lags that long. */
  Schema.TaggedStruct("Wait", { seconds: Schema.Literals([1, 11, 700]) })
])

export type Action = typeof Action.Type

export const Setup = Schema.Struct({
  completions: Schema.Literals([1, 2, 3, 5]),
  parallelism: few,
  mode: Schema.Literals(["NonIndexed", "Indexed", "PerIndex"]),
  policy: Schema.Literals(["TerminatingOrFailed", "Failed"]),
  backoffLimit: Schema.Literals([0, 1, 4])
})

export type Setup = typeof Setup.Type
