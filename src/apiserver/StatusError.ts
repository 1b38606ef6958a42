/**
 * An error with the `Status` that the client receives (apimachinery api/errors: StatusError). A phase of a request that refuses returns it, and
 * `handle` makes the response of it; an exception is a defect and becomes a 500. It is an effect that fails, so a phase that may wait returns it
 * as its effect. The messages are those of api/errors, because clients match on them.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Status from "../kube/Status.ts"
import type { ResourceDefinition } from "./scheme/ResourceDefinition.ts"

export class StatusError extends Data.TaggedError("StatusError")<{
  readonly status: Status.Status
  readonly headers?: Readonly<Record<string, string>> | undefined
}> {
  override get message(): string {
    return this.status.message ?? this.status.reason ?? ""
  }
}

/** Whether a rule that returns its result, or why it refuses, has refused. The caller returns the StatusError at once. */
export const isRefusal = (result: unknown): result is StatusError => result instanceof StatusError

/** The result of a rule as an effect: a StatusError is one that fails. */
export const toEffect = <A>(result: A | StatusError): Effect.Effect<A, StatusError> =>
  isRefusal(result) ? result : Effect.succeed(result)

/**
 * Continues when the effect has succeeded. One that has succeeded already continues the present synchronous section, which costs nothing: most
 * requests wait for nothing.
 */
export const andThen = <A, B>(
  effect: Effect.Effect<A, StatusError>,
  next: (value: A) => Effect.Effect<B, StatusError>
): Effect.Effect<B, StatusError> => (isDone(effect) ? next(effect.value) : Effect.flatMap(effect, next))

const isDone = <A>(effect: Effect.Effect<A, StatusError>): effect is Exit.Success<A, StatusError> =>
  Exit.isExit(effect) && Exit.isSuccess(effect)

/** The same, where there may be nothing to wait for. */
export const after = <A, B>(
  waiting: Effect.Effect<A, StatusError> | undefined,
  next: (value: A | undefined) => Effect.Effect<B, StatusError>
): Effect.Effect<B, StatusError> => (waiting === undefined ? next(undefined) : andThen(waiting, next))

export interface FieldError {
  readonly field: string
  /** `FieldValueRequired`, `FieldValueInvalid`, `FieldValueForbidden`, … */
  readonly reason: string
  /** Without the name of the field: `Required value: …`. */
  readonly message: string
}

const make = (code: number, reason: string, message: string, details?: Status.StatusDetails): StatusError =>
  new StatusError({ status: Status.failure({ code, reason, message, details }) })

/** A resource, served or not. */
export type Named = Pick<ResourceDefinition, "group" | "plural">

/** `pods`, `deployments.apps`. */
export const qualified = (kind: Named): string => (kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`)

const about = (kind: Named, name: string): Status.StatusDetails => ({
  ...(name === "" ? {} : { name }),
  ...(kind.group === "" ? {} : { group: kind.group }),
  kind: kind.plural
})

export const badRequest = (message: string): StatusError => make(400, "BadRequest", message)

export const unknownPath = (): StatusError =>
  make(404, "NotFound", "the server could not find the requested resource", {})

export const notFound = (kind: Named, name: string): StatusError =>
  make(404, "NotFound", `${qualified(kind)} ${JSON.stringify(name)} not found`, about(kind, name))

export const alreadyExists = (resource: ResourceDefinition, name: string): StatusError =>
  make(409, "AlreadyExists", `${qualified(resource)} ${JSON.stringify(name)} already exists`, about(resource, name))

export const conflict = (resource: ResourceDefinition, name: string, why: string): StatusError =>
  make(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(resource)} ${JSON.stringify(name)}: ${why}`,
    about(resource, name)
  )

export const modified = (resource: ResourceDefinition, name: string): StatusError =>
  conflict(
    resource,
    name,
    "the object has been modified; please apply your changes to the latest version and try again"
  )

/** A server-side apply conflicts with other field managers. */
export const applyConflict = (message: string, causes: ReadonlyArray<Status.StatusCause>): StatusError =>
  make(409, "Conflict", message, { causes })

export const forbidden = (
  kind: Named,
  name: string,
  why: string,
  causes?: ReadonlyArray<Status.StatusCause>
): StatusError =>
  make(
    403,
    "Forbidden",
    `${qualified(kind)}${name === "" ? "" : ` ${JSON.stringify(name)}`} is forbidden: ${why}`,
    causes === undefined ? about(kind, name) : { ...about(kind, name), causes }
  )

/** 403 for a path that is no resource. */
export const forbiddenPath = (why: string): StatusError => make(403, "Forbidden", `forbidden: ${why}`, {})

/** 422: `Pod "x" is invalid: metadata.name: Required value: …`; several errors are listed in brackets. */
export const invalid = (
  resource: Pick<ResourceDefinition, "group" | "kind">,
  name: string,
  errors: ReadonlyArray<FieldError>
): StatusError => {
  const texts = errors.map((error) => `${error.field}: ${error.message}`)
  const what = resource.group === "" ? resource.kind : `${resource.kind}.${resource.group}`
  return make(
    422,
    "Invalid",
    `${what} ${JSON.stringify(name)} is invalid: ${texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`}`,
    {
      ...(name === "" ? {} : { name }),
      ...(resource.group === "" ? {} : { group: resource.group }),
      kind: resource.kind,
      causes: errors
    }
  )
}

/** A patch that is well formed and cannot be applied to this object. */
export const unprocessable = (why: string): StatusError =>
  make(422, "Invalid", "the server rejected our request due to an error in our request", {
    causes: [{ reason: "UnexpectedServerResponse", message: why }]
  })

/** The result of a patch does not decode as the kind; the error names no kind, as in endpoints/handlers: patchResource. */
export const invalidPatch = (message: string): StatusError =>
  make(422, "Invalid", ` "" is invalid: patch: ${message}`, {
    causes: [{ reason: "FieldValueInvalid", message, field: "patch" }]
  })

export const methodNotAllowed = (): StatusError =>
  make(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})

/** 405 for an operation that is possible at other times. */
export const notAllowedWhile = (verb: string, what: string): StatusError =>
  make(405, "MethodNotAllowed", `${verb} not allowed while ${what}`, {})

export const unsupportedMediaType = (accepted: ReadonlyArray<string>): StatusError =>
  make(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`
  )

export const notAcceptable = (accepted: ReadonlyArray<string>): StatusError =>
  make(406, "NotAcceptable", `only the following media types are accepted: ${accepted.join(", ")}`)

export const expired = (message: string): StatusError => make(410, "Expired", message)

/** The requested resourceVersion is above the present one. */
export const tooLargeResourceVersion = (asked: number, current: number): StatusError =>
  make(504, "Timeout", `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1
  })

export const internal = (message: string): StatusError =>
  make(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] })

/** A 500 without a reason, with only the message. */
export const unclassified = (message: string): StatusError =>
  new StatusError({ status: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 } })

/** A feature that this server does not have. */
export const notImplemented = (message: string, kind: Named, name: string): StatusError =>
  make(501, "NotImplemented", message, about(kind, name))

export const unavailable = (): StatusError =>
  make(503, "ServiceUnavailable", "the server is currently unable to handle the request", { retryAfterSeconds: 1 })
