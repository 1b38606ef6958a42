/**
 * serviceaccounts/token: issues service account tokens. This validates the request; `authentication/Authenticator.ts` verifies tokens.
 * Source: pkg/registry/core/serviceaccount/storage: TokenREST.
 */
import * as Effect from "effect/Effect"
import { issuer } from "../../authentication/Authenticator.ts"
import * as serviceAccounts from "../../authentication/serviceAccounts.ts"
import { arrayAt, at, objectAt, textAt } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import * as Admission from "../../admission/Admission.ts"
import * as body from "../../body.ts"
import * as StatusError from "../../StatusError.ts"
import type { FieldError } from "../../StatusError.ts"
import type { Target } from "../../routing.ts"
import * as fieldValidation from "../../validation/fieldValidation.ts"
import { invalidValue } from "../../validation/validate.ts"
import * as resources from "../../scheme/resources.ts"
import * as RequestContext from "../../RequestContext.ts"
import type { RequestScope } from "../../admission/Admission.ts"
import * as Version from "../../storage/Version.ts"
import type { SubresourceHandler } from "./subresource.ts"
import * as read from "../read.ts"

const request = { group: "authentication.k8s.io", kind: "TokenRequest" }
const defaultSeconds = 3600
const minSeconds = 600
const maxSeconds = 2 ** 32

export const requestToken: SubresourceHandler = Effect.fnUntraced(function* (context, target) {
  const { account, dryRun, sent } = yield* StatusError.toEffect(decode(context, target))
  yield* Admission.admitSubresource({
    context,
    target,
    object: sent,
    before: undefined,
    dryRun,
    as: { ...request, version: "v1" }
  })
  return [201, yield* StatusError.toEffect(issue(context, target, account, sent))]
})

interface Decoded {
  readonly account: JsonObject
  readonly sent: JsonObject
  readonly dryRun: boolean
}

const decode = (context: RequestScope, target: Target): Decoded | StatusError.StatusError => {
  if (context.request.method !== "POST") return StatusError.methodNotAllowed()
  const type = fieldValidation.ofBodyAs(context, "authentication.TokenRequest")
  const sent = body.optional(context.request, "TokenRequest", type) ?? {}
  if (StatusError.isRefusal(sent)) return sent
  const found = read.find(context, target)
  if (StatusError.isRefusal(found)) return found
  return { account: Version.parse(found), sent, dryRun: context.request.query.has("dryRun") }
}

const issue = (
  context: RequestScope,
  target: Target,
  account: JsonObject,
  sent: JsonObject
): string | StatusError.StatusError => {
  const seconds = secondsOf(sent)
  if (StatusError.isRefusal(seconds)) return seconds
  const asked = arrayAt(sent, "spec", "audiences").map(String)
  const audiences = asked.length === 0 ? [issuer] : asked
  const bound = objectAt(sent, "spec", "boundObjectRef")
  const boundClaim = bound === undefined ? {} : claimOf(context, target, bound)
  if (StatusError.isRefusal(boundClaim)) return boundClaim
  const uid = textAt(account, "metadata", "uid")
  const { name, namespace } = target
  const now = Math.floor(context.now / 1000)
  const claims = {
    aud: audiences,
    exp: now + seconds,
    iat: now,
    iss: issuer,
    jti: RequestContext.uuid(context.random),
    "kubernetes.io": { namespace, serviceaccount: { name, uid }, ...boundClaim },
    nbf: now,
    sub: serviceAccounts.userOf(target)
  }
  const expires = (now + seconds) * 1000
  const token = context.state.authenticator.issue(claims, { random: context.random, now: context.now, expires })
  const answer = {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name, namespace, creationTimestamp: RequestContext.timestamp(context.now) },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: bound ?? null },
    status: { token, expirationTimestamp: RequestContext.timestamp(expires) }
  }
  return JSON.stringify(answer)
}

const secondsOf = (sent: JsonObject): number | StatusError.StatusError => {
  const asked = at(sent, "spec", "expirationSeconds") ?? defaultSeconds
  const refuse = (error: FieldError) => StatusError.invalid(request, "", [error])
  const field = "spec.expirationSeconds"
  if (typeof asked !== "number" || asked < minSeconds) {
    return refuse(invalidValue(field, asked, "may not specify a duration less than 10 minutes"))
  }
  return asked > maxSeconds
    ? refuse(invalidValue(field, asked, "may not specify a duration larger than 2^32 seconds"))
    : Math.floor(asked)
}

const boundKinds: ReadonlyMap<string, string> = new Map([
  ["Pod", "pods"],
  ["Secret", "secrets"],
  ["Node", "nodes"]
])

/** A token may be bound to an existing object, by its uid; a pod must run as the account. */
const claimOf = (
  context: RequestScope,
  { name, namespace }: Target,
  bound: JsonObject
): JsonObject | StatusError.StatusError => {
  const named = textAt(bound, "kind")
  const resource = resources.all.find(({ group, plural }) => group === "" && plural === boundKinds.get(named))
  if (resource === undefined || !["", "v1"].includes(textAt(bound, "apiVersion"))) {
    return StatusError.badRequest(`cannot bind token to object of type ${textAt(bound, "apiVersion")}, Kind=${named}`)
  }
  const key = Version.keyOf(resource.namespaced ? namespace : "", textAt(bound, "name"))
  const found = context.state.collection(resource.storage).get(key)
  if (found === undefined) return StatusError.notFound(resource, textAt(bound, "name"))
  const object = Version.parse(found)
  const uid = textAt(object, "metadata", "uid")
  const wanted = textAt(bound, "uid")
  if (wanted !== "" && wanted !== uid) {
    return StatusError.conflict(
      resource,
      found.name,
      `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`
    )
  }
  if (named === "Pod" && (textAt(object, "spec", "serviceAccountName") || "default") !== name) {
    return StatusError.badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(name)} to pod running with different serviceaccount name.`
    )
  }
  return { [named.toLowerCase()]: { name: found.name, uid } }
}
