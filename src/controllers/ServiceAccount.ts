/**
 * serviceaccount: keeps the ServiceAccount `default` in every active namespace. It creates the account when it is missing and does not change an
 * existing one. Source: pkg/controller/serviceaccount: ServiceAccountsController.
 */
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import * as Key from "../kube/Key.ts"
import { Namespace, ServiceAccount } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as TokenBucket from "../streams/queue/tokenBucket.ts"

/** The account of pods that name none. */
const account = "default"

const access = [Access.create(ServiceAccount)] as const

export const make = () =>
  Controller.make({
    name: "serviceaccount",
    component: "serviceaccount-controller",
    for: Namespace,
    predicate: ({ _tag }) => _tag !== "Deleted",
    watches: [
      Controller.watch(ServiceAccount, ({ _tag, object: { metadata } }) =>
        _tag === "Deleted" && metadata.name === account ? [Key.make(undefined, metadata.namespace ?? "")] : []
      )
    ],
    access,
    bucket: TokenBucket.clientGo,
    reconcile: Effect.fnUntraced(function* ({ name: namespace }, { cache, client }) {
      const found = yield* cache.get(Namespace, namespace)
      if (found?.status?.phase !== "Active") return
      if ((yield* cache.get(ServiceAccount, Key.make(namespace, account))) !== undefined) return
      yield* Effect.catchIf(
        client.create(ServiceAccount, { metadata: { namespace, name: account } }),
        (error) => ApiError.hasReason(error, "AlreadyExists") || ApiError.isNamespaceTerminating(error),
        () => Effect.void
      )
    })
  })
