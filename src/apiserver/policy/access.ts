/**
 * Who writes a policy with parameters, or a binding that refers to some, has to be allowed to read them: expressions and messages show their content.
 * With RBAC only. Source: pkg/registry/admissionregistration/validatingadmissionpolicy{,binding}: authz.go, including the messages.
 */
import type { Plugin, Write } from "../admission/Admission.ts"
import * as stored from "../admission/stored.ts"
import type { User } from "../Api.ts"
import { isMaster } from "../authorization/Authorizer.ts"
import { equal, objectAt, textAt } from "../json.ts"
import * as StatusError from "../StatusError.ts"
import { forbiddenValue } from "../validation/validate.ts"
import { group, storage } from "./configuration.ts"
import * as params from "./params.ts"

export const paramAccess: Plugin = {
  name: "PolicyParamAccess",
  check: (write) => {
    const { context, object, target } = write
    if (target.resource.group !== group || isMaster(context.request.user)) return undefined
    const [field, why] =
      target.resource.storage === storage ? ["spec.paramKind", ofPolicy(write)] : ["spec.paramRef", ofBinding(write)]
    if (why === undefined) return undefined
    return StatusError.invalid(target.resource, textAt(object, "metadata", "name"), [forbiddenValue(field, why)])
  }
}

const ofPolicy = ({ before, context, object }: Write): string | undefined => {
  const kind = params.kindOf(objectAt(object, "spec"))
  if (kind === undefined) return undefined
  if (equal(objectAt(object, "spec", "paramKind"), objectAt(before, "spec", "paramKind"))) return undefined
  const wanted = { ...attributesOf(context, kind), verb: "get", namespace: "*", name: "*" }
  if (context.state.authorizer.decide(context.request.user, wanted).allowed) return undefined
  const what = `(kind=${kind.kind}, apiVersion=${kind.apiVersion})`
  return `user ${inGo(context.request.user)} must have "get" permission on all objects of the referenced paramKind ${what}`
}

const ofBinding = ({ before, context, object }: Write): string | undefined => {
  const ref = objectAt(object, "spec", "paramRef")
  if (ref === undefined) return undefined
  const policyName = textAt(object, "spec", "policyName")
  if (equal(ref, objectAt(before, "spec", "paramRef")) && policyName === textAt(before, "spec", "policyName"))
    return undefined
  const policy = stored.object(context, storage, "", policyName)
  const kind = params.kindOf(objectAt(policy, "spec"))
  const name = textAt(ref, "name")
  const verb = name === "" ? "list" : "get"
  const user = inGo(context.request.user)
  const wanted = { ...attributesOf(context, kind), verb, namespace: textAt(ref, "namespace"), name }
  if (context.state.authorizer.decide(context.request.user, wanted).allowed) return undefined
  const everything = `to determine minimum required permissions and user ${user} does not have "${verb}" permission for all groups, versions and resources`
  if (policy === undefined) return `unable to get policy ${policyName} ${everything}`
  if (kind !== undefined && wanted.resource === "*") {
    return `unable to resolve paramKind &ParamKind{APIVersion:${kind.apiVersion},Kind:${kind.kind},} ${everything}`
  }
  return `user ${user} does not have "${verb}" permission on the object referenced by paramRef`
}

/** A kind that is unknown asks for the right to everything. */
const attributesOf = (context: Write["context"], kind: params.ParamKind | undefined) => {
  const resource = kind === undefined ? undefined : params.resourceOf(context, kind)
  const slash = kind?.apiVersion.indexOf("/") ?? -1
  return {
    path: "",
    isResource: true,
    group: kind === undefined ? "*" : kind.apiVersion.slice(0, Math.max(0, slash)),
    resource: resource?.plural ?? "*",
    subresource: ""
  }
}

/** A user as Go prints the struct. */
const inGo = ({ extra = {}, groups, name, uid = "" }: User): string => {
  const members = Object.entries(extra).map(([key, values]) => `${key}:[${values.join(" ")}]`)
  return `&{${name} ${uid} [${groups.join(" ")}] map[${members.sort().join(" ")}]}`
}
