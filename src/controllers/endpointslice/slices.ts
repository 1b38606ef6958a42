/**
 * Ownership, labels and content of slices, and the placeholder of a Service without endpoints. Pure. Source:
 * endpointslice: newEndpointSlice, setEndpointSliceLabels.
 */
import * as Equality from "../../kube/equality.ts"
import * as Key from "../../kube/Key.ts"
import type { Draft } from "../../kube/Meta.ts"
import * as Owner from "../../kube/Owner.ts"
import { type EndpointSlice, Service } from "../../kube/resources.ts"
import type { Index } from "../../layers/Cache.ts"
import type { Family } from "../shared/services/pods.ts"
import * as ServicePorts from "../shared/services/servicePorts.ts"
import * as TriggerTime from "../shared/services/triggerTime.ts"
import * as Desired from "./plan/desired.ts"

const serviceName = "kubernetes.io/service-name"
const managedBy = "endpointslice.kubernetes.io/managed-by"
const manager = "endpointslice-controller.k8s.io"
const headless = "service.kubernetes.io/headless"

/** The Service of a slice with our managed-by label; undefined for any other slice. */
export const serviceOf = ({ metadata }: EndpointSlice): Key.Key | undefined => {
  const name = metadata.labels?.[serviceName]
  if (name === undefined || name === "" || metadata.labels?.[managedBy] !== manager) return undefined
  return Key.make(metadata.namespace, name)
}

/** Index value: the key of the Service. */
export const byService: Index<EndpointSlice> = {
  name: "endpointslice/service",
  of: (slice) => {
    const service = serviceOf(slice)
    return service === undefined ? nothing : [service]
  }
}

const nothing: ReadonlyArray<string> = []

/** The Service's labels and the controller's own. */
export const labelsOf = (service: Service): Record<string, string> => {
  const { [headless]: _, ...own } = service.metadata.labels ?? {}
  return {
    ...own,
    ...(Desired.hasClusterIP(service) ? {} : { [headless]: "" }),
    [serviceName]: service.metadata.name,
    [managedBy]: manager
  }
}

/** Whether this Service controls it, not a deleted one of the same name. */
export const isOwned = (slice: EndpointSlice, service: Service): boolean =>
  Owner.controlledBy(slice, service.metadata.uid)

/** The content of a slice. */
export interface Content {
  readonly family: Family
  readonly ports: ReadonlyArray<ServicePorts.Resolved>
  readonly endpoints: ReadonlyArray<Desired.Endpoint>
}

/** Common to all slices that one sync writes. */
export interface Writing {
  readonly service: Service
  readonly labels: Readonly<Record<string, string>>
  readonly time: string | undefined
}

const portsOf = (ports: ReadonlyArray<ServicePorts.Resolved>) =>
  ports.map(({ appProtocol, name, port, protocol }) => ({
    ...(appProtocol === undefined ? {} : { appProtocol }),
    name,
    port,
    protocol
  }))

export const draft = ({ labels, service, time }: Writing, content: Content): Draft<EndpointSlice> => {
  const { name, namespace } = service.metadata
  return {
    metadata: {
      generateName: `${name}-`,
      ...(namespace === undefined ? {} : { namespace }),
      labels,
      ...(time === undefined ? {} : { annotations: TriggerTime.annotate({}, time) }),
      ownerReferences: [Owner.reference(Service, service)]
    },
    addressType: content.family,
    endpoints: [...content.endpoints],
    ports: portsOf(content.ports)
  }
}

/** The slice with other content; its ports are kept if they are equal. */
export const rewrite = (slice: EndpointSlice, { labels, time }: Writing, content: Content): EndpointSlice => ({
  ...slice,
  metadata: { ...slice.metadata, labels, annotations: TriggerTime.annotate(slice.metadata.annotations, time) },
  endpoints: [...content.endpoints],
  ports:
    ServicePorts.keyOfAll(slice.ports ?? []) === ServicePorts.keyOfAll(content.ports)
      ? (slice.ports ?? [])
      : portsOf(content.ports)
})

/** The slice with other hints. */
export const rehint = (slice: EndpointSlice, { labels, time }: Writing): EndpointSlice => ({
  ...slice,
  metadata: { ...slice.metadata, labels, annotations: TriggerTime.annotate(slice.metadata.annotations, time) }
})

/** Whether it is the placeholder slice. */
export const isPlaceholder = (slice: EndpointSlice, labels: Readonly<Record<string, string>>): boolean =>
  (slice.endpoints ?? []).length === 0 &&
  (slice.ports ?? []).length === 0 &&
  Equality.isSameMap(slice.metadata.labels, labels)
