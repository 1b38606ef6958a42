/** Policies and bindings in short, and requests whose warnings and status are of interest. */
import * as Effect from "effect/Effect"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type { User } from "../../../src/apiserver/Api.ts"
import * as client from "../client.ts"

export const group = "/apis/admissionregistration.k8s.io/v1"
export const policies = `${group}/validatingadmissionpolicies`
export const bindings = `${group}/validatingadmissionpolicybindings`

export const onConfigMaps = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"] }

export const policySpec = (expression: string, more: object = {}) => ({
  matchConstraints: { resourceRules: [onConfigMaps] },
  validations: [{ expression }],
  ...more
})

export const policy = (name: string, spec: object) => ({ metadata: { name }, spec })

export const binding = (name: string, policyName: string, more: object = {}) => ({
  metadata: { name },
  spec: { policyName, validationActions: ["Deny"], ...more }
})

/** Creates a policy and a binding of its name. */
export const enforce = Effect.fnUntraced(function* (name: string, spec: object, more: object = {}) {
  yield* client.post(policies, policy(name, spec))
  yield* client.post(bindings, binding(name, name, more))
})

export const admin: User = { name: "system:admin", groups: ["system:masters"] }

/** The status, the body and the warnings of a request. */
export const ask = Effect.fnUntraced(function* (
  method: string,
  path: string,
  body?: unknown,
  { user = admin, query = {} }: { readonly user?: User; readonly query?: Record<string, string> } = {}
) {
  const server = yield* ApiServer
  const answer = yield* server.handle({
    method,
    path,
    query: new URLSearchParams(query),
    headers: { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" },
    body: body === undefined ? "" : JSON.stringify(body),
    user
  })
  if (answer._tag !== "Answer") return { status: 0, body: {} as any, warning: undefined }
  return { status: answer.status, body: JSON.parse(answer.body), warning: answer.headers?.["warning"] }
})

/** The message of a refusal, undefined for a success. */
export const messageOf = (reply: { readonly status: number; readonly body: any }): string | undefined =>
  reply.status < 400 ? undefined : reply.body.message

export const lastAudit = Effect.flatMap(ApiServer, (server) => Effect.map(server.audit, (all) => all.at(-1)))

/** Runs on a new server. */
export const live = <A, E>(effect: Effect.Effect<A, E, any>, options = {}) =>
  Effect.provide(effect as Effect.Effect<A, E>, client.layer(options))

/** Creates a ConfigMap. */
export const create = (name: string, data: Record<string, string> = {}, metadata: object = {}) =>
  ask("POST", client.configMaps, client.configMap(name, data, metadata))

/** The messages with which ConfigMaps of these names are refused. */
export const messages = (...names: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(names, (name) => create(name)),
    (all) => all.map(messageOf)
  )

/** The message of a policy with a binding of its name. */
export const denied = (name: string, why: string, object = "a") =>
  `configmaps "${object}" is forbidden: ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: ${why}`
