/**
 * Nodes with their pods, and workloads with the counts of theirs, kept up to date change by change. A version on each node says whether its row
 * has to be rendered again.
 */
import type { Changes, Node, Pod } from "../../protocol.ts"

/** How a pod is shown. `starting` includes running pods that are not ready. */
export type PodState = "ready" | "starting" | "failing" | "succeeded" | "deleting"

export const podStates: ReadonlyArray<PodState> = ["ready", "starting", "failing", "deleting", "succeeded"]

export type Counts = Record<PodState, number>

export interface NodeRow {
  /** Empty for pods that have no node. */
  readonly name: string
  node: Node | undefined
  readonly pods: Map<string, Pod>
  readonly counts: Counts
  version: number
}

export interface Workload {
  readonly id: string
  readonly namespace: string
  /** `ReplicaSet/web-1`. */
  readonly owner: string
  readonly counts: Counts
  changedAt: number
}

const noCounts = (): Counts => ({ ready: 0, starting: 0, failing: 0, succeeded: 0, deleting: 0 })

export const totalOf = (counts: Counts): number => podStates.reduce((sum, state) => sum + counts[state], 0)

/** Reasons of the kubelet that name a failure: `CrashLoopBackOff`, `ErrImagePull`, `OOMKilled`, `CreateContainerConfigError`, `Evicted`. */
const failure = /BackOff|Err|OOM|Fail|Evicted|Invalid|DeadlineExceeded/

export const stateOf = (pod: Pod): PodState => {
  if (pod.deleting) return "deleting"
  if (pod.phase === "Succeeded") return "succeeded"
  if (pod.phase === "Failed") return "failing"
  if (pod.ready) return "ready"
  return pod.reason !== null && failure.test(pod.reason.slice(0, 100)) ? "failing" : "starting"
}

export class Cluster {
  readonly rows = new Map<string, NodeRow>()
  readonly workloads = new Map<string, Workload>()
  readonly counts: Counts = noCounts()
  readonly #pods = new Map<string, Pod>()
  #order: ReadonlyArray<NodeRow> | undefined

  get podCount(): number {
    return this.#pods.size
  }

  get nodeCount(): number {
    return this.rows.size - (this.rows.has("") ? 1 : 0)
  }

  /** Rows by name; pods without a node come first. */
  get order(): ReadonlyArray<NodeRow> {
    this.#order ??= [...this.rows.values()].sort((a, b) => byName(a.name, b.name))
    return this.#order
  }

  apply(at: number, nodes: Changes<Node>, pods: Changes<Pod>): void {
    if (nodes.reset) {
      const left = new Set(nodes.changed.map(({ name }) => name))
      for (const [name, row] of this.rows) if (!left.has(name)) this.#setNode(row.name, undefined)
    }
    for (const node of nodes.changed) this.#setNode(node.name, node)
    for (const name of nodes.removed) this.#setNode(name, undefined)
    if (pods.reset) {
      this.#pods.clear()
      this.workloads.clear()
      Object.assign(this.counts, noCounts())
      for (const row of this.rows.values()) {
        row.pods.clear()
        Object.assign(row.counts, noCounts())
        row.version++
      }
    }
    const isWhole = pods.reset || pods.rest === true
    for (const pod of pods.changed) {
      this.#remove(pod.key, at)
      this.#add(pod, isWhole ? 0 : at)
    }
    for (const key of pods.removed) this.#remove(key, at)
    for (const [name, row] of this.rows) if (row.node === undefined && row.pods.size === 0) this.#drop(name)
  }

  #setNode(name: string, node: Node | undefined): void {
    const row = this.#row(name)
    row.node = node
    row.version++
  }

  #row(name: string): NodeRow {
    const known = this.rows.get(name)
    if (known !== undefined) return known
    const row: NodeRow = { name, node: undefined, pods: new Map(), counts: noCounts(), version: 0 }
    this.rows.set(name, row)
    this.#order = undefined
    return row
  }

  #drop(name: string): void {
    this.rows.delete(name)
    this.#order = undefined
  }

  #add(pod: Pod, at: number): void {
    const row = this.#row(pod.node ?? "")
    const state = stateOf(pod)
    this.#pods.set(pod.key, pod)
    row.pods.set(pod.key, pod)
    row.counts[state]++
    row.version++
    this.counts[state]++
    const workload = this.#workloadOf(pod)
    if (workload === undefined) return
    workload.counts[state]++
    workload.changedAt = Math.max(workload.changedAt, at)
  }

  #remove(key: string, at: number): void {
    const pod = this.#pods.get(key)
    if (pod === undefined) return
    const row = this.#row(pod.node ?? "")
    const state = stateOf(pod)
    this.#pods.delete(key)
    row.pods.delete(key)
    row.counts[state]--
    row.version++
    this.counts[state]--
    const workload = this.#workloadOf(pod)
    if (workload === undefined) return
    workload.counts[state]--
    workload.changedAt = at
    if (totalOf(workload.counts) === 0) this.workloads.delete(workload.id)
  }

  #workloadOf(pod: Pod): Workload | undefined {
    if (pod.owner === null) return undefined
    const namespace = pod.key.slice(0, pod.key.indexOf("/"))
    const id = `${namespace}/${pod.owner}`
    const known = this.workloads.get(id)
    if (known !== undefined) return known
    const workload: Workload = { id, namespace, owner: pod.owner, counts: noCounts(), changedAt: 0 }
    this.workloads.set(id, workload)
    return workload
  }
}

const numeric = new Intl.Collator("en", { numeric: true })

/** `node-2` comes before `node-10`. */
export const byName = (a: string, b: string): number => numeric.compare(a, b)
