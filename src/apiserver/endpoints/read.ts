/** get and list. Reads never parse objects: they select and join their texts. */
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import { parseJson } from "../body.ts"
import { at, textAt } from "../json.ts"
import type { Json } from "../json.ts"
import { page } from "../storage/Collection.ts"
import type { Collection, Page } from "../storage/Collection.ts"
import * as converted from "../apiextensions/conversion/converted.ts"
import * as StatusError from "../StatusError.ts"
import type { Target } from "../routing.ts"
import type { RequestScope } from "../admission/Admission.ts"
import * as Version from "../storage/Version.ts"
import type { ListMeta, Encoder } from "../printers/Encoder.ts"
import * as listOptions from "./listOptions.ts"

/** The object that a path names, as it is stored; undefined when it does not exist. */
export const stored = (context: RequestScope, { resource, namespace, name }: Target): Version.Version | undefined =>
  context.state.collection(resource.storage).get(Version.keyOf(namespace, name))

/** The same, or 404. */
export const find = (context: RequestScope, target: Target): Version.Version | StatusError.StatusError =>
  stored(context, target) ?? StatusError.notFound(target.resource, target.name)

type Encoded = Effect.Effect<string, StatusError.StatusError>

export const get = (context: RequestScope, target: Target, encoder: Encoder): Encoded => {
  const wanted = listOptions.resourceVersion(context.request.query)
  if (StatusError.isRefusal(wanted)) return wanted
  const current = context.state.log.revision()
  if (wanted !== undefined && wanted > current) return StatusError.tooLargeResourceVersion(wanted, current)
  const version = find(context, target)
  if (StatusError.isRefusal(version)) return version
  return StatusError.after(converted.prepare(context, target.resource, [version]), () =>
    Effect.succeed(encoder.encode(version))
  )
}

export const list = (context: RequestScope, target: Target, encoder: Encoder): Encoded => {
  const chosen = choose(context, target)
  if (StatusError.isRefusal(chosen)) return chosen
  const { metadata, versions } = chosen
  return StatusError.after(converted.prepare(context, target.resource, versions), () =>
    Effect.succeed(encoder.encodeList(versions, metadata))
  )
}

interface Chosen {
  readonly versions: ReadonlyArray<Version.Version>
  readonly metadata: ListMeta
}

/** The objects that the query of a list selects, and the ListMeta. */
export const choose = (context: RequestScope, target: Target): Chosen | StatusError.StatusError => {
  const collection = context.state.collection(target.resource.storage)
  const chosen = listOptions.parse(target, context.request.query)
  if (StatusError.isRefusal(chosen)) return chosen
  const plan = planOf(context, collection)
  if (StatusError.isRefusal(plan)) return plan
  const { versions, more } = page(collection, chosen, plan)
  const last = versions.at(-1)
  const metadata = listOptions.listMeta(chosen, plan.revision)
  if (!more || last === undefined) return { versions, metadata }
  const isWhole = chosen.labels.length === 0 && chosen.fields.length === 0 && chosen.shards === undefined
  const remaining = isWhole
    ? { remainingItemCount: collection.countAfter(chosen.namespace, last.key, plan.revision) }
    : {}
  const next = encodeToken({ revision: plan.revision, after: last.key })
  return { versions, metadata: { ...metadata, continue: next, ...remaining } }
}

/** The revision that a list is read at. Source: "Semantics for get and list" of the API concepts page. */
const planOf = (context: RequestScope, collection: Collection): Page | StatusError.StatusError => {
  const query = context.request.query
  const current = context.state.log.revision()
  const asked = listOptions.integer(query, "limit")
  if (StatusError.isRefusal(asked)) return asked
  const limit = Math.max(0, asked ?? 0)
  const wanted = listOptions.resourceVersion(query)
  if (StatusError.isRefusal(wanted)) return wanted
  const match = query.get("resourceVersionMatch") ?? ""
  const continued = query.get("continue") ?? ""
  if (continued !== "") return resume(collection, continued, current, limit, wanted)
  const refusal = refuseMatch(match, query.get("resourceVersion") ?? "")
  if (refusal !== undefined) return refusal
  if (wanted !== undefined && wanted > current) return StatusError.tooLargeResourceVersion(wanted, current)
  const exact = match === "Exact" || (match === "" && limit > 0)
  if (wanted === undefined || wanted === 0 || !exact) return { revision: current, after: "", limit }
  if (wanted < collection.history.compacted) {
    return StatusError.expired("The resourceVersion for the provided list is too old.")
  }
  return { revision: wanted, after: "", limit }
}

const resume = (
  collection: Collection,
  text: string,
  current: number,
  limit: number,
  wanted: number | undefined
): Page | StatusError.StatusError => {
  if (wanted !== undefined && wanted !== 0) {
    return StatusError.badRequest("specifying resource version is not allowed when using continue")
  }
  const token = decodeToken(text)
  if (StatusError.isRefusal(token)) return token
  const { revision, after } = token
  if (revision < 0) return { revision: current, after, limit }
  if (revision < collection.history.compacted) return expiredToken(after)
  return { revision: Math.min(revision, current), after, limit }
}

const refuseMatch = (match: string, version: string): StatusError.StatusError | undefined => {
  const field = "resourceVersionMatch"
  const forbidden = (detail: string) =>
    listOptions.invalid({ field, reason: "FieldValueForbidden", message: `Forbidden: ${detail}` })
  if (match === "") return undefined
  if (match !== "Exact" && match !== "NotOlderThan") {
    return listOptions.invalid({
      field,
      reason: "FieldValueNotSupported",
      message: `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`
    })
  }
  if (version === "") return forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided")
  return match === "Exact" && version === "0"
    ? forbidden('resourceVersionMatch "Exact" is forbidden for resourceVersion "0"')
    : undefined
}

/**
 * A continue token: where a paged list goes on, and in which snapshot. Opaque to clients. A revision of -1 means the present one; such a
 * token is returned when the snapshot has been compacted. Source: apiserver/pkg/storage: continue.go.
 */
interface ContinueToken {
  readonly revision: number
  /** Key of the last object delivered. */
  readonly after: string
}

const encodeToken = (token: ContinueToken): string =>
  Base64Url.encode(JSON.stringify({ v: "meta.k8s.io/v1", rv: token.revision, start: token.after }))

const decodeToken = (text: string): ContinueToken | StatusError.StatusError => {
  const decoded = Base64Url.decodeString(text)
  const value: Json | undefined = Result.isSuccess(decoded) ? parseJson(decoded.success) : undefined
  const revision = at(value, "rv")
  const after = textAt(value, "start")
  if (typeof revision !== "number" || after === "" || textAt(value, "v") !== "meta.k8s.io/v1") {
    return StatusError.badRequest("continue key is not valid: the token was not issued by this server")
  }
  return { revision, after }
}

/** 410 for a token whose snapshot has been compacted, with a token that continues at the present revision. */
const expiredToken = (after: string): StatusError.StatusError => {
  const { status } = StatusError.expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list."
  )
  return new StatusError.StatusError({
    status: { ...status, metadata: { continue: encodeToken({ revision: -1, after }) } }
  })
}
