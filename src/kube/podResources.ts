/**
 * What a pod as a whole requests, and its limits: the largest amounts that its containers need at any time, or its pod-level
 * resources, and its overhead. Amounts are exact. Source: component-helpers resource: PodRequests, PodLimits.
 */
import * as Quantity from "./quantity.ts"
import type { Pod } from "./resources.ts"

export type Amounts = Map<string, Quantity.Quantity>

type Spec = NonNullable<Pod["spec"]>
type Container = Spec["containers"][number]
type ContainerStatus = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number]
export type List = "requests" | "limits"
type Texts = Readonly<Record<string, string>> | undefined

/** A text that is no quantity is ignored: no server stores one. */
const parseAmounts = (texts: Texts): Amounts => {
  const amounts: Amounts = new Map()
  for (const name of Object.keys(texts ?? {})) {
    const amount = Quantity.parse(texts?.[name])
    if (amount !== undefined) amounts.set(name, amount)
  }
  return amounts
}

/** In place. */
const add = (to: Amounts, more: Amounts): Amounts => {
  for (const [name, amount] of more) to.set(name, Quantity.plus(to.get(name), amount))
  return to
}

/** In place, to the larger of both. */
const raise = (to: Amounts, other: Amounts): Amounts => {
  for (const [name, amount] of other) {
    const known = to.get(name)
    if (known === undefined || known.nanos < amount.nanos) to.set(name, amount)
  }
  return to
}

/** The node has reported that it can never resize the pod, so the requested size does not count. */
const isInfeasible = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ reason, type }) => type === "PodResizePending" && reason === "Infeasible") === true

const ofContainer = (pod: Pod, container: Container, list: List, status: ContainerStatus | undefined): Amounts => {
  const wanted = parseAmounts(container.resources?.[list])
  if (status?.resources === undefined) return wanted
  const actual = parseAmounts(status.resources[list])
  const amounts = isInfeasible(pod) ? actual : raise(wanted, actual)
  return list === "limits" ? amounts : raise(amounts, parseAmounts(status.allocatedResources))
}

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === "Always"

/** The largest amounts at any time: init containers run one after another, and sidecars beside everything that starts after them. */
const ofContainers = (pod: Pod, list: List, from: From): Amounts => {
  const { containerStatuses = [], initContainerStatuses = [] } = from === "spec" ? {} : (pod.status ?? {})
  const statusOf = (all: ReadonlyArray<ContainerStatus>, { name }: Container) => all.find((one) => one.name === name)
  const total: Amounts = new Map()
  for (const container of pod.spec?.containers ?? [])
    add(total, ofContainer(pod, container, list, statusOf(containerStatuses, container)))
  const staying: Amounts = new Map()
  const starting: Amounts = new Map()
  for (const container of pod.spec?.initContainers ?? []) {
    if (isSidecar(container)) {
      const amounts = ofContainer(pod, container, list, statusOf(initContainerStatuses, container))
      add(total, amounts)
      raise(starting, add(staying, amounts))
    } else raise(starting, add(parseAmounts(container.resources?.[list]), staying))
  }
  return raise(total, starting)
}

/** Resources that can be set for a whole pod. Source: IsSupportedPodLevelResource. */
const isPodLevelResource = (name: string): boolean =>
  name === "cpu" || name === "memory" || name.startsWith("hugepages-")

/** Whether some resource is set for the whole pod. Source: component-helpers resource: IsPodLevelResourcesSet. */
export const hasPodLevelResources = ({ spec }: Pod, list: List): boolean =>
  Object.keys(spec?.resources?.[list] ?? {}).some(isPodLevelResource)

/**
 * `spec`: what is requested. `status`: a container that is being resized counts with the largest of what it requests, what was allocated to
 * it and what it has; resources of the whole pod count as in its spec.
 */
export type From = "spec" | "status"

/** All that a pod takes: pod-level resources, else those of its containers; and its overhead, in limits only where there is a limit. */
export const amounts = (pod: Pod, list: List, from: From): Amounts => {
  const total = ofContainers(pod, list, from)
  for (const [name, amount] of parseAmounts(pod.spec?.resources?.[list]))
    if (isPodLevelResource(name)) total.set(name, amount)
  for (const [name, amount] of parseAmounts(pod.spec?.overhead)) {
    const isLimited = (total.get(name)?.nanos ?? 0n) !== 0n
    if (list === "requests" || isLimited) total.set(name, Quantity.plus(total.get(name), amount))
  }
  return total
}
