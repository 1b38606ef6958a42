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

/** The account of pods that name none. */
const account = "default"

export const make = () =>
  Controller.stateful({
    name: "serviceaccount",
    component: "serviceaccount-controller",
    for: Namespace,
    access: [Access.read(Namespace), Access.read(ServiceAccount), Access.create(ServiceAccount)],
    body: ({ cache, client }) =>
      Effect.succeed({
        sources: [
          Controller.watch(Namespace, ({ _tag, object }) => (_tag === "Deleted" ? [] : [object.metadata.name])),
          Controller.watch(ServiceAccount, ({ _tag, object: { metadata } }) =>
            _tag === "Deleted" && metadata.name === account ? [Key.make(undefined, metadata.namespace ?? "")] : []
          )
        ],
        reconcile: Effect.fnUntraced(function* ({ name: namespace }) {
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
  })
