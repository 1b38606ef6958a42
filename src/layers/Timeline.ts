/**
 * What controllers have done, and why: changes of objects, the runs that they caused, and the writes and events of these runs, each with a
 * reference to its cause. The entries are a ring in memory with a limit in bytes. Without a timeline nothing is recorded: it is a reference that
 * is undefined by default. It has names of objects and fields, status codes and error messages, and never the content of an object.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as ApiError from "../kube/ApiError.ts"
import type * as Key from "../kube/Key.ts"
import type { KubeObject } from "../kube/Meta.ts"
import type * as Resource from "../kube/Resource.ts"
import type * as Cause from "../streams/reconcile/cause.ts"
import type { RunEvent } from "../streams/reconcile/Reconcile.ts"
import type { Delta } from "../streams/store/Store.ts"
import type { Request, Response } from "./Transport.ts"

/** Fields of every entry: `id` is unique in the process, `at` is in milliseconds since 1970. */
interface Recorded {
  readonly id: number
  readonly at: number
}

/** A change of an object that has added a key. First lists and resyncs are not changes. */
export interface ChangeEntry extends Recorded {
  readonly type: "change"
  /** `deployments.apps`. */
  readonly resource: string
  readonly kind: string
  /** `namespace/name`, or the name of a cluster-scoped object. */
  readonly key: string
  readonly change: "created" | "modified" | "deleted"
  readonly resourceVersion: string
  /** The names of the fields that have changed: `status.conditions`. At most eight. */
  readonly paths: ReadonlyArray<string>
}

/** A run of a controller for a key. `at` is when it began. */
export interface ReconcileEntry extends Recorded {
  readonly type: "reconcile"
  readonly controller: string
  /** The kind of the object that the key names; undefined if it names none. */
  readonly resource: string | undefined
  readonly key: string
  /** The ids of the entries that caused it; they may have been dropped since. */
  readonly causes: ReadonlyArray<number>
  /** `Pod default/web-1 modified: status.conditions`, one for each cause. */
  readonly reasons: ReadonlyArray<string>
  /** Milliseconds; null while it runs. */
  readonly duration: number | null
  readonly outcome: Outcome
  readonly error: string | null
  /** Failures in a row, this one included; null after a success. */
  readonly attempt: number | null
  /** When the key is due again because of this run, in milliseconds since 1970. */
  readonly due: number | null
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

/** A write of a controller, with all its attempts. `at` is when it ended. */
export interface WriteEntry extends Recorded {
  readonly type: "write"
  readonly controller: string
  /** The run that made it; empty for a controller that runs on a schedule. */
  readonly causes: ReadonlyArray<number>
  readonly verb: string
  readonly resource: string
  readonly key: string
  readonly subresource: string | null
  /** The HTTP status; null if there was no response. */
  readonly status: number | null
  readonly error: string | null
  /** Milliseconds. */
  readonly duration: number
}

/** An event that a controller recorded. */
export interface EventEntry extends Recorded {
  readonly type: "event"
  readonly controller: string
  readonly causes: ReadonlyArray<number>
  /** `Normal` or `Warning`. */
  readonly severity: string
  readonly group: string
  readonly kind: string
  readonly key: string
  readonly reason: string
  readonly message: string
}

export type Entry = ChangeEntry | ReconcileEntry | WriteEntry | EventEntry

/** A run while it goes on. Its causes are ids, or texts where the cause is no entry. */
export interface Going extends Omit<
  ReconcileEntry,
  "causes" | "reasons" | "duration" | "outcome" | "error" | "attempt" | "due"
> {
  readonly causes: ReadonlyArray<number | string>
  duration: number | null
  outcome: Outcome
  error: string | null
  attempt: number | null
  due: number | null
}

/** As it is kept. */
export type Kept = ChangeEntry | Going | WriteEntry | EventEntry

/** What is known of one object. */
export interface OfObject {
  /** Oldest first; at most {@link mostShown}, the latest ones. */
  readonly entries: ReadonlyArray<Entry>
  /** Earlier entries, of any object, have been dropped. */
  readonly truncated: boolean
}

export const mostShown = 500

export interface Timeline {
  /** Records a change once, for however many controllers it adds keys. Undefined for first lists and resyncs. */
  readonly change: (resource: Resource.Any, delta: Delta<KubeObject>) => number | undefined
  readonly begin: (
    controller: string,
    resource: Resource.Any | undefined,
    key: Key.Key,
    causes: Cause.Causes | undefined
  ) => Going
  readonly end: (run: Going, event: RunEvent<string, unknown>) => void
  /** Records a write with its result, if a controller makes it. Reads, events and leases are not recorded. */
  readonly write: (
    request: Request,
    call: Effect.Effect<Response, ApiError.ApiError>
  ) => Effect.Effect<Response, ApiError.ApiError>
  readonly event: (object: KubeObject, severity: string, reason: string, message: string) => Effect.Effect<void>
  /**
   * The entries about an object: its changes, the runs that they caused, the runs for it, what caused those, and the writes and events of all
   * these runs.
   */
  readonly of: (resource: Resource.Any, key: Key.Key) => OfObject
  /** The memory that the entries take, in bytes, estimated. */
  readonly bytesUnsafe: () => number
}

export const Timeline = Context.Reference<Timeline | undefined>("effect-controller-manager/Timeline", {
  defaultValue: () => undefined
})
