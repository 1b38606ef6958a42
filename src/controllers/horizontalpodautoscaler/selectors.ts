/**
 * Which pods a target selects, and which other autoscalers select one of them, without a scan of the namespace: an
 * index of pods by label, and a table of selectors by one required label. Plain synchronous state.
 */
import type * as Key from "../../kube/Key.ts"
import type { Pod } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import type { Index } from "../../layers/Cache.ts"
import { makeBuckets } from "../../streams/store/Index.ts"
import * as Store from "../../streams/store/Store.ts"

/** Labels that are new with each revision or pod, so that no selector relies on them alone. */
const passing = new Set([
  "batch.kubernetes.io/controller-uid",
  "controller-revision-hash",
  "controller-uid",
  "pod-template-generation",
  "pod-template-hash",
  "statefulset.kubernetes.io/pod-name"
])

const pairOf = (namespace: string | undefined, key: string, value: string): string =>
  `${namespace ?? ""}/${key}=${value}`

/** Index value: one label of a pod, with its namespace. */
export const byLabel: Index<Pod> = {
  name: "autoscaling/label",
  of: ({ metadata: { labels = {}, namespace } }) => {
    const pairs: Array<string> = []
    for (const key in labels) if (!passing.has(key)) pairs.push(pairOf(namespace, key, labels[key] ?? ""))
    return pairs
  }
}

/** The labels with one value that the selector requires. */
const pairsOf = (namespace: string, selector: Selector.LabelSelector): ReadonlyArray<string> =>
  selector.flatMap(({ key, operator, values }) =>
    operator === "In" && values.length === 1 && !passing.has(key) ? [pairOf(namespace, key, values[0] ?? "")] : []
  )

/** The pods that a target selects, in no order. A selector without a required label value scans the namespace. */
export const podsOf = (
  pods: Store.Readable<Pod>,
  namespace: string,
  selector: Selector.LabelSelector
): ReadonlyArray<Pod> => {
  const candidates = pairsOf(namespace, selector)
    .map((pair) => pods.byIndex(byLabel.name, pair))
    .reduce<ReadonlyArray<Pod> | undefined>(
      (best, some) => (best !== undefined && best.length <= some.length ? best : some),
      undefined
    )
  return (candidates ?? pods.byIndex(Store.namespaceIndex, namespace)).filter(({ metadata }) =>
    Selector.matchesLabels(selector, metadata.labels)
  )
}

/** The selectors of the reconciled targets. */
export interface Table {
  readonly set: (autoscaler: Key.Key, namespace: string, selector: Selector.LabelSelector) => void
  readonly delete: (autoscaler: Key.Key) => void
  /** All autoscalers that select one of these pods of the namespace, sorted. */
  readonly selecting: (namespace: string, pods: ReadonlyArray<Pod>) => ReadonlyArray<Key.Key>
}

interface Entry {
  readonly selector: Selector.LabelSelector
  /** A required label, or the namespace for a selector without one; the entry is in this bucket only. */
  readonly bucket: string
}

export const makeTable = (): Table => {
  const entries = new Map<Key.Key, Entry>()
  const buckets = makeBuckets()

  const remove = (autoscaler: Key.Key): void => {
    const bucket = entries.get(autoscaler)?.bucket
    entries.delete(autoscaler)
    if (bucket !== undefined) buckets.take(bucket, autoscaler)
  }

  /** The required label that the fewest entries have. */
  const choose = (namespace: string, selector: Selector.LabelSelector): string => {
    const crowd = (pair: string) => buckets.get(pair)?.size ?? 0
    const pairs = pairsOf(namespace, selector)
    return pairs.length === 0 ? namespace : pairs.reduce((a, b) => (crowd(b) < crowd(a) ? b : a))
  }

  const collect = (bucket: string, pod: Pod, into: Set<Key.Key>): void => {
    for (const key of buckets.get(bucket) ?? []) {
      const selector = entries.get(key)?.selector
      if (selector !== undefined && !into.has(key) && Selector.matchesLabels(selector, pod.metadata.labels))
        into.add(key)
    }
  }

  return {
    set: (autoscaler, namespace, selector) => {
      const known = entries.get(autoscaler)?.selector
      if (known !== undefined && Selector.formatLabels(known) === Selector.formatLabels(selector)) return
      remove(autoscaler)
      const bucket = choose(namespace, selector)
      entries.set(autoscaler, { selector, bucket })
      buckets.put(bucket, autoscaler)
    },
    delete: remove,
    selecting: (namespace, pods) => {
      const found = new Set<Key.Key>()
      for (const pod of pods) {
        collect(namespace, pod, found)
        for (const pair of byLabel.of(pod)) collect(pair, pod, found)
      }
      return [...found].sort()
    }
  }
}
