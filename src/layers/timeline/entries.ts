/**
 * The entries of a timeline, as a reader gets them. `id` is unique in the process and grows; `at` is in milliseconds since 1970, durations are in
 * milliseconds. `causes` are the ids of the entries that led to this one, which may have been dropped since. A resource is `pods` or
 * `deployments.apps`; a key is `namespace/name`, or the name of a cluster-scoped object. Types only.
 */

/** A change of an object that has added a key. First lists and resyncs are not changes. */
export interface ChangeEntry {
  readonly type: "change"
  readonly id: number
  readonly at: number
  readonly resource: string
  readonly kind: string
  readonly key: string
  readonly change: "created" | "modified" | "deleted"
  readonly resourceVersion: string
  /** The names of the fields that have changed: `status.conditions`. At most eight. */
  readonly paths: ReadonlyArray<string>
}

/** A run of a controller for a key. */
export interface ReconcileEntry {
  readonly type: "reconcile"
  readonly id: number
  /** When it began. */
  readonly at: number
  readonly controller: string
  /** The kind of the object that the key names; undefined if it names none. */
  readonly resource: string | undefined
  readonly key: string
  /** For each reason the change, or the run that failed or has asked for it. Null where that is no entry of this timeline. */
  readonly causes: ReadonlyArray<number | null>
  /** `Pod default/web-1 modified: status.conditions`, `retry 1 after 409 Conflict`. */
  readonly reasons: ReadonlyArray<string>
  /** From the first change that is known to have caused it to its begin; 0 if there is none. */
  readonly waited: number
  /** Null while it runs. */
  readonly duration: number | null
  readonly outcome: Outcome
  readonly error?: string
  /** Failures in a row, this one included. */
  readonly attempt?: number
  /** When the key is due again because of this run. */
  readonly due?: number
}

/** `requeue`: the run has asked for another one after a delay. */
export type Outcome =
  | "running"
  | "done"
  | "requeue"
  | "error"
  | "terminal error"
  | "defect"
  | "timeout"
  | "gave up"
  | "interrupted"

/** A write of a controller, with all its attempts. */
export interface WriteEntry {
  readonly type: "write"
  readonly id: number
  /** When it ended. */
  readonly at: number
  readonly controller: string
  /** The run that made it; empty for a controller that runs on a schedule. */
  readonly causes: ReadonlyArray<number>
  readonly verb: string
  readonly resource: string
  /** The name is `*` where a collection was written, or where the server did not say which name it gave. */
  readonly key: string
  readonly subresource?: string
  /** The HTTP status; null if there was no response. */
  readonly status: number | null
  readonly error?: string
  readonly duration: number
}

/** An event that a controller recorded. */
export interface EventEntry {
  readonly type: "event"
  readonly id: number
  readonly at: number
  readonly controller: string
  readonly causes: ReadonlyArray<number>
  readonly kind: "Normal" | "Warning"
  readonly resource: string
  readonly key: string
  readonly reason: string
  readonly message: string
}

export type Entry = ChangeEntry | ReconcileEntry | WriteEntry | EventEntry
