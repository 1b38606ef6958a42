/**
 * The ports of a Service on a given pod: numbers unchanged, names resolved in the pod's containers; a port whose name is not found is left out. Pods of
 * one template share the result. Pure. Source: staging/src/k8s.io/endpointslice: getEndpointPorts.
 */
import type { Pod, Service } from "../../../kube/resources.ts"

/** A port of a Service with the number that it has on some pods. */
export interface Resolved {
  /** Empty for the only port of a Service that does not name it. */
  readonly name: string
  readonly protocol: string
  readonly port: number
  readonly appProtocol: string | undefined
}

/** Ports in the Service's order. Equal sets have equal keys, whatever their order. */
export interface PortSet {
  readonly key: string
  readonly ports: ReadonlyArray<Resolved>
}

type ServicePort = NonNullable<NonNullable<Service["spec"]>["ports"]>[number]
type Container = NonNullable<Pod["spec"]>["containers"][number]

const portIn = (containers: ReadonlyArray<Container>, name: string, protocol: string): number | undefined => {
  for (const { ports = [] } of containers)
    for (const port of ports) if (port.name === name && (port.protocol ?? "TCP") === protocol) return port.containerPort
  return undefined
}

/** The number of one port on a pod; undefined where none of its containers has a port of that name. */
export const find = (pod: Pod, { port, protocol = "TCP", targetPort }: ServicePort): number | undefined => {
  if (typeof targetPort !== "string") return targetPort === undefined || targetPort === 0 ? port : targetPort
  const { containers = [], initContainers = [] } = pod.spec ?? {}
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === "Always")
  return portIn(containers, targetPort, protocol) ?? portIn(sidecars, targetPort, protocol)
}

/** Equal ports have equal keys. */
export const keyOf = ({
  appProtocol,
  name,
  port,
  protocol
}: {
  readonly name?: string | undefined
  readonly protocol?: string | undefined
  readonly port?: number | undefined
  readonly appProtocol?: string | undefined
}): string => `${name ?? ""}/${protocol ?? "TCP"}/${port ?? ""}/${appProtocol ?? ""}`

/** Equal sets of ports have equal keys, whatever their order. */
export const keyOfAll = (ports: Parameters<typeof keyOf>[0] extends infer P ? ReadonlyArray<P> : never): string =>
  ports.map(keyOf).sort().join(",")

/** Returns a function that resolves the ports for one pod after the other. */
export const resolver = (service: Service): ((pod: Pod) => PortSet) => {
  const wanted = service.spec?.ports ?? []
  const known = new Map<string, PortSet>()
  return (pod) => {
    const numbers = wanted.map((port) => find(pod, port))
    const id = numbers.join()
    const found = known.get(id)
    if (found !== undefined) return found
    const ports = wanted.flatMap(({ appProtocol, name = "", protocol = "TCP" }, i): ReadonlyArray<Resolved> => {
      const port = numbers[i]
      return port === undefined ? [] : [{ name, protocol, port, appProtocol }]
    })
    const set = { key: keyOfAll(ports), ports }
    known.set(id, set)
    return set
  }
}
