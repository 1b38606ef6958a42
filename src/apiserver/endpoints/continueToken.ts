/**
 * Continue tokens: where a paged list goes on, and in which snapshot. Opaque to clients. A revision of -1 means "whatever is
 * there now", handed out when the snapshot has been compacted away. Source: apimachinery storage/continue.go.
 */
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import { at, textAt } from "../json.ts"
import type { Json } from "../json.ts"
import * as StatusError from "../StatusError.ts"
import { parseJson } from "../body.ts"

export interface Token {
  readonly revision: number
  /** Key of the last object delivered. */
  readonly after: string
}

export const encode = (token: Token): string =>
  Base64Url.encode(JSON.stringify({ v: "meta.k8s.io/v1", rv: token.revision, start: token.after }))

export const decode = (text: string): Token => {
  const decoded = Base64Url.decodeString(text)
  const value: Json | undefined = Result.isSuccess(decoded) ? parseJson(decoded.success) : undefined
  const revision = at(value, "rv")
  const after = textAt(value, "start")
  if (typeof revision !== "number" || after === "" || textAt(value, "v") !== "meta.k8s.io/v1") {
    throw StatusError.badRequest("continue key is not valid: the token was not issued by this server")
  }
  return { revision, after }
}

/** 410 for a token whose snapshot is gone, with a token that goes on in the present. */
export const expired = (after: string): StatusError.StatusError => {
  const { status } = StatusError.expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list."
  )
  return new StatusError.StatusError({ status: { ...status, metadata: { continue: encode({ revision: -1, after }) } } })
}
