/**
 * The parameters of a binding: the objects of the policy's `paramKind` that its `paramRef` names or selects, in the version of that kind. Source:
 * apiserver/pkg/admission/plugin/policy/generic: CollectParams.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Selector from "../../kube/Selector.ts"
import type { RequestScope } from "../admission/Admission.ts"
import * as converted from "../apiextensions/conversion/converted.ts"
import { objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import { served } from "../printers/Encoder.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import { select } from "../storage/Collection.ts"
import * as Version from "../storage/Version.ts"

export interface ParamKind {
  readonly apiVersion: string
  readonly kind: string
}

export const kindOf = (spec: Json | undefined): ParamKind | undefined => {
  const found = objectAt(spec, "paramKind")
  return found === undefined ? undefined : { apiVersion: textAt(found, "apiVersion"), kind: textAt(found, "kind") }
}

const groupVersionOf = (apiVersion: string): readonly [group: string, version: string] => {
  const slash = apiVersion.indexOf("/")
  return slash === -1 ? ["", apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)]
}

/** The resource of a kind of parameters, if it is served now. */
export const resourceOf = (
  { state }: Pick<RequestScope, "state">,
  { apiVersion, kind }: ParamKind
): ResourceDefinition | undefined => {
  const [group, version] = groupVersionOf(apiVersion)
  return state.registry.all.find((one) => one.kind === kind && one.version === version && one.group === group)
}

/** The message of a policy whose kind of parameters is not served. */
export const unknownKind = ({ apiVersion, kind }: ParamKind): string => {
  const [group, version] = groupVersionOf(apiVersion)
  return `failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`
}

/** The parameters, each null where the binding has none; undefined for a policy without parameters. Fails where they are misconfigured. */
export type Params = Result.Result<ReadonlyArray<Json | undefined>, string>

const failed = (why: string): Effect.Effect<Params> => Effect.succeed(Result.fail(why))

export const collect = (
  context: RequestScope,
  resource: ResourceDefinition | undefined,
  ref: JsonObject | undefined,
  namespace: string
): Effect.Effect<Params> => {
  if (resource === undefined) return Effect.succeed(Result.succeed([undefined]))
  if (ref === undefined) return Effect.succeed(Result.succeed([null]))
  const own = textAt(ref, "namespace")
  if (resource.namespaced && own === "" && namespace === "") {
    return failed("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
  }
  if (!resource.namespaced && own !== "") {
    return failed("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
  }
  const found = versionsOf(context, resource, ref, resource.namespaced ? own || namespace : "")
  if (found.length === 0 && textAt(ref, "parameterNotFoundAction") === "Deny") {
    return failed("no params found for policy binding with `Deny` parameterNotFoundAction")
  }
  const objects = () => Result.succeed(found.map((one) => served(resource, converted.ready(resource, one))))
  const waiting = converted.prepare(context, resource, found)
  return waiting === undefined
    ? Effect.succeed(objects())
    : Effect.match(waiting, { onFailure: ({ message }) => Result.fail(message), onSuccess: objects })
}

const versionsOf = (
  { state }: RequestScope,
  { storage }: ResourceDefinition,
  ref: JsonObject,
  namespace: string
): ReadonlyArray<Version.Version> => {
  const collection = state.collection(storage)
  const name = textAt(ref, "name")
  if (name !== "") {
    const found = collection.get(Version.keyOf(namespace, name))
    return found === undefined ? [] : [found]
  }
  const labels = Selector.fromSpec(objectAt(ref, "selector") ?? {})
  return Result.isFailure(labels)
    ? []
    : select(collection, { namespace, labels: labels.success, fields: [] }, state.log.revision())
}
