/**
 * Serves `/openapi/v2` and `/openapi/v3` with hashes and ETags. JSON only: the HTTPS server encodes protobuf from it. Documents
 * are built on first use and cached by the identity of the list of resources; what builds them is loaded with the first request.
 */
import * as Effect from "effect/Effect"
import type { Answer, ApiRequest } from "../Api.ts"
import * as StatusError from "../StatusError.ts"
import * as ResourceDefinition from "../scheme/ResourceDefinition.ts"
import type * as documentsModule from "./documents.ts"
import { isJson, parseAccept } from "../printers/negotiate.ts"

type Documents = typeof documentsModule

interface Document {
  readonly text: string
  readonly hash: string
}

export interface OpenApi {
  /** The answer to a GET, undefined when the path names none of the documents. */
  readonly find: (
    segments: ReadonlyArray<string>,
    request: ApiRequest
  ) => Effect.Effect<Answer, StatusError.StatusError> | undefined
}

/** The documents of a server with these resources and this version. */
export const make = (resources: ReadonlyArray<ResourceDefinition.ResourceDefinition>, version: string): OpenApi => {
  const groups = new Map<string, Array<ResourceDefinition.ResourceDefinition>>()
  for (const resource of resources) {
    const path = `${resource.group === "" ? "api" : "apis"}/${ResourceDefinition.apiVersion(resource)}`
    const list = groups.get(path)
    if (list === undefined) groups.set(path, [resource])
    else list.push(resource)
  }
  const kept = new Map<string, Document>()
  const document = (key: string, build: () => object): Document => {
    const found = kept.get(key)
    if (found !== undefined) return found
    const text = JSON.stringify(build())
    const built = { text, hash: hash(text) }
    kept.set(key, built)
    return built
  }
  const group = (documents: Documents, path: string): Document | undefined => {
    const list = groups.get(path)
    return list === undefined ? undefined : document(path, () => documents.v3(list, version))
  }
  const index = (documents: Documents): Document =>
    document("v3", () => ({
      paths: Object.fromEntries(
        [...groups.keys()].map((path) => [
          path,
          { serverRelativeURL: `/openapi/v3/${path}?hash=${group(documents, path)?.hash ?? ""}` }
        ])
      )
    }))
  const find = (documents: Documents, dialect: string | undefined, rest: ReadonlyArray<string>) => {
    if (dialect === "v2" && rest.length === 0) return document("v2", () => documents.v2(resources, version))
    if (dialect !== "v3") return undefined
    return rest.length === 0 ? index(documents) : group(documents, rest.join("/"))
  }
  return {
    find: ([root, dialect, ...rest], request) => {
      if (root !== "openapi") return undefined
      return Effect.flatMap(
        Effect.promise(() => import("./documents.ts")),
        (documents) => {
          const found = find(documents, dialect, rest)
          return found === undefined ? StatusError.unknownPath() : StatusError.toEffect(answer(found, request))
        }
      )
    }
  }
}

const answer = ({ hash, text }: Document, { headers, path, query }: ApiRequest): Answer | StatusError.StatusError => {
  const accept = headers["accept"] ?? ""
  if (accept !== "" && !parseAccept(accept).some(isJson)) return StatusError.notAcceptable(["application/json"])
  const base = { _tag: "Answer", contentType: "application/json", body: "" } as const
  const asked = query.get("hash")
  if (asked !== null && asked !== "" && asked !== hash) {
    return { ...base, status: 301, headers: { location: `${path}?hash=${hash}` } }
  }
  const tags = { etag: `"${hash}"`, vary: "Accept-Encoding, Accept" }
  // A document that is requested by its hash never changes.
  const caching = asked === null || asked === "" ? tags : { ...tags, "cache-control": "public, immutable" }
  if (headers["if-none-match"] === tags.etag) return { ...base, status: 304, headers: caching }
  return { ...base, status: 200, body: text, headers: caching }
}

/** FNV-1a with four seeds: an ETag, not a cryptographic hash. */
const hash = (text: string): string =>
  [0x811c9dc5, 0x01000193, 0x9e3779b9, 0x85ebca6b]
    .map((seed) => {
      let state = seed
      for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193)
      return (state >>> 0).toString(16).padStart(8, "0")
    })
    .join("")
    .toUpperCase()
