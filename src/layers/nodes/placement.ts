/**
 * On which node a pod goes: a pure function of the pod, the nodes and the pods that are on them. A node must be ready,
 * schedulable, tolerated and large enough; of those the one with the most room is taken, so equal pods spread. Selectors and
 * affinity come later.
 */
import type { Node, Pod } from "../../kube/resources.ts"
import * as Quantity from "./quantity.ts"

export interface Amounts {
  readonly cpu: number
  readonly memory: number
  readonly pods: number
}

/** What the containers of a pod ask for. */
const requests = (pod: Pod): Amounts => {
  let cpu = 0
  let memory = 0
  for (const container of pod.spec?.containers ?? []) {
    const asked: Readonly<Record<string, string>> = container.resources?.requests ?? {}
    cpu += Quantity.parse(asked["cpu"])
    memory += Quantity.parse(asked["memory"])
  }
  return { cpu, memory, pods: 1 }
}

/** Finished pods hold nothing. */
const holds = (pod: Pod): boolean => pod.status?.phase !== "Succeeded" && pod.status?.phase !== "Failed"

export type Placement =
  | { readonly _tag: "Node"; readonly name: string }
  | { readonly _tag: "None"; readonly message: string }

/** `placed` are the pods with a node, those included whose binding has not come back from the server yet. */
export const place = (
  pod: Pod,
  nodes: ReadonlyArray<Node>,
  placed: ReadonlyArray<{ readonly pod: Pod; readonly node: string }>
): Placement => {
  const used = new Map<string, Amounts>()
  for (const { node, pod } of placed) if (holds(pod)) used.set(node, add(used.get(node), requests(pod)))
  const wanted = requests(pod)
  const reasons = new Map<string, number>()
  let best: { readonly name: string; readonly room: number; readonly pods: number } | undefined
  for (const node of nodes) {
    const { name } = node.metadata
    const after = add(used.get(name), wanted)
    const reason = obstacle(pod, node, after)
    if (reason !== undefined) {
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
      continue
    }
    const candidate = { name, room: room(capacity(node), after), pods: after.pods }
    if (best === undefined || isBetter(candidate, best)) best = candidate
  }
  if (best !== undefined) return { _tag: "Node", name: best.name }
  const why = Array.from(reasons, ([reason, count]) => `${count} ${reason}`).sort()
  const text = why.length === 0 ? "no nodes available" : why.join(", ")
  return { _tag: "None", message: `0/${nodes.length} nodes are available: ${text}.` }
}

const add = (a: Amounts | undefined, b: Amounts): Amounts =>
  a === undefined ? b : { cpu: a.cpu + b.cpu, memory: a.memory + b.memory, pods: a.pods + b.pods }

const capacity = (node: Node): Amounts => {
  const has: Readonly<Record<string, string>> = node.status?.allocatable ?? {}
  return { cpu: Quantity.parse(has["cpu"]), memory: Quantity.parse(has["memory"]), pods: Quantity.parse(has["pods"]) }
}

const obstacle = (pod: Pod, node: Node, after: Amounts): string | undefined => {
  if (!node.status?.conditions?.some(({ status, type }) => type === "Ready" && status === "True"))
    return "node(s) were not ready"
  if (node.spec?.unschedulable === true) return "node(s) were unschedulable"
  if (!tolerates(pod, node)) return "node(s) had untolerated taint(s)"
  const limit = capacity(node)
  if (after.pods > limit.pods) return "Too many pods"
  if (after.cpu > limit.cpu) return "Insufficient cpu"
  return after.memory > limit.memory ? "Insufficient memory" : undefined
}

/** Source: component-helpers scheduling/corev1 ToleratesTaint. */
const tolerates = (pod: Pod, node: Node): boolean =>
  (node.spec?.taints ?? []).every(
    (taint) =>
      taint.effect === "PreferNoSchedule" ||
      (pod.spec?.tolerations ?? []).some(
        (one) =>
          (one.effect === undefined || one.effect === "" || one.effect === taint.effect) &&
          (one.key === undefined || one.key === "" ? one.operator === "Exists" : one.key === taint.key) &&
          (one.operator === "Exists" || (one.value ?? "") === (taint.value ?? ""))
      )
  )

/** The mean free share of processor and memory, 0 to 1. */
const room = (limit: Amounts, after: Amounts): number =>
  ((limit.cpu - after.cpu) / limit.cpu + (limit.memory - after.memory) / limit.memory) / 2

const isBetter = (a: { name: string; room: number; pods: number }, b: { name: string; room: number; pods: number }) =>
  a.room !== b.room ? a.room > b.room : a.pods !== b.pods ? a.pods < b.pods : a.name < b.name
