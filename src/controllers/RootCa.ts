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
import type { Draft } from "../kube/Meta.ts"
import { ConfigMap, Namespace } from "../kube/resources.ts"
import { ClusterAuthority } from "../layers/ClusterAuthority.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Codecs from "../layers/setting/codecs.ts"
import * as Family from "../streams/reconcile/metricFamily.ts"

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
          yield* Effect.logWarning("No CA bundle to publish: set --root-ca-file")
          return { sources: [], reconcile: () => Effect.void }
        }
        const publish = Effect.fnUntraced(function* (namespace: string) {
          const found = yield* cache.get(ConfigMap, Key.make(namespace, configMapName))
          const plan = planOf({ namespace, found, rootCa })
          switch (plan._tag) {
            case "Done":
              return
            case "Create":
              // AlreadyExists means that the cache lags: the sync is retried and compares the ConfigMap.
              return yield* client.create(ConfigMap, plan.draft).pipe(
                Effect.tap(Effect.logDebug("Published the CA bundle")),
                Effect.catchIf(
                  (error) => ApiError.hasReason(error, "NotFound") || ApiError.isNamespaceTerminating(error),
                  () => Effect.void
                ),
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
              _tag !== "Created" && metadata.name === configMapName
                ? [Key.make(undefined, metadata.namespace ?? "")]
                : []
            )
          ],
          reconcile: ({ name }: Controller.Request) => timed(publish(name))
        }
      })
  })

export const configMapName = "kube-root-ca.crt"

const annotation = "kubernetes.io/description"

const description =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."

export interface Gathered {
  readonly namespace: string
  readonly found: ConfigMap | undefined
  /** PEM. */
  readonly rootCa: string
}

export type Plan =
  | { readonly _tag: "Done" }
  | { readonly _tag: "Create"; readonly draft: Draft<ConfigMap> }
  | { readonly _tag: "Update"; readonly object: ConfigMap }

/** Pure and idempotent: after the plan is applied, the next plan is `Done`. */
export const planOf = ({ found, namespace, rootCa }: Gathered): Plan => {
  const data = { "ca.crt": rootCa }
  if (found === undefined) {
    return {
      _tag: "Create",
      draft: { metadata: { namespace, name: configMapName, annotations: { [annotation]: description } }, data }
    }
  }
  if (isPublished(found, rootCa)) return { _tag: "Done" }
  const annotations = { ...found.metadata.annotations, [annotation]: description }
  return { _tag: "Update", object: { ...found, metadata: { ...found.metadata, annotations }, data } }
}

/** Other data is removed, because pods mount the whole ConfigMap; another description is kept. */
const isPublished = ({ data, metadata }: ConfigMap, rootCa: string): boolean =>
  data?.["ca.crt"] === rootCa && Object.keys(data).length === 1 && (metadata.annotations?.[annotation] ?? "") !== ""
