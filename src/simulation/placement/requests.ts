/**
 * What a pod requests of a node, and its QoS class. Amounts are whole numbers, in thousandths for CPU and in units for everything else,
 * rounded up, so that sums are exact however many pods come and go. Source: component-helpers resource.PodRequests, kubectl qos.
 */
import * as Quantity from "../../kube/quantity.ts"
import type { Pod } from "../../kube/resources.ts"

/** By resource name: `cpu` (thousandths), `memory` (bytes), `pods`, anything a node offers. */
export type Amounts = ReadonlyMap<string, number>

type Quantities = Readonly<Record<string, string>> | undefined
type Container = NonNullable<Pod["spec"]>["containers"][number]

/** 0 for an invalid text: the API server has validated it, and a kubelet must not fail on it. */
const amount = (resource: string, text: string): number => {
  const parsed = Quantity.parse(text)
  if (parsed === undefined) return 0
  return Number(resource === "cpu" ? Quantity.thousandths(parsed) : Quantity.roundUp(parsed).nanos / 1_000_000_000n)
}

export const amounts = (quantities: Quantities): Map<string, number> =>
  new Map(Object.entries(quantities ?? {}).map(([resource, text]) => [resource, amount(resource, text)]))

/** A limit without a request counts as a request. */
const asked = (container: Container): Map<string, number> =>
  amounts({ ...container.resources?.limits, ...container.resources?.requests })

/** Adds in place; with `sign` -1, subtracts. */
export const add = (to: Map<string, number>, what: Amounts, sign = 1): Map<string, number> => {
  for (const [resource, value] of what) to.set(resource, (to.get(resource) ?? 0) + sign * value)
  return to
}

const raise = (to: Map<string, number>, what: Amounts): void => {
  for (const [resource, value] of what) if (value > (to.get(resource) ?? 0)) to.set(resource, value)
}

export const isSidecar = (container: { readonly restartPolicy?: string | undefined }): boolean =>
  container.restartPolicy === "Always"

/**
 * The sum of the containers, or the most that is needed while the init containers run one after another, whichever is more. Sidecars count
 * from their start; `spec.resources` of the pod replaces the amounts of its containers.
 */
export const of = (pod: Pod): Amounts => {
  const total = new Map<string, number>()
  const staying = new Map<string, number>()
  const starting = new Map<string, number>()
  for (const container of pod.spec?.initContainers ?? []) {
    const wanted = asked(container)
    if (isSidecar(container)) raise(starting, add(staying, wanted))
    else raise(starting, add(wanted, staying))
  }
  for (const container of pod.spec?.containers ?? []) add(total, asked(container))
  add(total, staying)
  raise(total, starting)
  for (const [resource, value] of amounts(pod.spec?.resources?.requests)) total.set(resource, value)
  add(total, amounts(pod.spec?.overhead))
  return total.set("pods", 1)
}

export type QosClass = "Guaranteed" | "Burstable" | "BestEffort"

/** Guaranteed: every container has equal requests and limits for CPU and memory. BestEffort: no container requests either. */
export const qosClass = (pod: Pod): QosClass => {
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]
  let some = false
  let all = containers.length > 0
  for (const container of containers) {
    const limits = amounts(container.resources?.limits)
    const requests = asked(container)
    for (const resource of ["cpu", "memory"]) {
      const wanted = requests.get(resource) ?? 0
      if (wanted > 0) some = true
      if (wanted === 0 || limits.get(resource) !== wanted) all = false
    }
  }
  return all ? "Guaranteed" : some ? "Burstable" : "BestEffort"
}
