/**
 * Checks permissions for owner references: setting one on an existing object has it deleted with its owner, which requires the
 * permission to delete the object; `blockOwnerDeletion` delays the deletion of the owner, which requires the permission to update its
 * `finalizers`. Source: plugin/pkg/admission/gc, including its messages.
 */
import type { Attributes } from "../authorization/rule.ts"
import { arrayAt, equal, isObject, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import * as StatusError from "../StatusError.ts"
import * as ResourceDefinition from "../scheme/ResourceDefinition.ts"
import type { Plugin, Write } from "./Admission.ts"

export const ownerReferencesPermission: Plugin = {
  name: "OwnerReferencesPermissionEnforcement",
  check: (write) => {
    const { before, object } = write
    const after = referencesOf(object)
    const earlier = referencesOf(before)
    if (equal([...after], [...earlier])) return undefined
    const { group, plural } = write.target.resource
    // The creator of an object could omit the object, so nothing is checked.
    if (before !== undefined) {
      const refusal = require(write, {
        verb: "delete",
        group,
        resource: plural,
        name: textAt(object, "metadata", "name")
      }, "cannot set an ownerRef on a resource you can't delete")
      if (refusal !== undefined) return refusal
    }
    const blocked = new Set(earlier.filter(blocks).map(({ uid }) => uid))
    for (const reference of after) {
      if (!blocks(reference) || blocked.has(reference["uid"])) continue
      const refusal = checkOwner(write, reference)
      if (refusal !== undefined) return refusal
    }
    return undefined
  }
}

const referencesOf = (object: JsonObject | undefined): ReadonlyArray<JsonObject> =>
  // Validation has rejected values that are no objects.
  arrayAt(object, "metadata", "ownerReferences").filter(isObject)

const blocks = (reference: JsonObject): boolean => reference["blockOwnerDeletion"] === true

const checkOwner = (write: Write, reference: JsonObject): StatusError.StatusError | undefined => {
  const { target, context } = write
  const owners = context.state.registry.all.filter(
    (resource) =>
      resource.kind === reference["kind"] && ResourceDefinition.apiVersion(resource) === reference["apiVersion"]
  )
  if (owners.length === 0) {
    const named = `APIVersion ${textAt(reference, "apiVersion")} Kind ${textAt(reference, "kind")}`
    const why = `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for ${named}`
    return StatusError.forbidden(target.resource, textAt(write.object, "metadata", "name"), why)
  }
  for (const { group, plural } of owners) {
    const refusal = require(write, {
      verb: "update",
      group,
      resource: plural,
      subresource: "finalizers",
      name: textAt(reference, "name")
    }, "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on")
    if (refusal !== undefined) return refusal
  }
  return undefined
}

const require = (
  { object, target, context }: Write,
  wanted: Partial<Attributes>,
  otherwise: string
): StatusError.StatusError | undefined => {
  const { allowed, reason } = context.state.authorizer.decide(context.request.user, {
    verb: "",
    path: "",
    isResource: true,
    group: "",
    resource: "",
    subresource: "",
    name: "",
    namespace: target.namespace,
    ...wanted
  })
  if (allowed) return undefined
  return StatusError.forbidden(target.resource, textAt(object, "metadata", "name"), `${otherwise}: ${reason}, <nil>`)
}
