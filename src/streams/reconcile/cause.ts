/**
 * Why a key is in the queue: the changes that have added it, or the run before that asked for another one. The queue keeps them with the key
 * until its next run claims them. They are values that are only referred to until a log line, a span or the timeline needs them.
 */
import type * as Tracer from "effect/Tracer"
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import { changedPaths } from "../store/changedPaths.ts"
import type { Delta } from "../store/Store.ts"

/** The most causes of one run that are kept; of further ones only the number is kept. */
export const mostCauses = 16

export type Cause = Change | Requeue | Retry | Stopped | Asked

interface Linked {
  /** The span of the cause, with traces only. */
  readonly span: Tracer.Span | undefined
}

/** A change of an object that a controller watches. */
export interface Change extends Linked {
  readonly _tag: "Change"
  readonly kind: string
  readonly delta: Delta<KubeObject>
  /** The id of the change in the timeline, if there is one. */
  readonly entry: number | undefined
}

/** The run before asked for another one after a delay. */
export interface Requeue extends Linked {
  readonly _tag: "Requeue"
  /** Milliseconds. */
  readonly delay: number
}

/** The run before failed. */
export interface Retry extends Linked {
  readonly _tag: "Retry"
  /** Failures in a row. */
  readonly attempt: number
  /** What it failed with, in a few words. */
  readonly after: string
}

/** The loop was stopped during the run before. */
export interface Stopped extends Linked {
  readonly _tag: "Stopped"
}

/** The controller itself has added the key, and says why: in a run, on a schedule of its own, or when it started. */
export interface Asked extends Linked {
  readonly _tag: "Asked"
  readonly why: string
  /** The id of the run that has added the key, in the timeline, if there are both. */
  readonly entry: number | undefined
}

export const because = (why: string): Asked => ({ _tag: "Asked", why, entry: undefined, span: undefined })

/** All causes of a run. */
export interface Causes {
  readonly first: Cause
  /** The second and further ones, in order, up to {@link mostCauses} in all. */
  others: Array<Cause> | undefined
  /** The number of those beyond. */
  more: number
}

/** `isFull`: there is no room for another one. */
export const merge = (causes: Causes | undefined, cause: Cause, isFull = false): Causes => {
  if (causes === undefined) return { first: cause, others: undefined, more: 0 }
  if (isFull) causes.more++
  else if (causes.others === undefined) causes.others = [cause]
  else if (causes.others.length < mostCauses - 1) causes.others.push(cause)
  else causes.more++
  return causes
}

export const list = (causes: Causes | undefined): ReadonlyArray<Cause> =>
  causes === undefined ? [] : causes.others === undefined ? [causes.first] : [causes.first, ...causes.others]

/** `Pod default/web-1 modified: status.conditions`, `requeueAfter 10000 ms`, `retry 3 after 409 Conflict`, `resync`. */
export const describe = (cause: Cause | undefined): string => {
  switch (cause?._tag) {
    case undefined:
      return "added by the controller"
    case "Change":
      return describeChange(cause.kind, cause.delta)
    case "Requeue":
      return `requeueAfter ${cause.delay} ms`
    case "Retry":
      return `retry ${cause.attempt} after ${cause.after}`
    case "Stopped":
      return "the run before was stopped"
    case "Asked":
      return cause.why
  }
}

export const describeAll = (causes: Causes | undefined): string => {
  const all = causes === undefined ? [undefined] : list(causes)
  const more = causes === undefined || causes.more === 0 ? [] : [`${causes.more} more`]
  return [...all.map(describe), ...more].join("; ")
}

const describeChange = (kind: string, delta: Delta<KubeObject>): string => {
  const object = `${kind} ${Key.of(delta.object)}`
  switch (delta._tag) {
    case "Created":
      return delta.initial ? `${object} listed` : `${object} created`
    case "Deleted":
      return delta.stateUnknown ? `${object} deleted while the watch was interrupted` : `${object} deleted`
    case "Updated": {
      if (delta.previous === delta.object) return `resync of ${object}`
      const paths = changedPaths(delta.previous, delta.object)
      return paths.length === 0 ? `${object} modified` : `${object} modified: ${paths.join(", ")}`
    }
  }
}
