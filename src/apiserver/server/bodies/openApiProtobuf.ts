/**
 * The OpenAPI documents as protobuf, which kubectl and other Go clients prefer. The API produces JSON; this requests JSON and encodes
 * the response. The protobuf library is loaded with the first such request.
 */
import * as Effect from "effect/Effect"
import type { Answer, Api, ApiRequest, ApiResponse } from "../../Api.ts"
import type { JsonObject } from "../../json.ts"
import { isJson, parseAccept } from "../../printers/negotiate.ts"

type Dialect = "v2" | "v3"

/** Clients send `@`, which is not valid in a media type; responses have the valid form. */
const pattern = /^application\/com\.github\.proto-openapi\.spec\.(v[23])[@.]v1\.0\+protobuf$/

const returned: Readonly<Record<Dialect, string>> = {
  v2: "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
  v3: "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
}

/** Suffix of the entity tags of this encoding. */
const suffix = '-protobuf"'

/** Wraps an API whose OpenAPI documents are JSON so that it can return them as protobuf. */
export const withProtobuf = (api: Api): Api => ({
  ...api,
  handle: (request) => {
    const dialect = wanted(request)
    if (dialect === undefined) return api.handle(request)
    const headers: Record<string, string> = { ...request.headers, accept: "application/json" }
    // Each encoding has its own entity tags: those of JSON are not valid here.
    const tag = headers["if-none-match"]
    delete headers["if-none-match"]
    if (tag?.endsWith(suffix) === true) headers["if-none-match"] = `${tag.slice(0, -suffix.length)}"`
    const inJson = { ...request, headers }
    return Effect.flatMap(api.handle(inJson), (answer) => encoded(answer, dialect))
  }
})

/** The OpenAPI version of a document that is requested as protobuf. The index of version 3 is always JSON. */
const wanted = ({ headers, path }: ApiRequest): Dialect | undefined => {
  if (!path.startsWith("/openapi/v2") && !path.startsWith("/openapi/v3/")) return undefined
  const dialect = path.startsWith("/openapi/v2") ? "v2" : "v3"
  for (const media of parseAccept(headers["accept"] ?? "")) {
    if (isJson(media)) return undefined
    if (pattern.exec(media.type)?.[1] === dialect) return dialect
  }
  return undefined
}

const encoded = (answer: ApiResponse, dialect: Dialect): Effect.Effect<ApiResponse> => {
  if (answer._tag !== "Answer") return Effect.succeed(answer)
  const tag = answer.headers?.["etag"]
  const headers = tag === undefined ? {} : { headers: { ...answer.headers, etag: tag.replace(/"$/, suffix) } }
  if (answer.status !== 200) return Effect.succeed({ ...answer, ...headers })
  return Effect.promise(async (): Promise<Answer> => {
    const [{ BinaryWriter }, messages] = await Promise.all([
      import("@bufbuild/protobuf/wire"),
      import("./openApiMessages.ts")
    ])
    const writer = new BinaryWriter()
    const document = JSON.parse(answer.body) as JsonObject
    if (dialect === "v2") messages.writeV2(writer, document)
    else messages.writeV3(writer, document)
    return { ...answer, ...headers, contentType: returned[dialect], body: "", bytes: writer.finish() }
  })
}
