/**
 * The protobuf form of the OpenAPI documents, which kubectl and other Go clients ask for first. The API speaks JSON: this
 * asks it for that and encodes the answer, as YAML bodies are turned into JSON on the way in. The protobuf library is loaded
 * with the first such request.
 */
import * as Effect from "effect/Effect"
import type { Answer, Api, ApiRequest, ApiResponse } from "../Api.ts"
import type { JsonObject } from "../json.ts"
import { isJson, parseAccept } from "../printers/negotiate.ts"

type Dialect = "v2" | "v3"

/** The `@` is what clients send, although it is no part of a media type; answers name the valid form. */
const pattern = /^application\/com\.github\.proto-openapi\.spec\.(v[23])[@.]v1\.0\+protobuf$/

const returned: Readonly<Record<Dialect, string>> = {
  v2: "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
  v3: "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
}

/** End of the entity tags of this form. */
const suffix = '-protobuf"'

/** An API that can answer with protobuf where the given one has OpenAPI documents in JSON. */
export const withProtobuf = (api: Api): Api => ({
  ...api,
  handle: (request) => {
    const dialect = wanted(request)
    if (dialect === undefined) return api.handle(request)
    const headers: Record<string, string> = { ...request.headers, accept: "application/json" }
    // Each form has a tag of its own: that of the JSON says nothing here.
    const tag = headers["if-none-match"]
    delete headers["if-none-match"]
    if (tag?.endsWith(suffix) === true) headers["if-none-match"] = `${tag.slice(0, -suffix.length)}"`
    const inJson = { ...request, headers }
    return Effect.flatMap(api.handle(inJson), (answer) => encoded(answer, dialect))
  }
})

/** The dialect of a document that is asked for in protobuf rather than in JSON. The index of version 3 is JSON always. */
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
