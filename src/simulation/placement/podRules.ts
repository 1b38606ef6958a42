/**
 * Required pod affinity and anti-affinity: which nodes are suitable because of the pods that run there, by the value of a node label. The
 * pods are searched once for each pod to place, and not at all if no pod has such a term. Preferred terms are ignored. Source: the
 * InterPodAffinity plugin of the reference scheduler.
 */
import * as Result from "effect/Result"
import type { Node, Pod } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import type { SchedulerCache } from "./SchedulerCache.ts"

type Affinity = NonNullable<NonNullable<Pod["spec"]>["affinity"]>
type Term = NonNullable<NonNullable<Affinity["podAffinity"]>["requiredDuringSchedulingIgnoredDuringExecution"]>[number]

/** Why a node is not suitable, with the reference scheduler's message; undefined if it is. */
export type Rule = (node: Node) => string | undefined

const noRule: Rule = () => undefined

/** Whether the term of `owner` selects `other`. */
const selects = (term: Term, owner: Pod, other: Pod): boolean => {
  const namespace = other.metadata.namespace ?? ""
  const named = term.namespaces ?? []
  // Of namespace selectors only the empty one, every namespace, is supported: labels of namespaces are not watched.
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

/** The topology domains (values of the term's label) of the pods that the term selects. */
const domains = (term: Term, owner: Pod, cache: SchedulerCache): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const { node, pod } of cache.placedPods()) {
    if (!selects(term, owner, pod)) continue
    const domain = domainOf(term, cache.nodeInfo(node)?.node)
    if (domain !== undefined) found.add(domain)
  }
  return found
}

/** Whether a pod that is placed somewhere may make a node suitable for this one. */
export const hasPodAffinity = (pod: Pod): boolean =>
  (pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).length > 0

export const rule = (pod: Pod, cache: SchedulerCache): Rule => {
  const affinityTerms = pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const antiAffinityTerms = pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const excluded = excludedBy(pod, cache)
  if (affinityTerms.length + antiAffinityTerms.length + excluded.length === 0) return noRule
  const affinity = affinityTerms.map((term) => ({ term, domains: domains(term, pod, cache) }))
  const antiAffinity = antiAffinityTerms.map((term) => ({ term, domains: domains(term, pod, cache) }))
  // The first pod of a group with affinity to itself would otherwise wait for ever.
  const isFirst = affinity.every((one) => one.domains.size === 0 && selects(one.term, pod, pod))
  return (node) => {
    for (const { domains, term } of affinity) {
      const domain = domainOf(term, node)
      if (domain === undefined || !(isFirst || domains.has(domain))) return "node(s) didn't match pod affinity rules"
    }
    for (const { domains, term } of antiAffinity) {
      const domain = domainOf(term, node)
      if (domain !== undefined && domains.has(domain)) return "node(s) didn't match pod anti-affinity rules"
    }
    return excluded.some(({ domain, term }) => domainOf(term, node) === domain)
      ? "node(s) didn't satisfy existing pods anti-affinity rules"
      : undefined
  }
}

/** The topology domains from which placed pods exclude this one. */
const excludedBy = (
  pod: Pod,
  cache: SchedulerCache
): ReadonlyArray<{ readonly term: Term; readonly domain: string }> => {
  const excluded: Array<{ readonly term: Term; readonly domain: string }> = []
  for (const { node, pod: owner } of cache.podsWithRequiredAntiAffinity()) {
    const terms = owner.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    for (const term of terms) {
      if (!selects(term, owner, pod)) continue
      const domain = domainOf(term, cache.nodeInfo(node)?.node)
      if (domain !== undefined) excluded.push({ term, domain })
    }
  }
  return excluded
}
