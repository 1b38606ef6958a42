/**
 * The Leases of a cluster of runners as values: their names, what each contains, and how long one is valid. Pure. Which Lease means what is in
 * docs/design/sharding.md.
 */
import * as Hash from "effect/Hash"
import * as Schema from "effect/Schema"
import type { Lease } from "../../kube/resources.ts"

/** On every Lease; its value is the name of the cluster. */
export const clusterLabel = "effect-controller-manager/cluster"
/** `runner`, `shard` or `cluster`. */
export const roleLabel = "effect-controller-manager/cluster-role"

const runnerAnnotation = "effect-controller-manager/runner"
const healthyAnnotation = "effect-controller-manager/healthy"
const runnerUidAnnotation = "effect-controller-manager/runner-uid"
const locksAnnotation = "effect-controller-manager/locks"
const shardsAnnotation = "effect-controller-manager/shards"
const machinesAnnotation = "effect-controller-manager/machine-ids"

/** What a Lease is for. */
export type Role = "runner" | "shard" | "cluster"

export const roleOf = ({ metadata }: Lease): Role | undefined => {
  const role = metadata.labels?.[roleLabel]
  return role === "runner" || role === "shard" || role === "cluster" ? role : undefined
}

/** Empty: no runner has it. */
export const holderOf = ({ spec }: Lease): string => spec?.holderIdentity ?? ""

/** Letters, digits and hyphens, so that it fits into a name. Texts that had to change get a hash, so that no two of them are the same. */
const slug = (text: string): string => {
  const plain = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "-")
    .slice(0, 60)
  return plain === text ? plain : `${plain}-${(Hash.string(text) >>> 0).toString(36)}`
}

export const runnerName = (cluster: string, address: string): string => `${cluster}-runner-${slug(address)}`

/** `shard`: `group:number`, as Effect Cluster writes it. */
export const shardName = (cluster: string, shard: string): string => {
  const colon = shard.lastIndexOf(":")
  return `${cluster}-shard-${slug(shard.slice(0, colon))}-${shard.slice(colon + 1)}`
}

/** Selects the Leases of runners. */
export const runnersOf = (cluster: string): string => `${clusterLabel}=${cluster},${roleLabel}=runner`

const labels = (cluster: string, role: Role) => ({ [clusterLabel]: cluster, [roleLabel]: role })

type Spec = NonNullable<Lease["spec"]>

/** A runner as it describes itself. */
export interface RunnerRecord {
  readonly address: string
  /** Effect Cluster's encoding of its address, groups and weight. */
  readonly runner: string
  readonly healthy: boolean
}

/** The Lease with which a runner registers. */
export const runnerLease = (
  cluster: string,
  namespace: string,
  { address, healthy, runner }: RunnerRecord,
  spec: Spec
): Lease => ({
  metadata: {
    namespace,
    name: runnerName(cluster, address),
    labels: labels(cluster, "runner"),
    annotations: { [runnerAnnotation]: runner, [healthyAnnotation]: String(healthy) }
  },
  spec: { ...spec, holderIdentity: address }
})

/** The runner of a Lease; undefined if it leaves, or the Lease is of something else. */
export const runnerOf = (lease: Lease): RunnerRecord | undefined => {
  const { annotations = {} } = lease.metadata
  const [address, runner] = [holderOf(lease), annotations[runnerAnnotation]]
  if (address === "" || runner === undefined) return undefined
  return { address, runner, healthy: annotations[healthyAnnotation] !== "false" }
}

/** The same Lease of a runner that leaves: it holds its locks, and gets no others. */
export const leaving = (lease: Lease): Lease => {
  const { [runnerAnnotation]: _, ...annotations } = lease.metadata.annotations ?? {}
  return { ...lease, metadata: { ...lease.metadata, annotations } }
}

/** The same Lease with the locks that its runner has: they stand although a person deletes the Lease of one. */
export const withLocks = (lease: Lease, shards: Iterable<string>): Lease => ({
  ...lease,
  metadata: { ...lease.metadata, annotations: { ...lease.metadata.annotations, [locksAnnotation]: [...shards].join() } }
})

/** Whether the Lease of a runner says that it has this lock. */
export const hasLock = ({ metadata }: Lease, shard: string): boolean =>
  (metadata.annotations?.[locksAnnotation] ?? "").split(",").includes(shard)

/** A merge patch that sets whether a runner is healthy. */
export const healthyPatch = (healthy: boolean) => ({
  metadata: { annotations: { [healthyAnnotation]: String(healthy) } }
})

/** The Lease of a shard, held by a runner. `previous`: as it is stored now. */
export const lockLease = (
  cluster: string,
  namespace: string,
  shard: string,
  holder: { readonly address: string; readonly uid: string },
  previous: Lease | undefined,
  time: string
): Lease => ({
  ...previous,
  metadata: {
    ...(previous?.metadata ?? { namespace, name: shardName(cluster, shard), labels: labels(cluster, "shard") }),
    annotations: { ...previous?.metadata.annotations, [runnerUidAnnotation]: holder.uid }
  },
  spec: {
    holderIdentity: holder.address,
    acquireTime: time,
    leaseTransitions: previous === undefined ? 0 : (previous.spec?.leaseTransitions ?? 0) + 1
  }
})

/** The same Lease without a holder: a lock that is free, or a runner that is gone. */
export const freed = (lease: Lease): Lease => {
  const { [runnerUidAnnotation]: _, ...annotations } = lease.metadata.annotations ?? {}
  const { acquireTime: __, holderIdentity: ___, ...spec } = lease.spec ?? {}
  return { ...lease, metadata: { ...lease.metadata, annotations }, spec }
}

/** A Lease that was deleted, to be created again. */
export const renewable = ({ metadata, ...lease }: Lease): Lease => {
  const { creationTimestamp: _, resourceVersion: __, uid: ___, ...kept } = metadata
  return { ...lease, metadata: kept }
}

/** The uid of the runner's Lease under which a shard is locked. */
export const lockedBy = ({ metadata }: Lease): string | undefined => metadata.annotations?.[runnerUidAnnotation]

/** What all runners of a cluster agree on. */
export interface ClusterRecord {
  readonly shards: number
  /** By the uid of the runner's Lease. */
  readonly machines: Readonly<Record<string, number>>
}

const Machines = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Int))
const decodeMachines = Schema.decodeUnknownOption(Machines)

export const clusterLease = (
  cluster: string,
  namespace: string,
  { machines, shards }: ClusterRecord,
  previous: Lease | undefined
): Lease => ({
  ...previous,
  metadata: {
    ...(previous?.metadata ?? { namespace, name: cluster, labels: labels(cluster, "cluster") }),
    annotations: {
      ...previous?.metadata.annotations,
      [shardsAnnotation]: String(shards),
      [machinesAnnotation]: JSON.stringify(machines)
    }
  },
  spec: previous?.spec ?? {}
})

/** An annotation that someone has damaged counts as missing. */
export const clusterOf = ({ metadata: { annotations = {} } }: Lease): Partial<ClusterRecord> => {
  const machines = decodeMachines(annotations[machinesAnnotation])
  const shards = Number(annotations[shardsAnnotation])
  return {
    ...(Number.isInteger(shards) && shards > 0 ? { shards } : {}),
    ...(machines._tag === "Some" ? { machines: machines.value } : {})
  }
}

/** How many different machine ids there are: the bits that a Snowflake has for them. Source: effect/cluster Snowflake. */
export const machineIds = 1024

/** The record with a machine id for `uid`, without runners that are gone; undefined if all ids are taken. */
export const withMachine = (
  { machines, shards }: ClusterRecord,
  uid: string,
  isThere: (uid: string) => boolean
): { readonly record: ClusterRecord; readonly id: number } | undefined => {
  const kept = Object.fromEntries(Object.entries(machines).filter(([other]) => other !== uid && isThere(other)))
  const taken = new Set(Object.values(kept).map((id) => id % machineIds))
  const mine = machines[uid]
  const id =
    mine !== undefined && !taken.has(mine % machineIds)
      ? mine
      : Array.from({ length: machineIds }, (_, index) => index).find((index) => !taken.has(index))
  return id === undefined ? undefined : { record: { shards, machines: { ...kept, [uid]: id } }, id }
}
