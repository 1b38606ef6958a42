/** Kinds about the network: `discovery.k8s.io`, `networking.k8s.io`. */
import type {
  V1EndpointSlice,
  V1Ingress,
  V1IngressClass,
  V1IPAddress,
  V1NetworkPolicy,
  V1ServiceCIDR
} from "@kubernetes/client-node"
import type { Stored } from "../Meta.ts"
import * as Resource from "../Resource.ts"

const networking = { group: "networking.k8s.io", version: "v1" } as const

/** Some of the addresses of a Service. */
export interface EndpointSlice extends Stored<V1EndpointSlice> {}
export const EndpointSlice = /* @__PURE__ */ Resource.make<EndpointSlice>()({
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices"
})

/** How requests over HTTP reach Services of a namespace. */
export interface Ingress extends Stored<V1Ingress> {}
export const Ingress = /* @__PURE__ */ Resource.make<Ingress>()({ ...networking, kind: "Ingress", plural: "ingresses" })

/** A controller for Ingresses, with its parameters. Cluster-scoped. */
export interface IngressClass extends Stored<V1IngressClass> {}
export const IngressClass = /* @__PURE__ */ Resource.make<IngressClass>()({
  ...networking,
  kind: "IngressClass",
  plural: "ingressclasses",
  scope: "Cluster"
})

/** Which connections to and from the selected pods are allowed. */
export interface NetworkPolicy extends Stored<V1NetworkPolicy> {}
export const NetworkPolicy = /* @__PURE__ */ Resource.make<NetworkPolicy>()({
  ...networking,
  kind: "NetworkPolicy",
  plural: "networkpolicies"
})

/** An address that a Service uses; its name is the address. Cluster-scoped. */
export interface IPAddress extends Stored<V1IPAddress> {}
export const IPAddress = /* @__PURE__ */ Resource.make<IPAddress>()({
  ...networking,
  kind: "IPAddress",
  plural: "ipaddresses",
  scope: "Cluster"
})

/** Ranges of addresses for Services. Cluster-scoped. */
export interface ServiceCIDR extends Stored<V1ServiceCIDR> {}
export const ServiceCIDR = /* @__PURE__ */ Resource.make<ServiceCIDR>()({
  ...networking,
  kind: "ServiceCIDR",
  plural: "servicecidrs",
  scope: "Cluster"
})
