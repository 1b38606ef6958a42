/**
 * What controllers have done, and why: changes of objects, the runs that they caused, and the writes and events of these runs, each with a
 * reference to its cause. The entries are a ring in memory with a limit in bytes. Without a timeline nothing is recorded: it is a reference that
 * is undefined by default. It has names of objects and fields, status codes and error messages, and never the content of an object.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as ApiError from "../kube/ApiError.ts"
import type * as Key from "../kube/Key.ts"
import type { KubeObject } from "../kube/Meta.ts"
import type * as Resource from "../kube/Resource.ts"
import type * as Cause from "../streams/reconcile/cause.ts"
import type { RunEvent } from "../streams/reconcile/Reconcile.ts"
import type { Delta } from "../streams/store/Store.ts"
import type { Entry, Outcome, ReconcileEntry } from "./timeline/entries.ts"
import type { Request, Response } from "./Transport.ts"

/** A failed run of the same key as a cause: why the run is a retry. */
export interface RetryOf {
  readonly retry: string
}

/** A run as it is kept: while it goes on, its end is not known. A cause is the id of a change, a failed run, or a text where it is no entry. */
export interface Going extends Omit<ReconcileEntry, "causes" | "reasons" | "waited" | Ended> {
  readonly causes: ReadonlyArray<number | string | RetryOf>
  duration: number | null
  outcome: Outcome
  error: string | undefined
  attempt: number | undefined
  due: number | undefined
}

type Ended = "duration" | "outcome" | "error" | "attempt" | "due"

/** What is known of one object. */
export interface OfObject {
  /** Oldest first; at most {@link mostShown}, the latest ones. */
  readonly entries: ReadonlyArray<Entry>
  /** Earlier entries are not among them: the number is limited, or some, of any object, have been dropped. */
  readonly truncated: boolean
}

export const mostShown = 500

/** The object that a reader asks for. */
export interface Asked {
  /** `deployments.apps`. */
  readonly resource: string
  /** The resource of a kind, if it is known: `Deployment` of the group `apps`. */
  readonly resourceOf: (group: string, kind: string) => string | undefined
  readonly key: Key.Key
}

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
  /** Records an event that the controller of the fiber reports. */
  readonly event: (
    fiber: Fiber.Fiber<unknown, unknown>,
    object: KubeObject,
    type: "Normal" | "Warning",
    reason: string,
    message: string
  ) => void
  /**
   * The entries about an object: its changes, the runs that they caused, the runs for it, what caused those, and the writes and events of all
   * these runs.
   */
  readonly of: (asked: Asked) => OfObject
  /** The memory that the entries take, in bytes, estimated. */
  readonly bytesUnsafe: () => number
}

export const Timeline = Context.Reference<Timeline | undefined>("effect-controller-manager/Timeline", {
  defaultValue: () => undefined
})
