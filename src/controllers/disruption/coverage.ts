/**
 * Which budgets a pod concerns, and which pods a budget selects, without looking at others: each selector stands under one of the things that it asks
 * of labels, the one that the fewest others ask for, and each budget has the names of its pods. Fed by every change of both; plain synchronous
 * state for one term. An empty selector selects all pods of its namespace, none at all selects nobody. Source: policy/v1 PodDisruptionBudgetSpec.
 */
import * as Result from "effect/Result"
import * as Key from "../../kube/Key.ts"
import type { Pod, PodDisruptionBudget } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import * as Store from "../../streams/store/Store.ts"

/** Undefined for a budget that selects nothing; a failure is one sentence. */
export const selectorOf = ({ spec }: PodDisruptionBudget): Result.Result<Selector.LabelSelector, string> | undefined =>
  spec?.selector === undefined || spec.selector === null ? undefined : Selector.fromSpec(spec.selector)

interface Entry {
  readonly namespace: string
  readonly selector: Selector.LabelSelector
  /** The one bucket that it is in. */
  readonly bucket: string
  /** Exactly the pods of the namespace that the selector matches. */
  readonly pods: Set<Key.Key>
}

type Pods = Pick<Store.Readable<Pod>, "byIndex" | "get">

/** Of a namespace that has budgets, and of no other: exactly its pods, by each label with its value. */
interface NamespacePods {
  budgets: number
  readonly pods: Map<string, Set<Key.Key>>
}

export interface Coverage {
  /** A budget that appeared or changed. `pods`: of which it is to select. */
  readonly set: (budget: PodDisruptionBudget, pods: Pods) => void
  readonly delete: (budget: Key.Key) => void
  /** A pod that appeared or has other labels than before. */
  readonly add: (pod: Pod) => void
  readonly remove: (pod: Pod) => void
  /** The budgets that select a pod with these labels, by name. */
  readonly of: (pod: Pod) => ReadonlyArray<Key.Key>
  /** The pods that a budget selects. */
  readonly podsOf: (budget: Key.Key) => ReadonlySet<Key.Key>
}

const noPods: ReadonlySet<Key.Key> = new Set()
const none: ReadonlyArray<Key.Key> = []

export const make = (): Coverage => {
  const entries = new Map<Key.Key, Entry>()
  const buckets: Buckets = new Map()
  /** By namespace. */
  const namespaces = new Map<string, NamespacePods>()

  const forget = (budget: Key.Key): void => {
    const entry = entries.get(budget)
    if (entry === undefined) return
    entries.delete(budget)
    take(buckets, entry.bucket, budget)
    const indexed = namespaces.get(entry.namespace)
    if (indexed !== undefined && --indexed.budgets === 0) namespaces.delete(entry.namespace)
  }

  /** Counts a budget more for the namespace. */
  const namespacePodsOf = (namespace: string, pods: Pods): NamespacePods => {
    const known = namespaces.get(namespace)
    if (known !== undefined) {
      known.budgets++
      return known
    }
    const indexed: NamespacePods = { budgets: 1, pods: new Map() }
    for (const pod of pods.byIndex(Store.namespaceIndex, namespace)) addLabels(indexed, pod)
    namespaces.set(namespace, indexed)
    return indexed
  }

  const find = ({ metadata: { labels, namespace = "" } }: Pod): ReadonlyArray<Key.Key> => {
    if (!namespaces.has(namespace)) return none
    const found: Array<Key.Key> = []
    const search = (bucket: string): void => {
      for (const key of buckets.get(bucket) ?? none) {
        const entry = entries.get(key)
        if (entry !== undefined && Selector.matchesLabels(entry.selector, labels)) found.push(key)
      }
    }
    search(anything(namespace))
    for (const key in labels) {
      search(having(namespace, key))
      search(labelled(namespace, key, labels[key] ?? ""))
    }
    return found.sort()
  }

  return {
    set: (budget, pods) => {
      const key = Key.of(budget)
      const { namespace = "" } = budget.metadata
      const selector = selectorOf(budget)
      const known = entries.get(key)
      if (selector === undefined || Result.isFailure(selector)) return forget(key)
      if (known !== undefined && isSame(known.selector, selector.success)) return
      forget(key)
      const candidates = candidatesFor(namespacePodsOf(namespace, pods), namespace, selector.success, pods)
      const selected = candidates.filter(({ metadata }) => Selector.matchesLabels(selector.success, metadata.labels))
      const bucket = rarest(namespace, selector.success, (one) => buckets.get(one)?.size ?? 0)
      entries.set(key, { namespace, selector: selector.success, bucket, pods: new Set(selected.map(Key.of)) })
      put(buckets, bucket, key)
    },
    delete: forget,
    add: (pod) => {
      const indexed = namespaces.get(pod.metadata.namespace ?? "")
      if (indexed === undefined) return
      addLabels(indexed, pod)
      for (const budget of find(pod)) entries.get(budget)?.pods.add(Key.of(pod))
    },
    remove: (pod) => {
      const indexed = namespaces.get(pod.metadata.namespace ?? "")
      if (indexed === undefined) return
      const { labels, namespace = "" } = pod.metadata
      for (const key in labels) take(indexed.pods, labelled(namespace, key, labels[key] ?? ""), Key.of(pod))
      for (const budget of find(pod)) entries.get(budget)?.pods.delete(Key.of(pod))
    },
    of: find,
    podsOf: (budget) => entries.get(budget)?.pods ?? noPods
  }
}

/** Never with an empty one. */
type Buckets = Map<string, Set<Key.Key>>

const put = (buckets: Buckets, bucket: string, key: Key.Key): void => {
  const known = buckets.get(bucket)
  if (known === undefined) buckets.set(bucket, new Set([key]))
  else known.add(key)
}

const take = (buckets: Buckets, bucket: string, key: Key.Key): void => {
  const known = buckets.get(bucket)
  if (known?.delete(key) === true && known.size === 0) buckets.delete(bucket)
}

const addLabels = ({ pods }: NamespacePods, pod: Pod): void => {
  const { labels, namespace = "" } = pod.metadata
  for (const key in labels) put(pods, labelled(namespace, key, labels[key] ?? ""), Key.of(pod))
}

/** Those with the rarest of the labels that a pod must have; all of the namespace if it must have none. */
const candidatesFor = (
  indexed: NamespacePods,
  namespace: string,
  selector: Selector.LabelSelector,
  pods: Pods
): ReadonlyArray<Pod> => {
  let best: ReadonlySet<Key.Key> | undefined
  for (const { key, operator, values } of selector) {
    const [value] = values
    if (operator !== "In" || values.length !== 1 || value === undefined) continue
    const found = indexed.pods.get(labelled(namespace, key, value)) ?? noPods
    if (best === undefined || found.size < best.size) best = found
  }
  if (best === undefined) return pods.byIndex(Store.namespaceIndex, namespace)
  return [...best].flatMap((key) => pods.get(key) ?? [])
}

const anything = (namespace: string): string => `${namespace}/`
const having = (namespace: string, label: string): string => `${namespace}/${label}`
const labelled = (namespace: string, label: string, value: string): string => `${namespace}/${label}=${value}`

/** The bucket of one requirement; a requirement that labels may meet by not being there says nothing. */
const bucketOf = (namespace: string, { key, operator, values }: Selector.Requirement): string | undefined => {
  const [value] = values
  if (operator === "In")
    return values.length === 1 && value !== undefined ? labelled(namespace, key, value) : having(namespace, key)
  return operator === "Exists" ? having(namespace, key) : undefined
}

const rarest = (namespace: string, selector: Selector.LabelSelector, sizeOf: (bucket: string) => number): string => {
  let best: string | undefined
  for (const requirement of selector) {
    const bucket = bucketOf(namespace, requirement)
    if (bucket !== undefined && (best === undefined || sizeOf(bucket) < sizeOf(best))) best = bucket
  }
  return best ?? anything(namespace)
}

const isSame = (a: Selector.LabelSelector, b: Selector.LabelSelector): boolean =>
  Selector.formatLabels(a) === Selector.formatLabels(b)
