/**
 * Makes a handler of requests from an application's function: it decodes the objects, calls the function, encodes the result, and turns
 * failures into verdicts. Schemas reject a write only if it changes the spec, because objects that were stored before there was
 * validation must remain deletable, and their finalizers removable.
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"
import * as Denial from "./denial.ts"
import type { Request, Review, Verdict } from "./Request.ts"

type Handle<R> = (request: Request) => Effect.Effect<Verdict, never, R>

const allowed = (warnings: ReadonlyArray<string> = [], object?: KubeObject): Verdict => ({
  refusal: undefined,
  object,
  warnings
})

export const defaulting =
  <R extends Resource.Any, E extends Denial.Failure, Req>(
    resource: R,
    body: (
      object: Resource.Decoded<R>,
      review: Review<Resource.Decoded<R>>
    ) => Effect.Effect<Resource.Decoded<R>, E, Req>
  ): Handle<Req> =>
  (request) =>
    callHandler(resource, request, (review) =>
      review.operation === "DELETE"
        ? Effect.undefined
        : Effect.flatMap(body(review.object, review), (result) => Effect.fromResult(encoded(resource, result, request)))
    )

export const validating =
  <R extends Resource.Any, E extends Denial.Failure, Req>(
    resource: R,
    check: (review: Review<Resource.Decoded<R>>) => Effect.Effect<void, E, Req>
  ): Handle<Req> =>
  (request) =>
    callHandler(resource, request, (review) => Effect.as(check(review), undefined))

export const inOrder =
  <R>(handles: ReadonlyArray<Handle<R>>): Handle<R> =>
  (request) =>
    Effect.gen(function* () {
      let verdict = allowed()
      for (const handle of handles) {
        const object = verdict.object ?? request.object
        const next = yield* handle({ ...request, object })
        verdict = { ...next, object: next.object ?? verdict.object, warnings: [...verdict.warnings, ...next.warnings] }
        if (verdict.refusal !== undefined) return verdict
      }
      return verdict
    })

/** Calls the function for the requests that it handles. The result is the object as it should be stored. */
const callHandler = <R extends Resource.Any, E extends Denial.Failure, Req>(
  resource: R,
  request: Request,
  ask: (review: Review<Resource.Decoded<R>>) => Effect.Effect<KubeObject | undefined, E | Denial.Failure, Req>
): Effect.Effect<Verdict, never, Req> =>
  Effect.suspend(() => {
    // The object of a CONNECT is not decoded, nor are objects of other kinds than that of the webhook.
    if (request.operation === "CONNECT") return Effect.succeed(allowed())
    const mismatch = kindMismatch(resource, request)
    if (mismatch !== undefined) return Effect.succeed(refused(request, mismatch, []))
    const warnings: Array<string> = []
    const warn = (text: string) => Effect.sync(() => void warnings.push(text))
    const review = read(resource, request, warn)
    if (review === undefined) return Effect.succeed(allowed())
    if (Result.isFailure(review)) return Effect.succeed(verdictOnUndecodable(resource, request, review.failure))
    return Effect.match(ask(review.success), {
      onFailure: (failure) => refused(request, failure, warnings),
      onSuccess: (object) => allowed(warnings, object)
    })
  })

const refused = ({ kind, name }: Request, failure: Denial.Failure, warnings: ReadonlyArray<string>): Verdict => ({
  refusal: Denial.statusOf(failure, kind.kind, name),
  object: undefined,
  warnings
})

/** The denial of an object of another kind, which a webhook configuration that was written by hand may send. */
const kindMismatch = (resource: Resource.Any, { kind }: Request): Denial.Denied | undefined => {
  const { group, kind: name, version } = resource
  if (kind.group === group && kind.version === version && kind.kind === name) return undefined
  const [requested, own] = [kind, resource].map(
    (one) => `${one.kind} in ${one.group === "" ? "" : `${one.group}/`}${one.version}`
  )
  return Denial.deny(`the webhook was asked about ${requested}; it is about ${own}`, {
    code: 400,
    reason: "BadRequest"
  })
}

/** Undefined: the function is not called. It fails when the object to be stored cannot be decoded. */
const read = <R extends Resource.Any>(
  resource: R,
  request: Request,
  warn: (text: string) => Effect.Effect<void>
): Result.Result<Review<Resource.Decoded<R>>, Resource.Undecodable> | undefined => {
  const { object, oldObject, operation } = request
  const old = oldObject === undefined ? undefined : Result.getOrUndefined(decoded(resource, oldObject))
  if (operation === "DELETE") {
    // An object that cannot be decoded must be removable.
    return old === undefined
      ? undefined
      : Result.succeed({ ...request, warn, operation, object: undefined, oldObject: old })
  }
  if (operation === "CONNECT" || object === undefined) return undefined
  return Result.map(decoded(resource, object), (object) =>
    operation === "CREATE"
      ? { ...request, warn, operation, object, oldObject: undefined }
      : { ...request, warn, operation, object, oldObject: old }
  )
}

const decoded = <R extends Resource.Any>(
  resource: R,
  object: KubeObject
): Result.Result<Resource.Decoded<R>, Resource.Undecodable> =>
  // Without Schemas the decoded form is the wire form.
  (Resource.isCustom(resource) ? resource.decode(object) : Result.succeed(object)) as Result.Result<
    Resource.Decoded<R>,
    Resource.Undecodable
  >

const encoded = <R extends Resource.Any>(
  resource: R,
  result: Resource.Decoded<R>,
  { object }: Request
): Result.Result<KubeObject, Denial.Failure> =>
  Resource.isCustom(resource)
    ? Result.mapError(resource.encode(result, object), ({ message }) =>
        Denial.deny(`what the webhook would make of it is not allowed: ${message}`, {
          code: 500,
          reason: "InternalError"
        })
      )
    : Result.succeed(result as KubeObject)

/** The verdict on an object that the Schemas cannot decode: allowed with a warning if this write does not change its spec. */
const verdictOnUndecodable = (resource: Resource.Any, request: Request, flaw: Resource.Undecodable): Verdict => {
  const { object, oldObject } = request
  const isOld =
    oldObject !== undefined &&
    Result.isFailure(decoded(resource, oldObject)) &&
    (object?.metadata.deletionTimestamp !== undefined || Equal.equals(specOf(object), specOf(oldObject)))
  return isOld ? allowed([`${flaw.message}; it was stored before`]) : refused(request, Denial.undecodable(flaw), [])
}

const specOf = (object: KubeObject | undefined): unknown =>
  object !== undefined && "spec" in object ? object.spec : undefined
