/**
 * What a pod requests and is limited to as a whole: the most that its containers need at any time, or what is said for all of it, with its
 * overhead. Amounts are exact. Source: component-helpers resource: PodRequests, PodLimits.
 */
import * as Quantity from "./quantity.ts"
import type { Pod } from "./resources.ts"

export type Amounts = Map<string, Quantity.Quantity>

type Spec = NonNullable<Pod["spec"]>
type Container = Spec["containers"][number]
type ContainerStatus = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number]
export type List = "requests" | "limits"
type Texts = Readonly<Record<string, string>> | undefined

/** What is no quantity counts for nothing: no server stores it. */
const read = (texts: Texts): Amounts => {
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

/** The node has said that it can never resize the pod: what the pod wants does not count. */
const isInfeasible = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ reason, type }) => type === "PodResizePending" && reason === "Infeasible") === true

const ofContainer = (pod: Pod, container: Container, list: List, status: ContainerStatus | undefined): Amounts => {
  const wanted = read(container.resources?.[list])
  if (status?.resources === undefined) return wanted
  const actual = read(status.resources[list])
  const amounts = isInfeasible(pod) ? actual : raise(wanted, actual)
  return list === "limits" ? amounts : raise(amounts, read(status.allocatedResources))
}

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === "Always"

/** The most at any time: init containers run one after another, those that stay beside all that come after them. */
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
    } else raise(starting, add(read(container.resources?.[list]), staying))
  }
  return raise(total, starting)
}

/** What may be said for a whole pod. Source: IsSupportedPodLevelResource. */
const isOfWhole = (name: string): boolean => name === "cpu" || name === "memory" || name.startsWith("hugepages-")

/** Whether something is said for the whole pod. */
export const speaksForAll = ({ spec }: Pod, list: List): boolean =>
  Object.keys(spec?.resources?.[list] ?? {}).some(isOfWhole)

/**
 * `spec`: what is asked for. `status`: a container that is being resized counts with the most of what it asks for, what it was given and
 * what it has; what is said for the whole pod counts as it is said there, too.
 */
export type From = "spec" | "status"

/** All that a pod takes: what is said for the whole of it, else for its containers. Overhead comes on top; to limits where there is one. */
export const amounts = (pod: Pod, list: List, from: From): Amounts => {
  const total = ofContainers(pod, list, from)
  for (const [name, amount] of read(pod.spec?.resources?.[list])) if (isOfWhole(name)) total.set(name, amount)
  for (const [name, amount] of read(pod.spec?.overhead)) {
    const isLimited = (total.get(name)?.nanos ?? 0n) !== 0n
    if (list === "requests" || isLimited) total.set(name, Quantity.plus(total.get(name), amount))
  }
  return total
}
