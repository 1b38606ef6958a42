/** The operations on a Job, as data: they can be generated, shrunk, printed and replayed. */
import * as Schema from "effect/Schema"

const some = Schema.Literals([0, 1, 2, 3])
const few = Schema.Literals([1, 2, 3])

export const Action = Schema.Union([
  /** A container ends, well or not; of those whose pods still run. */
  Schema.TaggedStruct("End", { pod: some, how: Schema.Literals(["Succeeded", "Succeeded", "Failed"]) }),
  /** The same, and the cache shows it. */
  Schema.TaggedStruct("EndShown", { pod: some, how: Schema.Literals(["Succeeded", "Failed"]) }),
  /** A user deletes a pod. It stays as long as it has the finalizer, and keeps running. */
  Schema.TaggedStruct("Delete", { pod: some }),
  /** Terminating pods are stopped, or gone. */
  Schema.TaggedStruct("Stop", {}),
  Schema.TaggedStruct("Suspend", { suspend: Schema.Boolean, shown: Schema.Boolean }),
  Schema.TaggedStruct("Parallelism", { parallelism: Schema.Literals([0, 1, 2, 3]), shown: Schema.Boolean }),
  /** So many calls of that verb are refused. */
  Schema.TaggedStruct("Refuse", { verb: Schema.Literals(["create", "delete", "patch", "update"]), times: few }),
  /** So many events of pods reach the cache. */
  Schema.TaggedStruct("ShowPods", { events: few }),
  Schema.TaggedStruct("ShowJob", {}),
  /** A sync, during which so many events of pods reach the cache after every write. */
  Schema.TaggedStruct("Sync", { meanwhile: Schema.Literals([0, 1, 2]) }),
  /** Two syncs, between which the cache gets events of the Job and of no pod. */
  Schema.TaggedStruct("SyncBehind", {}),
  /** A sync at whose write of that number the process ends, after it was done or before; another process takes over. */
  Schema.TaggedStruct("Crash", {
    write: Schema.Literals([1, 2, 3, 4, 5, 6]),
    done: Schema.Boolean,
    /** Its cache is that of the other one, or a full list. */
    fresh: Schema.Boolean
  }),
  /** A sync of which the answer to a write of that number is lost; what was asked for has been done. */
  Schema.TaggedStruct("Lose", { write: Schema.Literals([1, 2, 3, 4]) }),
  /** No cache is minutes behind. */
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
