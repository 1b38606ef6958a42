/**
 * The kinds that are questions: who is this, and may they. Until there are roles the answer is one rule, `may`: members
 * of `system:masters` may do everything, others nothing. Source: registry/authorization and registry/authentication.
 */
import { arrayAt, at, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import type { User } from "../Api.ts"
import * as body from "../body.ts"
import * as Refusal from "../Refusal.ts"
import type { FieldError } from "../Refusal.ts"
import type { Target } from "../routing.ts"
import * as fieldValidation from "../rules/fieldValidation.ts"
import { invalidValue, required } from "../rules/validate.ts"
import * as Kind from "../schema/Kind.ts"
import type { Turn } from "../Turn.ts"
import * as token from "./token.ts"

/** The whole authorization for now; roles are asked here. */
const may = (user: Pick<User, "groups">): boolean => user.groups.includes("system:masters")

/** The object that was sent, with the answer as its status. */
export const answer = (turn: Turn, { kind, name, namespace }: Target): string => {
  if (turn.request.method !== "POST" || name !== "" || kind.namespaced !== (namespace !== "")) {
    throw Refusal.methodNotAllowed()
  }
  const object = body.object(turn.request, kind, fieldValidation.ofBody(turn, kind))
  const status = statusOf(turn, kind.kind, namespace, object)
  return JSON.stringify({ ...object, kind: kind.kind, apiVersion: Kind.apiVersion(kind), status })
}

const statusOf = (turn: Turn, kind: string, namespace: string, object: JsonObject): Json => {
  switch (kind) {
    case "TokenReview":
      return tokenStatus(turn, object)
    case "SelfSubjectReview":
      return { userInfo: { username: turn.request.user.name, groups: [...turn.request.user.groups] } }
    case "SelfSubjectRulesReview":
      return rules(turn, object)
    case "SelfSubjectAccessReview":
      checkAttributes(object, [])
      return decision(may(turn.request.user))
    default:
      checkSubject(object, kind === "LocalSubjectAccessReview" ? namespace : undefined)
      return decision(may({ groups: arrayAt(object, "spec", "groups").map(String) }))
  }
}

const decision = (allowed: boolean): JsonObject => ({ allowed })

/** Refusals of reviews name no kind: the reference server validates them outside its registry. */
const refuse = (...errors: ReadonlyArray<FieldError>): Refusal.Refusal =>
  Refusal.invalid({ group: "authorization.k8s.io", kind: "" }, "", errors)

const checkAttributes = (object: JsonObject, before: ReadonlyArray<FieldError>): void => {
  const resource = at(object, "spec", "resourceAttributes")
  const other = at(object, "spec", "nonResourceAttributes")
  const errors = [...before]
  const oneOf = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
  if (resource !== undefined && other !== undefined) {
    errors.push(
      invalidValue("spec.nonResourceAttributes", other, `cannot be specified in combination with resourceAttributes`)
    )
  } else if (resource === undefined && other === undefined) {
    errors.push(invalidValue("spec.resourceAttributes", "null", oneOf))
  }
  if (errors.length > 0) throw refuse(...errors)
}

const checkSubject = (object: JsonObject, namespace: string | undefined): void => {
  const errors: Array<FieldError> = []
  const nobody = textAt(object, "spec", "user") === "" && arrayAt(object, "spec", "groups").length === 0
  if (nobody) errors.push(invalidValue("spec.user", "", "at least one of user or group must be specified"))
  const asked = textAt(object, "spec", "resourceAttributes", "namespace")
  if (namespace !== undefined && asked !== namespace) {
    errors.push(invalidValue("spec.resourceAttributes.namespace", asked, "must match metadata.namespace"))
  }
  checkAttributes(object, errors)
}

const tokenStatus = (turn: Turn, object: JsonObject): JsonObject => {
  const text = textAt(object, "spec", "token")
  if (text === "") throw Refusal.badRequest("token is required for TokenReview in authentication")
  const holder = token.holderOf(turn, text)
  const wanted = arrayAt(object, "spec", "audiences").map(String)
  const audiences =
    wanted.length === 0 ? holder?.audiences : holder?.audiences.filter((audience) => wanted.includes(audience))
  if (holder === undefined || audiences === undefined || audiences.length === 0) {
    return { user: {}, error: "invalid bearer token" }
  }
  const { groups, uid, username } = holder
  return { authenticated: true, user: { username, uid, groups: [...groups] }, audiences: [...audiences] }
}

const rules = (turn: Turn, object: JsonObject): JsonObject => {
  if (textAt(object, "spec", "namespace") === "") {
    throw refuse(required("spec.namespace", "no namespace on request"))
  }
  const all = ["*"]
  const everything = may(turn.request.user)
  return {
    resourceRules: everything ? [{ verbs: all, apiGroups: all, resources: all }] : [],
    nonResourceRules: everything ? [{ verbs: all, nonResourceURLs: all }] : [],
    incomplete: false
  }
}
