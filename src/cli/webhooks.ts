/** Serves webhooks as the settings say, and lets the leader maintain their certificates. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { isIPv6 } from "node:net"
import type { Descriptor, Services } from "../layers/Controller.ts"
import type { KubeClient } from "../layers/KubeClient.ts"
import type * as Clusters from "./cluster/clusters.ts"
import * as Manifests from "../manager/manifests/webhooks.ts"
import { Program } from "../manager/Program.ts"
import * as Address from "../layers/http/address.ts"
import { Certificates } from "../layers/http/Certificates.ts"
import { Listener } from "../layers/http/Listener.ts"
import type * as Registry from "../manager/registry.ts"
import type * as Settings from "../manager/settings.ts"
import { settings } from "../manager/settings/webhooks.ts"
import { configurations, names } from "../manager/webhooks/configurations.ts"
import { Supervisor } from "../layers/Supervisor.ts"
import type * as Webhook from "../layers/Webhook.ts"
import type { Resolved, Selection, Table } from "./selection.ts"

/** There is no certificate to serve webhooks with. */
export class NoCertificate extends Data.TaggedError("NoCertificate")<{ readonly message: string }> {}

/** The webhooks to serve: all or none. */
export const served = <R>(
  { skipWebhookConfig, webhookPort }: Settings.Settings,
  entries: ReadonlyArray<Pick<Registry.Entry<R>, "webhooks">>
): ReadonlyArray<Webhook.Webhook<Services | R>> =>
  skipWebhookConfig || webhookPort < 0 ? [] : entries.flatMap((entry) => entry.webhooks ?? [])

/** Fails unless a setting names the source of the certificate. */
export const certified = ({
  webhookCertPath,
  webhookSelfSigned
}: Settings.Settings): Effect.Effect<void, NoCertificate> =>
  webhookSelfSigned || Option.isSome(webhookCertPath)
    ? Effect.void
    : Effect.fail(
        new NoCertificate({
          message: `webhooks are served over TLS and there is no certificate: name the directory of one with --${settings.webhookCertPath.name}, have one made with --${settings.webhookSelfSigned.name}, or turn webhooks off with --${settings.skipWebhookConfig.name}`
        })
      )

/**
 * The permissions that the program needs for the certificates that it creates; undefined if it creates none. On the embedded cluster, where no
 * manifests are applied, it also creates the configurations.
 */
export const certificatesOf = Effect.fnUntraced(function* (
  { values }: Resolved,
  { embedded, namespace }: Pick<Clusters.Connected, "embedded" | "namespace">,
  { chosen }: Selection
) {
  const { kinds, name } = yield* Program
  const webhooks = served(values, [...chosen, ...kinds])
  if (webhooks.length === 0) return undefined
  if (!embedded) yield* certified(values)
  return Option.isSome(values.webhookCertPath)
    ? undefined
    : Manifests.certificatesOf({ name, namespace }, webhooks, embedded)
})

/** Starts the webhooks before the informers, because a list may need conversions. Returns the controllers that run under the Lease. */
export const webhooks = Effect.fnUntraced(function* (
  { values }: Resolved,
  cluster: Clusters.Connected,
  { selection, table }: { readonly selection: Selection; readonly table: Table }
) {
  const { kinds, name } = yield* Program
  const declared = served(values, [...table, ...kinds])
  if (declared.length === 0) return []
  const source = yield* sourceOf(values, cluster)
  const { handler } = yield* Effect.promise(() => import("../manager/webhooks/handle.ts"))
  const Server = yield* Effect.promise(() => import("../manager/webhooks/server.ts"))
  const { listener } = yield* Effect.promise(() => import("../platform/listener/Listener.ts"))
  const { certificates } = yield* Effect.promise(() => import("../platform/listener/certificates.ts"))
  const address = yield* Server.start({
    address: { host: hostOf(values, cluster), port: values.webhookPort },
    source,
    http2: values.http2,
    handle: yield* handler(declared)
  }).pipe(Effect.provideService(Listener, listener), Effect.provideService(Certificates, certificates))
  if (source._tag === "Mounted" || !source.isKept) return []
  const { CertificateManager, Publication } = yield* keeping
  const installed = configurations(served(values, [...selection.chosen, ...kinds]), {
    name: names(name).configuration,
    at: { url: urlOf(address) }
  })
  // On the embedded cluster the program creates the configurations; on a real one the manifests do.
  const keep = CertificateManager.keep(source.options, Publication.targets(installed, cluster.embedded))
  return [keeper(Effect.provideService(keep, Certificates, certificates))]
})

/** Loaded only if the program creates its certificates itself. */
const keeping = Effect.promise(async () => ({
  CertificateManager: await import("../manager/webhooks/certificates/CertificateManager.ts"),
  Publication: await import("../manager/webhooks/certificates/publication.ts")
}))

/** On the embedded cluster webhooks are served on loopback only. */
const hostOf = ({ webhookHost }: Settings.Settings, { embedded }: Clusters.Connected): string | undefined =>
  Option.getOrElse(webhookHost, () => (embedded ? "127.0.0.1" : undefined))

/** The URL for an API server on this host. */
const urlOf = ({ host = "127.0.0.1", port }: Address.Address): string =>
  `https://${isIPv6(host) ? `[${host}]` : host}:${port}`

/** Runs as a controller, although it is not in the registry, because it also writes only while the program leads. */
const keeper = (keep: Effect.Effect<never, never, KubeClient>): Descriptor => ({
  name: "webhook-certificates",
  access: [],
  reads: [],
  needsLeader: true,
  layer: Layer.effectDiscard(Effect.flatMap(Supervisor, (supervisor) => supervisor.fork("webhook-certificates", keep)))
})

const sourceOf = Effect.fnUntraced(function* (values: Settings.Settings, cluster: Clusters.Connected) {
  if (Option.isSome(values.webhookCertPath)) {
    const files = {
      directory: values.webhookCertPath.value,
      cert: values.webhookCertName,
      key: values.webhookCertKey,
      clientAuthorities: Option.getOrUndefined(values.webhookClientCa)
    }
    return { _tag: "Mounted", files } as const
  }
  if (!cluster.embedded) yield* certified(values)
  const { secret, service } = names((yield* Program).name)
  const { namespace } = cluster
  const hosts = [service, `${service}.${namespace}`, `${service}.${namespace}.svc`, "localhost", "127.0.0.1", "::1"]
  const options = {
    namespace,
    name: secret,
    hosts: [...new Set([...hosts, ...Option.toArray(values.webhookHost)])].map(Address.canonical)
  }
  // A dry run stores nothing, so the certificate belongs to this process only.
  return { _tag: "Own", options, isKept: !values.dryRun } as const
})
