/**
 * From an `ApiResponse` to bytes on Node's response: whole answers with their length, gzip where it pays, and watches that
 * leave line by line and respect the socket's back-pressure. Every function here ends when the response has been flushed.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { OutgoingHttpHeaders, ServerResponse } from "node:http"
import { gzip } from "node:zlib"
import type { Answer, WatchAnswer } from "../Api.ts"

/** Bodies longer than this are compressed for those who ask. Source: apiserver `defaultGzipThresholdBytes`. */
const gzipThreshold = 128 * 1024

/** The level the reference server uses: a little slower than the fastest, a good deal smaller. */
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

/** Sends the head at once, then each chunk of lines as one write; ends with the stream. */
export const watch = Effect.fnUntraced(function* (response: ServerResponse, answer: WatchAnswer, close: boolean) {
  response.writeHead(200, head(answer.contentType, undefined, close))
  response.flushHeaders()
  yield* Stream.runForEachArray(answer.lines, (lines) =>
    Effect.suspend(() => (response.write(`${lines.join("\n")}\n`) ? Effect.void : drained(response)))
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
  // What the API says may quote what a client sent: a character that HTTP does not carry must not break the answer.
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

/** A connection that is gone never drains: its fiber is interrupted by the front. */
const drained = (response: ServerResponse): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const onDrain = (): void => resume(Effect.void)
    response.once("drain", onDrain)
    return Effect.sync(() => void response.off("drain", onDrain))
  })
