/**
 * Which keys a watch event enqueues. A pod enqueues the budgets that select it, or selected it before, if the change
 * affects their counts; a controller enqueues the budgets of its pods when its size changes. The controller's own
 * status writes are recognised by their resourceVersion and enqueue nothing. Triggers run after the stores have
 * changed. Source: pkg/controller/disruption: addPod, updatePod, addDB, updateDB.
 */
import * as Equality from "../../kube/equality.ts"
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Owner from "../../kube/Owner.ts"
import * as PodState from "../../kube/pod.ts"
import type { Deployment, Pod, PodDisruptionBudget, ReplicaSet } from "../../kube/resources.ts"
import type { Delta } from "../../streams/store/Store.ts"
import type { Readable } from "../../streams/store/Store.ts"
import type * as Trigger from "../../streams/store/trigger.ts"
import * as Indexes from "../shared/workload/indexes.ts"
import type { Coverage } from "./coverage.ts"
import * as Stale from "./stale.ts"

/** State of one leadership term. */
export interface State {
  readonly coverage: Coverage
  /** The resourceVersion of the last status that this process wrote, by budget. */
  readonly written: Map<Key.Key, string>
}

const none: ReadonlyArray<Key.Key> = []

/**
 * What a key of the queue names: a budget, a pod that several budgets select, or a pod whose DisruptionTarget condition
 * may become stale.
 */
type Subject =
  | { readonly _tag: "Budget"; readonly key: Key.Key }
  | { readonly _tag: "Shared"; readonly key: Key.Key }
  | { readonly _tag: "Stale"; readonly key: Key.Key }

/** Suffixes that no object name contains. */
const marks = { Shared: "#shared", Stale: "#stale" } as const

const sharedKey = (pod: Pod): Key.Key => Key.of(pod) + marks.Shared

const staleKey = (pod: Pod): Key.Key => Key.of(pod) + marks.Stale

export const subjectOf = (key: Key.Key): Subject => {
  const at = key.indexOf("#")
  if (at === -1) return { _tag: "Budget", key }
  return { _tag: key.slice(at) === marks.Stale ? "Stale" : "Shared", key: key.slice(0, at) }
}

export const budget =
  (pods: Readable<Pod>, { coverage, written }: State): Trigger.Trigger<PodDisruptionBudget> =>
  ({ _tag, object }) => {
    const key = Key.of(object)
    if (_tag === "Deleted") {
      coverage.delete(key)
      written.delete(key)
      return none
    }
    coverage.set(object, pods)
    return written.get(key) === object.metadata.resourceVersion ? none : [key]
  }

export const pod =
  ({ coverage }: State): Trigger.Trigger<Pod> =>
  (delta) => {
    const { object } = delta
    if (delta._tag === "Updated" && delta.previous === object) return none
    const concerned = budgetsOf(coverage, delta)
    const isShared = concerned.length > 1 && delta._tag !== "Deleted" && coverage.of(object).length > 1
    const isStale = delta._tag !== "Deleted" && Stale.due(object) !== undefined
    if (!isShared && !isStale) return concerned
    return [...concerned, ...(isShared ? [sharedKey(object)] : none), ...(isStale ? [staleKey(object)] : none)]
  }

const budgetsOf = (coverage: Coverage, delta: Delta<Pod>): ReadonlyArray<Key.Key> => {
  const { object } = delta
  if (delta._tag === "Updated") {
    const { previous } = delta
    const isAlike = countsAlike(previous, object)
    if (Equality.isSameMap(previous.metadata.labels, object.metadata.labels))
      return isAlike ? none : coverage.of(object)
    const [before, after] = [coverage.of(previous), coverage.of(object)]
    coverage.remove(previous)
    coverage.add(object)
    const lost = before.filter((key) => !after.includes(key))
    return isAlike ? [...lost, ...after.filter((key) => !before.includes(key))] : [...lost, ...after]
  }
  if (delta._tag === "Deleted") coverage.remove(object)
  else coverage.add(object)
  return coverage.of(object)
}

/** Whether a budget that selects both counts them alike. */
const countsAlike = (a: Pod, b: Pod): boolean =>
  a.metadata.uid === b.metadata.uid &&
  (a.metadata.deletionTimestamp === undefined) === (b.metadata.deletionTimestamp === undefined) &&
  PodState.isReady(a) === PodState.isReady(b) &&
  Owner.controllerOf(a)?.uid === Owner.controllerOf(b)?.uid

type Sizeable = KubeObject & { readonly spec?: { readonly replicas?: number } | undefined }

const hasNewSize = <A extends Sizeable>(delta: Delta<A>): boolean =>
  delta._tag === "Updated" && delta.previous.spec?.replicas !== delta.object.spec?.replicas

/** Controllers that own pods directly. */
export const controller =
  (pods: Readable<Pod>, { coverage }: State): Trigger.Trigger<Sizeable> =>
  (delta) =>
    hasNewSize(delta) ? overPods(pods, coverage, delta.object) : none

/** Deployments own pods through ReplicaSets. */
export const deployment =
  (sets: Readable<ReplicaSet>, pods: Readable<Pod>, { coverage }: State): Trigger.Trigger<Deployment> =>
  (delta) =>
    hasNewSize(delta)
      ? sets
          .byIndex(Indexes.byController.name, delta.object.metadata.uid ?? "")
          .flatMap((set) => overPods(pods, coverage, set))
      : none

const overPods = (pods: Readable<Pod>, coverage: Coverage, { metadata }: KubeObject): ReadonlyArray<Key.Key> => {
  const keys = new Set<Key.Key>()
  for (const one of pods.byIndex(Indexes.byController.name, metadata.uid ?? "")) {
    for (const key of coverage.of(one)) keys.add(key)
  }
  return [...keys]
}
