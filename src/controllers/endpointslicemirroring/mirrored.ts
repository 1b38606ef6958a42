/**
 * Which Endpoints are mirrored; ownership, labels, annotations and drafts of the mirrored slices. Pure. Source:
 * pkg/controller/endpointslicemirroring: shouldMirror, newEndpointSlice.
 */
import * as Equality from "../../kube/equality.ts"
import * as Key from "../../kube/Key.ts"
import type { Draft } from "../../kube/Meta.ts"
import * as Owner from "../../kube/Owner.ts"
import { Endpoints, type EndpointSlice, type Service } from "../../kube/resources.ts"
import type { Index } from "../../layers/Cache.ts"
import type * as Desired from "./desired.ts"

const serviceName = "kubernetes.io/service-name"
const managedBy = "endpointslice.kubernetes.io/managed-by"
const manager = "endpointslicemirroring-controller.k8s.io"
const skipMirror = "endpointslice.kubernetes.io/skip-mirror"
/** Endpoints with this annotation are a leader election lock, which changes every few seconds. */
const leader = "control-plane.alpha.kubernetes.io/leader"
/** Annotations that are not mirrored. */
const own = new Set([
  "endpoints.kubernetes.io/last-change-trigger-time",
  "kubectl.kubernetes.io/last-applied-configuration"
])

/** Whether the Endpoints allow mirroring; their Service is checked separately. */
export const isWanted = ({ metadata: { annotations, labels } }: Endpoints): boolean =>
  labels?.[skipMirror] !== "true" && annotations?.[leader] === undefined

/** Whether the Service has no selector, so that users manage its Endpoints. Servers store an empty selector as none. */
export const leavesToOthers = ({ spec }: Service): boolean => Object.keys(spec?.selector ?? {}).length === 0

/** The Endpoints of a slice with our managed-by label; undefined for any other slice. */
export const endpointsOf = ({ metadata }: EndpointSlice): Key.Key | undefined => {
  const name = metadata.labels?.[serviceName] ?? ""
  return name === "" || metadata.labels?.[managedBy] !== manager ? undefined : Key.make(metadata.namespace, name)
}

/** Index value: the key of the Endpoints. */
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

/** Whether the slice has the owner, labels and annotations for these Endpoints. */
export const isLabelled = (slice: EndpointSlice, endpoints: Endpoints): boolean => {
  const { annotations, labels } = slice.metadata
  const wanted = { annotations: annotationsOf(endpoints), labels: labelsOf(endpoints) }
  return Owner.controlledBy(slice, endpoints.metadata.uid) && Equality.equal({ annotations, labels }, wanted)
}

export const draft = (endpoints: Endpoints, content: Desired.Content): Draft<EndpointSlice> => {
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

/** The slice rewritten for these Endpoints; nothing of other writers is kept. */
export const rewrite = (slice: EndpointSlice, endpoints: Endpoints, content: Desired.Content): EndpointSlice => ({
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
