/**
 * Handles one request: authenticates impersonation, authorizes, routes and runs the verb, turns errors into `Status` responses, and writes the
 * audit entry. An error that is not a StatusError is a defect and becomes a 500.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Status from "../kube/Status.ts"
import type { Answer, ApiResponse } from "./Api.ts"
import type * as AuditLog from "./audit/AuditLog.ts"
import * as impersonation from "./authentication/impersonation.ts"
import * as attributes from "./authorization/attributes.ts"
import * as Authorizer from "./authorization/Authorizer.ts"
import type { Attributes } from "./authorization/rule.ts"
import * as body from "./body.ts"
import * as converted from "./apiextensions/conversion/converted.ts"
import * as definitions from "./apiextensions/definitions.ts"
import * as discovery from "./discovery.ts"
import * as OpenApi from "./openapi/serve.ts"
import * as policyStatus from "./policy/status.ts"
import * as StatusError from "./StatusError.ts"
import * as routing from "./routing.ts"
import type { Target } from "./routing.ts"
import * as fieldValidation from "./validation/fieldValidation.ts"
import type { ResourceDefinition } from "./scheme/ResourceDefinition.ts"
import type { RequestScope } from "./admission/Admission.ts"
import { bind } from "./endpoints/subresources/binding.ts"
import { connect } from "./endpoints/subresources/connect.ts"
import { evict } from "./endpoints/subresources/eviction.ts"
import { log } from "./endpoints/subresources/log.ts"
import * as apiServices from "./endpoints/apiServices.ts"
import * as measurements from "./endpoints/measurements.ts"
import * as writeOptions from "./endpoints/writeOptions.ts"
import * as patch from "./endpoints/patch.ts"
import * as read from "./endpoints/read.ts"
import * as remove from "./endpoints/remove.ts"
import { isTrue } from "./endpoints/listOptions.ts"
import * as reviews from "./endpoints/reviews.ts"
import { scale } from "./endpoints/subresources/scale.ts"
import { requestToken } from "./endpoints/subresources/token.ts"
import { watch } from "./endpoints/watch.ts"
import { optionsOf, refuseIdentity } from "./endpoints/change.ts"
import type { Change } from "./endpoints/change.ts"
import type { SubresourceHandler } from "./endpoints/subresources/subresource.ts"
import { expire } from "./storage/commit.ts"
import * as write from "./endpoints/write.ts"
import type { Version } from "./storage/Version.ts"
import { negotiateEncoder } from "./printers/negotiate.ts"
import type { Encoder } from "./printers/Encoder.ts"

type Response = Effect.Effect<ApiResponse, StatusError.StatusError>

export const handle = (context: RequestScope): Effect.Effect<ApiResponse> => {
  const segments = routing.segmentsOf(context.request.path)
  const asked = attributes.of(context.request, segments)
  let acting = context
  let allowed = false
  const handled = Effect.suspend((): Response => {
    const resolved = impersonation.resolve(context)
    if (StatusError.isRefusal(resolved)) return resolved
    acting = resolved
    const refusal = Authorizer.refuse(acting, asked)
    if (refusal !== undefined) return refusal
    allowed = true
    return route(acting, segments)
  })
  return Effect.matchCauseEffect(handled, {
    onFailure: (cause) => {
      const refusal = refusalOf(cause)
      if (refusal === undefined) return Effect.failCause(cause as Cause.Cause<never>)
      const { code, reason = "" } = refusal.status
      record(context, acting, asked, { allowed, code, reason })
      return Effect.succeed(warned(acting, refused(refusal)))
    },
    onSuccess: (response) => {
      const code = response._tag === "Answer" ? response.status : 200
      record(context, acting, asked, { allowed, code, reason: "" })
      return Effect.succeed(warned(acting, response))
    }
  })
}

/** A defect is a 500; undefined for a request that is interrupted. */
const refusalOf = (cause: Cause.Cause<StatusError.StatusError>): StatusError.StatusError | undefined => {
  if (Cause.hasInterrupts(cause)) return undefined
  const error = Cause.squash(cause)
  if (error instanceof StatusError.StatusError) return error
  return StatusError.internal(error instanceof Error ? error.message : String(error))
}

const record = (
  { now, request, state, written }: RequestScope,
  acting: RequestScope,
  asked: Attributes,
  outcome: Pick<AuditLog.Entry, "allowed" | "code" | "reason">
): void => {
  const changed = written.last !== undefined
  const revision = written.last?.revision ?? state.log.revision()
  const { user } = acting.request
  // Each field is written out, because this runs for every request: spreading cost more than the rest of a get.
  state.audit.append({
    at: now,
    user: user.name,
    groups: user.groups,
    caller: request.user.name,
    userAgent: request.headers["user-agent"] ?? "",
    verb: asked.verb,
    path: asked.path,
    group: asked.group,
    resource: asked.resource,
    subresource: asked.subresource,
    namespace: asked.namespace,
    // The object that this request has created may have a generated name.
    name: changed && asked.name === "" && asked.verb === "create" ? (written.last?.name ?? "") : asked.name,
    allowed: outcome.allowed,
    code: outcome.code,
    reason: outcome.reason,
    revision,
    changed,
    annotations: written.annotations === undefined ? undefined : Object.fromEntries(written.annotations)
  })
}

export const answer = (status: number, text: string): Answer => ({
  _tag: "Answer",
  status,
  contentType: "application/json",
  body: text
})

export const refused = ({ headers, status }: StatusError.StatusError): Answer => {
  const wait = status.details?.retryAfterSeconds
  const retry = wait === undefined ? {} : { "retry-after": String(wait) }
  const said = answer(status.code, JSON.stringify(status satisfies Status.Status))
  return { ...said, headers: { ...retry, ...headers } }
}

/** The discovery and OpenAPI documents of a set of resources, made on first use. */
interface Descriptions {
  readonly discovery: discovery.Discovery
  readonly openApi: OpenApi.OpenApi
}

const described = new WeakMap<ReadonlyArray<ResourceDefinition>, Descriptions>()

const descriptionsOf = (resources: ReadonlyArray<ResourceDefinition>): Descriptions => {
  const found = described.get(resources)
  if (found !== undefined) return found
  const made = { discovery: discovery.make(resources), openApi: OpenApi.make(resources, discovery.version.gitVersion) }
  described.set(resources, made)
  return made
}

/** Adds the warnings to the response, error or not. */
const warned = <A extends ApiResponse>({ warnings }: RequestScope, response: A): A => {
  const warning = fieldValidation.warningHeader(warnings)
  if (warning === undefined || response._tag !== "Answer") return response
  return { ...response, headers: { ...response.headers, warning } }
}

const route = (context: RequestScope, segments: ReadonlyArray<string> | undefined): Response => {
  if (segments === undefined) return StatusError.unknownPath()
  const target = routing.target(context.state.registry, segments)
  if (target === undefined) return documentOf(context, segments)
  const response = dispatch(context, target)
  if (context.request.method === "GET") return response
  // Served resources follow the write of a definition, and statuses that of a policy; the response stays as it was made before that.
  if (definitions.concerns(target.resource)) {
    return Effect.tap(response, () => Effect.sync(() => definitions.sync(context)))
  }
  return policyStatus.concerns(target.resource)
    ? Effect.tap(response, () => Effect.sync(() => policyStatus.sync(context, target.resource)))
    : response
}

const documentOf = (context: RequestScope, segments: ReadonlyArray<string>): Response => {
  const { headers, method, query } = context.request
  const { discovery, openApi } = descriptionsOf(context.state.registry.all)
  const document = healthCheck(segments, query) ?? discovery.find(segments, headers["accept"])
  const found = document === undefined ? openApi.find(segments, context.request) : StatusError.toEffect(document)
  if (found === undefined) return StatusError.unknownPath()
  return StatusError.andThen(found, (answer) =>
    method === "GET" || method === "HEAD" ? Effect.succeed(answer) : StatusError.methodNotAllowed()
  )
}

const encoderOf = (context: RequestScope, { resource, name }: Target): Encoder | StatusError.StatusError => {
  const negotiated = negotiateEncoder(context.request.headers["accept"], {
    resource,
    collection: name === "",
    includeObject: context.request.query.get("includeObject"),
    now: context.now
  })
  return StatusError.isRefusal(negotiated) ? negotiated : converted.convertingEncoder(resource, negotiated)
}

const dispatch = (context: RequestScope, target: Target): Response => {
  const streaming = streamingHandlers.get(target.subresource)
  if (streaming !== undefined) return streaming(context, target)
  const refusal = writeOptions.refuse(context.request)
  if (refusal !== undefined) return refusal
  if (target.resource.deprecation !== undefined) context.warnings.push(target.resource.deprecation)
  if (target.resource.source === "store") expire(context, target.resource)
  const subresource = subresourceHandlers.get(target.subresource)
  if (subresource !== undefined) return Effect.map(subresource(context, target), (given) => answer(...given))
  if (target.resource.review) return encoded(201, StatusError.toEffect(reviews.answer(context, target)))
  const encoder = encoderOf(context, target)
  if (StatusError.isRefusal(encoder)) return encoder
  if (target.resource.source === "usage") return encoded(200, measurements.read(context, target, encoder))
  if (target.resource.source === "registry") return encoded(200, apiServices.read(context, target, encoder))
  return target.name === "" ? onCollection(context, target, encoder) : onObject(context, target, encoder)
}

/**
 * Subresources with a kind of their own. `status`, `approval`, `finalize` and `ephemeralcontainers` are updates of a part of their object and handled like
 * those of the whole.
 */
const subresourceHandlers: ReadonlyMap<string, SubresourceHandler> = new Map([
  ["binding", bind],
  ["eviction", evict],
  ["scale", scale],
  ["token", requestToken]
])

/** Subresources that answer with a stream, or that would. */
const streamingHandlers: ReadonlyMap<string, (context: RequestScope, target: Target) => Response> = new Map([
  ["log", log],
  ["exec", connect],
  ["attach", connect],
  ["portforward", connect],
  ["proxy", connect]
])

const encoded = (code: number, text: Effect.Effect<string, StatusError.StatusError>): Response =>
  StatusError.andThen(text, (text) => Effect.succeed(answer(code, text)))

const onCollection = (context: RequestScope, target: Target, encoder: Encoder): Response => {
  const { resource, namespace } = target
  switch (context.request.method) {
    case "HEAD":
    case "GET":
      if (isTrue(context.request.query.get("watch"))) {
        const wanted = context.request.omitManagedFields === true ? (encoder.withoutManagedFields ?? encoder) : encoder
        const lines = watch(context, target, wanted)
        return StatusError.isRefusal(lines)
          ? lines
          : Effect.succeed({ _tag: "Watch", contentType: "application/json", lines })
      }
      return encoded(200, read.list(context, target, encoder))
    case "POST":
      return resource.namespaced && namespace === ""
        ? StatusError.methodNotAllowed()
        : StatusError.andThen(
            write.create(context, target, () => sent(context, resource)),
            (version) => Effect.succeed(answer(201, encoder.encode(version)))
          )
    case "DELETE":
      return !resource.verbs.includes("deletecollection") || (resource.namespaced && namespace === "")
        ? StatusError.methodNotAllowed()
        : encoded(200, remove.removeCollection(context, target, encoder))
    default:
      return StatusError.methodNotAllowed()
  }
}

const onObject = (context: RequestScope, target: Target, encoder: Encoder): Response => {
  const updated = ({ created, version }: write.Updated) =>
    Effect.succeed(answer(created ? 201 : 200, encoder.encode(version)))
  switch (context.request.method) {
    case "HEAD":
    case "GET":
      return encoded(200, read.get(context, target, encoder))
    case "PUT":
      return StatusError.andThen(
        write.upsert(context, target, (existing) => sentFor(context, target, existing)),
        updated
      )
    case "PATCH":
      return StatusError.andThen(patch.patch(context, target, optionsOf(context)), updated)
    case "DELETE":
      return target.subresource === ""
        ? encoded(200, remove.remove(context, target, encoder))
        : StatusError.methodNotAllowed()
    default:
      return StatusError.methodNotAllowed()
  }
}

/** The object that a request sends. */
const sent = (context: RequestScope, resource: ResourceDefinition): Change | StatusError.StatusError => {
  const object = body.object(context.request, resource, fieldValidation.ofBody(context, resource))
  return StatusError.isRefusal(object) ? object : { object, options: optionsOf(context) }
}

/** The object that a PUT sends. */
const sentFor = (
  context: RequestScope,
  target: Target,
  existing: Version | undefined
): Change | StatusError.StatusError => {
  const { resource, name, subresource } = target
  const change = sent(context, resource)
  if (StatusError.isRefusal(change)) return change
  const refusal = refuseIdentity(target, change.object)
  if (refusal !== undefined) return refusal
  return existing === undefined && (!resource.createOnUpdate || subresource !== "")
    ? StatusError.notFound(resource, name)
    : change
}

const commonChecks: ReadonlyArray<string> = ["ping", "log", "etcd"]

/** Names of the checks of `/healthz`, `/livez` and `/readyz`; all of them pass, because all state is in memory. */
const healthChecks: Readonly<Record<string, ReadonlyArray<string>>> = {
  healthz: commonChecks,
  livez: commonChecks,
  readyz: [...commonChecks, "informer-sync", "shutdown"]
}

const plainText = (body: string): Answer => ({
  _tag: "Answer",
  status: 200,
  contentType: "text/plain; charset=utf-8",
  body
})

/** The answer to a probe, as a whole, of one check, or as a list with `verbose`; undefined for other paths and unknown checks. */
const healthCheck = (segments: ReadonlyArray<string>, query: URLSearchParams): Answer | undefined => {
  const [root = "", check, ...more] = segments
  const names = Object.hasOwn(healthChecks, root) ? healthChecks[root] : undefined
  if (names === undefined || more.length > 0) return undefined
  if (check !== undefined) return names.includes(check) ? plainText("ok") : undefined
  if (!query.has("verbose")) return plainText("ok")
  const excluded = query.getAll("exclude")
  const lines = names.map((name) => `[+]${name} ${excluded.includes(name) ? "excluded: ok" : "ok"}\n`)
  return plainText(`${lines.join("")}${root} check passed\n`)
}
