/**
 * root-ca-cert-publisher: every namespace has the ConfigMap `kube-root-ca.crt` with the authorities by which pods know the API server. It is created
 * again when it is deleted, and put back when it is changed, in a namespace that is being deleted too; labels and other annotations stay.
 * Source: pkg/controller/certificates/rootcacertpublisher.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import * as Key from "../kube/Key.ts"
import { ConfigMap, Namespace } from "../kube/resources.ts"
import { ClusterAuthority } from "../layers/ClusterAuthority.ts"
import * as Controller from "../layers/Controller.ts"
import * as Family from "../streams/reconcile/metricFamily.ts"
import * as Plan from "./rootca/plan.ts"

const syncs = Family.counter(
  "root_ca_cert_publisher_sync_total",
  "Looks at the ConfigMap of a namespace with the cluster's authorities, by the code of the answer; 200 if there was nothing to write",
  ["code"]
)
const seconds = Family.histogram(
  "root_ca_cert_publisher_sync_duration_seconds",
  "Seconds that such a look took, by the code of the answer",
  Family.exponential(0.001, 2, 15),
  ["code"]
)

/** Counts the sync, and for how long it ran. */
const timed = <E extends { readonly status?: number | undefined }, R>(
  sync: Effect.Effect<void, E, R>
): Effect.Effect<void, E, R> =>
  Effect.flatMap(Clock.monotonicTimeNanos, (begun) => {
    const count = Effect.fnUntraced(function* (code: number) {
      const attributes = { code: String(code) }
      const now = yield* Clock.monotonicTimeNanos
      yield* syncs.add(1, attributes)
      yield* seconds.observe(Number(now - begun) / 1e9, attributes)
    })
    return sync.pipe(
      Effect.tap(count(200)),
      Effect.tapError(({ status = 500 }) => count(status))
    )
  })

export const make = () =>
  Controller.stateful({
    name: "root-ca-cert-publisher",
    queue: "root_ca_cert_publisher",
    metrics: [syncs, seconds],
    for: Namespace,
    access: [Access.read(Namespace), Access.read(ConfigMap), Access.create(ConfigMap), Access.update(ConfigMap)],
    body: ({ cache, client }) =>
      Effect.gen(function* () {
        const { rootCa } = yield* ClusterAuthority
        if (rootCa === undefined) {
          yield* Effect.logWarning("There are no authorities to publish: say them with --root-ca-file")
          return { sources: [], reconcile: () => Effect.void }
        }
        const publish = Effect.fnUntraced(function* (namespace: string) {
          const found = yield* cache.get(ConfigMap, Key.make(namespace, Plan.name))
          const plan = Plan.plan({ namespace, found, rootCa })
          switch (plan._tag) {
            case "Done":
              return
            case "Create":
              // One that exists all the same is not in the cache yet: the retry compares it.
              return yield* client.create(ConfigMap, plan.draft).pipe(
                Effect.tap(Effect.logDebug("Published the cluster's authorities")),
                Effect.catchIf(
                  (error) => ApiError.hasReason(error, "NotFound") || ApiError.isNamespaceTerminating(error),
                  () => Effect.void
                ),
                Effect.annotateLogs({ namespace })
              )
            case "Update":
              return yield* client
                .update(ConfigMap, plan.object)
                .pipe(
                  Effect.tap(Effect.logInfo("Put the cluster's authorities back")),
                  Effect.annotateLogs({ namespace })
                )
          }
        }, Effect.asVoid)
        return {
          sources: [
            Controller.watch(Namespace, ({ _tag, object }) =>
              _tag === "Created" || (_tag === "Updated" && object.status?.phase === "Active")
                ? [object.metadata.name]
                : []
            ),
            Controller.watch(ConfigMap, ({ _tag, object: { metadata } }) =>
              _tag !== "Created" && metadata.name === Plan.name ? [Key.make(undefined, metadata.namespace ?? "")] : []
            )
          ],
          reconcile: ({ name }: Controller.Request) => timed(publish(name))
        }
      })
  })
