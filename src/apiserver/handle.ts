/**
 * Handles one request: authenticates impersonation, authorizes, routes, runs the verb in one synchronous section, turns errors into
 * `Status` responses, and writes the audit entry. An error that is not a StatusError is a defect and becomes a 500; only a missing
 * webhook response is thrown on, to `webhook/dispatch.ts`.
 */
import type * as Status from "../kube/Status.ts"
import { isUnfinished } from "./webhook/dispatch.ts"
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
import * as StatusError from "./StatusError.ts"
import * as routing from "./routing.ts"
import type { Target } from "./routing.ts"
import * as fieldValidation from "./validation/fieldValidation.ts"
import type { ResourceDefinition } from "./scheme/ResourceDefinition.ts"
import type { RequestScope } from "./admission/Admission.ts"
import { bind } from "./endpoints/binding.ts"
import { evict } from "./endpoints/eviction.ts"
import * as writeOptions from "./endpoints/writeOptions.ts"
import * as patch from "./endpoints/patch.ts"
import * as read from "./endpoints/read.ts"
import * as remove from "./endpoints/remove.ts"
import { isTrue } from "./endpoints/listOptions.ts"
import * as reviews from "./endpoints/reviews.ts"
import { scale } from "./endpoints/scale.ts"
import { requestToken } from "./endpoints/token.ts"
import { watch } from "./endpoints/watch.ts"
import * as write from "./endpoints/write.ts"
import { negotiateEncoder } from "./printers/negotiate.ts"
import type { Encoder } from "./printers/Encoder.ts"

export const handle = (context: RequestScope): ApiResponse => {
  const segments = routing.segmentsOf(context.request.path)
  const asked = attributes.of(context.request, segments)
  const before = context.state.log.revision()
  let acting = context
  let allowed = false
  try {
    acting = impersonation.resolve(context)
    Authorizer.check(acting, asked)
    allowed = true
    const response = warned(acting, route(acting, segments))
    const code = response._tag === "Answer" ? response.status : 200
    record(context, acting, asked, before, { allowed, code, reason: "" })
    return response
  } catch (thrown) {
    // Neither a response nor a defect, and not audited: the request will be processed again.
    if (isUnfinished(thrown)) throw thrown
    const refusal = refusalOf(thrown)
    const { code, reason = "" } = refusal.status
    if (refusal.isTemporary !== true || context.isLastTry)
      record(context, acting, asked, before, { allowed, code, reason })
    return warned(acting, refused(refusal))
  }
}

const refusalOf = (thrown: unknown): StatusError.StatusError =>
  thrown instanceof StatusError.StatusError
    ? thrown
    : StatusError.internal(thrown instanceof Error ? thrown.message : String(thrown))

const record = (
  { now, request, state }: RequestScope,
  acting: RequestScope,
  asked: Attributes,
  before: number,
  outcome: Pick<AuditLog.Entry, "allowed" | "code" | "reason">
): void => {
  const revision = state.log.revision()
  const changed = revision > before
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
    name: changed && asked.name === "" && asked.verb === "create" ? generatedName(acting) : asked.name,
    allowed: outcome.allowed,
    code: outcome.code,
    reason: outcome.reason,
    revision,
    changed
  })
}

/** The name of the object that this request has created. */
const generatedName = ({ request, state }: RequestScope): string => {
  const target = routing.target(state.registry, routing.segmentsOf(request.path) ?? [])
  return target === undefined ? "" : (state.collection(target.resource.storage).latest?.name ?? "")
}

export const answer = (status: number, text: string): Answer => ({
  _tag: "Answer",
  status,
  contentType: "application/json",
  body: text
})

export const refused = ({ headers, isTemporary = false, status }: StatusError.StatusError): Answer => {
  const wait = status.details?.retryAfterSeconds
  const retry = wait === undefined ? {} : { "retry-after": String(wait) }
  const said = answer(status.code, JSON.stringify(status satisfies Status.Status))
  return { ...said, headers: { ...retry, ...headers }, ...(isTemporary ? { isTemporary } : {}) }
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

const route = (context: RequestScope, segments: ReadonlyArray<string> | undefined): ApiResponse => {
  const { method } = context.request
  if (segments === undefined) throw StatusError.unknownPath()
  const target = routing.target(context.state.registry, segments)
  if (target !== undefined) return settled(context, target, dispatch(context, target))
  const { discovery, openApi } = descriptionsOf(context.state.registry.all)
  const document =
    healthCheck(segments, context.request.query) ??
    discovery.find(segments, context.request.headers["accept"]) ??
    openApi.find(segments, context.request)
  if (document === undefined) throw StatusError.unknownPath()
  if (method !== "GET" && method !== "HEAD") throw StatusError.methodNotAllowed()
  return document
}

/** Updates the served resources after a write of a CustomResourceDefinition; the response stays as it was made before that. */
const settled = (context: RequestScope, { resource }: Target, response: ApiResponse): ApiResponse => {
  if (definitions.concerns(resource) && context.request.method !== "GET") definitions.sync(context)
  return response
}

const encoderOf = (context: RequestScope, { resource, name }: Target): Encoder =>
  converted.convertingEncoder(
    context,
    resource,
    negotiateEncoder(context.request.headers["accept"], {
      resource,
      collection: name === "",
      includeObject: context.request.query.get("includeObject"),
      now: context.now
    })
  )

const dispatch = (context: RequestScope, target: Target): ApiResponse => {
  writeOptions.check(context.request)
  write.expire(context, target.resource)
  const subresource = subresourceHandlers.get(target.subresource)
  if (subresource !== undefined) return answer(...subresource(context, target))
  if (target.resource.review) return answer(201, reviews.answer(context, target))
  return target.name === "" ? onCollection(context, target) : onObject(context, target)
}

/**
 * Subresources with a kind of their own; each handler returns status code and body. `status`, `finalize` and `ephemeralcontainers` are
 * updates of a part of their object and handled like those of the whole.
 */
const subresourceHandlers: ReadonlyMap<string, (context: RequestScope, target: Target) => readonly [number, string]> =
  new Map([
    ["binding", bind],
    ["eviction", evict],
    ["scale", scale],
    ["token", requestToken]
  ])

const onCollection = (context: RequestScope, target: Target): ApiResponse => {
  const { resource, namespace } = target
  const encoder = encoderOf(context, target)
  switch (context.request.method) {
    case "HEAD":
    case "GET":
      if (isTrue(context.request.query.get("watch"))) {
        const wanted = context.request.omitManagedFields === true ? (encoder.withoutManagedFields ?? encoder) : encoder
        return { _tag: "Watch", contentType: "application/json", lines: watch(context, target, wanted) }
      }
      return answer(200, read.list(context, target, encoder))
    case "POST": {
      if (resource.namespaced && namespace === "") throw StatusError.methodNotAllowed()
      const version = write.create(
        context,
        target,
        body.object(context.request, resource, fieldValidation.ofBody(context, resource)),
        write.optionsOf(context)
      )
      return answer(201, encoder.encode(version))
    }
    case "DELETE":
      if (!resource.verbs.includes("deletecollection") || (resource.namespaced && namespace === "")) {
        throw StatusError.methodNotAllowed()
      }
      return answer(200, remove.removeCollection(context, target, encoder))
    default:
      throw StatusError.methodNotAllowed()
  }
}

const onObject = (context: RequestScope, target: Target): ApiResponse => {
  const encoder = encoderOf(context, target)
  switch (context.request.method) {
    case "HEAD":
    case "GET":
      return answer(200, read.get(context, target, encoder))
    case "PUT": {
      const { created, version } = replace(context, target)
      return answer(created ? 201 : 200, encoder.encode(version))
    }
    case "PATCH": {
      const { created, version } = patch.patch(context, target, write.optionsOf(context))
      return answer(created ? 201 : 200, encoder.encode(version))
    }
    case "DELETE":
      if (target.subresource !== "") throw StatusError.methodNotAllowed()
      return answer(200, remove.remove(context, target, encoder))
    default:
      throw StatusError.methodNotAllowed()
  }
}

const replace = (context: RequestScope, target: Target): write.Updated => {
  const { resource, name, subresource } = target
  const object = body.object(context.request, resource, fieldValidation.ofBody(context, resource))
  const options = write.optionsOf(context)
  write.checkIdentity(target, object)
  const existing = read.present(context, target)
  if (existing !== undefined) {
    return { version: write.update(context, target, object, existing, options), created: false }
  }
  if (!resource.createOnUpdate || subresource !== "") throw StatusError.notFound(resource, name)
  return { version: write.createNamed(context, target, object, options), created: true }
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
