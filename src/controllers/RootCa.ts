/**
 * root-ca-cert-publisher: every active namespace has the ConfigMap `kube-root-ca.crt` with the authorities by which pods know the API server. It is
 * made again when somebody deletes it, and put back when somebody changes it; what others add beside it stays. Source: spec G.3.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import * as Key from "../kube/Key.ts"
import { ConfigMap, Namespace } from "../kube/resources.ts"
import { ClusterAuthority } from "../layers/ClusterAuthority.ts"
import * as Controller from "../layers/Controller.ts"
import * as Plan from "./rootca/plan.ts"

const published = Metric.counter("root_ca_cert_publisher_sync_total", {
  description: "ConfigMaps with the cluster's authorities that were written, by the code of the answer",
  incremental: true
})

const counted = (code: string) => Metric.update(Metric.withAttributes(published, { code }), 1)

export const make = () =>
  Controller.stateful({
    name: "root-ca-cert-publisher",
    for: Namespace,
    access: [Access.read(Namespace), Access.read(ConfigMap), Access.create(ConfigMap), Access.update(ConfigMap)],
    body: ({ cache, client }) =>
      Effect.gen(function* () {
        const { rootCa } = yield* ClusterAuthority
        if (rootCa === undefined) {
          yield* Effect.logWarning("There are no authorities to publish: say them with --root-ca-file")
          return { sources: [], reconcile: () => Effect.void }
        }
        return {
          sources: [
            Controller.watch(Namespace, ({ _tag, object }) => (_tag === "Deleted" ? [] : [object.metadata.name])),
            Controller.watch(ConfigMap, ({ object: { metadata } }) =>
              metadata.name === Plan.name ? [Key.make(undefined, metadata.namespace ?? "")] : []
            )
          ],
          reconcile: Effect.fnUntraced(function* ({ name: namespace }: Controller.Request) {
            const plan = Plan.plan({
              namespace: yield* cache.get(Namespace, namespace),
              found: yield* cache.get(ConfigMap, Key.make(namespace, Plan.name)),
              rootCa
            })
            if (plan._tag === "Done") return
            const write =
              plan._tag === "Create" ? client.create(ConfigMap, plan.draft) : client.update(ConfigMap, plan.object)
            yield* write.pipe(
              Effect.tap(counted("200")),
              Effect.tap(
                plan._tag === "Create"
                  ? Effect.logDebug("Published the cluster's authorities")
                  : Effect.logInfo("Put the cluster's authorities back")
              ),
              Effect.tapError(({ status }) => counted(String(status ?? 500))),
              Effect.catchIf(
                (error) => ApiError.hasReason(error, "AlreadyExists") || ApiError.isNamespaceTerminating(error),
                () => Effect.void
              ),
              Effect.annotateLogs({ namespace })
            )
          })
        }
      })
  })
