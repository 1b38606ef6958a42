/**
 * The API server's configuration of webhooks, as data: a MutatingWebhookConfiguration, a ValidatingWebhookConfiguration, and the conversion of each
 * CustomResourceDefinition. It is derived from the declarations and from the address of the webhooks. Pure and deterministic, so it can be printed,
 * compared and committed. Source: admissionregistration.k8s.io/v1, apiextensions.k8s.io/v1.
 */
import * as Base64 from "effect/encoding/Base64"
import * as Resource from "../../kube/Resource.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Webhook from "../../layers/Webhook.ts"
import { versions as reviewVersions } from "./review.ts"

/** How the API server reaches the program. */
export interface Reached {
  /** A service in the cluster, or an `https:` address without a path: `https://127.0.0.1:9443`. */
  readonly at: Service | { readonly url: string }
  /** PEM of the certificate authorities. Undefined: the API server's system roots, or it is set later. */
  readonly ca?: string | undefined
}

export interface Service {
  readonly namespace: string
  readonly name: string
  /** Default: 443. */
  readonly port?: number | undefined
}

/** The names of the objects of a program's webhooks, shared by the manifests and the program. */
export interface Names {
  /** The Service that the API server calls. */
  readonly service: string
  /** The Secret with the certificate, mounted or created by the program. */
  readonly secret: string
  /** Both configurations. */
  readonly configuration: string
}

export const names = (program: string): Names => ({
  service: `${program}-webhook`,
  secret: `${program}-webhook-cert`,
  configuration: program
})

/** How an API server reaches a program in its own cluster. */
export const serviceOf = (program: string, namespace: string): Service => ({
  namespace,
  name: names(program).service,
  port: 443
})

export interface Options extends Reached {
  /** `metadata.name` of both configurations: `memcached-operator`. */
  readonly name: string
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly annotations?: Readonly<Record<string, string>> | undefined
}

export interface ClientConfig {
  readonly url?: string
  readonly service?: { readonly namespace: string; readonly name: string; readonly path: string; readonly port: number }
  /** Base64 of the PEM. */
  readonly caBundle?: string
}

export interface Configuration extends KubeObject {
  readonly webhooks: ReadonlyArray<{ readonly name: string; readonly clientConfig: ClientConfig }>
}

/** `spec.conversion` of a definition. */
export interface ConversionOf {
  /** The name of the CustomResourceDefinition: `memcacheds.cache.example.com`. */
  readonly definition: string
  readonly conversion: {
    readonly strategy: "Webhook"
    readonly webhook: { readonly clientConfig: ClientConfig; readonly conversionReviewVersions: ReadonlyArray<string> }
  }
}

export interface Configurations {
  /** Undefined if there are no mutating webhooks. */
  readonly mutating: Configuration | undefined
  readonly validating: Configuration | undefined
  readonly conversions: ReadonlyArray<ConversionOf>
}

export const configurations = (webhooks: ReadonlyArray<Webhook.Any>, options: Options): Configurations => ({
  mutating: configuration("MutatingWebhookConfiguration", of(webhooks, "Defaulting"), options),
  validating: configuration("ValidatingWebhookConfiguration", of(webhooks, "Validating"), options),
  conversions: webhooks.flatMap((webhook) =>
    webhook._tag === "Converting"
      ? [
          {
            definition: Resource.qualifiedName(webhook.resource),
            conversion: {
              strategy: "Webhook",
              webhook: { clientConfig: clientConfig(options, webhook.path), conversionReviewVersions: reviewVersions }
            }
          }
        ]
      : []
  )
})

const of = (webhooks: ReadonlyArray<Webhook.Any>, tag: Webhook.Admission["_tag"]) =>
  webhooks.filter((webhook): webhook is Webhook.Admission<unknown> => webhook._tag === tag)

const configuration = (
  kind: string,
  webhooks: ReadonlyArray<Webhook.Admission<unknown>>,
  options: Options
): Configuration | undefined => {
  const { annotations, labels, name } = options
  if (webhooks.length === 0) return undefined
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind,
    metadata: {
      name,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations })
    },
    webhooks: webhooks.map((webhook) => entry(webhook, options))
  }
}

/** Defaults are written out, so that the stored object equals the printed one. */
const entry = (webhook: Webhook.Admission<unknown>, reached: Reached) => {
  const { _tag, name, options, path } = webhook
  return {
    name,
    admissionReviewVersions: reviewVersions,
    clientConfig: clientConfig(reached, path),
    rules: [ruleOf(webhook)],
    failurePolicy: options.failurePolicy ?? "Fail",
    matchPolicy: options.matchPolicy ?? "Equivalent",
    sideEffects: options.sideEffects ?? "None",
    timeoutSeconds: options.timeoutSeconds ?? 10,
    namespaceSelector: options.namespaceSelector ?? {},
    objectSelector: options.objectSelector ?? {},
    ...(options.matchConditions === undefined || options.matchConditions.length === 0
      ? {}
      : { matchConditions: options.matchConditions }),
    ...(_tag === "Defaulting" ? { reinvocationPolicy: options.reinvocationPolicy ?? "Never" } : {})
  }
}

const ruleOf = ({ operations, options, resource }: Webhook.Admission<unknown>) => ({
  operations,
  apiGroups: [resource.group],
  apiVersions: [resource.version],
  resources: [resource.plural, ...(options.subresources ?? []).map((part) => `${resource.plural}/${part}`)],
  scope: resource.scope
})

/** The clientConfig of one path. */
export const clientConfig = ({ at, ca }: Reached, path: string): ClientConfig => ({
  ...("url" in at
    ? { url: `${at.url}${path === "/" ? "" : path}` }
    : { service: { namespace: at.namespace, name: at.name, path, port: at.port ?? 443 } }),
  ...(ca === undefined ? {} : { caBundle: base64(ca) })
})

/** PEM contains ASCII characters only. */
const base64 = (pem: string): string => Base64.encode(pem)
