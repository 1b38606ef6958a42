/**
 * Which replicas a rolling update replaces: from the highest place down to the partition, as many at a time as may be unavailable. The partition
 * counts places, not ordinals. Source: pkg/controller/statefulset: updateStatefulSetAfterInvariantEstablished; feature gate
 * MaxUnavailableStatefulSet.
 */
import * as Identity from "../identity.ts"
import * as Spec from "../spec.ts"
import * as Snapshot from "../snapshot.ts"
import type * as Step from "./step.ts"

type Replaced = Extract<Step.Action, { readonly _tag: "Delete" }>

export const choose = (snapshot: Snapshot.Snapshot, atOnce: number): ReadonlyArray<Replaced> => {
  if (!Spec.isRolling(snapshot.set)) return []
  return atOnce === 1 ? next(snapshot) : several(snapshot, atOnce)
}

/** The places from the partition on, highest first. */
const reached = ({ places, set }: Snapshot.Snapshot): ReadonlyArray<Snapshot.Place> =>
  places.slice(Spec.partition(set) ?? 0).toReversed()

const isOutdated = ({ update }: Snapshot.Snapshot, { pod }: Snapshot.Place): boolean =>
  pod !== undefined && !Identity.isTerminating(pod) && Identity.revisionOf(pod) !== update.name

const replaced = ({ ordinal, pod }: Snapshot.Place): ReadonlyArray<Replaced> =>
  pod === undefined ? [] : [{ _tag: "Delete", ordinal, pod, why: "outdated" }]

/** The highest outdated replica, available or not, unless an updated one above it is not available yet. */
const next = (snapshot: Snapshot.Snapshot): ReadonlyArray<Replaced> => {
  for (const place of reached(snapshot)) {
    if (isOutdated(snapshot, place)) return replaced(place)
    if (Snapshot.isUnavailable(snapshot, place.pod)) return []
  }
  return []
}

/** As many available replicas as `atOnce` allows, and the unavailable ones above the last of them, which do not make more replicas unavailable. */
const several = (snapshot: Snapshot.Snapshot, atOnce: number): ReadonlyArray<Replaced> => {
  let left = atOnce - Snapshot.unavailable(snapshot)
  const chosen: Array<Replaced> = []
  for (const place of reached(snapshot)) {
    if (!isOutdated(snapshot, place)) continue
    if (!Snapshot.isUnavailable(snapshot, place.pod) && left-- <= 0) break
    chosen.push(...replaced(place))
  }
  return chosen
}
