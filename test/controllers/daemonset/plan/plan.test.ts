import { describe } from "@effect/vitest"
/**
 * One pod on each node that should have one, and none elsewhere. The oracle decides for each pod on its own whether it
 * is deleted.
 */
import * as Plan from "../../../../src/controllers/daemonset/plan/plan.ts"
import { checkProperty } from "../../../support/property.ts"
import {
  boundsOf,
  hash,
  inOrder,
  isAvailable,
  isRunning,
  snapshotOf,
  snapshots,
  nameOf,
  type SnapshotFacts,
  type PlaceFacts,
  type PodFacts,
  type SetFacts
} from "./objects.ts"
const waits = ({ places }: SnapshotFacts) => {
  const byName = new Map(places.map(({ wait }, i) => [nameOf(i), wait]))
  return (node: string): number => byName.get(node) ?? 0
}

const surges = (set: SetFacts): boolean => boundsOf(set, 1).surge > 0

/** Why the pod is deleted; undefined if it stays. */
const fate = (set: SetFacts, { pods, verdict, wait }: PlaceFacts, i: number): string | undefined => {
  const there = inOrder(pods)
  const pod = there[i] as PodFacts
  if (pod.isGoing) return undefined
  if (verdict === "gone") return pod.isBound ? undefined : "unwanted"
  if (verdict === "unwanted") return "unwanted"
  if (pod.phase === "Succeeded") return "succeeded"
  const isFailed = (one: PodFacts) => one.phase === "Failed" && !one.isGoing
  if (isFailed(pod)) return wait === 0 && there.findIndex(isFailed) === i ? "failed" : undefined
  const isAfter = (of: (one: PodFacts) => boolean) => there.findIndex((one) => isRunning(one) && of(one)) < i
  if (!surges(set)) return isAfter(() => true) ? "excess" : undefined
  const isNew = (one: PodFacts) => one.revision === hash
  if (isAfter((one) => isNew(one) === isNew(pod))) return "excess"
  const rival = there.find((one) => isRunning(one) && isNew(one))
  if (isNew(pod) || rival === undefined) return undefined
  return pod.ready === undefined || isAvailable(set, rival) ? "outdated" : undefined
}

const isMissing = (set: SetFacts, { pods, verdict }: PlaceFacts): boolean =>
  verdict === "welcome" && !inOrder(pods).some((pod) => !surges(set) || isRunning(pod))

const sorted = (lines: ReadonlyArray<string>): string => lines.toSorted().join()

describe("Plan", () => {
  checkProperty(
    "deletes exactly the pods that are in excess, terminal or on the wrong node, with the reason",
    snapshots,
    (facts) => {
      const expected = facts.places.flatMap((place, i) =>
        inOrder(place.pods).flatMap((_, j) => {
          const why = fate(facts.set, place, j)
          return why === undefined ? [] : `p${i}${j} ${why}`
        })
      )
      const { remove } = Plan.eachNode(snapshotOf(facts), waits(facts))
      return sorted(remove.map(({ pod, why }) => `${pod.metadata.name} ${why}`)) === sorted(expected)
    }
  )

  checkProperty("creates a pod where one is missing, and only there", snapshots, (facts) => {
    const expected = facts.places.flatMap((place, i) => (isMissing(facts.set, place) ? `${nameOf(i)} missing` : []))
    const { create } = Plan.eachNode(snapshotOf(facts), waits(facts))
    return sorted(create.map(({ node, why }) => `${node} ${why}`)) === sorted(expected)
  })

  checkProperty("returns the shortest backoff of a failed pod", snapshots, (facts) => {
    const waiting = facts.places.filter(
      ({ pods, verdict, wait }) =>
        (verdict === "welcome" || verdict === "endured") &&
        wait > 0 &&
        pods.some(({ isGoing, phase }) => phase === "Failed" && !isGoing)
    )
    const first = waiting.length === 0 ? undefined : Math.min(...waiting.map(({ wait }) => wait))
    return Plan.eachNode(snapshotOf(facts), waits(facts)).wait === first
  })

  checkProperty("is idempotent: after the step nothing is left to do", snapshots, (facts) => {
    const snapshot = snapshotOf(facts)
    const { create, remove } = Plan.eachNode(snapshot, waits(facts))
    const gone = new Set(remove.map(({ pod }) => pod))
    const fresh = new Set(create.map(({ node }) => node))
    const places = snapshot.places.map((place) => ({
      ...place,
      pods: [
        ...place.pods.map((pod) =>
          gone.has(pod) ? { ...pod, metadata: { ...pod.metadata, deletionTimestamp: "2000-01-01T00:00:00Z" } } : pod
        ),
        ...(fresh.has(place.name)
          ? [
              {
                metadata: { name: "fresh", labels: { "controller-revision-hash": hash } },
                status: { phase: "Pending" }
              }
            ]
          : [])
      ].filter(
        ({ metadata, status }) =>
          metadata.deletionTimestamp === undefined || (status?.phase !== "Failed" && status?.phase !== "Succeeded")
      )
    }))
    // Failed pods that were not replaced have a longer delay now.
    const next = Plan.eachNode({ ...snapshot, places }, () => 4000)
    const isEmptied = (name: string) => places.some((place) => place.name === name && place.pods.length === 0)
    return (
      next.remove.length === 0 &&
      next.create.every(({ node }) => isEmptied(node) || (surges(facts.set) && !fresh.has(node)))
    )
  })
})
