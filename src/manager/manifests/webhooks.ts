/**
 * What the API server needs to call the webhooks of the pods: a Service, the two configurations, and a mounted certificate. The configurations come
 * last, because without a running server they would reject writes. Pure.
 */
import * as Option from "effect/Option"
import type * as Webhook from "../../layers/Webhook.ts"
import type { Certificates } from "../permissions.ts"
import type * as Settings from "../settings.ts"
import { targets } from "../webhooks/certificates/publication.ts"
import { type Configurations, configurations, names, serviceOf } from "../webhooks/configurations.ts"
import * as Installation from "./Installation.ts"
import type { Manifest, Webhooks } from "./Installation.ts"

/** Undefined if there are no webhooks. */
export const webhooksOf = (
  { skipWebhookConfig, webhookCertPath, webhookPort }: Settings.Settings,
  declared: ReadonlyArray<Webhook.Any>
): Webhooks | undefined =>
  skipWebhookConfig || webhookPort < 0 || declared.length === 0
    ? undefined
    : { declared, port: webhookPort, mountPath: Option.getOrUndefined(webhookCertPath) }

/** The objects that the program maintains itself. `installs`: it creates the configurations too. */
export const certificatesOf = (
  { name, namespace }: Pick<Installation.Options, "name" | "namespace">,
  declared: ReadonlyArray<Webhook.Any>,
  installs = false
): Certificates => {
  const all = targets(configurationsOf({ name, namespace }, declared), installs)
  return {
    secret: { namespace, name: names(name).secret },
    configurations: all,
    made: installs ? all.filter(({ _tag }) => _tag === "Admission") : []
  }
}

/** The configurations and conversions of the webhooks; without a `caBundle`, which is set later. */
export const configurationsOf = (
  { name, namespace }: Pick<Installation.Options, "name" | "namespace">,
  declared: ReadonlyArray<Webhook.Any>
): Configurations =>
  configurations(declared, {
    name: names(name).configuration,
    at: serviceOf(name, namespace),
    labels: Installation.labels({ name })
  })

export const all = (options: Installation.Options, { declared }: Webhooks): ReadonlyArray<Manifest> => {
  const { mutating, validating } = configurationsOf(options, declared)
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: {
        name: names(options.name).service,
        namespace: options.namespace,
        labels: Installation.labels(options)
      },
      spec: {
        selector: Installation.selector(options),
        ports: [{ name: "webhooks", port: 443, targetPort: "webhooks", protocol: "TCP" }]
      }
    },
    ...[mutating, validating].flatMap((one) =>
      one === undefined
        ? []
        : [{ ...one, apiVersion: one.apiVersion ?? "", kind: one.kind ?? "", metadata: { ...one.metadata } }]
    )
  ]
}
