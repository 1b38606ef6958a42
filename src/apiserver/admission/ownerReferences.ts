/**
 * Owner references are power over others: whoever sets one on an object that is there has it deleted with its owner, and one that blocks
 * keeps its owner from going. So the first takes the right to delete the object, the second the right to update the owner's
 * `finalizers`. Source: the OwnerReferencesPermissionEnforcement plugin of the reference server, and its words.
 */
import type { Attributes } from "../authorization/rule.ts"
import { arrayAt, equal, isObject, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import * as StatusError from "../StatusError.ts"
import * as Kind from "../scheme/Kind.ts"
import type { Plugin, Write } from "./Admission.ts"

export const ownerReferencesPermission: Plugin = {
  name: "OwnerReferencesPermissionEnforcement",
  check: (write) => {
    const { before, object } = write
    const after = referencesOf(object)
    const earlier = referencesOf(before)
    if (equal([...after], [...earlier])) return
    const { group, plural } = write.target.kind
    // Whoever creates an object could as well do without it.
    if (before !== undefined) {
      require(write, {
        verb: "delete",
        group,
        resource: plural,
        name: textAt(object, "metadata", "name")
      }, "cannot set an ownerRef on a resource you can't delete")
    }
    const blocked = new Set(earlier.filter(blocks).map(({ uid }) => uid))
    for (const reference of after) if (blocks(reference) && !blocked.has(reference["uid"])) checkOwner(write, reference)
  }
}

const referencesOf = (object: JsonObject | undefined): ReadonlyArray<JsonObject> =>
  // Whatever is no object was refused by validation.
  arrayAt(object, "metadata", "ownerReferences").filter(isObject)

const blocks = (reference: JsonObject): boolean => reference["blockOwnerDeletion"] === true

const checkOwner = (write: Write, reference: JsonObject): void => {
  const { target, context } = write
  const owners = context.state.kinds.all.filter(
    (kind) => kind.kind === reference["kind"] && Kind.apiVersion(kind) === reference["apiVersion"]
  )
  if (owners.length === 0) {
    const named = `APIVersion ${textAt(reference, "apiVersion")} Kind ${textAt(reference, "kind")}`
    const why = `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for ${named}`
    throw StatusError.forbidden(target.kind, textAt(write.object, "metadata", "name"), why)
  }
  for (const { group, plural } of owners) {
    require(write, {
      verb: "update",
      group,
      resource: plural,
      subresource: "finalizers",
      name: textAt(reference, "name")
    }, "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on")
  }
}

const require = ({ object, target, context }: Write, wanted: Partial<Attributes>, otherwise: string): void => {
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
  if (allowed) return
  throw StatusError.forbidden(target.kind, textAt(object, "metadata", "name"), `${otherwise}: ${reason}, <nil>`)
}
