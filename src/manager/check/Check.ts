/**
 * Checks without changes whether the chosen controllers could work on a cluster: that the server responds, serves the kinds that they need, and
 * allows each of their requests. After a failure it continues, so that the user sees all failures; only without a response it stops. Source:
 * authorization.k8s.io SelfSubjectAccessReview.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../../kube/ApiError.ts"
import * as Resource from "../../kube/Resource.ts"
import { Discovery } from "../../layers/Discovery.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import * as Permissions from "../permissions.ts"
import { reachable } from "../preflight.ts"

export interface Finding {
  readonly check: "configuration" | "reachability" | "discovery" | "permissions"
  readonly isOk: boolean
  /** What was checked: an address, a kind, an endpoint. */
  readonly subject: string
  /** What was found; for a failure, what is wrong and which controllers need it. */
  readonly detail: string
  /** The controllers that need it. */
  readonly neededBy: ReadonlyArray<string>
}

export interface Options extends Permissions.Wanted {
  /** The address of the server, for the user. */
  readonly server: string
}

/** Concurrent requests. */
const concurrency = 8

export const run = Effect.fnUntraced(function* (options: Options) {
  const { controllers, server } = options
  const names = controllers.map(({ who }) => who)
  const configuration: Finding = {
    check: "configuration",
    isOk: true,
    subject: controllers.length === 1 ? "1 controller" : `${controllers.length} controllers`,
    detail: names.join(", "),
    neededBy: names
  }
  const reached = yield* Effect.result(reachable("10 seconds"))
  const reachability: Finding = {
    check: "reachability",
    isOk: Result.isSuccess(reached),
    subject: server,
    detail: Result.isSuccess(reached) ? yield* versionOf : reached.failure.message,
    neededBy: names
  }
  if (!reachability.isOk) return [configuration, reachability]
  const served = yield* Effect.forEach(Permissions.kinds(controllers), isServed, { concurrency })
  const allowed = yield* Effect.forEach(byEndpoint(Permissions.needed(options)), ask, { concurrency })
  return [configuration, reachability, ...served, ...allowed]
})

/** The server's version; some servers hide it from unknown clients. */
const versionOf = Effect.gen(function* () {
  const client = yield* KubeClient
  const { body } = yield* client.raw({
    method: "GET",
    path: "/version",
    context: { verb: "get", path: "/version" }
  })
  return typeof body === "object" && body !== null && "gitVersion" in body && typeof body.gitVersion === "string"
    ? `Kubernetes ${body.gitVersion}`
    : ""
}).pipe(Effect.orElseSucceed(() => ""))

const isServed = Effect.fnUntraced(function* ({ needed, resource }: ReturnType<typeof Permissions.kinds>[number]) {
  const discovery = yield* Discovery
  const answer = yield* Effect.result(discovery.serves(resource))
  const isOk = Result.isSuccess(answer) && answer.success
  const version = Resource.apiVersion(resource)
  const why = Result.isFailure(answer)
    ? answer.failure.message
    : `the server does not serve ${version}: is its CustomResourceDefinition installed?`
  return {
    check: "discovery",
    isOk,
    subject: Resource.qualifiedName(resource),
    detail: isOk ? version : `${why} (for ${needed.join(", ")})`,
    neededBy: needed
  } satisfies Finding
})

/** Verbs on one endpoint are one row. */
interface Endpoint {
  readonly subject: string
  readonly permissions: ReadonlyArray<Permissions.Permission>
}

const byEndpoint = (permissions: ReadonlyArray<Permissions.Permission>): ReadonlyArray<Endpoint> => {
  const rows = new Map<string, Array<Permissions.Permission>>()
  for (const one of permissions) {
    const subject = subjectOf(one)
    rows.set(subject, [...(rows.get(subject) ?? []), one])
  }
  return [...rows].map(([subject, permissions]) => ({ subject, permissions }))
}

/** `pods/status`, `deployments.apps`, `leases.coordination.k8s.io in kube-system`, `everything`. */
const subjectOf = ({ group, namespace, resource, subresource }: Permissions.Permission): string => {
  const kind = group === "*" && resource === "*" ? "everything" : group === "" ? resource : `${resource}.${group}`
  return kind + (subresource === "" ? "" : `/${subresource}`) + (namespace === "" ? "" : ` in ${namespace}`)
}

const ask = Effect.fnUntraced(function* ({ permissions, subject }: Endpoint) {
  const answers = yield* Effect.forEach(
    permissions,
    (permission) => Effect.map(Effect.result(isAllowed(permission)), (answer) => ({ permission, answer })),
    { concurrency }
  )
  const isOk = answers.every(({ answer }) => Result.isSuccess(answer) && answer.success.allowed)
  const denied = answers.flatMap(({ answer, permission }) => {
    const what = permission.name === "" ? permission.verb : `${permission.verb} of ${permission.name}`
    if (Result.isFailure(answer)) return [`${what}: cannot be asked (${answer.failure.message})`]
    if (answer.success.allowed) return []
    const reason = answer.success.reason === "" ? "" : `, ${answer.success.reason}`
    return [`${what} is not allowed${reason} (for ${permission.needed.join(", ")})`]
  })
  return {
    check: "permissions",
    isOk,
    subject,
    detail: isOk ? [...new Set(permissions.map(({ verb }) => verb))].join(" ") : denied.join("; "),
    neededBy: [...new Set(permissions.flatMap(({ needed }) => needed))]
  } satisfies Finding
})

/** The status of the API server's review. */
interface Answer {
  readonly allowed: boolean
  /** The reason that the server gives; often empty. */
  readonly reason: string
}

const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

/** Nothing is stored. Source: authorization.k8s.io/v1 SelfSubjectAccessReview. */
const isAllowed = Effect.fnUntraced(function* (permission: Permissions.Permission) {
  const client = yield* KubeClient
  const context = { verb: "create", path: reviews, resource: "selfsubjectaccessreviews.authorization.k8s.io" }
  const { body } = yield* client.raw({ method: "POST", path: reviews, body: question(permission), context })
  const answer = answerIn(body)
  return answer ?? (yield* Effect.fail(ApiError.decode(context, "the answer has no status.allowed")))
})

const question = ({ group, name, namespace, resource, subresource, verb }: Permissions.Permission) => ({
  apiVersion: "authorization.k8s.io/v1",
  kind: "SelfSubjectAccessReview",
  spec: { resourceAttributes: { verb, group, resource, subresource, namespace, name } }
})

const answerIn = (body: unknown): Answer | undefined => {
  const status = property(body, "status")
  const allowed = property(status, "allowed")
  const reason = property(status, "reason")
  return typeof allowed === "boolean" ? { allowed, reason: typeof reason === "string" ? reason : "" } : undefined
}

const property = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && key in value ? (value as Record<string, unknown>)[key] : undefined
