/**
 * Which budgets select a pod and which pods a budget selects, without a scan: each selector is indexed by one of its
 * required labels, the one that the fewest other selectors require, and each budget has the keys of its pods. Updated
 * by every change of either; plain synchronous state of one leadership term. An empty selector selects all pods of the
 * namespace, an absent one none. Source: policy/v1: PodDisruptionBudgetSpec.
 */
import * as Result from "effect/Result"
import * as Key from "../../kube/Key.ts"
import type { Pod, PodDisruptionBudget } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import { type Buckets, makeBuckets } from "../../streams/store/Index.ts"
import * as Store from "../../streams/store/Store.ts"

/** Undefined for a budget that selects no pods; a failure is one sentence. */
export const selectorOf = ({ spec }: PodDisruptionBudget): Result.Result<Selector.LabelSelector, string> | undefined =>
  spec?.selector === undefined || spec.selector === null ? undefined : Selector.fromSpec(spec.selector)

interface Entry {
  readonly namespace: string
  readonly selector: Selector.LabelSelector
  /** The only bucket that holds the budget. */
  readonly bucket: string
  /** The pods of the namespace that the selector matches. */
  readonly pods: Set<Key.Key>
}

type Pods = Pick<Store.Readable<Pod>, "byIndex" | "get">

/** For namespaces with budgets: the keys of its pods, by each label and value. */
interface NamespacePods {
  budgets: number
  readonly pods: Buckets
}

export interface Coverage {
  /** A budget was created or updated. `pods`: the store to select from. */
  readonly set: (budget: PodDisruptionBudget, pods: Pods) => void
  readonly delete: (budget: Key.Key) => void
  /** A pod was created or its labels changed. */
  readonly add: (pod: Pod) => void
  readonly remove: (pod: Pod) => void
  /** The budgets that select the pod, sorted. */
  readonly of: (pod: Pod) => ReadonlyArray<Key.Key>
  /** The pods that a budget selects. */
  readonly podsOf: (budget: Key.Key) => ReadonlySet<Key.Key>
}

const noPods: ReadonlySet<Key.Key> = new Set()
const none: ReadonlyArray<Key.Key> = []

export const make = (): Coverage => {
  const entries = new Map<Key.Key, Entry>()
  const buckets = makeBuckets()
  /** By namespace. */
  const namespaces = new Map<string, NamespacePods>()

  const forget = (budget: Key.Key): void => {
    const entry = entries.get(budget)
    if (entry === undefined) return
    entries.delete(budget)
    buckets.take(entry.bucket, budget)
    const indexed = namespaces.get(entry.namespace)
    if (indexed !== undefined && --indexed.budgets === 0) namespaces.delete(entry.namespace)
  }

  /** Counts one more budget for the namespace, and indexes its pods for the first. */
  const namespacePodsOf = (namespace: string, pods: Pods): NamespacePods => {
    const known = namespaces.get(namespace)
    if (known !== undefined) {
      known.budgets++
      return known
    }
    const indexed: NamespacePods = { budgets: 1, pods: makeBuckets() }
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
      buckets.put(bucket, key)
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
      for (const key in labels) indexed.pods.take(labelled(namespace, key, labels[key] ?? ""), Key.of(pod))
      for (const budget of find(pod)) entries.get(budget)?.pods.delete(Key.of(pod))
    },
    of: find,
    podsOf: (budget) => entries.get(budget)?.pods ?? noPods
  }
}

const addLabels = ({ pods }: NamespacePods, pod: Pod): void => {
  const { labels, namespace = "" } = pod.metadata
  for (const key in labels) pods.put(labelled(namespace, key, labels[key] ?? ""), Key.of(pod))
}

/** The pods with the rarest required label; all pods of the namespace if the selector requires none. */
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

/** The bucket of a requirement; undefined for one that absent labels satisfy. */
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
