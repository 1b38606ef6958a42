/** One pod on each node that should have one, and none elsewhere: spec E.5. The model asks of each pod by itself whether it goes. */
import * as Manage from "../../../../src/controllers/daemonset/plan/manage.ts"
import { law, prove } from "../../../support/laws.ts"
import {
  boundsOf,
  hash,
  inOrder,
  isAvailable,
  isRunning,
  lookOf,
  looks,
  nameOf,
  type LookFacts,
  type PlaceFacts,
  type PodFacts,
  type SetFacts
} from "./objects.ts"

type Module = typeof Manage

const waits = ({ places }: LookFacts) => {
  const byName = new Map(places.map(({ wait }, i) => [nameOf(i), wait]))
  return (node: string): number => byName.get(node) ?? 0
}

const surges = (set: SetFacts): boolean => boundsOf(set, 1).surge > 0

/** Why that pod goes; undefined if it stays. */
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

prove<Module>({
  path: "controllers/daemonset/plan/manage.ts",
  module: Manage,
  laws: [
    law("deletes just those that have no business there, and says why", looks, ({ decide }, facts) => {
      const expected = facts.places.flatMap((place, i) =>
        inOrder(place.pods).flatMap((_, j) => {
          const why = fate(facts.set, place, j)
          return why === undefined ? [] : `p${i}${j} ${why}`
        })
      )
      const { remove } = decide(lookOf(facts), waits(facts))
      return sorted(remove.map(({ pod, why }) => `${pod.metadata.name} ${why}`)) === sorted(expected)
    }),
    law("makes one where one is missing, and only there", looks, ({ decide }, facts) => {
      const expected = facts.places.flatMap((place, i) => (isMissing(facts.set, place) ? `${nameOf(i)} missing` : []))
      const { create } = decide(lookOf(facts), waits(facts))
      return sorted(create.map(({ node, why }) => `${node} ${why}`)) === sorted(expected)
    }),
    law("comes back for the first failed pod that waits", looks, ({ decide }, facts) => {
      const waiting = facts.places.filter(
        ({ pods, verdict, wait }) =>
          (verdict === "welcome" || verdict === "endured") &&
          wait > 0 &&
          pods.some(({ isGoing, phase }) => phase === "Failed" && !isGoing)
      )
      const first = waiting.length === 0 ? undefined : Math.min(...waiting.map(({ wait }) => wait))
      return decide(lookOf(facts), waits(facts)).wait === first
    }),
    law("once it is done, there is nothing more to do until something happens", looks, ({ decide }, facts) => {
      const look = lookOf(facts)
      const { create, remove } = decide(look, waits(facts))
      const gone = new Set(remove.map(({ pod }) => pod))
      const fresh = new Set(create.map(({ node }) => node))
      const places = look.places.map((place) => ({
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
      // The failed ones that were not replaced wait for longer now.
      const next = decide({ ...look, places }, () => 4000)
      const isEmptied = (name: string) => places.some((place) => place.name === name && place.pods.length === 0)
      return (
        next.remove.length === 0 &&
        next.create.every(({ node }) => isEmptied(node) || (surges(facts.set) && !fresh.has(node)))
      )
    })
  ],
  mutants: [
    { title: "pods stay where they may not", find: "if (!place.mayStay) {", replace: "if (false) {" },
    {
      title: "whoever is on its way out is told again",
      find: "!Look.isGoing(pod) && (exists",
      replace: "(exists"
    },
    {
      title: "pods that ran on a node that is gone are deleted",
      find: "(exists || !Pods.isBound(pod))",
      replace: "true"
    },
    { title: "pods stay where nobody is", find: "(exists || !Pods.isBound(pod))", replace: "exists" },
    { title: "one where none should be", find: "if (place.shouldRun) create", replace: "if (place.mayStay) create" },
    {
      title: "all failed pods of a node at once",
      find: 'if (ended.some(({ why }) => why === "failed")) continue',
      replace: ""
    },
    { title: "failed pods do not wait", find: "if (held === 0) ended", replace: "if (held >= 0) ended" },
    { title: "the last one to wait for", find: "held < soonest", replace: "held > soonest" },
    { title: "the youngest stays", find: "running.slice(1)", replace: "running.slice(0, -1)" },
    {
      title: "with a surge, whoever is on its way out keeps its place",
      find: "else if (running.length === 0 && place.shouldRun)",
      replace: "else if (place.pods.length === 0 && place.shouldRun)"
    },
    {
      title: "without a surge, whoever is on its way out keeps no place",
      find: "if (place.pods.length === 0) {",
      replace: "if (place.pods.every(Look.isGoing)) {"
    },
    { title: "being ready is enough", find: "Look.isAvailable(look, newest)", replace: "PodFacts.isReady(newest)" },
    { title: "old pods that do not work stay", find: "!PodFacts.isReady(oldest) || ", replace: "" },
    { title: "the new pods are the old ones", find: "!isNew(pod))", replace: "isNew(pod))" },
    { title: "further old ones stay", find: "[...otherNew, ...otherOld]", replace: "otherNew" },
    { title: "further new ones stay", find: "[...otherNew, ...otherOld]", replace: "otherOld" }
  ]
})
