/**
 * The scheduler's cache: every node with its allocatable resources, its pods and the sum of their requests, updated pod by pod and never
 * counted anew. Synchronous mutable state. A pod that was bound, but whose binding has not come back by the watch, is assumed, so that two
 * pods in a row are not placed in the same free room. Source: pkg/scheduler/backend/cache.
 */
import * as Key from "../../kube/Key.ts"
import * as PodFacts from "../../kube/pod.ts"
import type { Node, Pod } from "../../kube/resources.ts"
import * as Requests from "./requests.ts"

export interface PlacedPod {
  readonly key: Key.Key
  readonly pod: Pod
  readonly node: string
  readonly requests: Requests.Amounts
}

/** One node. `node` is undefined while only its pods are known. */
export interface NodeInfo {
  readonly name: string
  readonly node: Node | undefined
  readonly allocatable: Requests.Amounts
  /** The sum of the requests of `pods`; the resource `pods` is their number. */
  readonly used: Requests.Amounts
  readonly pods: ReadonlyMap<Key.Key, PlacedPod>
}

interface MutableNodeInfo extends NodeInfo {
  node: Node | undefined
  allocatable: Requests.Amounts
  readonly used: Map<string, number>
  readonly pods: Map<Key.Key, PlacedPod>
}

export const nodeOf = (pod: Pod): string | undefined => {
  const node = pod.spec?.nodeName
  return node === undefined || node === "" ? undefined : node
}

export const hasRequiredAntiAffinity = (pod: Pod): boolean =>
  (pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).length > 0

export class SchedulerCache {
  private readonly byName = new Map<string, MutableNodeInfo>()
  private readonly byKey = new Map<Key.Key, PlacedPod>()
  private readonly assumed = new Set<Key.Key>()
  /** The pods of `byKey` with required anti-affinity; usually none. */
  private readonly withRequiredAntiAffinity = new Set<PlacedPod>()
  /** How many nodes are known, not only by their pods. */
  private knownNodes = 0

  get nodeCount(): number {
    return this.knownNodes
  }

  get podCount(): number {
    return this.byKey.size
  }

  nodeInfos(): Iterable<NodeInfo> {
    return this.byName.values()
  }

  nodeInfo(name: string): NodeInfo | undefined {
    return this.byName.get(name)
  }

  /** All pods that take up room. */
  placedPods(): Iterable<PlacedPod> {
    return this.byKey.values()
  }

  podsWithRequiredAntiAffinity(): Iterable<PlacedPod> {
    return this.withRequiredAntiAffinity
  }

  isAssumed(key: Key.Key): boolean {
    return this.assumed.has(key)
  }

  setNode(node: Node): void {
    const nodeInfo = this.ensure(node.metadata.name)
    if (nodeInfo.node === undefined) this.knownNodes++
    nodeInfo.node = node
    nodeInfo.allocatable = Requests.amounts(node.status?.allocatable)
  }

  removeNode(name: string): void {
    const nodeInfo = this.byName.get(name)
    if (nodeInfo?.node === undefined) return
    this.knownNodes--
    nodeInfo.node = undefined
    this.removeIfUnused(nodeInfo)
  }

  /** Applies what the server reports of a pod: a bound pod takes up room, a finished one frees it. */
  setPod(pod: Pod): void {
    const key = Key.of(pod)
    const node = nodeOf(pod)
    if (node === undefined && this.assumed.has(key)) return
    this.removePod(key)
    if (node !== undefined && !PodFacts.isTerminal(pod)) this.put(key, pod, node)
  }

  removePod(key: Key.Key): void {
    this.assumed.delete(key)
    this.take(key)
  }

  /** Counts a pod on a node before the server has confirmed the binding. */
  assume(pod: Pod, node: string): void {
    const key = Key.of(pod)
    this.removePod(key)
    this.assumed.add(key)
    this.put(key, pod, node)
  }

  /** Undoes `assume`, unless the server has confirmed the binding meanwhile. */
  forget(key: Key.Key): void {
    if (this.assumed.delete(key)) this.take(key)
  }

  private put(key: Key.Key, pod: Pod, node: string): void {
    const placed: PlacedPod = { key, pod, node, requests: Requests.of(pod) }
    const nodeInfo = this.ensure(node)
    nodeInfo.pods.set(key, placed)
    Requests.add(nodeInfo.used, placed.requests)
    this.byKey.set(key, placed)
    if (hasRequiredAntiAffinity(pod)) this.withRequiredAntiAffinity.add(placed)
  }

  private take(key: Key.Key): void {
    const placed = this.byKey.get(key)
    if (placed === undefined) return
    this.byKey.delete(key)
    this.withRequiredAntiAffinity.delete(placed)
    const nodeInfo = this.ensure(placed.node)
    nodeInfo.pods.delete(key)
    Requests.add(nodeInfo.used, placed.requests, -1)
    this.removeIfUnused(nodeInfo)
  }

  private ensure(name: string): MutableNodeInfo {
    const found = this.byName.get(name)
    if (found !== undefined) return found
    const nodeInfo: MutableNodeInfo = {
      name,
      node: undefined,
      allocatable: new Map(),
      used: new Map(),
      pods: new Map()
    }
    this.byName.set(name, nodeInfo)
    return nodeInfo
  }

  private removeIfUnused(nodeInfo: MutableNodeInfo): void {
    if (nodeInfo.node === undefined && nodeInfo.pods.size === 0) this.byName.delete(nodeInfo.name)
  }
}
