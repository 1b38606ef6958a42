import { describe } from "@effect/vitest"
/** A rolling update. The oracle counts nodes before and after; which of equal pods is deleted is not checked. */
import * as Rolling from "../../../../src/controllers/daemonset/plan/rolling.ts"
import { checkProperty } from "../../../support/property.ts"
import {
  boundsOf,
  hash,
  inOrder,
  isAvailable,
  snapshotOf,
  snapshots,
  nameOf,
  surges,
  type SnapshotFacts,
  type PlaceFacts,
  type PodFacts,
  type SetFacts
} from "./objects.ts"
/** The effect of an update on a node. */
type Kind =
  /** No available pod, or more pods than an update handles. */
  | "unavailable"
  /** Its only pod is new and available. */
  | "done"
  /** Its only pod is old, and available or not. */
  | "old"
  | "broken"

const living = ({ pods }: PlaceFacts): ReadonlyArray<PodFacts> => inOrder(pods).filter(({ isGoing }) => !isGoing)

const kindOf = (set: SetFacts, place: PlaceFacts): Kind | undefined => {
  if (place.verdict !== "welcome" && inOrder(place.pods).length === 0) return undefined
  const [only, ...others] = living(place)
  if (only === undefined || others.length > 0) return "unavailable"
  const works = isAvailable(set, only)
  return only.revision === hash ? (works ? "done" : "unavailable") : works ? "old" : "broken"
}

const desiredOf = ({ places }: SnapshotFacts): number => places.filter(({ verdict }) => verdict === "welcome").length

const placesOf = (facts: SnapshotFacts, ...kinds: ReadonlyArray<Kind>): ReadonlyArray<string> =>
  facts.places.flatMap((place, i) => (kinds.some((kind) => kind === kindOf(facts.set, place)) ? nameOf(i) : []))

const nodeOf = (pod: string): string => nameOf(Number(pod[1]))

const run = (facts: SnapshotFacts) => {
  const { create, remove } = Rolling.update(snapshotOf(facts))
  return {
    made: create.map(({ node }) => node),
    gone: remove.map(({ pod }) => pod.metadata.name),
    whys: [...create.map(({ why }): string => why), ...remove.map(({ why }): string => why)]
  }
}

const modeOf = (facts: SnapshotFacts) => boundsOf(facts.set, desiredOf(facts))

const isSurging = (facts: SnapshotFacts): boolean => facts.set.strategy !== "OnDelete" && modeOf(facts).surge > 0
const isReplacing = (facts: SnapshotFacts): boolean => facts.set.strategy !== "OnDelete" && modeOf(facts).surge === 0

const unique = (names: ReadonlyArray<string>): boolean => new Set(names).size === names.length

/** With a surge: the old and the new pod of a node, if there is at most one of each. */
const pairOf = (place: PlaceFacts) => {
  const olds = living(place).filter(({ revision }) => revision !== hash)
  const news = living(place).filter(({ revision }) => revision === hash)
  return olds.length > 1 || news.length > 1 ? undefined : { old: olds[0], updated: news[0] }
}

type Surge = "excess" | "empty" | "over" | "waits" | "urgent" | "candidate" | "useless" | "sunset"

const surgeOf = (set: SetFacts, place: PlaceFacts): Surge | undefined => {
  if (place.verdict !== "welcome" && inOrder(place.pods).length === 0) return undefined
  const pair = pairOf(place)
  if (pair === undefined) return "excess"
  const { old, updated } = pair
  if (old === undefined) return "empty"
  if (updated !== undefined) return isAvailable(set, updated) ? "over" : "waits"
  const works = isAvailable(set, old)
  if (place.verdict === "welcome") return works ? "candidate" : "urgent"
  return works ? "sunset" : "useless"
}

const surging = (facts: SnapshotFacts, ...kinds: ReadonlyArray<Surge>): ReadonlyArray<string> =>
  facts.places.flatMap((place, i) => (kinds.some((kind) => kind === surgeOf(facts.set, place)) ? nameOf(i) : []))

/** Nodes whose pod is available. */
const available = ({ places, set }: SnapshotFacts): number =>
  places.filter((place) => {
    const pair = pairOf(place)
    const worker = pair?.old ?? pair?.updated
    return worker !== undefined && isAvailable(set, worker)
  }).length

const isSubset = (some: ReadonlyArray<string>, all: ReadonlyArray<string>): boolean =>
  some.every((one) => all.includes(one))

describe("Rolling", () => {
  checkProperty("deletes nothing with the strategy OnDelete", snapshots, (facts) => {
    const { gone, made } = run(facts)
    return facts.set.strategy !== "OnDelete" || made.length + gone.length === 0
  })

  checkProperty(
    "deletes only old pods, each once, none that is terminating, and creates at most one per node",
    snapshots,
    (facts) => {
      const { gone, made, whys } = run(facts)
      const isOld = (name: string): boolean => {
        const pod = inOrder(facts.places[Number(name[1])]?.pods ?? [])[Number(name[2])]
        return pod !== undefined && !pod.isGoing && pod.revision !== hash
      }
      return (
        unique(gone) &&
        unique(made) &&
        gone.every(isOld) &&
        whys.join() === [...made.map(() => "surge"), ...gone.map(() => "outdated")].join()
      )
    }
  )

  checkProperty(
    "without a surge deletes all unavailable old pods, and as many available ones as maxUnavailable allows",
    snapshots,
    (facts) => {
      if (!isReplacing(facts)) return true
      const { gone, made } = run(facts)
      const nodes = gone.map(nodeOf)
      const [broken, old] = [placesOf(facts, "broken"), placesOf(facts, "old")]
      const without = placesOf(facts, "unavailable", "broken").length
      const room = Math.max(0, modeOf(facts).unavailable - without)
      return (
        made.length === 0 &&
        isSubset(nodes, [...broken, ...old]) &&
        isSubset(broken, nodes) &&
        nodes.length === broken.length + Math.min(room, old.length)
      )
    }
  )

  checkProperty(
    "leaves at most maxUnavailable nodes without an available pod, or as many as before",
    snapshots,
    (facts) => {
      if (!isReplacing(facts)) return true
      const { gone } = run(facts)
      const before = placesOf(facts, "unavailable", "broken")
      const after = new Set([...before, ...gone.map(nodeOf)])
      return after.size <= Math.max(before.length, modeOf(facts).unavailable)
    }
  )

  checkProperty(
    "with a surge creates a second pod on maxSurge nodes, and at once where the old pod is unavailable",
    surges,
    (facts) => {
      if (!isSurging(facts)) return true
      const { made } = run(facts)
      const [urgent, candidates] = [surging(facts, "urgent"), surging(facts, "candidate")]
      const room = Math.max(0, modeOf(facts).surge - surging(facts, "waits", "excess").length)
      return (
        isSubset(urgent, made) &&
        isSubset(made, [...urgent, ...candidates]) &&
        made.length === urgent.length + Math.min(room, candidates.length)
      )
    }
  )

  checkProperty(
    "with a surge deletes no available pod before its replacement is available, unless it is not needed",
    surges,
    (facts) => {
      if (!isSurging(facts)) return true
      const nodes = run(facts).gone.map(nodeOf)
      const [done, sunset] = [surging(facts, "over", "useless"), surging(facts, "sunset")]
      const spare = Math.max(0, available(facts) - desiredOf(facts))
      return (
        isSubset(done, nodes) &&
        isSubset(nodes, [...done, ...sunset]) &&
        nodes.length === done.length + Math.min(spare, sunset.length)
      )
    }
  )
})
