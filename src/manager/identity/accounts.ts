/**
 * Service account tokens of controllers: one for each account, requested for an hour and renewed after four fifths of its lifetime. A missing
 * account is created. A token that cannot be renewed is used until it expires; after that requests fail with the reason and are retried. Source:
 * k8s.io/controller-manager/pkg/clientbuilder: DynamicControllerClientBuilder.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Semaphore from "effect/Semaphore"
import * as ApiError from "../../kube/ApiError.ts"
import { ServiceAccount } from "../../kube/resources.ts"
import { CredentialsError, Endpoint, type Identity } from "../../layers/Endpoint.ts"
import type { Client } from "../../layers/KubeClient.ts"

/** The namespace of the accounts. */
export const namespace = "kube-system"

/** Requested lifetime of a token, in seconds. */
const lifetime = 3600

/** Part of the lifetime after which a token is renewed. */
const renewAfter = 0.8

/** Milliseconds until the next attempt to renew a token that has not expired. */
const retryAfter = 30_000

/** Times are monotonic milliseconds. */
interface Held {
  readonly identity: Identity
  readonly expiresAt: number
  renewAt: number
}

/**
 * The same server with another identity. It has no client certificate, which would take precedence over the token. `client` must be allowed to
 * create tokens.
 */
export const endpoint = (
  base: Endpoint["Service"],
  client: Client,
  account: string
): Effect.Effect<Endpoint["Service"]> =>
  Effect.map(Semaphore.make(1), (lock) => {
    /** Undefined before the first token, and after the server has rejected the last one. */
    let held: Held | undefined
    const now = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))

    const obtain = Effect.gen(function* () {
      const { seconds, token } = yield* request(client, account)
      const { tls } = yield* base.identity
      const { cert: _cert, key: _key, ...open } = tls
      const at = yield* now
      const identity = { tls: open, headers: Redacted.make({ authorization: `Bearer ${Redacted.value(token)}` }) }
      held = { identity, expiresAt: at + seconds * 1000, renewAt: at + seconds * 1000 * renewAfter }
      return identity
    })

    const renewed = Effect.gen(function* () {
      const at = yield* now
      if (held !== undefined && at < held.renewAt) return held.identity
      const last = held
      return yield* Effect.catch(obtain, (error) => {
        if (last === undefined || at >= last.expiresAt) return Effect.fail(error)
        last.renewAt = at + retryAfter
        return Effect.as(Effect.logWarning(error.message), last.identity)
      })
    }).pipe((effect) => lock.withPermit(effect))

    return Endpoint.of({
      server: base.server,
      proxy: base.proxy,
      identity: Effect.flatMap(now, (at) =>
        held !== undefined && at < held.renewAt ? Effect.succeed(held.identity) : renewed
      ),
      renew: (rejected) =>
        Effect.suspend(() => {
          if (held?.identity === rejected) held = undefined
          return Effect.as(renewed, true)
        })
    })
  })

/** A token and its lifetime in seconds. Creates the account if it is missing. */
const request = (client: Client, account: string) =>
  Effect.catchIf(
    ask(client, account),
    (error) => ApiError.hasReason(error, "NotFound"),
    () => Effect.andThen(create(client, account), ask(client, account))
  ).pipe(
    Effect.mapError(
      (error) =>
        new CredentialsError({ message: `no token for service account ${namespace}/${account}: ${error.message}` })
    )
  )

const create = (client: Client, account: string) =>
  Effect.catchIf(
    client.create(ServiceAccount, { metadata: { namespace, name: account } }),
    (error) => ApiError.hasReason(error, "AlreadyExists"),
    () => Effect.void
  )

const ask = Effect.fnUntraced(function* (client: Client, account: string) {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${encodeURIComponent(account)}/token`
  const context = { verb: "create", path, resource: "serviceaccounts/token", namespace, name: account }
  const body = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { expirationSeconds: lifetime }
  }
  const answer = yield* client.raw({ method: "POST", path, body, context })
  const { token } = property(answer.body, "status")
  if (typeof token !== "string") return yield* ApiError.decode(context, "the answer has no token")
  const { expirationSeconds } = property(answer.body, "spec")
  // A server may grant a shorter lifetime than requested, or a longer one for clients that do not renew.
  const seconds = typeof expirationSeconds === "number" ? Math.min(expirationSeconds, lifetime) : lifetime
  return { token: Redacted.make(token, { label: "token" }), seconds }
})

const property = (value: unknown, key: string): Readonly<Record<string, unknown>> => {
  const found = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined
  return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {}
}
