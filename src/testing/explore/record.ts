/** What happened in one run, in order: what the scenario did, what the controllers received, called and wrote, and when processes started and ended. */
import type * as Key from "../../kube/Key.ts"
import type { Kind } from "./perturbation.ts"

/** Milliseconds of virtual time since the start of the run. */
type Millis = number

/** The number of a process of the controllers: 1 is the first, and each that is started after it has the next one. */
type ProcessId = number

interface Common {
  readonly at: Millis
  /** The kinds of the perturbations that took effect here. */
  perturbed?: ReadonlyArray<Kind>
}

/** A step of the scenario. */
export interface Step extends Common {
  readonly type: "step"
  readonly n: number
  readonly text: string
}

/** A call of a controller, with all its attempts. Events, leases and discovery are not counted. */
export interface Call extends Common {
  readonly type: "call"
  readonly n: number
  /** Its number among the writes; undefined for a read. */
  readonly write: number | undefined
  readonly process: ProcessId
  readonly verb: string
  /** `deployments.apps`, or `deployments.apps/status`. */
  readonly resource: string
  readonly key: string
  /** `200`, `409 Conflict`, `no response`. */
  outcome: string
  /** The revision that it wrote; undefined where it wrote nothing. */
  revision: number | undefined
}

/** An event of a watch that a controller received. */
export interface Event extends Common {
  readonly type: "event"
  readonly n: number
  readonly process: ProcessId
  readonly resource: string
  readonly change: "ADDED" | "MODIFIED" | "DELETED"
  readonly key: string
  readonly revision: string
}

/** A run of a reconcile that has ended. */
export interface Run extends Common {
  readonly type: "run"
  readonly process: ProcessId
  readonly controller: string
  /** Of the kind whose objects the controller reconciles: `deployments.apps`; undefined if there is none. */
  readonly resource: string | undefined
  readonly key: Key.Key
  /** `Done`, `Failed`, `Defect`, … */
  readonly outcome: string
  readonly error: string | undefined
}

/** A process of the controllers started or ended. */
export interface Lifetime extends Common {
  readonly type: "start" | "end"
  readonly process: ProcessId
  readonly why: string
}

/** A write of anything else: the user, a node, another controller. */
export interface Other extends Common {
  readonly type: "other"
  readonly verb: string
  readonly path: string
  readonly revision: number
}

/** A process did what no process should. */
export interface Problem extends Common {
  readonly type: "problem"
  /** It ended by itself, did not stop to work, or sent a write after its term. */
  readonly kind: "failed" | "endless" | "stale term"
  readonly process: ProcessId
  readonly message: string
}

export type Entry = Step | Call | Event | Run | Lifetime | Other | Problem

/** The name of a write for a reader: `write #7: create pods default/web-1`. */
export const nameOf = (call: Call): string =>
  `${call.write === undefined ? `call #${call.n}` : `write #${call.write}`}: ${subjectOf(call)}`

/** `create pods default/web-1`. */
export const subjectOf = ({ key, resource, verb }: Call): string => `${verb} ${resource} ${key}`.trimEnd()
