/**
 * Reviews: TokenReview, SubjectAccessReview and the like. The authenticator and the authorizer decide; this validates the review and
 * sets its status. Source: pkg/registry/authorization and pkg/registry/authentication.
 */
import { arrayAt, at, clone, objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import type { User } from "../Api.ts"
import { absentInWords } from "../authorization/Authorizer.ts"
import type { Decision } from "../authorization/Authorizer.ts"
import type { Attributes, Rule } from "../authorization/rule.ts"
import * as body from "../body.ts"
import * as StatusError from "../StatusError.ts"
import type { FieldError } from "../StatusError.ts"
import type { Target } from "../routing.ts"
import * as fieldValidation from "../validation/fieldValidation.ts"
import { invalidValue, required } from "../validation/validate.ts"
import * as ResourceDefinition from "../scheme/ResourceDefinition.ts"
import type { RequestScope } from "../admission/Admission.ts"

/** The review that was sent, with the result as its status. */
export const answer = (
  context: RequestScope,
  { resource, name, namespace }: Target
): string | StatusError.StatusError => {
  if (context.request.method !== "POST" || name !== "" || resource.namespaced !== (namespace !== "")) {
    return StatusError.methodNotAllowed()
  }
  const object = body.object(context.request, resource, fieldValidation.ofBody(context, resource))
  if (StatusError.isRefusal(object)) return object
  const status = statusOf(context, resource.kind, namespace, object)
  if (StatusError.isRefusal(status)) return status
  return JSON.stringify({ ...object, kind: resource.kind, apiVersion: ResourceDefinition.apiVersion(resource), status })
}

const statusOf = (
  context: RequestScope,
  kind: string,
  namespace: string,
  object: JsonObject
): Json | StatusError.StatusError => {
  switch (kind) {
    case "TokenReview":
      return tokenStatus(context, object)
    case "SelfSubjectReview":
      return { userInfo: userInfo(context.request.user) }
    case "SelfSubjectRulesReview":
      return rules(context, object)
    case "SelfSubjectAccessReview":
      return (
        refuseAttributes(object, []) ?? decision(context.state.authorizer.decide(context.request.user, wanted(object)))
      )
    default:
      return (
        refuseSubject(object, kind === "LocalSubjectAccessReview" ? namespace : undefined) ??
        decision(context.state.authorizer.decide(subject(object), wanted(object)))
      )
  }
}

const userInfo = ({ extra, groups, name, uid }: User): JsonObject => {
  const info: JsonObject = { username: name, groups: [...groups] }
  if (uid !== undefined) info["uid"] = uid
  if (extra !== undefined) info["extra"] = clone(extra as JsonObject)
  return info
}

const decision = ({ allowed, reason }: Decision): JsonObject => ({ allowed, ...(reason === "" ? {} : { reason }) })

const subject = (object: JsonObject): User => ({
  name: textAt(object, "spec", "user"),
  groups: arrayAt(object, "spec", "groups").map(String)
})

const wanted = (object: JsonObject): Attributes => {
  const resource = objectAt(object, "spec", "resourceAttributes")
  const asked = resource ?? objectAt(object, "spec", "nonResourceAttributes")
  return {
    verb: textAt(asked, "verb"),
    path: textAt(asked, "path"),
    isResource: resource !== undefined,
    group: textAt(asked, "group"),
    resource: textAt(asked, "resource"),
    subresource: textAt(asked, "subresource"),
    namespace: textAt(asked, "namespace"),
    name: textAt(asked, "name")
  }
}

/** Errors of reviews name no kind: kube-apiserver validates them outside its registry. */
const invalid = (errors: ReadonlyArray<FieldError>): StatusError.StatusError =>
  StatusError.invalid({ group: "authorization.k8s.io", kind: "" }, "", errors)

const refuseAttributes = (
  object: JsonObject,
  before: ReadonlyArray<FieldError>
): StatusError.StatusError | undefined => {
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
  return errors.length === 0 ? undefined : invalid(errors)
}

const refuseSubject = (object: JsonObject, namespace: string | undefined): StatusError.StatusError | undefined => {
  const errors: Array<FieldError> = []
  const nobody = textAt(object, "spec", "user") === "" && arrayAt(object, "spec", "groups").length === 0
  if (nobody) errors.push(invalidValue("spec.user", "", "at least one of user or group must be specified"))
  const asked = textAt(object, "spec", "resourceAttributes", "namespace")
  if (namespace !== undefined && asked !== namespace) {
    errors.push(invalidValue("spec.resourceAttributes.namespace", asked, "must match metadata.namespace"))
  }
  return refuseAttributes(object, errors)
}

const tokenStatus = (context: RequestScope, object: JsonObject): JsonObject | StatusError.StatusError => {
  const text = textAt(object, "spec", "token")
  if (text === "") return StatusError.badRequest("token is required for TokenReview in authentication")
  const audiences = arrayAt(object, "spec", "audiences").map(String)
  const identified = context.state.authenticator.identify(context, text, audiences)
  if ("error" in identified) return { user: {}, error: identified.error }
  return { authenticated: true, user: userInfo(identified.user), audiences: [...identified.audiences] }
}

const rules = (context: RequestScope, object: JsonObject): JsonObject | StatusError.StatusError => {
  const namespace = textAt(object, "spec", "namespace")
  if (namespace === "") return invalid([required("spec.namespace", "no namespace on request")])
  const { absent, rules } = context.state.authorizer.rulesFor(context.request.user, namespace)
  return {
    resourceRules: rules.filter(({ resources }) => resources.length > 0).map(resourceRule),
    nonResourceRules: rules
      .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
      .map(({ nonResourceURLs, verbs }) => ({ verbs: [...verbs], nonResourceURLs: [...nonResourceURLs] })),
    incomplete: false,
    ...(absent.length === 0 ? {} : { evaluationError: absentInWords(absent) })
  }
}

const resourceRule = ({ apiGroups, resourceNames, resources, verbs }: Rule): JsonObject => ({
  verbs: [...verbs],
  apiGroups: [...apiGroups],
  resources: [...resources],
  ...(resourceNames.length === 0 ? {} : { resourceNames: [...resourceNames] })
})
