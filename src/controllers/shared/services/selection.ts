/**
 * Which Services select a pod, and which pods a Service selects, without a scan of all: a table of selectors, each under its rarest label, and an
 * index of pods by label. Plain synchronous state.
 */
import * as Equality from "../../../kube/equality.ts"
import * as Key from "../../../kube/Key.ts"
import type { Pod, Service } from "../../../kube/resources.ts"
import type { Index } from "../../../layers/Cache.ts"
import { makeBuckets } from "../../../streams/store/Index.ts"
import * as Store from "../../../streams/store/Store.ts"
import * as Pods from "./pods.ts"

export type Labels = Readonly<Record<string, string>>

/** The pod selector of a Service; undefined for one whose endpoints are not managed. Source: staging/src/k8s.io/endpointslice: Reconcile. */
export const selectorOf = ({ spec }: Service): Labels | undefined => {
  const selector = spec?.selector
  if (selector === undefined || spec?.type === "ExternalName") return undefined
  return Object.keys(selector).length === 0 ? undefined : selector
}

export const matches = (selector: Labels, labels: Labels | undefined): boolean => {
  if (labels === undefined) return false
  for (const key in selector) if (!Object.hasOwn(labels, key) || labels[key] !== selector[key]) return false
  return true
}

const pairOf = (namespace: string | undefined, key: string, value: string): string =>
  `${namespace ?? ""}/${key}=${value}`

/** Labels whose values are unique to a revision or owner: Services rarely select by them, and the index would get an entry for almost each pod. */
const uniqueLabels = new Set([
  "batch.kubernetes.io/controller-uid",
  "controller-revision-hash",
  "controller-uid",
  "pod-template-generation",
  "pod-template-hash"
])

const nothing: ReadonlyArray<string> = []

/** Value: namespace and one label of a pod that can be an endpoint. */
export const byLabel: Index<Pod> = {
  name: "services/label",
  of: (pod) => {
    const { labels, namespace } = pod.metadata
    if (labels === undefined || !Pods.contributes(pod, { includeTerminating: true })) return nothing
    const pairs: Array<string> = []
    for (const key in labels) if (!uniqueLabels.has(key)) pairs.push(pairOf(namespace, key, labels[key] ?? ""))
    return pairs
  }
}

/** The selectors of all Services, each stored under one of its labels. */
export interface Table {
  readonly set: (service: Key.Key, namespace: string | undefined, selector: Labels | undefined) => void
  readonly delete: (service: Key.Key) => void
  /** The Services that select these labels. */
  readonly matching: (namespace: string | undefined, labels: Labels | undefined) => ReadonlyArray<Key.Key>
  /** The label by which the Service is found; undefined if it selects nothing. */
  readonly pairOf: (service: Key.Key) => string | undefined
}

interface Entry {
  readonly selector: Labels
  /** The label of the selector under whose bucket the entry is stored. */
  readonly pair: string
  readonly isUnique: boolean
}

export const makeTable = (): Table => {
  const entries = new Map<Key.Key, Entry>()
  const buckets = makeBuckets()

  const remove = (service: Key.Key): void => {
    const entry = entries.get(service)
    if (entry === undefined) return
    entries.delete(service)
    buckets.take(entry.pair, service)
  }

  const choose = (namespace: string | undefined, selector: Labels): Entry => {
    const pairs = Object.keys(selector).map((key) => ({
      selector,
      pair: pairOf(namespace, key, selector[key] ?? ""),
      isUnique: uniqueLabels.has(key)
    }))
    const sizeOf = ({ isUnique, pair }: Entry) => (isUnique ? 1e9 : 0) + (buckets.get(pair)?.size ?? 0)
    // Of equally rare labels the longer one is more likely to be unique.
    return pairs.reduce((a, b) => ((sizeOf(b) - sizeOf(a) || a.pair.length - b.pair.length) < 0 ? b : a))
  }

  return {
    set: (service, namespace, selector) => {
      const known = entries.get(service)
      if (known !== undefined && selector !== undefined && Equality.isSameMap(known.selector, selector)) return
      remove(service)
      if (selector === undefined) return
      const entry = choose(namespace, selector)
      entries.set(service, entry)
      buckets.put(entry.pair, service)
    },
    delete: remove,
    matching: (namespace, labels) => {
      const found: Array<Key.Key> = []
      for (const key in labels) {
        for (const service of buckets.get(pairOf(namespace, key, labels[key] ?? "")) ?? []) {
          const entry = entries.get(service)
          if (entry !== undefined && matches(entry.selector, labels)) found.push(service)
        }
      }
      return found
    },
    pairOf: (service) => {
      const entry = entries.get(service)
      return entry === undefined || entry.isUnique ? undefined : entry.pair
    }
  }
}

/**
 * The pods that a Service selects, of those that can be endpoints. If its selector has only labels that are not indexed, all pods of its namespace
 * are compared.
 */
export const podsOf = (pods: Store.Readable<Pod>, table: Table, service: Service): ReadonlyArray<Pod> => {
  const selector = selectorOf(service)
  if (selector === undefined) return []
  const { namespace } = service.metadata
  const pair = table.pairOf(Key.of(service))
  const candidates =
    pair === undefined ? pods.byIndex(Store.namespaceIndex, namespace ?? "") : pods.byIndex(byLabel.name, pair)
  return candidates.filter(
    (pod) => matches(selector, pod.metadata.labels) && Pods.contributes(pod, { includeTerminating: true })
  )
}
