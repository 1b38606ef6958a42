/**
 * Publishes the authorities where the API server reads them: the `caBundle` of every webhook in a configuration, and of the conversion in a
 * CustomResourceDefinition. The difference is a patch of exactly those fields, bound to the resource version that was read, so that a former leader
 * cannot overwrite what its successor has published. Pure. Source: admissionregistration.k8s.io/v1, apiextensions.k8s.io/v1.
 */
import * as Base64 from "effect/encoding/Base64"
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Patch from "../../../kube/Patch.ts"
import * as Resource from "../../../kube/Resource.ts"
import { CustomResourceDefinition } from "../../crds/Definitions.ts"
import type { ClientConfig, Configurations, ConversionOf } from "../configurations.ts"

interface Configuration extends KubeObject {
  readonly webhooks?: ReadonlyArray<{ readonly clientConfig: ClientConfig }>
}

const registration = { group: "admissionregistration.k8s.io", version: "v1", scope: "Cluster" } as const

export const MutatingWebhookConfiguration = Resource.make<Configuration>()({
  ...registration,
  kind: "MutatingWebhookConfiguration",
  plural: "mutatingwebhookconfigurations"
})

export const ValidatingWebhookConfiguration = Resource.make<Configuration>()({
  ...registration,
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations"
})

/** An object with a `caBundle`. */
export type Target = Admission | Conversion

interface Admission {
  readonly _tag: "Admission"
  readonly resource: typeof MutatingWebhookConfiguration | typeof ValidatingWebhookConfiguration
  readonly name: string
  /** The object to create if it is missing. */
  readonly wanted: Configuration | undefined
}

interface Conversion {
  readonly _tag: "Conversion"
  readonly resource: typeof CustomResourceDefinition
  readonly name: string
  /** The conversion to set if the definition has none by webhook. */
  readonly wanted: ConversionOf["conversion"] | undefined
}

/** `installs`: the manager creates the objects; otherwise they are applied from manifests, and the manager sets the `caBundle` only. */
export const targets = (
  { conversions, mutating, validating }: Configurations,
  installs: boolean
): ReadonlyArray<Target> => {
  const admission = (resource: Admission["resource"], found: Configuration | undefined): ReadonlyArray<Target> =>
    found === undefined
      ? []
      : [{ _tag: "Admission", resource, name: found.metadata.name, wanted: installs ? found : undefined }]
  return [
    ...admission(MutatingWebhookConfiguration, mutating),
    ...admission(ValidatingWebhookConfiguration, validating),
    ...conversions.map(({ conversion, definition }): Target => ({
      _tag: "Conversion",
      resource: CustomResourceDefinition,
      name: definition,
      wanted: installs ? conversion : undefined
    }))
  ]
}

/** The patch that sets the `caBundle` of the object to these authorities (PEM); undefined if it has them. */
export const patchOf = (target: Target, live: KubeObject, authorities: string): Patch.Patch | undefined => {
  const caBundle = Base64.encode(authorities)
  const operations =
    target._tag === "Admission" ? ofWebhooks(live, caBundle) : ofConversion(live, caBundle, target.wanted)
  if (operations.length === 0) return undefined
  const version = { op: "replace", path: "/metadata/resourceVersion", value: live.metadata.resourceVersion } as const
  return Patch.json([version, ...operations])
}

type Operations = ReadonlyArray<Patch.JsonOperation>

const ofWebhooks = ({ webhooks = [] }: Configuration, caBundle: string): Operations =>
  webhooks.flatMap(({ clientConfig }, index) =>
    clientConfig.caBundle === caBundle
      ? []
      : [{ op: "add", path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle }]
  )

interface Definition extends KubeObject {
  readonly spec?: { readonly conversion?: { readonly webhook?: { readonly clientConfig?: ClientConfig } } }
}

const ofConversion = (
  { spec }: Definition,
  caBundle: string,
  wanted: ConversionOf["conversion"] | undefined
): Operations => {
  const present = spec?.conversion?.webhook?.clientConfig
  if (present !== undefined) {
    const path = "/spec/conversion/webhook/clientConfig/caBundle"
    return present.caBundle === caBundle ? [] : [{ op: "add", path, value: caBundle }]
  }
  if (wanted === undefined) return []
  const clientConfig = { ...wanted.webhook.clientConfig, caBundle }
  return [{ op: "add", path: "/spec/conversion", value: { ...wanted, webhook: { ...wanted.webhook, clientConfig } } }]
}
