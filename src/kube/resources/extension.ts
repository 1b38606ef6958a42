/** Kinds that configure the API server: `admissionregistration.k8s.io`, `apiextensions.k8s.io`, `apiregistration.k8s.io`, `flowcontrol.apiserver.k8s.io`. */
import type {
  V1APIService,
  V1CustomResourceDefinition,
  V1FlowSchema,
  V1MutatingAdmissionPolicy,
  V1MutatingAdmissionPolicyBinding,
  V1MutatingWebhookConfiguration,
  V1PriorityLevelConfiguration,
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
  V1ValidatingWebhookConfiguration
} from "@kubernetes/client-node"
import type { Stored } from "../Meta.ts"
import * as Resource from "../Resource.ts"

const admission = { group: "admissionregistration.k8s.io", version: "v1" } as const
const flowControl = { group: "flowcontrol.apiserver.k8s.io", version: "v1" } as const

/** A kind that the API server serves although it is not built in. `Crd.make` makes one from a declared kind. Cluster-scoped. */
export interface CustomResourceDefinition extends Stored<V1CustomResourceDefinition> {}
export const CustomResourceDefinition = /* @__PURE__ */ Resource.make<CustomResourceDefinition>()({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster"
})

/** A group and version of the API, and the server behind it. Cluster-scoped. */
export interface APIService extends Stored<V1APIService> {}
export const APIService = /* @__PURE__ */ Resource.make<APIService>()({
  group: "apiregistration.k8s.io",
  version: "v1",
  kind: "APIService",
  plural: "apiservices",
  scope: "Cluster"
})

/** Webhooks that may reject requests. Cluster-scoped. */
export interface ValidatingWebhookConfiguration extends Stored<V1ValidatingWebhookConfiguration> {}
export const ValidatingWebhookConfiguration = /* @__PURE__ */ Resource.make<ValidatingWebhookConfiguration>()({
  ...admission,
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
  scope: "Cluster"
})

/** Webhooks that may change objects of requests. Cluster-scoped. */
export interface MutatingWebhookConfiguration extends Stored<V1MutatingWebhookConfiguration> {}
export const MutatingWebhookConfiguration = /* @__PURE__ */ Resource.make<MutatingWebhookConfiguration>()({
  ...admission,
  kind: "MutatingWebhookConfiguration",
  plural: "mutatingwebhookconfigurations",
  scope: "Cluster"
})

/** Expressions in CEL that requests must fulfil where a binding applies them. Cluster-scoped. */
export interface ValidatingAdmissionPolicy extends Stored<V1ValidatingAdmissionPolicy> {}
export const ValidatingAdmissionPolicy = /* @__PURE__ */ Resource.make<ValidatingAdmissionPolicy>()({
  ...admission,
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
  scope: "Cluster"
})

/** Applies a ValidatingAdmissionPolicy to objects, with parameters. Cluster-scoped. */
export interface ValidatingAdmissionPolicyBinding extends Stored<V1ValidatingAdmissionPolicyBinding> {}
export const ValidatingAdmissionPolicyBinding = /* @__PURE__ */ Resource.make<ValidatingAdmissionPolicyBinding>()({
  ...admission,
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
  scope: "Cluster"
})

/** Changes in CEL that are made to objects of requests where a binding applies them. Cluster-scoped. */
export interface MutatingAdmissionPolicy extends Stored<V1MutatingAdmissionPolicy> {}
export const MutatingAdmissionPolicy = /* @__PURE__ */ Resource.make<MutatingAdmissionPolicy>()({
  ...admission,
  kind: "MutatingAdmissionPolicy",
  plural: "mutatingadmissionpolicies",
  scope: "Cluster"
})

/** Applies a MutatingAdmissionPolicy to objects, with parameters. Cluster-scoped. */
export interface MutatingAdmissionPolicyBinding extends Stored<V1MutatingAdmissionPolicyBinding> {}
export const MutatingAdmissionPolicyBinding = /* @__PURE__ */ Resource.make<MutatingAdmissionPolicyBinding>()({
  ...admission,
  kind: "MutatingAdmissionPolicyBinding",
  plural: "mutatingadmissionpolicybindings",
  scope: "Cluster"
})

/** Which requests to the API server belong to which priority level. Cluster-scoped. */
export interface FlowSchema extends Stored<V1FlowSchema> {}
export const FlowSchema = /* @__PURE__ */ Resource.make<FlowSchema>()({
  ...flowControl,
  kind: "FlowSchema",
  plural: "flowschemas",
  scope: "Cluster"
})

/** How many requests of a level the API server handles at once, and how others wait. Cluster-scoped. */
export interface PriorityLevelConfiguration extends Stored<V1PriorityLevelConfiguration> {}
export const PriorityLevelConfiguration = /* @__PURE__ */ Resource.make<PriorityLevelConfiguration>()({
  ...flowControl,
  kind: "PriorityLevelConfiguration",
  plural: "prioritylevelconfigurations",
  scope: "Cluster"
})
