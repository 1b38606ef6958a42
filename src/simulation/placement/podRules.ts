/**
 * Required pod affinity and anti-affinity: which nodes a pod may go to because of the pods that are there, by the value of a
 * node label. The pods are looked through once for each pod to place, and not at all where no pod has such a rule.
 * Preferred terms are not weighed. Source: the InterPodAffinity plugin of the reference scheduler.
 */
import * as Result from "effect/Result"
import type { Node, Pod } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import type { Board } from "./Board.ts"

type Affinity = NonNullable<NonNullable<Pod["spec"]>["affinity"]>
type Term = NonNullable<NonNullable<Affinity["podAffinity"]>["requiredDuringSchedulingIgnoredDuringExecution"]>[number]

/** Why a node will not do, in the reference scheduler's words; undefined if it will. */
export type Rule = (node: Node) => string | undefined

const anywhere: Rule = () => undefined

/** Whether the term of `owner` speaks of `other`. */
const speaksOf = (term: Term, owner: Pod, other: Pod): boolean => {
  const namespace = other.metadata.namespace ?? ""
  const named = term.namespaces ?? []
  // Of namespace selectors only the empty one, every namespace, is understood: labels of namespaces are not watched.
  const inNamespace =
    named.includes(namespace) ||
    (term.namespaceSelector !== undefined && isEmpty(term.namespaceSelector)) ||
    (named.length === 0 && term.namespaceSelector === undefined && namespace === (owner.metadata.namespace ?? ""))
  if (!inNamespace || term.labelSelector === undefined) return false
  const selector = Selector.fromSpec(term.labelSelector)
  return Result.isSuccess(selector) && Selector.matchesLabels(selector.success, other.metadata.labels)
}

const isEmpty = (selector: Selector.LabelSelectorSpec): boolean =>
  Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0

const domainOf = (term: Term, node: Node | undefined): string | undefined => {
  const labels = node?.metadata.labels
  return labels !== undefined && Object.hasOwn(labels, term.topologyKey) ? labels[term.topologyKey] : undefined
}

/** The domains, values of the term's label, in which a pod is that the term speaks of. */
const domains = (term: Term, owner: Pod, board: Board): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const { node, pod } of board.placed()) {
    if (!speaksOf(term, owner, pod)) continue
    const domain = domainOf(term, board.spot(node)?.node)
    if (domain !== undefined) found.add(domain)
  }
  return found
}

/** Whether a pod that comes somewhere may make a node fit. */
export const seeksCompany = (pod: Pod): boolean =>
  (pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).length > 0

export const rule = (pod: Pod, board: Board): Rule => {
  const near = pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const far = pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const closed = closedBy(pod, board)
  if (near.length + far.length + closed.length === 0) return anywhere
  const friends = near.map((term) => ({ term, domains: domains(term, pod, board) }))
  const foes = far.map((term) => ({ term, domains: domains(term, pod, board) }))
  // The first of a group of pods that want to be together would otherwise wait for ever.
  const isFirst = friends.every((one) => one.domains.size === 0 && speaksOf(one.term, pod, pod))
  return (node) => {
    for (const { domains, term } of friends) {
      const domain = domainOf(term, node)
      if (domain === undefined || !(isFirst || domains.has(domain))) return "node(s) didn't match pod affinity rules"
    }
    for (const { domains, term } of foes) {
      const domain = domainOf(term, node)
      if (domain !== undefined && domains.has(domain)) return "node(s) didn't match pod anti-affinity rules"
    }
    return closed.some(({ domain, term }) => domainOf(term, node) === domain)
      ? "node(s) didn't satisfy existing pods anti-affinity rules"
      : undefined
  }
}

/** The domains that pods in place keep this one out of. */
const closedBy = (pod: Pod, board: Board): ReadonlyArray<{ readonly term: Term; readonly domain: string }> => {
  const closed: Array<{ readonly term: Term; readonly domain: string }> = []
  for (const { node, pod: owner } of board.repellers()) {
    const terms = owner.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    for (const term of terms) {
      if (!speaksOf(term, owner, pod)) continue
      const domain = domainOf(term, board.spot(node)?.node)
      if (domain !== undefined) closed.push({ term, domain })
    }
  }
  return closed
}
