/**
 * Which ClusterRoles aggregate a role, and which roles a selector matches, without a scan of all: both directions are
 * indexed by a label with one value that the selector requires. Selectors without such a label are always evaluated.
 * Plain synchronous state of one leadership term.
 */
import * as Result from "effect/Result"
import * as Equality from "../../kube/equality.ts"
import * as Key from "../../kube/Key.ts"
import type { ClusterRole } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import type { Index } from "../../layers/Cache.ts"
import { makeBuckets } from "../../streams/store/Index.ts"
import type { Delta } from "../../streams/store/Store.ts"
import type * as Store from "../../streams/store/Store.ts"

const pairOf = (key: string, value: string): string => `${key}=${value}`

/** Index value: `key=value` of one label. */
export const byLabel: Index<ClusterRole> = {
  name: "clusterroleaggregation/label",
  of: ({ metadata: { labels } }) => pairsOf(labels)
}

const pairsOf = (labels: Readonly<Record<string, string>> | undefined): ReadonlyArray<string> =>
  Object.entries(labels ?? {}).map(([key, value]) => pairOf(key, value))

/** A label that every match must have; undefined if the selector requires none. */
const pairIn = (selector: Selector.LabelSelector): string | undefined => {
  const one = selector.find(({ operator, values }) => operator === "In" && values.length === 1)
  return one === undefined ? undefined : pairOf(one.key, one.values[0] ?? "")
}

/** The roles that a selector matches. */
export const select = (
  roles: Store.Readable<ClusterRole>,
  selector: Selector.LabelSelector
): ReadonlyArray<ClusterRole> => {
  const pair = pairIn(selector)
  const candidates = pair === undefined ? roles.list() : roles.byIndex(byLabel.name, pair)
  return candidates.filter(({ metadata }) => Selector.matchesLabels(selector, metadata.labels))
}

export interface Selection {
  /**
   * The aggregating roles that a change enqueues: the changed one itself, and those that select it or selected it
   * before.
   */
  readonly concerned: (delta: Delta<ClusterRole>) => ReadonlyArray<Key.Key>
}

type Selectors = ReadonlyArray<Selector.LabelSelector>

export const make = (): Selection => {
  const selectorsOf = new Map<Key.Key, Selectors>()
  /** By a required label, or by the empty string for selectors without one. */
  const buckets = makeBuckets()

  const forget = (key: Key.Key): void => {
    for (const selector of selectorsOf.get(key) ?? []) buckets.take(pairIn(selector) ?? "", key)
    selectorsOf.delete(key)
  }

  const add = (key: Key.Key, role: ClusterRole): void => {
    const selectors = usable(role)
    selectorsOf.set(key, selectors)
    for (const selector of selectors) buckets.put(pairIn(selector) ?? "", key)
  }

  const taking = ({ metadata: { labels } }: ClusterRole): ReadonlyArray<Key.Key> =>
    ["", ...pairsOf(labels)].flatMap((pair) =>
      [...(buckets.get(pair) ?? [])].filter((key) =>
        (selectorsOf.get(key) ?? []).some((selector) => Selector.matchesLabels(selector, labels))
      )
    )

  return {
    concerned: (delta) => {
      const { object } = delta
      const key = Key.of(object)
      forget(key)
      const isThere = delta._tag !== "Deleted"
      if (isThere && object.aggregationRule !== undefined) add(key, object)
      const before = delta._tag === "Updated" ? delta.previous : undefined
      const isSame = before !== undefined && offersSame(before, object)
      const takers = isSame ? [] : [...taking(object), ...(before === undefined ? [] : taking(before))]
      const own = isThere && object.aggregationRule !== undefined ? [key] : []
      return [...new Set([...own, ...takers.filter((taker) => taker !== key)])]
    }
  }
}

const usable = ({ aggregationRule }: ClusterRole): Selectors =>
  (aggregationRule?.clusterRoleSelectors ?? []).flatMap((spec) => {
    const selector = Selector.fromSpec(spec)
    return Result.isSuccess(selector) ? [selector.success] : []
  })

const offersSame = (a: ClusterRole, b: ClusterRole): boolean =>
  Equality.equal(a.metadata.labels, b.metadata.labels) && Equality.equal(a.rules, b.rules)
