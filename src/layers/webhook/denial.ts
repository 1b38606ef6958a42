/**
 * Denials: the failure of a handler, and the `Status` that the user receives. A denial with a path is an invalid object (422), one without
 * is forbidden (403). An error of the API server that the handler fails with is passed on unchanged; every other failure is 403.
 */
import * as Data from "effect/Data"
import * as ApiError from "../../kube/ApiError.ts"
import type * as Resource from "../../kube/Resource.ts"
import * as Status from "../../kube/Status.ts"

/** Any error of a handler. The message is returned to the client. */
export interface Failure {
  readonly message: string
}

/** One invalid field of an object. Source: meta/v1 StatusCause. */
export interface Cause {
  /** `spec.members[0].name`. */
  readonly path: string
  readonly message: string
}

/** The write is denied with this message. */
export class Denied extends Data.TaggedError("Denied")<{
  readonly message: string
  /** The invalid fields; may be empty. */
  readonly causes: ReadonlyArray<Cause>
  /** An HTTP status from 400 on. */
  readonly code: number
  /** The reason for programs, one word: `Forbidden`. */
  readonly reason: string
}> {}

/** Fails a handler: `return yield* Webhook.deny("a member less would lose the quorum", { path: "spec.size" })`. */
export const deny = (
  message: string,
  options: {
    /** The invalid field: the status is then 422. */
    readonly path?: string | undefined
    /** Several invalid fields. */
    readonly causes?: ReadonlyArray<Cause> | undefined
    /** The HTTP status. Default: 403, with a path 422. */
    readonly code?: number | undefined
    /** The reason. Default: Forbidden, with a path Invalid. */
    readonly reason?: string | undefined
  } = {}
): Denied => {
  const causes = options.causes ?? (options.path === undefined ? [] : [{ path: options.path, message }])
  const [code, reason] = causes.length === 0 ? [403, "Forbidden"] : [422, "Invalid"]
  return new Denied({ message, causes, code: options.code ?? code, reason: options.reason ?? reason })
}

/** The denial of an object that the Schemas of its kind cannot decode. */
export const undecodable = ({ message, path }: Resource.Undecodable): Denied => deny(message, { path })

export const statusOf = (failure: Failure, kind: string, name: string): Status.Status => {
  if (failure instanceof Denied) return statusOfDenied(failure, kind, name)
  if (ApiError.isApiError(failure) && failure.status !== undefined) {
    const { details, detail, reason, status } = failure
    return Status.failure({ code: status, reason: reason._tag, message: detail, details })
  }
  return Status.failure({ code: 403, reason: "Forbidden", message: failure.message })
}

const statusOfDenied = ({ causes, code, message, reason }: Denied, kind: string, name: string): Status.Status => {
  const details = {
    ...(name === "" ? {} : { name }),
    kind,
    causes: causes.map((cause) => ({ reason: "FieldValueInvalid", message: cause.message, field: cause.path }))
  }
  return Status.failure({ code, reason, message, details: causes.length === 0 ? undefined : details })
}
