/**
 * What a pod takes: its requests and limits as a whole, until when they count, and whether it asks for nothing. Amounts are exact.
 * A container that is being resized counts with the most of what it wants, what it was given and what it has.
 * Source: component-helpers resource.PodRequests and PodLimits, the pod evaluator of quota, core/v1 qos.
 */
import * as Quantity from "../quantity.ts"
import type { Pod } from "../resources.ts"
import * as Time from "../time.ts"
import * as Names from "./names.ts"

export type Amounts = Map<string, Quantity.Quantity>

type Spec = NonNullable<Pod["spec"]>
type Container = Spec["containers"][number]
type ContainerStatus = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number]
type List = "requests" | "limits"
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
const ofContainers = (pod: Pod, list: List): Amounts => {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
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

/** What may be said for a whole pod. Source: component-helpers IsSupportedPodLevelResource. */
const isOfWhole = (name: string): boolean => name === "cpu" || name === "memory" || name.startsWith(Names.hugePages)

/** What is said for the whole pod takes the place of what its containers say. */
const ofWhole = (pod: Pod, list: List): Amounts => {
  const said = read(pod.spec?.resources?.[list])
  const actual = pod.status?.resources
  if (actual !== undefined) {
    const given = read(actual[list])
    if (list === "requests") raise(given, read(pod.status?.allocatedResources))
    for (const [name, amount] of said) {
      const now = given.get(name)
      if (now !== undefined && (isInfeasible(pod) || now.nanos > amount.nanos)) said.set(name, now)
    }
  }
  for (const name of said.keys()) if (!isOfWhole(name)) said.delete(name)
  return said
}

/** All that a pod takes. Overhead comes on top; to limits only where there is one. */
export const amounts = (pod: Pod, list: List): Amounts => {
  const total = ofContainers(pod, list)
  for (const [name, amount] of ofWhole(pod, list)) total.set(name, amount)
  for (const [name, amount] of read(pod.spec?.overhead))
    if (list === "requests" || total.has(name)) total.set(name, Quantity.plus(total.get(name), amount))
  return total
}

/**
 * Milliseconds since 1970 until which the pod takes room: for ever, unless it has ended or is being deleted. Then it is until its grace
 * is over once more, so that a pod on a lost machine does not keep its namespace from replacing it. Source: QuotaV1Pod.
 */
export const until = ({ metadata, status }: Pod): number => {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return -Infinity
  const deletion = Time.parse(metadata.deletionTimestamp)
  if (deletion === undefined || metadata.deletionGracePeriodSeconds === undefined) return Infinity
  return deletion + metadata.deletionGracePeriodSeconds * 1000
}

/** Whether resources are said for the whole pod: then its containers need not say any. */
export const speaksForAll = ({ spec }: Pod): boolean =>
  (["requests", "limits"] as const).some((list) => [...read(spec?.resources?.[list]).keys()].some(isOfWhole))

const asks = (resources: Container["resources"]): boolean =>
  (["requests", "limits"] as const).some((list) =>
    ["cpu", "memory"].some((name) => (Quantity.parse(resources?.[list]?.[name])?.nanos ?? 0n) > 0n)
  )

/** Asks for no processor time and no memory. The server says so in the status; before that it is told from the spec. */
export const isBestEffort = (pod: Pod): boolean => {
  const said = pod.status?.qosClass ?? ""
  if (said !== "") return said === "BestEffort"
  if (speaksForAll(pod)) return !asks(pod.spec?.resources)
  return ![...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].some(({ resources }) =>
    asks(resources)
  )
}

/** Names that a container does not say, although a quota that names them asks it of every container; sorted, and who does not. */
export const unsaid = (pod: Pod, names: ReadonlyArray<string>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const missing = new Map<string, Array<string>>()
  if (speaksForAll(pod)) return missing
  for (const name of [...names].sort()) {
    const path = demanded.get(name)
    if (path === undefined) continue
    const [list, resource] = path
    const silent = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].filter(
      ({ resources }) => resources?.[list]?.[resource] === undefined
    )
    if (silent.length > 0) missing.set(name, [...new Set(silent.map((one) => one.name))].sort())
  }
  return missing
}

/** Source: the validationSet of the pod evaluator, which is not to grow. */
const demanded: ReadonlyMap<string, readonly [List, string]> = new Map<string, readonly [List, string]>(
  ["cpu", "memory"].flatMap((name) => [
    [name, ["requests", name]],
    [`requests.${name}`, ["requests", name]],
    [`limits.${name}`, ["limits", name]]
  ])
)
