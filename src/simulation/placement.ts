/**
 * Chooses a node for a pod: a total function of the pod and of the scheduler's cache of nodes and their pods. First it filters
 * (`placement/nodeRules`, resources, ports, `placement/podRules`), then it scores the nodes that are left: preferred affinity, few
 * PreferNoSchedule taints, and the most free resources, so that equal pods spread. Source: the default plugins and weights of the reference
 * scheduler. There is no preemption and no topology spread.
 */
import type { Pod } from "../kube/resources.ts"
import type { SchedulerCache, NodeInfo } from "./placement/SchedulerCache.ts"
import * as NodeRules from "./placement/nodeRules.ts"
import * as PodRules from "./placement/podRules.ts"
import * as Requests from "./placement/requests.ts"

export type Placement =
  | { readonly _tag: "Node"; readonly name: string }
  /** The message is that of the pod's condition and event. */
  | { readonly _tag: "None"; readonly message: string }

interface Candidate {
  readonly name: string
  readonly preference: number
  readonly untoleratedPreferNoSchedule: number
  /** The mean free share of CPU and memory once the pod is there, 0 to 100. */
  readonly freeShare: number
  readonly pods: number
}

export const place = (pod: Pod, cache: SchedulerCache): Placement => {
  if (cache.nodeCount === 0) return { _tag: "None", message: "no nodes available to schedule pods" }
  const wanted = Requests.of(pod)
  const ports = hostPorts(pod)
  const rule = PodRules.rule(pod, cache)
  const reasons = new Map<string, number>()
  const candidates: Array<Candidate> = []
  for (const nodeInfo of cache.nodeInfos()) {
    const { name, node, pods } = nodeInfo
    if (node === undefined) continue
    const why = obstacles(pod, nodeInfo, wanted, ports)
    const last = why.length === 0 ? rule(node) : undefined
    for (const reason of last === undefined ? why : [last]) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    if (why.length > 0 || last !== undefined) continue
    const [preference, untoleratedPreferNoSchedule] = [
      NodeRules.preference(pod, node),
      NodeRules.untoleratedPreferNoSchedule(pod, node)
    ]
    candidates.push({
      name,
      preference,
      untoleratedPreferNoSchedule,
      freeShare: freeShare(nodeInfo, wanted),
      pods: pods.size
    })
  }
  const name = best(candidates)
  if (name !== undefined) return { _tag: "Node", name }
  return onNoNode(cache, Array.from(reasons, ([reason, count]) => `${count} ${reason}`).sort())
}

export const onNoNode = (cache: SchedulerCache, reasons: ReadonlyArray<string>): Placement => ({
  _tag: "None",
  message: `0/${cache.nodeCount} nodes are available: ${reasons.join(", ")}.`
})

/** Every resource that is short is reported, but only if nothing else prevents the placement. */
const obstacles = (
  pod: Pod,
  nodeInfo: NodeInfo,
  wanted: Requests.Amounts,
  ports: ReadonlyArray<string>
): ReadonlyArray<string> => {
  if (nodeInfo.node === undefined) return []
  const reason = NodeRules.obstacle(pod, nodeInfo.node)
  if (reason !== undefined) return [reason]
  if (ports.length > 0 && Array.from(nodeInfo.pods.values()).some((one) => collide(ports, hostPorts(one.pod))))
    return ["node(s) didn't have free ports for the requested pod ports"]
  return shortages(wanted, nodeInfo)
}

const shortages = (wanted: Requests.Amounts, { allocatable, used }: NodeInfo): ReadonlyArray<string> => {
  const out: Array<string> = []
  for (const [resource, value] of wanted) {
    if (value === 0 || (used.get(resource) ?? 0) + value <= (allocatable.get(resource) ?? 0)) continue
    out.push(resource === "pods" ? "Too many pods" : `Insufficient ${resource}`)
  }
  return out
}

/** `TCP/8080/0.0.0.0`: the node's ports that the pod's containers need. */
const hostPorts = (pod: Pod): ReadonlyArray<string> =>
  (pod.spec?.containers ?? []).flatMap(({ ports }) =>
    (ports ?? []).flatMap(({ containerPort, hostIP, hostPort, protocol }) => {
      const port = hostPort ?? (pod.spec?.hostNetwork === true ? containerPort : 0)
      return port > 0 ? [`${protocol ?? "TCP"}/${port}/${hostIP ?? "0.0.0.0"}`] : []
    })
  )

const allAddresses = "/0.0.0.0"

const collide = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean =>
  a.some((one) => b.some((other) => one === other || samePortOnAllAddresses(one, other)))

const samePortOnAllAddresses = (a: string, b: string): boolean =>
  (a.endsWith(allAddresses) || b.endsWith(allAddresses)) &&
  a.slice(0, a.lastIndexOf("/")) === b.slice(0, b.lastIndexOf("/"))

/** What a pod without requests counts as, so that such pods spread too. Source: scheduler util pod_resources. */
const defaultRequests: Readonly<Record<"cpu" | "memory", number>> = { cpu: 100, memory: 200 * 2 ** 20 }

const freeShare = ({ allocatable, pods, used }: NodeInfo, wanted: Requests.Amounts): number => {
  const free = (resource: "cpu" | "memory"): number => {
    const has = allocatable.get(resource) ?? 0
    const taken = Math.max(used.get(resource) ?? 0, pods.size * defaultRequests[resource])
    const left = has - taken - Math.max(wanted.get(resource) ?? 0, defaultRequests[resource])
    return has <= 0 || left <= 0 ? 0 : (left / has) * 100
  }
  return (free("cpu") + free("memory")) / 2
}

/** Weights of the reference scheduler: taints 3, affinity 2, resources 1, each on a scale of 100. Ties: fewer pods, then the name. */
const best = (candidates: ReadonlyArray<Candidate>): string | undefined => {
  const preference = Math.max(1, ...candidates.map((one) => one.preference))
  const untoleratedPreferNoSchedule = Math.max(1, ...candidates.map((one) => one.untoleratedPreferNoSchedule))
  const score = (one: Candidate): number =>
    one.freeShare +
    (200 * one.preference) / preference +
    300 * (1 - one.untoleratedPreferNoSchedule / untoleratedPreferNoSchedule)
  let found: { readonly one: Candidate; readonly score: number } | undefined
  for (const one of candidates) {
    const value = score(one)
    if (found === undefined || isBetter(one, value, found.one, found.score)) found = { one, score: value }
  }
  return found?.one.name
}

const isBetter = (a: Candidate, scoreA: number, b: Candidate, scoreB: number): boolean =>
  scoreA !== scoreB ? scoreA > scoreB : a.pods !== b.pods ? a.pods < b.pods : a.name < b.name
