/**
 * Calls webhooks over HTTPS. It trusts only the CA bundle of the webhook (the authorities of the system without one), and the
 * certificate must be for the host of the URL, including `<name>.<namespace>.svc` of a service, whatever its address. Connections are
 * not reused: certificate and address of a webhook may change between two calls.
 */
import * as Effect from "effect/Effect"
import type { IncomingMessage } from "node:http"
import { request } from "node:https"
import { isIP } from "node:net"
import { answerLimit, tooLong, Unreachable } from "../webhook/WebhookCaller.ts"
import type { Call, Reply, ServiceReference, WebhookCaller } from "../webhook/WebhookCaller.ts"

export interface Options {
  /** Resolves a service to its address; undefined for an unknown one. Without this, all are unknown. */
  readonly resolve?:
    | ((service: ServiceReference) => { readonly host: string; readonly port: number } | undefined)
    | undefined
}

export const make = (options: Options = {}): WebhookCaller => ({
  call: (call) =>
    Effect.suspend(() => {
      const address = addressOf(call, options)
      return address === undefined
        ? Effect.fail(new Unreachable({ message: `lookup ${hostOf(call)}: no such host` }))
        : post(call, address)
    })
})

interface Address {
  readonly host: string
  readonly port: number
}

const hostOf = ({ url }: Call): string => new URL(url).hostname.replace(/^\[|\]$/g, "")

const addressOf = (call: Call, { resolve }: Options): Address | undefined =>
  call.service === undefined
    ? { host: hostOf(call), port: Number(new URL(call.url).port || 443) }
    : resolve?.(call.service)

const post = (call: Call, { host, port }: Address): Effect.Effect<Reply, Unreachable> =>
  Effect.callback((resume) => {
    const { host: authority, pathname, search } = new URL(call.url)
    const name = hostOf(call)
    const fail = (message: string) => resume(Effect.fail(new Unreachable({ message })))
    const outgoing = request(
      {
        method: "POST",
        host,
        port,
        path: pathname + search,
        headers: {
          accept: "application/json, */*",
          "content-type": "application/json",
          "content-length": Buffer.byteLength(call.body),
          host: authority,
          "user-agent": "kube-apiserver-admission"
        },
        agent: false,
        ...(call.ca === undefined ? {} : { ca: call.ca }),
        // SNI takes no IP address; the certificate is verified all the same.
        ...(isIP(name) === 0 ? { servername: name } : {})
      },
      (response) =>
        read(response, (outcome) => (typeof outcome === "string" ? fail(outcome) : resume(Effect.succeed(outcome))))
    )
    outgoing.on("error", (error) => fail(error.message))
    outgoing.end(call.body)
    return Effect.sync(() => outgoing.destroy())
  })

/** Calls `settle` with the reply, or with the error message. */
const read = (response: IncomingMessage, settle: (outcome: Reply | string) => void): void => {
  const parts: Array<Buffer> = []
  let size = 0
  response.on("data", (part: Buffer) => {
    size += part.length
    if (size <= answerLimit) return void parts.push(part)
    settle(tooLong)
    response.destroy()
  })
  response.on("error", (error) => settle(error.message))
  response.on("aborted", () => settle("unexpected EOF"))
  response.on("end", () => settle({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString() }))
}
