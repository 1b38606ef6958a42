/**
 * On which node a pod goes: a total function of the pod and of the board, which holds the nodes and the pods on them. Rules
 * first (`placement/nodeRules`, room, ports, `placement/podRules`), then, of the nodes that are left, the one with the best
 * score: wanted by preferred affinity, not disliked by a taint, and with the most room, so equal pods spread. Source: the
 * default plugins and weights of the reference scheduler. There is no preemption and no topology spread.
 */
import type { Pod } from "../kube/resources.ts"
import type { Board, Spot } from "./placement/Board.ts"
import * as NodeRules from "./placement/nodeRules.ts"
import * as PodRules from "./placement/podRules.ts"
import * as Requests from "./placement/requests.ts"

export type Placement =
  | { readonly _tag: "Node"; readonly name: string }
  /** The message is the one that the pod's condition and its event show. */
  | { readonly _tag: "None"; readonly message: string }

interface Candidate {
  readonly name: string
  readonly preference: number
  readonly dislikes: number
  /** The mean free share of processor and memory after the pod has come, 0 to 100. */
  readonly room: number
  readonly pods: number
}

export const place = (pod: Pod, board: Board): Placement => {
  if (board.nodes === 0) return { _tag: "None", message: "no nodes available to schedule pods" }
  const wanted = Requests.of(pod)
  const ports = hostPorts(pod)
  const rule = PodRules.rule(pod, board)
  const reasons = new Map<string, number>()
  const candidates: Array<Candidate> = []
  for (const spot of board.spots()) {
    const { name, node, pods } = spot
    if (node === undefined) continue
    const why = obstacles(pod, spot, wanted, ports)
    const last = why.length === 0 ? rule(node) : undefined
    for (const reason of last === undefined ? why : [last]) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    if (why.length > 0 || last !== undefined) continue
    const [preference, dislikes] = [NodeRules.preference(pod, node), NodeRules.dislikes(pod, node)]
    candidates.push({ name, preference, dislikes, room: room(spot, wanted), pods: pods.size })
  }
  const name = best(candidates)
  if (name !== undefined) return { _tag: "Node", name }
  const why = Array.from(reasons, ([reason, count]) => `${count} ${reason}`).sort()
  return { _tag: "None", message: `0/${board.nodes} nodes are available: ${why.join(", ")}.` }
}

/** Every missing resource is reported, but only where nothing else prevents the placement. */
const obstacles = (
  pod: Pod,
  spot: Spot,
  wanted: Requests.Amounts,
  ports: ReadonlyArray<string>
): ReadonlyArray<string> => {
  if (spot.node === undefined) return []
  const reason = NodeRules.obstacle(pod, spot.node)
  if (reason !== undefined) return [reason]
  if (ports.length > 0 && Array.from(spot.pods.values()).some((one) => collide(ports, hostPorts(one.pod))))
    return ["node(s) didn't have free ports for the requested pod ports"]
  return shortages(wanted, spot)
}

const shortages = (wanted: Requests.Amounts, { allocatable, used }: Spot): ReadonlyArray<string> => {
  const out: Array<string> = []
  for (const [resource, value] of wanted) {
    if (value === 0 || (used.get(resource) ?? 0) + value <= (allocatable.get(resource) ?? 0)) continue
    out.push(resource === "pods" ? "Too many pods" : `Insufficient ${resource}`)
  }
  return out
}

/** `TCP/8080/0.0.0.0`: ports of the node that the pod's containers want to have. */
const hostPorts = (pod: Pod): ReadonlyArray<string> =>
  (pod.spec?.containers ?? []).flatMap(({ ports }) =>
    (ports ?? []).flatMap(({ containerPort, hostIP, hostPort, protocol }) => {
      const port = hostPort ?? (pod.spec?.hostNetwork === true ? containerPort : 0)
      return port > 0 ? [`${protocol ?? "TCP"}/${port}/${hostIP ?? "0.0.0.0"}`] : []
    })
  )

const everyAddress = "/0.0.0.0"

const collide = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean =>
  a.some((one) => b.some((other) => one === other || sameOnAll(one, other)))

const sameOnAll = (a: string, b: string): boolean =>
  (a.endsWith(everyAddress) || b.endsWith(everyAddress)) &&
  a.slice(0, a.lastIndexOf("/")) === b.slice(0, b.lastIndexOf("/"))

/** What a pod that asks for nothing is taken to need, so that such pods spread too. Source: scheduler util pod_resources. */
const atLeast: Readonly<Record<"cpu" | "memory", number>> = { cpu: 100, memory: 200 * 2 ** 20 }

const room = ({ allocatable, pods, used }: Spot, wanted: Requests.Amounts): number => {
  const free = (resource: "cpu" | "memory"): number => {
    const has = allocatable.get(resource) ?? 0
    const taken = Math.max(used.get(resource) ?? 0, pods.size * atLeast[resource])
    const left = has - taken - Math.max(wanted.get(resource) ?? 0, atLeast[resource])
    return has <= 0 || left <= 0 ? 0 : (left / has) * 100
  }
  return (free("cpu") + free("memory")) / 2
}

/** Weights of the reference scheduler: taints 3, affinity 2, room 1, each on a scale of 100. Equals: fewer pods, then by name. */
const best = (candidates: ReadonlyArray<Candidate>): string | undefined => {
  const preference = Math.max(1, ...candidates.map((one) => one.preference))
  const dislikes = Math.max(1, ...candidates.map((one) => one.dislikes))
  const score = (one: Candidate): number =>
    one.room + (200 * one.preference) / preference + 300 * (1 - one.dislikes / dislikes)
  let found: { readonly one: Candidate; readonly score: number } | undefined
  for (const one of candidates) {
    const value = score(one)
    if (found === undefined || isBetter(one, value, found.one, found.score)) found = { one, score: value }
  }
  return found?.one.name
}

const isBetter = (a: Candidate, scoreA: number, b: Candidate, scoreB: number): boolean =>
  scoreA !== scoreB ? scoreA > scoreB : a.pods !== b.pods ? a.pods < b.pods : a.name < b.name
