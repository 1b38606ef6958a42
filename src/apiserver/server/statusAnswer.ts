/**
 * Responses that the HTTPS server sends itself, before or instead of the API: `Status` objects, also for errors of Node (malformed
 * requests, header overflow, timeouts). `raw` is for connections without a response object.
 */
import * as Status from "../../kube/Status.ts"
import type { Answer } from "../Api.ts"

const make = (code: number, reason: string, message: string, headers?: Answer["headers"]): Answer => ({
  _tag: "Answer",
  status: code,
  contentType: "application/json",
  body: JSON.stringify(Status.failure({ code, reason, message })),
  ...(headers === undefined ? {} : { headers })
})

export const badRequest = (message: string): Answer => make(400, "BadRequest", message)

/** kube-apiserver returns nothing more specific, whatever was wrong with the credentials. */
export const unauthorized: Answer = make(401, "Unauthorized", "Unauthorized")

export const methodNotAllowed = (method: string): Answer =>
  make(405, "MethodNotAllowed", `the server does not allow the method ${method}`)

export const tooLarge = (limit: number): Answer =>
  make(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limit}`)

export const expectationFailed: Answer = make(417, "BadRequest", "the only expectation known is 100-continue")

export const internalError: Answer = make(500, "InternalError", "Internal error occurred: see the server's log")

export const shuttingDown: Answer = make(503, "ServiceUnavailable", "the server is shutting down", {
  "retry-after": "1"
})

/** The response to an error of Node's HTTP parser, by its code. */
export const ofParserError = (code: string | undefined): Answer => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return make(431, "RequestHeaderFieldsTooLarge", "the request's headers are too large")
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return make(413, "RequestEntityTooLarge", "the chunk extensions of the request are too large")
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return make(408, "Timeout", "the request did not arrive in time")
    case undefined:
      return badRequest("malformed HTTP request")
    default:
      return badRequest(`malformed HTTP request (${code})`)
  }
}

const reasonPhrases: Readonly<Record<number, string>> = {
  400: "Bad Request",
  405: "Method Not Allowed",
  408: "Request Timeout",
  413: "Payload Too Large",
  417: "Expectation Failed",
  431: "Request Header Fields Too Large"
}

/** A whole HTTP/1.1 response that closes its connection. */
export const raw = (answer: Answer): string =>
  `HTTP/1.1 ${answer.status} ${reasonPhrases[answer.status] ?? "Error"}\r\n` +
  `content-type: ${answer.contentType}\r\ncontent-length: ${Buffer.byteLength(answer.body)}\r\n` +
  `connection: close\r\n\r\n${answer.body}`
