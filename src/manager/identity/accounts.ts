/**
 * Service accounts of controllers: a token of its own for each, requested for an hour and renewed when four fifths of that
 * are over. The account is made where there is none. A token that cannot be renewed is used until its end; after that
 * calls fail, are retried like others, and say why. Source: k8s.io/controller-manager/pkg/clientbuilder: DynamicControllerClientBuilder.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Semaphore from "effect/Semaphore"
import * as ApiError from "../../kube/ApiError.ts"
import { ServiceAccount } from "../../kube/resources.ts"
import { CredentialsError, Endpoint, type Identity } from "../../layers/Endpoint.ts"
import type { Client } from "../../layers/KubeClient.ts"

/** Where the accounts are. */
export const namespace = "kube-system"

/** Requested lifetime of a token, in seconds. */
const lifetime = 3600

/** Part of the lifetime after which a token is renewed. */
const renewAfter = 0.8

/** Milliseconds until the next try to renew a token that is still good. */
const retryAfter = 30_000

/** Monotonic milliseconds throughout. */
interface Held {
  readonly identity: Identity
  readonly expiresAt: number
  renewAt: number
}

/** The same server under another identity: without a certificate, which would take precedence over the token. `client`: may create tokens. */
export const endpoint = (
  base: Endpoint["Service"],
  client: Client,
  account: string
): Effect.Effect<Endpoint["Service"]> =>
  Effect.map(Semaphore.make(1), (lock) => {
    /** Undefined before the first token, and when the server has refused the last. */
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

/** A token and the seconds for which it is good; the account is made when there is none. */
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
