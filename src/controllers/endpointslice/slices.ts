/**
 * The slices themselves: which are this loop's, their labels, how one begins, and the placeholder of a Service without endpoints. Pure.
 * Source: spec F.3.
 */
import * as Key from "../../kube/Key.ts"
import type { Draft } from "../../kube/Meta.ts"
import * as Owner from "../../kube/Owner.ts"
import { type EndpointSlice, Service } from "../../kube/resources.ts"
import type { Index } from "../../layers/Cache.ts"
import type { Family } from "../shared/services/pods.ts"
import * as ServicePorts from "../shared/services/servicePorts.ts"
import * as TriggerTime from "../shared/services/triggerTime.ts"
import * as Model from "./model.ts"

const serviceName = "kubernetes.io/service-name"
const managedBy = "endpointslice.kubernetes.io/managed-by"
const manager = "endpointslice-controller.k8s.io"
const headless = "service.kubernetes.io/headless"

/** The Service that a slice of ours says it belongs to; undefined for a slice of somebody else. */
export const serviceOf = ({ metadata }: EndpointSlice): Key.Key | undefined => {
  const name = metadata.labels?.[serviceName]
  if (name === undefined || name === "" || metadata.labels?.[managedBy] !== manager) return undefined
  return Key.make(metadata.namespace, name)
}

/** Value: the key of the Service. */
export const byService: Index<EndpointSlice> = {
  name: "endpointslice/service",
  of: (slice) => {
    const service = serviceOf(slice)
    return service === undefined ? nothing : [service]
  }
}

const nothing: ReadonlyArray<string> = []

/** The Service's own, and ours. */
export const labelsOf = (service: Service): Record<string, string> => {
  const { [headless]: _, ...own } = service.metadata.labels ?? {}
  return {
    ...own,
    ...(Model.hasClusterIP(service) ? {} : { [headless]: "" }),
    [serviceName]: service.metadata.name,
    [managedBy]: manager
  }
}

export const hasLabels = ({ metadata }: EndpointSlice, labels: Readonly<Record<string, string>>): boolean => {
  const { labels: own = {} } = metadata
  const keys = Object.keys(labels)
  return keys.length === Object.keys(own).length && keys.every((key) => own[key] === labels[key])
}

/** Whether this Service owns it, and not one that had its name before. */
export const isOwned = (slice: EndpointSlice, service: Service): boolean =>
  Owner.controlledBy(slice, service.metadata.uid)

/** What a slice is to hold. */
export interface Content {
  readonly family: Family
  readonly ports: ReadonlyArray<ServicePorts.Resolved>
  readonly endpoints: ReadonlyArray<Model.Endpoint>
}

/** What all slices that one sync writes have in common. */
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

/** The slice with other content; its ports stay as they are written if they are the same. */
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

/** Whether it is what a Service without endpoints has. */
export const isPlaceholder = (slice: EndpointSlice, labels: Readonly<Record<string, string>>): boolean =>
  (slice.endpoints ?? []).length === 0 && (slice.ports ?? []).length === 0 && hasLabels(slice, labels)
