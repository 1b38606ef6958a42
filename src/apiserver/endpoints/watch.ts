/** watch: parses the query and opens a watcher of the collection. */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import * as converted from "../apiextensions/conversion/converted.ts"
import { select } from "../storage/Collection.ts"
import type { Preparation } from "../storage/Watchers.ts"
import * as StatusError from "../StatusError.ts"
import type { Target } from "../routing.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import type { RequestScope } from "../admission/Admission.ts"
import type { Encoder } from "../printers/Encoder.ts"
import * as listOptions from "./listOptions.ts"

/** Without timeoutSeconds a watch lasts 30 to 60 minutes, at random, so that clients do not reconnect together. */
const defaultMinutes = 30

export const watch = (
  context: RequestScope,
  target: Target,
  encoder: Encoder
): Stream.Stream<string> | StatusError.StatusError => {
  const query = context.request.query
  const collection = context.state.collection(target.resource.storage)
  const chosen = listOptions.parse(target, query)
  if (StatusError.isRefusal(chosen)) return chosen
  const revision = listOptions.resourceVersion(query)
  if (StatusError.isRefusal(revision)) return revision
  const wanted = revision ?? 0
  const bookmarks = listOptions.isTrue(query.get("allowWatchBookmarks"))
  const streaming = initialEvents(query)
  if (StatusError.isRefusal(streaming)) return streaming
  const current = context.state.log.revision()
  if (streaming === true && wanted > current) return StatusError.tooLargeResourceVersion(wanted, current)
  const list = streaming ?? wanted === 0
  const seconds = listOptions.integer(query, "timeoutSeconds")
  if (StatusError.isRefusal(seconds)) return seconds
  const duration =
    seconds !== undefined && seconds > 0
      ? seconds * 1000
      : defaultMinutes * 60_000 * (1 + context.random.nextDoubleUnsafe())
  return collection.watchers.open({
    selection: chosen,
    encoder,
    initial: list ? select(collection, chosen, current) : [],
    markInitialEnd: streaming === true && bookmarks,
    revision: list || wanted === 0 ? current : wanted,
    bookmarks,
    duration: Math.floor(duration),
    preparation: preparationOf(context, target.resource)
  })
}

/** A watch converts an object when it delivers it, and so never waits for one that it does not deliver. */
const preparationOf = (context: RequestScope, resource: ResourceDefinition): Preparation | undefined =>
  resource.customResource?.converter === undefined
    ? undefined
    : {
        isReady: (version) => converted.isReady(resource, version),
        prepare: (versions) =>
          Effect.match(converted.prepare(context, resource, versions) ?? Effect.void, {
            onFailure: ({ message }) => StatusError.internal(message),
            onSuccess: () => undefined
          })
      }

/** `sendInitialEvents`, checked together with what it requires. Source: validation of ListOptions. */
const initialEvents = (query: URLSearchParams): boolean | StatusError.StatusError | undefined => {
  const text = query.get("sendInitialEvents")
  const match = query.get("resourceVersionMatch") ?? ""
  const forbidden = (detail: string) =>
    listOptions.invalid({
      field: "resourceVersionMatch",
      reason: "FieldValueForbidden",
      message: `Forbidden: ${detail}`
    })
  if (text === null || text === "") {
    return match === ""
      ? undefined
      : forbidden("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
  }
  return match === "NotOlderThan"
    ? listOptions.isTrue(text)
    : forbidden("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
}
