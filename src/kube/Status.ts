/**
 * The `Status` object that API servers answer with when a call fails, and when a delete succeeds.
 * Source: meta/v1 Status. `ApiError` turns it into a typed failure.
 */
import type { ListMeta } from "./Meta.ts"

/** One of the reasons for a failure. */
export interface StatusCause {
  /** Machine-readable cause, for instance `FieldValueInvalid` or `NamespaceTerminating`. */
  readonly reason?: string
  readonly message?: string
  /** Path of the field at fault, `spec.replicas`. */
  readonly field?: string
}

/** What a failure is about. */
export interface StatusDetails {
  /** Of the object. */
  readonly name?: string
  /** Of its kind; empty or absent for the core group. */
  readonly group?: string
  /** The plural of the resource or the kind; servers send either. */
  readonly kind?: string
  /** Of the object, where the server knows it. */
  readonly uid?: string
  /** What is wrong with it, one by one. */
  readonly causes?: ReadonlyArray<StatusCause>
  /** Whole seconds. */
  readonly retryAfterSeconds?: number
}

/** The object itself. Source: apimachinery metav1.Status. */
export interface Status {
  /** Always `Status`. */
  readonly kind: "Status"
  /** Always `v1`. */
  readonly apiVersion: "v1"
  /** Empty. */
  readonly metadata: ListMeta
  /** Whether the call failed. */
  readonly status: "Failure" | "Success"
  readonly message?: string
  /** One word for machines: `NotFound`, `Conflict`. Absent for a success. */
  readonly reason?: string
  /** What it is about. */
  readonly details?: StatusDetails
  /** The HTTP status. */
  readonly code: number
}

/** Whether the body of an answer is a `Status`. */
export const is = (value: unknown): value is Status =>
  typeof value === "object" && value !== null && "kind" in value && value.kind === "Status"

/** The `Status` of a failed call. */
export const failure = (options: {
  readonly code: number
  readonly reason: string
  readonly message: string
  readonly details?: StatusDetails | undefined
}): Status => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: options.message,
  reason: options.reason,
  ...(options.details === undefined ? {} : { details: options.details }),
  code: options.code
})
