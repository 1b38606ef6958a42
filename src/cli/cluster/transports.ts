/** Transports that modify each request: rate limit, dry run, and the User-Agent of a part of the program. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Monotonic from "../../streams/monotonic.ts"
import * as TokenBucket from "../../streams/queue/tokenBucket.ts"
import type { Method, Request, Transport } from "../../layers/Transport.ts"

export type Limit = TokenBucket.Options

/** Waits until a request may be sent. */
export type Pace = (request: Request) => Effect.Effect<void>

/**
 * One rate limit for all requests that share it. A request waits before it is sent and is never rejected; watches are not limited. `observe` is
 * called with the wait of each request in milliseconds. Source: client-go util/flowcontrol, rest.Request.
 */
export const makePace = (
  limit: Limit,
  observe: (method: Method, millis: number) => void = () => {}
): Effect.Effect<Pace> =>
  Effect.map(Clock.Clock, (clock) => {
    const take = TokenBucket.make(limit, Monotonic.millis(clock))
    return ({ method }) =>
      Effect.suspend(() => {
        const millis = take()
        observe(method, millis)
        return millis === 0 ? Effect.void : Effect.sleep(millis)
      })
  })

/** Replaces the rate limit of the transport; undefined means no limit. */
export const withPace = (transport: Transport["Service"], pace: Pace | undefined): Transport["Service"] => ({
  ...transport,
  pace
})

/** Makes every write a dry run: validation and admission run, and nothing is stored. Source: dryRun of the API conventions. */
export const withDryRun = (transport: Transport["Service"]): Transport["Service"] => ({
  ...transport,
  send: (request) => transport.send(dry(request))
})

/** The same request as a dry run. If a DELETE has a body, the server reads the options from the body only. */
export const dry = (request: Request): Request => {
  if (request.method === "GET") return request
  if (request.method === "DELETE" && typeof request.body === "object" && request.body !== null) {
    return { ...request, body: { ...request.body, dryRun: ["All"] } }
  }
  return { ...request, query: { ...request.query, dryRun: "All" } }
}

/**
 * The User-Agent under which a part of the program sends requests, so that the audit log distinguishes controllers; a request that has
 * one keeps it. Source: k8s.io/controller-manager/pkg/clientbuilder.
 */
export const withUserAgent = (transport: Transport["Service"], userAgent: string): Transport["Service"] => {
  const named = (request: Request): Request => (request.userAgent === undefined ? { ...request, userAgent } : request)
  return {
    ...transport,
    send: (request) => transport.send(named(request)),
    watch: (request) => transport.watch(named(request))
  }
}
