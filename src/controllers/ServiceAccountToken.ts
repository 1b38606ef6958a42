/**
 * serviceaccount-token: writes a token into Secrets of type `kubernetes.io/service-account-token`, deletes them when their account is gone, and
 * removes references to deleted Secrets from their account. It creates no Secrets. It starts before all other controllers, which may need these
 * tokens, and does not run without a signing key. Source: pkg/controller/serviceaccount: TokensController.
 */
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as Key from "../kube/Key.ts"
import { Secret, ServiceAccount } from "../kube/resources.ts"
import { ClusterAuthority } from "../layers/ClusterAuthority.ts"
import * as Controller from "../layers/Controller.ts"
import * as Secrets from "./shared/tokens/secrets.ts"
import * as Sync from "./serviceaccounttoken/legacyToken.ts"

export interface Options {
  /** How many Secrets are synced at once. Default: 5. */
  readonly concurrency?: number | undefined
}

export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "serviceaccount-token",
    queue: "serviceaccount_tokens_service",
    metrics: Sync.families,
    startFirst: true,
    for: Secret,
    access: [
      Access.read(Secrets.Tokens),
      Access.get(Secret),
      Access.update(Secret),
      Access.remove(Secret),
      Access.read(ServiceAccount),
      Access.get(ServiceAccount),
      Access.update(ServiceAccount)
    ],
    concurrency: options.concurrency ?? 5,
    retries: 10,
    body: ({ cache, client, store }) =>
      Effect.gen(function* () {
        const { rootCa, signer } = yield* ClusterAuthority
        if (signer === undefined) {
          return yield* Effect.die(
            new Error("serviceaccount-token has no signing key: set --service-account-private-key-file")
          )
        }
        const deleted = new Map<Key.Key, Secrets.Wanted>()
        const secrets = store(Secrets.Tokens)
        return {
          sources: [
            Controller.watch(
              Secrets.Tokens,
              ({ _tag, object }) => {
                const wanted = Secrets.accountOf(object)
                if (wanted === undefined) return []
                if (_tag === "Deleted") deleted.set(Key.of(object), wanted)
                return [Key.of(object)]
              },
              { indexes: [Secrets.byAccount] }
            ),
            Controller.watch(ServiceAccount, ({ _tag, object }) =>
              _tag === "Updated" ? [] : secrets.byIndex(Secrets.byAccount.name, Key.of(object)).map(Key.of)
            )
          ],
          reconcile: Sync.make({
            signer,
            rootCa,
            deleted,
            secret: (key) => cache.get(Secrets.Tokens, key),
            account: (key) => cache.get(ServiceAccount, key),
            liveSecret: (target) => client.get(Secret, target),
            liveAccount: (target) => client.get(ServiceAccount, target),
            updateSecret: (secret) => client.update(Secret, secret),
            updateAccount: (account) => client.update(ServiceAccount, account),
            remove: (target, uid) => client.delete(Secret, target, { preconditions: { uid } })
          })
        }
      })
  })
