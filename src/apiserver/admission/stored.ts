/** Stored objects for plugins, as they are when a plugin reads them. */
import type { JsonObject } from "../json.ts"
import * as Version from "../storage/Version.ts"
import * as resources from "../scheme/resources.ts"
import type { RequestContext } from "../RequestContext.ts"
import { select } from "../storage/Collection.ts"

/** Copies of the objects of a collection in a namespace, or in all where it is empty. Costs next to nothing for an empty collection. */
export const objects = (context: RequestContext, storage: string, namespace: string): ReadonlyArray<JsonObject> => {
  const collection = context.state.collection(storage)
  if (collection.size === 0) return []
  return select(collection, { namespace, labels: [], fields: [] }, context.state.log.revision()).map(Version.parse)
}

export const object = (
  context: RequestContext,
  storage: string,
  namespace: string,
  name: string
): JsonObject | undefined => {
  const found = context.state.collection(storage).get(Version.keyOf(namespace, name))
  return found === undefined ? undefined : Version.parse(found)
}

export const kindOf = (storage: string) => resources.all.find((resource) => resource.storage === storage)
