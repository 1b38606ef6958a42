/**
 * serviceaccount-token: writes a token into Secrets of type `kubernetes.io/service-account-token`, deletes them when their account is gone, and
 * removes references to deleted Secrets from their account. It creates no Secrets. It starts before all other controllers, which may need these
 * tokens, and does not run without a signing key. A sync reads the cache, then the server before any write: the cache is enough to leave a Secret
 * unchanged, never to delete it or to issue a token. Source: pkg/controller/serviceaccount: TokensController.
 */
import * as Base64Url from "effect/encoding/Base64Url"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import * as Key from "../kube/Key.ts"
import { Secret, ServiceAccount } from "../kube/resources.ts"
import { ClusterAuthority, type TokenSigner } from "../layers/ClusterAuthority.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Codecs from "../layers/setting/codecs.ts"
import * as Family from "../streams/reconcile/metricFamily.ts"
import * as Secrets from "./shared/tokens/secrets.ts"

export const settings = {
  concurrency: Setting.concurrency(
    "concurrent-serviceaccount-token-syncs",
    5,
    "Secrets with tokens of service accounts"
  ),
  keyFile: Setting.optional(Codecs.text("file"), {
    name: "service-account-private-key-file",
    group: "tuning",
    description:
      "File with the private key, RSA or elliptic, in PEM, that signs service account tokens; without it serviceaccount-token runs on the embedded cluster only, with that cluster's key"
  })
}

export type Options = Setting.Options<typeof settings>

const access = [
  Access.read(Secrets.Tokens),
  Access.get(Secret),
  Access.update(Secret),
  Access.remove(Secret),
  Access.read(ServiceAccount),
  Access.get(ServiceAccount),
  Access.update(ServiceAccount)
] as const

// The triggers note the accounts of deleted Secrets, which a sync no longer finds in the cache.
export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "serviceaccount-token",
    queue: "serviceaccount_tokens_service",
    metrics: [actions],
    startFirst: true,
    for: Secret,
    access,
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    retries: 10,
    body: Effect.fnUntraced(function* ({ cache, client, store }) {
      const { rootCa, signer } = yield* ClusterAuthority
      if (signer === undefined) {
        return yield* Effect.die(
          new Error("serviceaccount-token has no signing key: set --service-account-private-key-file")
        )
      }
      const term: Term = { client, rootCa, signer, deleted: new Map() }
      const secrets = store(Secrets.Tokens)
      return {
        sources: [
          Controller.watch(
            Secrets.Tokens,
            ({ _tag, object }) => {
              const wanted = Secrets.accountOf(object)
              if (wanted === undefined) return []
              if (_tag === "Deleted") term.deleted.set(Key.of(object), wanted)
              return [Key.of(object)]
            },
            { indexes: [Secrets.byAccount] }
          ),
          Controller.watch(ServiceAccount, ({ _tag, object }) =>
            _tag === "Updated" ? [] : secrets.byIndex(Secrets.byAccount.name, Key.of(object)).map(Key.of)
          )
        ],
        reconcile: Effect.fnUntraced(function* ({ key, name, namespace = "" }) {
          const secret = yield* cache.get(Secrets.Tokens, key)
          if (secret === undefined) return yield* removeReference(term, key, name)
          term.deleted.delete(key)
          const wanted = Secrets.accountOf(secret)
          if (wanted === undefined) return
          const cached = yield* cache.get(ServiceAccount, Key.make(namespace, wanted.name))
          const known = cached !== undefined && Secrets.isMeant(wanted, cached) ? cached : undefined
          // Most syncs end here, without a request and without a new token.
          if (known !== undefined && Secrets.filled(secret, known, { rootCa, token: () => "" }) === undefined) return
          const account = yield* ApiError.unlessGone(client.get(ServiceAccount, wanted))
          return yield* account === undefined || !Secrets.isMeant(wanted, account)
            ? remove(term, secret, wanted)
            : fill(term, secret, account)
        })
      }
    })
  })

/** What the syncs of one leadership term share. */
interface Term {
  readonly client: Controller.Client<(typeof access)[number]>
  readonly rootCa: string | undefined
  readonly signer: TokenSigner
  /** Accounts of deleted Secrets, by the key of the Secret, until their reference is removed. */
  readonly deleted: Map<Key.Key, Secrets.Wanted>
}

/** A token of a deleted account must be deleted: a new account of that name is another identity. */
const remove = ({ client }: Term, { metadata }: Secret, { name, namespace }: Secrets.Wanted) => {
  const preconditions = { uid: metadata.uid ?? "" }
  return client
    .delete(Secret, { namespace, name: metadata.name }, { preconditions })
    .pipe(
      Effect.andThen(recordAction("delete", "Deleted the token of a deleted account", name)),
      ApiError.unlessReplaced
    )
}

const fill = Effect.fnUntraced(function* (
  { client, rootCa, signer }: Term,
  { metadata }: Secret,
  account: ServiceAccount
) {
  const { namespace = "", name, uid } = metadata
  const live = yield* ApiError.unlessGone(client.get(Secret, { namespace, name }))
  // Recreated or changed: a watch event follows.
  if (live === undefined || live.metadata.uid !== uid) return
  if (live.metadata.resourceVersion !== metadata.resourceVersion) return
  const holder = { namespace, account: account.metadata.name, uid: account.metadata.uid ?? "", secret: name }
  const filled = Secrets.filled(live, account, { rootCa, token: () => legacyToken(signer, holder) })
  if (filled === undefined) return
  yield* client
    .update(Secret, filled)
    .pipe(
      Effect.andThen(recordAction("fill", "Filled a Secret with the token of its account", holder.account)),
      ApiError.unlessReplaced
    )
})

/** Other clients write accounts too, so a conflict is retried soon, as often as in kube-controller-manager. */
const removeReference = (term: Term, key: Key.Key, name: string) =>
  Effect.gen(function* () {
    const { client, deleted } = term
    const wanted = deleted.get(key)
    if (wanted === undefined) return
    const account = yield* ApiError.unlessGone(client.get(ServiceAccount, wanted))
    const left = account === undefined || !Secrets.isMeant(wanted, account) ? undefined : Secrets.without(account, name)
    if (left !== undefined) {
      yield* client.update(ServiceAccount, left)
      yield* recordAction("forget", "Removed the reference to a deleted Secret from its account", wanted.name)
    }
    deleted.delete(key)
  }).pipe(
    Effect.retry({
      while: (error) => ApiError.hasReason(error, "Conflict"),
      schedule: Schedule.max([Schedule.jittered(Schedule.spaced("100 millis")), Schedule.recurs(9)])
    })
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

const actions = Family.counter(
  "serviceaccount_token_controller_actions_total",
  "Changes of token Secrets and of references to them, by action: fill, delete, forget",
  ["action"]
)

const recordAction = (action: "fill" | "delete" | "forget", message: string, account: string) =>
  Effect.andThen(actions.add(1, { action }), Effect.annotateLogs(Effect.logInfo(message), { serviceaccount: account }))
