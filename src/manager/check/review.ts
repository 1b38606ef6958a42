/** One question about oneself: may I? Source: authorization.k8s.io/v1 SelfSubjectAccessReview. */
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import type { Permission } from "../permissions.ts"

export interface Answer {
  readonly allowed: boolean
  /** In the server's words; often empty. */
  readonly reason: string
}

const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

/** Asks the server; nothing is stored. */
export const isAllowed = Effect.fnUntraced(function* (permission: Permission) {
  const client = yield* KubeClient
  const context = { verb: "create", path, resource: "selfsubjectaccessreviews.authorization.k8s.io" }
  const { body } = yield* client.raw({ method: "POST", path, body: question(permission), context })
  const answer = answerIn(body)
  return answer ?? (yield* Effect.fail(ApiError.decode(context, "the answer has no status.allowed")))
})

const question = ({ group, name, namespace, resource, subresource, verb }: Permission) => ({
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
