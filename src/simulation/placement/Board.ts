/**
 * The scheduler's picture of the cluster: every node with what it offers, the pods on it and the sum of what they ask for, kept
 * up to date pod by pod, never counted anew. A plain synchronous value. Pods that were bound but have not come back from the
 * server yet are on it as assumed, so two pods in a row do not meet in the same free place.
 */
import * as Key from "../../kube/Key.ts"
import type { Node, Pod } from "../../kube/resources.ts"
import * as Requests from "./requests.ts"

export interface Placed {
  readonly key: Key.Key
  readonly pod: Pod
  readonly node: string
  readonly requests: Requests.Amounts
}

/** One node. `node` is undefined while only its pods are known. */
export interface Spot {
  readonly name: string
  readonly node: Node | undefined
  readonly allocatable: Requests.Amounts
  /** The sum over `pods`, `pods` itself included. */
  readonly used: Requests.Amounts
  readonly pods: ReadonlyMap<Key.Key, Placed>
}

interface MutableSpot extends Spot {
  node: Node | undefined
  allocatable: Requests.Amounts
  readonly used: Map<string, number>
  readonly pods: Map<Key.Key, Placed>
}

export const nodeOf = (pod: Pod): string | undefined => {
  const node = pod.spec?.nodeName
  return node === undefined || node === "" ? undefined : node
}

export const isFinished = (pod: Pod): boolean => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed"

export const repels = (pod: Pod): boolean =>
  (pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).length > 0

export class Board {
  private readonly byName = new Map<string, MutableSpot>()
  private readonly byKey = new Map<Key.Key, Placed>()
  private readonly assumed = new Set<Key.Key>()
  /** Those of `byKey` that do not want certain others near them; usually none. */
  private readonly repelling = new Set<Placed>()
  /** Spots whose node is known. */
  private known = 0

  get nodes(): number {
    return this.known
  }

  get size(): number {
    return this.byKey.size
  }

  spots(): Iterable<Spot> {
    return this.byName.values()
  }

  spot(name: string): Spot | undefined {
    return this.byName.get(name)
  }

  /** All pods that hold a place. */
  placed(): Iterable<Placed> {
    return this.byKey.values()
  }

  repellers(): Iterable<Placed> {
    return this.repelling
  }

  isAssumed(key: Key.Key): boolean {
    return this.assumed.has(key)
  }

  setNode(node: Node): void {
    const spot = this.ensure(node.metadata.name)
    if (spot.node === undefined) this.known++
    spot.node = node
    spot.allocatable = Requests.amounts(node.status?.allocatable)
  }

  dropNode(name: string): void {
    const spot = this.byName.get(name)
    if (spot?.node === undefined) return
    this.known--
    spot.node = undefined
    this.sweep(spot)
  }

  /** What the server says of a pod. One that is bound takes its place, a finished one gives it back. */
  setPod(pod: Pod): void {
    const key = Key.of(pod)
    const node = nodeOf(pod)
    if (node === undefined && this.assumed.has(key)) return
    this.dropPod(key)
    if (node !== undefined && !isFinished(pod)) this.put(key, pod, node)
  }

  dropPod(key: Key.Key): void {
    this.assumed.delete(key)
    this.take(key)
  }

  /** Counts a pod on a node before the server has said so. */
  assume(pod: Pod, node: string): void {
    const key = Key.of(pod)
    this.dropPod(key)
    this.assumed.add(key)
    this.put(key, pod, node)
  }

  /** Takes an assumption back, if the server has not confirmed it meanwhile. */
  forget(key: Key.Key): void {
    if (this.assumed.delete(key)) this.take(key)
  }

  private put(key: Key.Key, pod: Pod, node: string): void {
    const placed: Placed = { key, pod, node, requests: Requests.of(pod) }
    const spot = this.ensure(node)
    spot.pods.set(key, placed)
    Requests.add(spot.used, placed.requests)
    this.byKey.set(key, placed)
    if (repels(pod)) this.repelling.add(placed)
  }

  private take(key: Key.Key): void {
    const placed = this.byKey.get(key)
    if (placed === undefined) return
    this.byKey.delete(key)
    this.repelling.delete(placed)
    const spot = this.ensure(placed.node)
    spot.pods.delete(key)
    Requests.add(spot.used, placed.requests, -1)
    this.sweep(spot)
  }

  private ensure(name: string): MutableSpot {
    const found = this.byName.get(name)
    if (found !== undefined) return found
    const spot: MutableSpot = { name, node: undefined, allocatable: new Map(), used: new Map(), pods: new Map() }
    this.byName.set(name, spot)
    return spot
  }

  private sweep(spot: MutableSpot): void {
    if (spot.node === undefined && spot.pods.size === 0) this.byName.delete(spot.name)
  }
}
