/**
 * The `Status` object that API servers answer with when a call fails, and when a delete succeeds.
 * Source: meta/v1 Status. Reading it into a typed failure is `ApiError`'s business.
 */
import type { ListMeta } from "./Meta.ts"

export interface StatusCause {
  /** Machine-readable cause, for instance `FieldValueInvalid` or `NamespaceTerminating`. */
  readonly reason?: string
  readonly message?: string
  /** Path of the field at fault, `spec.replicas`. */
  readonly field?: string
}

export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  /** The resource's plural or kind, as the server sees fit. */
  readonly kind?: string
  readonly uid?: string
  readonly causes?: ReadonlyArray<StatusCause>
  /** Whole seconds. */
  readonly retryAfterSeconds?: number
}

export interface Status {
  readonly kind: "Status"
  readonly apiVersion: "v1"
  readonly metadata: ListMeta
  readonly status: "Failure" | "Success"
  readonly message?: string
  readonly reason?: string
  readonly details?: StatusDetails
  readonly code: number
}

export const is = (value: unknown): value is Status =>
  typeof value === "object" && value !== null && "kind" in value && value.kind === "Status"

/** A failure as a server words it. */
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
