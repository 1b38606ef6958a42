/**
 * Which budgets a pod concerns, and which pods a budget selects, without looking at others: each selector stands under one of the things that it asks
 * of labels, the one that the fewest others ask for, and each budget has the names of its pods. Fed by every change of both; plain synchronous
 * state for one term. An empty selector selects all pods of its namespace, none at all selects nobody. Source: policy/v1 PodDisruptionBudgetSpec.
 */
import * as Result from "effect/Result"
import * as Key from "../../kube/Key.ts"
import type { Pod, PodDisruptionBudget } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import * as Store from "../../streams/Store.ts"

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

type Pods = Pick<Store.Readable<Pod>, "byIndex">

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

const nobody: ReadonlySet<Key.Key> = new Set()
const none: ReadonlyArray<Key.Key> = []

export const make = (): Coverage => {
  const entries = new Map<Key.Key, Entry>()
  /** Never an empty bucket. */
  const buckets = new Map<string, Set<Key.Key>>()

  const forget = (budget: Key.Key): void => {
    const entry = entries.get(budget)
    if (entry === undefined) return
    entries.delete(budget)
    const bucket = buckets.get(entry.bucket)
    if (bucket?.delete(budget) === true && bucket.size === 0) buckets.delete(entry.bucket)
  }

  const put = (budget: Key.Key, entry: Entry): void => {
    entries.set(budget, entry)
    const bucket = buckets.get(entry.bucket)
    if (bucket === undefined) buckets.set(entry.bucket, new Set([budget]))
    else bucket.add(budget)
  }

  const find = ({ metadata: { labels, namespace = "" } }: Pod): ReadonlyArray<Key.Key> => {
    if (entries.size === 0) return none
    const found: Array<Key.Key> = []
    const ask = (bucket: string): void => {
      for (const key of buckets.get(bucket) ?? none) {
        const entry = entries.get(key)
        if (entry !== undefined && Selector.matchesLabels(entry.selector, labels)) found.push(key)
      }
    }
    ask(anything(namespace))
    for (const key in labels) {
      ask(having(namespace, key))
      ask(saying(namespace, key, labels[key] ?? ""))
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
      const candidates = pods.byIndex(Store.namespaceIndex, namespace)
      const selected = candidates.filter(({ metadata }) => Selector.matchesLabels(selector.success, metadata.labels))
      put(key, {
        namespace,
        selector: selector.success,
        bucket: rarest(namespace, selector.success, (bucket) => buckets.get(bucket)?.size ?? 0),
        pods: new Set(selected.map(Key.of))
      })
    },
    delete: forget,
    add: (pod) => {
      for (const budget of find(pod)) entries.get(budget)?.pods.add(Key.of(pod))
    },
    remove: (pod) => {
      for (const budget of find(pod)) entries.get(budget)?.pods.delete(Key.of(pod))
    },
    of: find,
    podsOf: (budget) => entries.get(budget)?.pods ?? nobody
  }
}

const anything = (namespace: string): string => `${namespace}/`
const having = (namespace: string, label: string): string => `${namespace}/${label}`
const saying = (namespace: string, label: string, value: string): string => `${namespace}/${label}=${value}`

/** The bucket of one requirement; a requirement that labels may meet by not being there says nothing. */
const bucketOf = (namespace: string, { key, operator, values }: Selector.Requirement): string | undefined => {
  const [value] = values
  if (operator === "In")
    return values.length === 1 && value !== undefined ? saying(namespace, key, value) : having(namespace, key)
  return operator === "Exists" ? having(namespace, key) : undefined
}

const rarest = (namespace: string, selector: Selector.LabelSelector, crowd: (bucket: string) => number): string => {
  let best: string | undefined
  for (const requirement of selector) {
    const bucket = bucketOf(namespace, requirement)
    if (bucket !== undefined && (best === undefined || crowd(bucket) < crowd(best))) best = bucket
  }
  return best ?? anything(namespace)
}

const isSame = (a: Selector.LabelSelector, b: Selector.LabelSelector): boolean =>
  Selector.formatLabels(a) === Selector.formatLabels(b)
