/**
 * root-ca-cert-publisher: keeps the ConfigMap `kube-root-ca.crt`, with the CA bundle by which pods verify the API server, in every namespace. A
 * deleted ConfigMap is created again and a changed one restored, also in a terminating namespace; labels and other annotations are kept. Source:
 * pkg/controller/certificates/rootcacertpublisher.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import * as Key from "../kube/Key.ts"
import { ConfigMap, Namespace } from "../kube/resources.ts"
import { ClusterAuthority } from "../layers/ClusterAuthority.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Codecs from "../layers/setting/codecs.ts"
import * as Family from "../streams/reconcile/metricFamily.ts"
import * as Plan from "./rootca/plan.ts"

const access = [
  Access.read(Namespace),
  Access.read(ConfigMap),
  Access.create(ConfigMap),
  Access.update(ConfigMap)
] as const

// The CA bundle is read once; without one nothing is watched.
export const make = () =>
  Controller.stateful({
    name: "root-ca-cert-publisher",
    queue: "root_ca_cert_publisher",
    metrics: [syncs, seconds],
    for: Namespace,
    access,
    body: ({ cache, client }) =>
      Effect.gen(function* () {
        const { rootCa } = yield* ClusterAuthority
        if (rootCa === undefined) {
          yield* Effect.logWarning("No CA bundle to publish: set --root-ca-file")
          return { sources: [], reconcile: () => Effect.void }
        }
        const publish = Effect.fnUntraced(function* (namespace: string) {
          const found = yield* cache.get(ConfigMap, Key.make(namespace, Plan.configMapName))
          const plan = Plan.plan({ namespace, found, rootCa })
          switch (plan._tag) {
            case "Done":
              return
            case "Create":
              // AlreadyExists means that the cache lags: the sync is retried and compares the ConfigMap.
              return yield* client
                .create(ConfigMap, plan.draft)
                .pipe(
                  Effect.tap(Effect.logDebug("Published the CA bundle")),
                  ApiError.unlessGone,
                  ApiError.unlessTerminating,
                  Effect.annotateLogs({ namespace })
                )
            case "Update":
              return yield* client
                .update(ConfigMap, plan.object)
                .pipe(Effect.tap(Effect.logInfo("Restored the CA bundle")), Effect.annotateLogs({ namespace }))
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
              _tag !== "Created" && metadata.name === Plan.configMapName
                ? [Key.make(undefined, metadata.namespace ?? "")]
                : []
            )
          ],
          reconcile: ({ name }: Controller.Request) => timed(publish(name))
        }
      })
  })

export const settings = {
  rootCaFile: Setting.optional(Codecs.text("file"), {
    name: "root-ca-file",
    group: "tuning",
    description:
      "File with the certificate authorities, in PEM, by which pods verify the API server; default is those of this program's connection"
  })
}

const syncs = Family.counter(
  "root_ca_cert_publisher_sync_total",
  "Syncs of the ConfigMap with the CA bundle of a namespace, by HTTP status code; 200 if nothing was written",
  ["code"]
)
const seconds = Family.histogram(
  "root_ca_cert_publisher_sync_duration_seconds",
  "Seconds that such a sync took, by HTTP status code",
  Family.exponential(0.001, 2, 15),
  ["code"]
)

/** Counts the sync and observes its duration. */
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
