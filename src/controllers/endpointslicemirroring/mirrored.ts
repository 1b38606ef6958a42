/**
 * Which Endpoints are mirrored, and the slices that mirror them: whose they are, their labels and annotations, and how one begins. Pure.
 * Source: spec F.4.
 */
import * as Equality from "../../kube/equality.ts"
import * as Key from "../../kube/Key.ts"
import type { Draft } from "../../kube/Meta.ts"
import * as Owner from "../../kube/Owner.ts"
import { Endpoints, type EndpointSlice, type Service } from "../../kube/resources.ts"
import type { Index } from "../../layers/Cache.ts"
import type * as Model from "./model.ts"

const serviceName = "kubernetes.io/service-name"
const managedBy = "endpointslice.kubernetes.io/managed-by"
const manager = "endpointslicemirroring-controller.k8s.io"
const skipMirror = "endpointslice.kubernetes.io/skip-mirror"
/** The Endpoints are the lock of an election of old, and change every few seconds. */
const leader = "control-plane.alpha.kubernetes.io/leader"
/** Annotations that are about the Endpoints themselves. */
const own = new Set([
  "endpoints.kubernetes.io/last-change-trigger-time",
  "kubectl.kubernetes.io/last-applied-configuration"
])

/** Whether these Endpoints want it; what their Service says is another question. */
export const isWanted = ({ metadata: { annotations, labels } }: Endpoints): boolean =>
  labels?.[skipMirror] !== "true" && annotations?.[leader] === undefined

/** Whether it is somebody else who keeps the Endpoints of the Service, and nobody its slices. Servers store an empty selector as none. */
export const leavesToOthers = ({ spec }: Service): boolean => Object.keys(spec?.selector ?? {}).length === 0

/** The Endpoints that a slice of ours says it mirrors; undefined for a slice of somebody else. */
export const endpointsOf = ({ metadata }: EndpointSlice): Key.Key | undefined => {
  const name = metadata.labels?.[serviceName] ?? ""
  return name === "" || metadata.labels?.[managedBy] !== manager ? undefined : Key.make(metadata.namespace, name)
}

/** Value: the key of the Endpoints. */
export const byEndpoints: Index<EndpointSlice> = {
  name: "endpointslicemirroring/endpoints",
  of: (slice) => {
    const key = endpointsOf(slice)
    return key === undefined ? [] : [key]
  }
}

export const labelsOf = ({ metadata: { labels, name } }: Endpoints): Readonly<Record<string, string>> => ({
  ...labels,
  [serviceName]: name,
  [managedBy]: manager
})

export const annotationsOf = ({ metadata: { annotations = {} } }: Endpoints): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(annotations).filter(([key]) => !own.has(key)))

/** Whether it is as these Endpoints want it but for its content: theirs, and not of some that had their name before; with their labels and annotations. */
export const isLabelled = (slice: EndpointSlice, endpoints: Endpoints): boolean => {
  const { annotations, labels } = slice.metadata
  const wanted = { annotations: annotationsOf(endpoints), labels: labelsOf(endpoints) }
  return Owner.controlledBy(slice, endpoints.metadata.uid) && Equality.equal({ annotations, labels }, wanted)
}

export const draft = (endpoints: Endpoints, content: Model.Content): Draft<EndpointSlice> => {
  const { name, namespace } = endpoints.metadata
  return {
    metadata: {
      generateName: `${name}-`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: labelsOf(endpoints),
      annotations: annotationsOf(endpoints),
      ownerReferences: [Owner.reference(Endpoints, endpoints)]
    },
    addressType: content.family,
    endpoints: [...content.endpoints.values()],
    ports: [...content.ports]
  }
}

/** The slice with what it is to say, whosever it was; nothing that others put there stays. */
export const rewrite = (slice: EndpointSlice, endpoints: Endpoints, content: Model.Content): EndpointSlice => ({
  ...slice,
  metadata: {
    ...slice.metadata,
    labels: labelsOf(endpoints),
    annotations: annotationsOf(endpoints),
    ownerReferences: [Owner.reference(Endpoints, endpoints)]
  },
  endpoints: [...content.endpoints.values()],
  ports: [...content.ports]
})
