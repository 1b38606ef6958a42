/**
 * Turns a Node request into an `ApiRequest`: splits and checks the target, flattens the headers, reads the body up to a limit and
 * converts it to JSON. Nothing here throws on any input: an invalid request fails with the response to send.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { IncomingMessage } from "node:http"
import type { Answer } from "../Api.ts"
import * as StatusAnswer from "./statusAnswer.ts"

/** Maximum bytes of a request body, as in kube-apiserver (`MaxRequestBodyBytes`). */
const maxBody = 3 * 1024 * 1024

interface Target {
  /** Still escaped. */
  readonly path: string
  readonly query: URLSearchParams
}

/** The request target in origin or absolute form. Malformed escapes are rejected here, so that later code can decode safely. */
export const target = (url: string): Target | Answer => {
  const origin = /^https?:\/\/[^/?]*/i.exec(url)
  const rest = origin === null ? url : url.slice(origin[0].length)
  const mark = rest.indexOf("?")
  const path = mark === -1 ? rest : rest.slice(0, mark)
  const search = mark === -1 ? "" : rest.slice(mark + 1)
  if (!path.startsWith("/") && !(origin !== null && path === ""))
    return StatusAnswer.badRequest("malformed request target")
  if (!isEscaped(path)) return StatusAnswer.badRequest("malformed escape in the path")
  if (!isEscaped(search)) return StatusAnswer.badRequest("malformed escape in the query")
  return { path: path === "" ? "/" : path, query: new URLSearchParams(search) }
}

const isEscaped = (text: string): boolean => {
  if (!text.includes("%")) return true
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Node has lower-cased the names and joined repeated headers, except those that it keeps as arrays. */
export const headers = (request: IncomingMessage): Record<string, string> => {
  const out: Record<string, string> = Object.create(null)
  for (const name of Object.keys(request.headers)) {
    const value = request.headers[name]
    if (value !== undefined) out[name] = typeof value === "string" ? value : value.join(", ")
  }
  return out
}

/**
 * The whole body; fails with a response. `onMalformed` receives a function to call when the parser fails in the middle of the body,
 * which Node reports to the server and not to the request.
 */
export const body = (
  request: IncomingMessage,
  onMalformed: (fail: ((answer: Answer) => void) | undefined) => void
): Effect.Effect<Uint8Array, Answer> =>
  Effect.suspend(() => {
    const declared = request.headers["content-length"]
    if (declared === undefined && request.headers["transfer-encoding"] === undefined) return Effect.succeed(nothing)
    if (declared !== undefined && Number(declared) > maxBody) return Effect.fail(StatusAnswer.tooLarge(maxBody))
    return read(request, onMalformed)
  })

const nothing = new Uint8Array()

const read = (
  request: IncomingMessage,
  onMalformed: (fail: ((answer: Answer) => void) | undefined) => void
): Effect.Effect<Uint8Array, Answer> =>
  Effect.callback<Uint8Array, Answer>((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      chunks.push(chunk)
      if (size > maxBody) settle(Effect.fail(StatusAnswer.tooLarge(maxBody)))
    }
    const onEnd = (): void => settle(Effect.sync(() => Buffer.concat(chunks, size)))
    const onError = (): void => settle(Effect.fail(StatusAnswer.badRequest("the request body was cut short")))
    const stop = (): void => {
      onMalformed(undefined)
      // Discards remaining input, so that the connection can be reused; later errors of the request are ignored.
      request.off("data", onData).off("end", onEnd).resume()
    }
    const settle = (effect: Effect.Effect<Uint8Array, Answer>): void => {
      stop()
      resume(effect)
    }
    onMalformed((answer) => settle(Effect.fail(answer)))
    request.on("data", onData).on("end", onEnd).on("error", onError)
    return Effect.sync(stop)
  })

interface Body {
  readonly text: string
  readonly contentType: string | undefined
}

/**
 * The body and its media type for the API. `application/yaml` and protobuf become `application/json`; an apply patch keeps its type and
 * may hold JSON or YAML.
 */
export const toJson = (bytes: Uint8Array, contentType: string | undefined): Effect.Effect<Body, Answer> => {
  const media = contentType?.split(";", 1)[0]?.trim().toLowerCase()
  if (media === "application/vnd.kubernetes.protobuf" && bytes.length > 0) return asJson(fromProtobuf(bytes))
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8")
  if (text === "") return Effect.succeed({ text, contentType })
  if (media === "application/yaml") return asJson(fromYaml(text))
  if (media !== "application/apply-patch+yaml" || isJson(text)) return Effect.succeed({ text, contentType })
  return Effect.map(fromYaml(text, "error decoding YAML: "), (json) => ({ text: json, contentType }))
}

const asJson = (text: Effect.Effect<string, Answer>): Effect.Effect<Body, Answer> =>
  Effect.map(text, (json) => ({ text: json, contentType: "application/json" }))

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const fromYaml = (text: string, before = ""): Effect.Effect<string, Answer> =>
  Effect.flatMap(
    Effect.promise(() => import("./bodies/yamlBody.ts")),
    ({ toJson }) => accepted(toJson(text), `${before}error converting YAML to JSON: `)
  )

const fromProtobuf = (bytes: Uint8Array): Effect.Effect<string, Answer> =>
  Effect.flatMap(
    Effect.promise(() => import("./bodies/protobufBody.ts")),
    ({ toJson }) => accepted(toJson(bytes), "")
  )

const accepted = (json: Result.Result<string, string>, before: string): Effect.Effect<string, Answer> =>
  Result.isFailure(json)
    ? Effect.fail(StatusAnswer.badRequest(`${before}${json.failure}`))
    : Effect.succeed(json.success)
