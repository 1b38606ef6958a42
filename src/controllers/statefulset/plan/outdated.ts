/**
 * Which replicas are replaced by an update: from the highest place down to the partition, as many at a time as may be unavailable. The partition
 * counts places, not ordinals. Source: spec G.8.3, feature gate MaxUnavailableStatefulSet.
 */
import * as Identity from "../identity.ts"
import * as Spec from "../spec.ts"
import * as Look from "./snapshot.ts"
import type * as Step from "./step.ts"

type Replaced = Extract<Step.Deed, { readonly _tag: "Delete" }>

export const choose = (look: Look.Look, atOnce: number): ReadonlyArray<Replaced> => {
  if (!Spec.isRolling(look.set)) return []
  return atOnce === 1 ? next(look) : several(look, atOnce)
}

/** Those that an update reaches, highest place first. */
const reached = ({ places, set }: Look.Look): ReadonlyArray<Look.Place> =>
  places.slice(Spec.partition(set) ?? 0).toReversed()

const isOutdated = ({ update }: Look.Look, { pod }: Look.Place): boolean =>
  pod !== undefined && !Identity.isGoing(pod) && Identity.revisionOf(pod) !== update.name

const replaced = ({ ordinal, pod }: Look.Place): ReadonlyArray<Replaced> =>
  pod === undefined ? [] : [{ _tag: "Delete", ordinal, pod, why: "outdated" }]

/** The first old one, well or not, unless one before it is not available yet. */
const next = (look: Look.Look): ReadonlyArray<Replaced> => {
  for (const place of reached(look)) {
    if (isOutdated(look, place)) return replaced(place)
    if (Look.isUnavailable(look, place.pod)) return []
  }
  return []
}

/** Of those that can be used so many that no more than allowed cannot; on the way down to them those that cannot be used anyway. */
const several = (look: Look.Look, atOnce: number): ReadonlyArray<Replaced> => {
  let left = atOnce - Look.unavailable(look)
  const chosen: Array<Replaced> = []
  for (const place of reached(look)) {
    if (!isOutdated(look, place)) continue
    if (!Look.isUnavailable(look, place.pod) && left-- <= 0) break
    chosen.push(...replaced(place))
  }
  return chosen
}
