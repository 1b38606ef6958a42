/**
 * The values of the variables that expressions of admission read: the objects and the request as a webhook would receive them, parameters, the
 * namespace, and the authorizer. Source: apiserver/pkg/admission/plugin/cel: newActivation, CreateNamespaceObject.
 */
import { Authorizer, requestResource } from "../../kube/cel/Cel.ts"
import type { Answer, Decide } from "../../kube/cel/Cel.ts"
import { fromJson } from "../../kube/cel/declare.ts"
import * as stored from "../admission/stored.ts"
import * as serviceAccounts from "../authentication/serviceAccounts.ts"
import { objectAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import { isNamespace } from "../webhook/matching.ts"
import { requestOf } from "../webhook/review.ts"
import type { Versioned } from "../admission/attributes.ts"
import type { Bindings } from "./evaluate.ts"

export interface Further {
  /** Null where there is none. */
  readonly params?: Json | undefined
  readonly hasAuthorizer: boolean
}

/** Match conditions see no namespace. */
export const bindings = (request: Versioned, { hasAuthorizer, params }: Further, namespace: Json = null): Bindings => ({
  object: fromJson(request.object),
  oldObject: fromJson(request.oldObject),
  request: fromJson(withoutEmpty(requestOf(request))),
  namespaceObject: fromJson(namespace),
  ...(params === undefined ? {} : { params: fromJson(params) }),
  ...(hasAuthorizer ? authorizerOf(request) : {})
})

/** An empty list of groups is absent, as Go encodes it. */
const withoutEmpty = (request: JsonObject): JsonObject => {
  const user = objectAt(request, "userInfo")
  if (Array.isArray(user?.["groups"]) && user["groups"].length === 0) delete user["groups"]
  return request
}

/** Metadata of a namespace that expressions do not see. */
const hidden: ReadonlySet<string> = new Set(["managedFields", "ownerReferences", "selfLink"])

/** The namespace of a request, null for one of a cluster-scoped object; undefined where it does not exist. */
export const namespaceOf = ({ context, target }: Versioned): Json | undefined => {
  if (target.namespace === "" || isNamespace(target.resource)) return null
  const found = stored.object(context, "namespaces", "", target.namespace)
  if (found === undefined) return undefined
  const metadata = Object.entries(objectAt(found, "metadata") ?? {}).filter(([name]) => !hidden.has(name))
  return { ...found, metadata: Object.fromEntries(metadata) }
}

const authorizerOf = (request: Versioned): Bindings => {
  const { name, target } = request
  const { group, plural } = target.resource
  const authorizer = new Authorizer(decide(request))
  const namespace = isNamespace(target.resource) ? name : target.namespace
  const asked = { group, resource: plural, subresource: target.subresource, namespace, name }
  return { authorizer, "authorizer.requestResource": requestResource(authorizer, asked) }
}

/** Selectors of a question do not narrow it: roles of this server know none either. */
const decide =
  ({ context }: Versioned): Decide =>
  (question): Answer => {
    const { group = "", name = "", namespace = "", path, resource = "", subresource = "", verb } = question
    const account = question.serviceAccount
    const user =
      account === undefined
        ? context.request.user
        : { name: serviceAccounts.userOf(account), groups: serviceAccounts.groupsOf(account.namespace) }
    const isResource = path === undefined
    const wanted = { verb, path: path ?? "", isResource, group, resource, subresource, namespace, name }
    return context.state.authorizer.decide(user, wanted)
  }
