/**
 * One sync of a token Secret: read the cache, then read the server before any write. The cache is enough to leave a Secret unchanged, never to
 * delete it or to issue a token. Source: pkg/controller/serviceaccount: TokensController.
 */
import * as Base64Url from "effect/encoding/Base64Url"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import type { Secret, ServiceAccount } from "../../kube/resources.ts"
import type { TokenSigner } from "../../layers/ClusterAuthority.ts"
import type { Request } from "../../layers/Controller.ts"
import * as Secrets from "../shared/tokens/secrets.ts"
import * as Family from "../../streams/reconcile/metricFamily.ts"

type Call<A> = Effect.Effect<A, ApiError.ApiError>

interface Target {
  readonly namespace: string
  readonly name: string
}

/** The dependencies of a sync. */
export interface Ports {
  readonly signer: TokenSigner
  readonly rootCa: string | undefined
  readonly secret: (key: Key.Key) => Effect.Effect<Secret | undefined>
  readonly account: (key: Key.Key) => Effect.Effect<ServiceAccount | undefined>
  readonly liveSecret: (target: Target) => Call<Secret>
  readonly liveAccount: (target: Target) => Call<ServiceAccount>
  readonly updateSecret: (secret: Secret) => Call<unknown>
  readonly updateAccount: (account: ServiceAccount) => Call<unknown>
  readonly remove: (target: Target, uid: string) => Call<unknown>
  /** Accounts of deleted Secrets, by the key of the Secret, until their reference is removed. */
  readonly deleted: Map<Key.Key, Secrets.Wanted>
}

const done = Family.counter(
  "serviceaccount_token_controller_actions_total",
  "Changes of token Secrets and of references to them, by action: fill, delete, forget",
  ["action"]
)

export const families = [done]

const recordAction = (action: "fill" | "delete" | "forget", message: string, account: string) =>
  Effect.andThen(done.add(1, { action }), Effect.annotateLogs(Effect.logInfo(message), { serviceaccount: account }))

const absent = <A>(call: Call<A>): Call<A | undefined> =>
  Effect.catchIf(
    call,
    (error) => ApiError.hasReason(error, "NotFound"),
    () => Effect.succeed(undefined)
  )

export const make =
  (ports: Ports) =>
  ({ key, name, namespace = "" }: Request) =>
    Effect.gen(function* () {
      const secret = yield* ports.secret(key)
      const wanted = secret === undefined ? undefined : Secrets.accountOf(secret)
      if (secret === undefined) return yield* removeReference(ports, key, name)
      ports.deleted.delete(key)
      if (wanted === undefined) return
      const cached = yield* ports.account(Key.make(namespace, wanted.name))
      const known = cached !== undefined && Secrets.isMeant(wanted, cached) ? cached : undefined
      // Most syncs end here, without a request and without a new token.
      if (known !== undefined && Secrets.filled(secret, known, { ...ports, token: () => "" }) === undefined) return
      const account = yield* absent(ports.liveAccount(wanted))
      return yield* account === undefined || !Secrets.isMeant(wanted, account)
        ? remove(ports, secret, wanted)
        : fill(ports, secret, account)
    })

/** A token of a deleted account must be deleted: a new account of that name is another identity. */
const remove = ({ remove }: Ports, { metadata }: Secret, wanted: Secrets.Wanted) =>
  remove({ namespace: wanted.namespace, name: metadata.name }, metadata.uid ?? "").pipe(
    Effect.andThen(recordAction("delete", "Deleted the token of a deleted account", wanted.name)),
    // The Secret was deleted, or recreated under the same name.
    ignoring("NotFound", "Conflict")
  )

const fill = Effect.fnUntraced(function* (ports: Ports, cached: Secret, account: ServiceAccount) {
  const { namespace = "", name, uid } = cached.metadata
  const live = yield* absent(ports.liveSecret({ namespace, name }))
  // Recreated or changed: a watch event follows.
  if (live === undefined || live.metadata.uid !== uid) return
  if (live.metadata.resourceVersion !== cached.metadata.resourceVersion) return
  const holder = { namespace, account: account.metadata.name, uid: account.metadata.uid ?? "", secret: name }
  const filled = Secrets.filled(live, account, { ...ports, token: () => legacyToken(ports.signer, holder) })
  if (filled === undefined) return
  yield* ports
    .updateSecret(filled)
    .pipe(
      Effect.andThen(recordAction("fill", "Filled a Secret with the token of its account", holder.account)),
      ignoring("NotFound", "Conflict")
    )
})

/** Other clients write accounts too, so a conflict is retried soon, as often as in kube-controller-manager. */
const removeReference = (ports: Ports, key: Key.Key, name: string) =>
  Effect.gen(function* () {
    const wanted = ports.deleted.get(key)
    if (wanted === undefined) return
    const account = yield* absent(ports.liveAccount(wanted))
    const left = account === undefined || !Secrets.isMeant(wanted, account) ? undefined : Secrets.without(account, name)
    if (left !== undefined) {
      yield* ports.updateAccount(left)
      yield* recordAction("forget", "Removed the reference to a deleted Secret from its account", wanted.name)
    }
    ports.deleted.delete(key)
  }).pipe(
    Effect.retry({
      while: (error) => ApiError.hasReason(error, "Conflict"),
      schedule: Schedule.max([Schedule.jittered(Schedule.spaced("100 millis")), Schedule.recurs(9)])
    })
  )

const ignoring =
  (...reasons: ReadonlyArray<ApiError.ReasonTag>) =>
  <A>(call: Call<A>): Call<A | void> =>
    Effect.catchIf(
      call,
      (error) => ApiError.hasReason(error, ...reasons),
      () => Effect.void
    )

/** The account that a token names, and the Secret that holds it. */
export interface Holder {
  readonly namespace: string
  readonly account: string
  /** The uid of the account. */
  readonly uid: string
  /** Name of the Secret. */
  readonly secret: string
}

const claimPrefix = "kubernetes.io/serviceaccount"

const claims = ({ account, namespace, secret, uid }: Holder) => ({
  iss: "kubernetes/serviceaccount",
  [`${claimPrefix}/namespace`]: namespace,
  [`${claimPrefix}/secret.name`]: secret,
  [`${claimPrefix}/service-account.name`]: account,
  [`${claimPrefix}/service-account.uid`]: uid,
  sub: `system:serviceaccount:${namespace}:${account}`
})

/**
 * A legacy token: a JSON web token without an expiry, valid as long as the Secret and the account exist. With a deterministic signature the same
 * holder always gets the same token. Source: pkg/serviceaccount: LegacyClaims.
 */
export const legacyToken = ({ algorithm, keyId, sign }: TokenSigner, holder: Holder): string => {
  const head = { alg: algorithm, kid: keyId }
  const input = `${Base64Url.encode(JSON.stringify(head))}.${Base64Url.encode(JSON.stringify(claims(holder)))}`
  return `${input}.${Base64Url.encode(sign(input))}`
}
