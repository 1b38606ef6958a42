/** Webhooks, as the settings want them served, and what the leader does for their certificates. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { isIPv6 } from "node:net"
import type { Descriptor, Services } from "../layers/Controller.ts"
import type { KubeClient } from "../layers/KubeClient.ts"
import type * as Clusters from "../manager/cluster/clusters.ts"
import * as Manifests from "../manager/manifests/webhooks.ts"
import { Program } from "../manager/Program.ts"
import * as Address from "../layers/http/address.ts"
import type * as Registry from "../manager/registry.ts"
import type * as Settings from "../manager/settings.ts"
import { settings } from "../manager/settings/webhooks.ts"
import { configurations, names } from "../manager/webhooks/configurations.ts"
import { Supervisor } from "../layers/Supervisor.ts"
import type * as Webhook from "../layers/Webhook.ts"
import type { Resolved, Selection, Table } from "./selection.ts"

/** There is no certificate to serve webhooks with. */
export class NoCertificate extends Data.TaggedError("NoCertificate")<{ readonly message: string }> {}

/** Those that are to be served of these: all or none. */
export const served = <R>(
  { skipWebhookConfig, webhookPort }: Settings.Settings,
  entries: ReadonlyArray<Registry.Entry<R>>
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
 * What the program must be allowed for the certificates that it makes; undefined where it makes none. On the embedded cluster no manifests
 * are applied: there it creates the configurations too.
 */
export const certificatesOf = Effect.fnUntraced(function* (
  { values }: Resolved,
  { embedded, namespace }: Pick<Clusters.Connected, "embedded" | "namespace">,
  { chosen }: Selection
) {
  const { name } = yield* Program
  const webhooks = served(values, chosen)
  if (webhooks.length === 0) return undefined
  if (!embedded) yield* certified(values)
  return Option.isSome(values.webhookCertPath)
    ? undefined
    : Manifests.certificatesOf({ name, namespace }, webhooks, embedded)
})

/** Before anything is listed, because to list objects may need their conversion. Answers with what is to run under the lease. */
export const webhooks = Effect.fnUntraced(function* (
  { values }: Resolved,
  cluster: Clusters.Connected,
  { selection, table }: { readonly selection: Selection; readonly table: Table }
) {
  const declared = served(values, table)
  if (declared.length === 0) return []
  const source = yield* sourceOf(values, cluster)
  const { handler } = yield* Effect.promise(() => import("../manager/webhooks/handle.ts"))
  const Server = yield* Effect.promise(() => import("../manager/webhooks/server.ts"))
  const address = yield* Server.start({
    address: { host: hostOf(values, cluster), port: values.webhookPort },
    source,
    http2: values.http2,
    handle: yield* handler(declared)
  })
  if (source._tag === "Mounted" || !source.isKept) return []
  const { CertificateManager, Publication } = yield* keeping
  const installed = configurations(served(values, selection.chosen), {
    name: names((yield* Program).name).configuration,
    at: { url: urlOf(address) }
  })
  // The embedded cluster is the program's own; in another one the configurations come from the manifests.
  const keep = CertificateManager.keep(source.options, Publication.targets(installed, cluster.embedded))
  return [keeper(keep)]
})

/** Loaded only where certificates are made: the library for them is large. */
const keeping = Effect.promise(async () => ({
  CertificateManager: await import("../manager/webhooks/certificates/CertificateManager.ts"),
  Publication: await import("../manager/webhooks/certificates/publication.ts")
}))

/** On the embedded cluster webhooks are served on loopback only. */
const hostOf = ({ webhookHost }: Settings.Settings, { embedded }: Clusters.Connected): string | undefined =>
  Option.getOrElse(webhookHost, () => (embedded ? "127.0.0.1" : undefined))

/** For an API server on this machine. */
const urlOf = ({ host = "127.0.0.1", port }: Address.Address): string =>
  `https://${isIPv6(host) ? `[${host}]` : host}:${port}`

/** Not a registered controller: it starts with them because it too writes only while it leads. */
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
  // With a dry run the server stores nothing: the certificate that is made is this process's alone.
  return { _tag: "Own", options, isKept: !values.dryRun } as const
})
