/**
 * What a sharded controller costs in clusters and with numbers of replicas that do not fit on the machine of the benchmark: plain arithmetic on figures that were
 * measured in the same run. Every replica receives and stores all objects of the kinds that its controllers read, and reconciles those of its shards.
 */
import type { Kind } from "./fedServer.ts"

/** Measured. Processor times are microseconds. */
export interface Parameters {
  /** For each reconcile of a process that has compiled its code and does nothing else. */
  readonly busyReconcile: number
  /** For each change that is received and stored: when changes come one at a time, and when they come together. */
  readonly change: Readonly<Record<Kind, number>>
  readonly busyChange: Readonly<Record<Kind, number>>
  /** Of a replica in a second at rest. */
  readonly rest: number
  /** Reconciles a second of one replica whose runs wait. */
  readonly rate: number
  /** MiB of a replica without objects. */
  readonly emptyMiB: number
  /** Bytes of heap for each object: whole, and with name and version alone. */
  readonly whole: Readonly<Record<Kind, number>>
  readonly bare: Readonly<Record<Kind, number>>
  /** Events of a pod from its creation until it is gone. */
  readonly eventsOfPod: number
}

export interface Cluster {
  readonly nodes: number
  readonly pods: number
}

/** The last is the largest that Kubernetes supports: "Considerations for large clusters" in its documentation. */
export const clusters: ReadonlyArray<Cluster> = [
  { nodes: 10, pods: 300 },
  { nodes: 100, pods: 3000 },
  { nodes: 1000, pods: 30_000 },
  { nodes: 5000, pods: 150_000 }
]

export const largest: Cluster = { nodes: 5000, pods: 150_000 }

export const count = ({ nodes, pods }: Cluster, kind: Kind): number => (kind === "pods" ? pods : nodes)

/** Events a second of a cluster in steady state. */
export const events = ({ nodes, pods }: Cluster, { eventsOfPod }: Pick<Parameters, "eventsOfPod">) =>
  ({
    // The kubelet renews its Lease every 10 seconds, and writes an unchanged status every 5 minutes: "Node Status" in the documentation of Kubernetes.
    leases: nodes / 10,
    nodes: nodes / 300,
    // At most 20 creations, updates and deletions of pods a second, in proportion for smaller clusters: sig-scalability's definition of steady state. Here
    // half of them are creations, and half deletions.
    pods: ((20 / 2) * pods * eventsOfPod) / largest.pods
  }) satisfies Record<Kind, number>

const sum = (kinds: ReadonlyArray<Kind>, of: (kind: Kind) => number): number =>
  kinds.reduce((total, kind) => total + of(kind), 0)

/** Microseconds of the processor in a second that a replica needs to receive the changes of these kinds, and at rest. */
export const receiving = (cluster: Cluster, kinds: ReadonlyArray<Kind>, given: Parameters): number => {
  const rates = events(cluster, given)
  return given.rest + sum(kinds, (kind) => rates[kind] * given.change[kind])
}

/** MiB of a replica that stores these kinds. `share`: of how many objects it stores the whole; of the others names and versions. */
export const memory = (cluster: Cluster, kinds: ReadonlyArray<Kind>, share: number, given: Parameters): number => {
  const bytes = (kind: Kind): number => share * given.whole[kind] + (1 - share) * given.bare[kind]
  return given.emptyMiB + sum(kinds, (kind) => count(cluster, kind) * bytes(kind)) / 1024 / 1024
}

/**
 * Reconciles a second of all replicas when their processors are the limit. The cluster changes meanwhile, and each reconcile writes so many pods, which is a
 * change for every replica; the requests themselves are not counted.
 */
export const limit = (cluster: Cluster, replicas: number, writes: number, given: Parameters): number => {
  const free = 1_000_000 - given.rest - events(cluster, given).pods * given.busyChange.pods
  return free / (given.busyReconcile / replicas + writes * given.busyChange.pods)
}

/** Seconds until the objects of a replica that is gone are reconciled, after others have got its shards. */
export const backlog = ({ pods }: Cluster, replicas: number, { rate }: Parameters): number =>
  pods / replicas / ((replicas - 1) * rate)
