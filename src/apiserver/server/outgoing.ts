/**
 * Writes an `ApiResponse` to a Node response: complete responses with their length, gzip above a threshold, and watches line by line
 * with back-pressure from the socket. Every function here ends when the response has been flushed.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { OutgoingHttpHeaders, ServerResponse } from "node:http"
import { gzip } from "node:zlib"
import type { Answer, TextAnswer, WatchAnswer } from "../Api.ts"

/** Longer bodies are compressed when the client accepts it. Source: endpoints/handlers/responsewriters: defaultGzipThresholdBytes. */
const gzipThreshold = 128 * 1024

/** The level of kube-apiserver: a little slower than the fastest, and a good deal smaller. */
const gzipLevel = 4

export const answer = Effect.fnUntraced(function* (
  response: ServerResponse,
  answer: Answer,
  options: { readonly acceptEncoding: string | undefined; readonly close: boolean }
) {
  const headers = head(answer.contentType, answer.headers, options.close)
  const plain = answer.bytes ?? Buffer.from(answer.body)
  const zipped =
    plain.length > gzipThreshold && acceptsGzip(options.acceptEncoding) ? yield* compress(plain) : undefined
  if (zipped !== undefined) headers["content-encoding"] = "gzip"
  if (plain.length > gzipThreshold) headers["vary"] = "Accept-Encoding"
  const body = zipped ?? plain
  headers["content-length"] = body.length
  response.writeHead(answer.status, headers)
  yield* end(response, body)
})

/** Sends the head at once, then each chunk of lines or of text as one write; ends with the stream. */
export const stream = Effect.fnUntraced(function* (
  response: ServerResponse,
  answer: TextAnswer | WatchAnswer,
  close: boolean
) {
  response.writeHead(200, head(answer.contentType, undefined, close))
  response.flushHeaders()
  const [chunks, separator] = answer._tag === "Watch" ? [answer.lines, "\n"] : [answer.text, ""]
  yield* Stream.runForEachArray(chunks, (texts) =>
    Effect.suspend(() => (response.write(texts.join(separator) + separator) ? Effect.void : drained(response)))
  )
  yield* end(response, undefined)
})

/** True for `gzip` or `*` with a quality above zero. */
const acceptsGzip = (acceptEncoding: string | undefined): boolean =>
  acceptEncoding !== undefined &&
  acceptEncoding.split(",").some((part) => {
    const [coding, ...parameters] = part.split(";").map((text) => text.trim().toLowerCase())
    return (coding === "gzip" || coding === "*") && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })

const head = (contentType: string, extra: Answer["headers"], close: boolean): OutgoingHttpHeaders => {
  const headers: OutgoingHttpHeaders = { "cache-control": "no-cache, private" }
  // Header values may quote client input: characters that HTTP does not allow are replaced.
  for (const name of Object.keys(extra ?? {})) headers[name] = extra?.[name]?.replace(/[^\t\x20-\x7e\x80-\xff]/g, "?")
  headers["content-type"] = contentType
  if (close) headers["connection"] = "close"
  return headers
}

const compress = (plain: Uint8Array): Effect.Effect<Buffer | undefined> =>
  Effect.callback((resume) => {
    gzip(plain, { level: gzipLevel }, (error, zipped) => resume(Effect.succeed(error === null ? zipped : undefined)))
  })

const end = (response: ServerResponse, body: Uint8Array | undefined): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (response.destroyed) return resume(Effect.void)
    response.once("close", () => resume(Effect.void))
    response.end(body)
  })

/** A closed connection never drains: closing it interrupts the fiber of the request. */
const drained = (response: ServerResponse): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const onDrain = (): void => resume(Effect.void)
    response.once("drain", onDrain)
    return Effect.sync(() => void response.off("drain", onDrain))
  })
