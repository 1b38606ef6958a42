/**
 * A simulated machine. Its Node object, its lease and the addresses of its pods are pure functions of these facts and of the time.
 */
import * as KubernetesVersion from "../kube/kubernetesVersion.ts"
import type { KubeObject } from "../kube/Meta.ts"
import { Lease, Node } from "../kube/resources.ts"
import * as Resource from "../kube/Resource.ts"
import type { Taint } from "../kube/taints.ts"

/** A machine and its capacity. */
export interface Machine {
  /** Of its node. */
  readonly name: string
  /** 1 to 254, different for each machine; its addresses contain it. */
  readonly number: number
  /** Its role label, and whether it is tainted as the control plane. */
  readonly role: "control-plane" | "worker"
  /** Quantities, as in a node's capacity. */
  readonly cpu: string
  /** See `cpu`. */
  readonly memory: string
  /** The greatest number of pods. */
  readonly pods: number
  /** Besides those that every node has. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** Besides that of the control plane; set when the machine registers its node. */
  readonly taints?: ReadonlyArray<Taint> | undefined
  /** Quantities of extended resources, such as `example.com/gpu`. */
  readonly resources?: Readonly<Record<string, string>> | undefined
}

/** What can be set of a machine besides its name and number. */
export type Facts = Partial<Omit<Machine, "name" | "number">>

/** A machine of usual size. */
export const make = (name: string, number: number, role: Machine["role"], facts: Facts = {}): Machine => ({
  cpu: "4",
  memory: "8Gi",
  pods: 110,
  ...facts,
  name,
  number,
  role
})

/** So many machines of usual size; of two and more, the first is the control plane. */
export const group = (count: number): ReadonlyArray<Machine> =>
  Array.from({ length: count }, (_, index) =>
    index === 0 && count > 1
      ? make("control-plane", 1, "control-plane")
      : make(`worker-${count > 1 ? index : index + 1}`, index + 1, "worker")
  )

/** One control-plane machine and two workers. */
export const standard: ReadonlyArray<Machine> = group(3)

/** The internal address of its node, which contains its number. */
export const address = (machine: Machine): string => `10.0.0.${machine.number}`

/** The lowest free address of the machine's pod network, whose first host is the bridge; undefined if all are taken. */
export const podAddress = (
  machine: Machine,
  used: { readonly has: (address: string) => boolean }
): string | undefined => {
  for (let host = 2; host < 255; host++) {
    const candidate = `10.244.${machine.number}.${host}`
    if (!used.has(candidate)) return candidate
  }
  return undefined
}

/** metav1.Time: whole seconds. */
export const timestamp = (millis: number): string => `${new Date(millis).toISOString().slice(0, 19)}Z`

/** metav1.MicroTime. */
export const microTime = (millis: number): string => `${new Date(millis).toISOString().slice(0, -1)}000Z`

const roleLabel = "node-role.kubernetes.io/control-plane"

const taints = (machine: Machine): ReadonlyArray<Taint> => [
  ...(machine.role === "control-plane" ? [{ key: roleLabel, effect: "NoSchedule" }] : []),
  ...(machine.taints ?? [])
]

/** The Node object with which the machine registers. */
export const registration = (machine: Machine) => ({
  apiVersion: Resource.apiVersion(Node),
  kind: Node.kind,
  metadata: {
    name: machine.name,
    labels: {
      "kubernetes.io/hostname": machine.name,
      "kubernetes.io/os": "linux",
      "kubernetes.io/arch": "amd64",
      ...(machine.role === "control-plane" ? { [roleLabel]: "" } : {}),
      ...machine.labels
    }
  },
  spec: {
    podCIDR: `10.244.${machine.number}.0/24`,
    podCIDRs: [`10.244.${machine.number}.0/24`],
    ...(taints(machine).length === 0 ? {} : { taints: taints(machine) })
  }
})

/** The capacity of the machine, all of which is allocatable. */
export const amounts = (machine: Machine): Readonly<Record<string, string>> => ({
  cpu: machine.cpu,
  memory: machine.memory,
  pods: String(machine.pods),
  "ephemeral-storage": "100Gi",
  ...machine.resources
})

/** The status a healthy machine reports; a condition that has not changed since `before` keeps its transition time. */
export const status = (machine: Machine, before: Node | undefined, now: number) => ({
  capacity: amounts(machine),
  allocatable: amounts(machine),
  conditions: conditions.map(([type, status, reason, message]) => {
    const known = before?.status?.conditions?.find((one) => one.type === type)
    const since = known?.status === status ? known.lastTransitionTime : undefined
    const [lastHeartbeatTime, lastTransitionTime] = [timestamp(now), since ?? timestamp(now)]
    return { type, status, reason, message, lastHeartbeatTime, lastTransitionTime }
  }),
  addresses: [
    { type: "InternalIP", address: address(machine) },
    { type: "Hostname", address: machine.name }
  ],
  daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
  nodeInfo: {
    architecture: "amd64",
    bootID: "",
    containerRuntimeVersion: "simulated://1.0",
    kernelVersion: "6.0.0-simulated",
    kubeProxyVersion: "",
    kubeletVersion: KubernetesVersion.gitVersion,
    machineID: machine.name,
    operatingSystem: "linux",
    osImage: "Simulated Linux",
    systemUUID: machine.name
  }
})

const conditions = [
  ["MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
  ["DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
  ["PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
  ["Ready", "True", "KubeletReady", "kubelet is posting ready status"]
] as const

/** The namespace of the heartbeats of nodes. */
export const leaseNamespace = "kube-node-lease"

/** Seconds until a lease expires that is not renewed. Source: kubelet `nodeLeaseDurationSeconds`. */
const leaseDuration = 40

/** The heartbeat: a Lease with its holder and the time of its renewal. */
export const lease = (machine: Machine, node: KubeObject | undefined, now: number) => ({
  apiVersion: Resource.apiVersion(Lease),
  kind: Lease.kind,
  metadata: {
    name: machine.name,
    namespace: leaseNamespace,
    ...(node?.metadata.uid === undefined
      ? {}
      : { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: machine.name, uid: node.metadata.uid }] })
  },
  spec: { holderIdentity: machine.name, leaseDurationSeconds: leaseDuration, renewTime: microTime(now) }
})
