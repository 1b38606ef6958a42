/** The outcome of one reconciliation of an autoscaler, its failure, and the texts of failures. */
import * as Data from "effect/Data"
import type { Failure } from "../shared/scale/scales.ts"
import type { Action, Fault } from "./metrics.ts"

export interface Outcome {
  readonly action: Action
  readonly fault: Fault
  /** A failure although the size may have been changed. */
  readonly failure: string | undefined
}

/** The reconciliation failed; the message is logged. */
export class ReconcileError extends Data.TaggedError("ReconcileError")<{
  readonly message: string
  readonly fault: Fault
  /** What was done before the failure. Default: nothing. */
  readonly done?: Action
}> {
  get action(): Action {
    return this.done ?? "none"
  }
}

/** The failure of reading or writing a scale. */
export const failureText = (error: Failure): string => {
  switch (error._tag) {
    case "NotServed":
      return `no matches for kind "${error.kind}" in group "${error.group}"`
    case "NotScalable":
      return "the server could not find the requested resource"
    case "ApiError":
      return error.detail
  }
}

/** Why nothing was decided. */
export const undecidedText = (reference: string, why: string): string =>
  `failed to compute desired number of replicas based on listed metrics for ${reference}: ${why}`
