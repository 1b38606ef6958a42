/**
 * What the node controllers read of a node and its pods: readiness, taints, the pods on it. Taints are written as a whole against the version that
 * was read, so that changes of other clients are not lost.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../../kube/ApiError.ts"
import * as Patch from "../../../kube/Patch.ts"
import type { Node, Pod } from "../../../kube/resources.ts"
import type { Index } from "../../../layers/Cache.ts"
import * as Setting from "../../../layers/Setting.ts"
import * as Codecs from "../../../layers/setting/codecs.ts"

/** Of both node controllers. */
export const monitorPeriod = Setting.make(Codecs.interval, {
  name: "node-monitor-period",
  group: "tuning",
  description: "Time between two checks of the health of all nodes",
  default: "5s"
})

export type Taint = NonNullable<NonNullable<Node["spec"]>["taints"]>[number]
export type Condition = NonNullable<NonNullable<Node["status"]>["conditions"]>[number]
type TaintId = Pick<Taint, "key" | "effect">

/** Value: the name of the node. Pods without a node are not indexed. */
export const byNode: Index<Pod> = {
  name: "nodes/byNode",
  of: ({ spec }) => (spec?.nodeName === undefined || spec.nodeName === "" ? none : [spec.nodeName])
}

const none: ReadonlyArray<string> = []

export const readyCondition = (node: Node): Condition | undefined =>
  node.status?.conditions?.find(({ type }) => type === "Ready")

export const isReady = (node: Node | undefined): boolean =>
  node !== undefined && readyCondition(node)?.status === "True"

export const taintsOf = (node: Node): ReadonlyArray<Taint> => node.spec?.taints ?? []

/** Taints with the same key and effect are the same, whatever their value. */
export const isSame = (a: TaintId, b: TaintId): boolean => a.key === b.key && a.effect === b.effect

export const hasTaint = (node: Node, taint: TaintId): boolean => taintsOf(node).some((one) => isSame(one, taint))

/** The taints after removals and additions; added ones come last. Undefined if nothing changes. */
export const changed = (
  node: Node,
  change: { readonly add?: ReadonlyArray<Taint>; readonly remove?: ReadonlyArray<TaintId> }
): ReadonlyArray<Taint> | undefined => {
  const before = taintsOf(node)
  const add = (change.add ?? []).filter((taint) => !hasTaint(node, taint))
  const kept = before.filter((taint) => change.remove?.some((gone) => isSame(gone, taint)) !== true)
  return add.length === 0 && kept.length === before.length ? undefined : [...kept, ...add]
}

/** What is written to a node. */
export interface Change {
  /** Exactly these. */
  readonly taints?: ReadonlyArray<Taint> | undefined
  /** These, beside those that there are. */
  readonly labels?: Readonly<Record<string, string>> | undefined
}

/** The resource version is a precondition. */
export const patchOf = ({ metadata: { resourceVersion } }: Node, { labels, taints }: Change): object => ({
  metadata: { resourceVersion, ...(labels === undefined ? {} : { labels }) },
  ...(taints === undefined ? {} : { spec: { taints: taints.length === 0 ? null : taints } })
})

/** The API calls for writing taints. */
export interface Calls {
  readonly live: (name: string) => Effect.Effect<Node, ApiError.ApiError>
  readonly patch: (name: string, patch: Patch.Patch) => Effect.Effect<Node, ApiError.ApiError>
}

/** How often a write is tried when others write to the node at the same time. */
const tries = 5

/** Writes the taints that the plan returns, as {@link change}. */
export const write = (
  calls: Calls,
  node: Node,
  plan: (node: Node) => ReadonlyArray<Taint> | undefined
): Effect.Effect<boolean, ApiError.ApiError> =>
  change(calls, node, (current) => {
    const taints = plan(current)
    return taints === undefined ? undefined : { taints }
  })

/**
 * Writes the change that the plan returns; after a conflict the plan runs again on the node read from the server. Returns whether
 * anything was written. Nothing is written if the node does not exist any more or another one has its name.
 */
export const change = Effect.fnUntraced(function* (
  calls: Calls,
  node: Node,
  plan: (node: Node) => Change | undefined
): Effect.fn.Return<boolean, ApiError.ApiError> {
  const { name, uid } = node.metadata
  let current = node
  for (let left = tries; ; left--) {
    const planned = plan(current)
    if (planned === undefined) return false
    const written = yield* Effect.result(calls.patch(name, Patch.merge(patchOf(current, planned))))
    if (written._tag === "Success") return true
    if (ApiError.hasReason(written.failure, "NotFound")) return false
    if (left === 1 || !ApiError.hasReason(written.failure, "Conflict")) return yield* written.failure
    const found = yield* Effect.result(calls.live(name))
    if (found._tag === "Failure") {
      if (ApiError.hasReason(found.failure, "NotFound")) return false
      return yield* found.failure
    }
    if (found.success.metadata.uid !== uid) return false
    current = found.success
  }
})

/**
 * Returns a wrapper for the write that marks a pod before its deletion: if the write is forbidden, that is logged once a term and otherwise ignored,
 * because API servers before 1.25 do not grant the node controllers that right.
 */
export const marker = (): (<A, R>(
  markNotReady: Effect.Effect<A, ApiError.ApiError, R>
) => Effect.Effect<void, ApiError.ApiError, R>) => {
  let isLogged = false
  return (markNotReady) =>
    Effect.asVoid(markNotReady).pipe(
      Effect.catchIf(
        (error) => ApiError.hasReason(error, "Forbidden"),
        (error) => {
          if (isLogged) return Effect.void
          isLogged = true
          return Effect.logWarning(
            `Pods are deleted without a reason in their status, because writing it is forbidden: ${error.message}`
          )
        }
      )
    )
}
