/**
 * Generators for the properties of the DaemonSet plan: small sets, nodes with their eligibility, and up to three pods
 * on each. Times are seconds; every snapshot is taken at `now`.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import type * as Snapshot from "../../../../src/controllers/daemonset/snapshot.ts"
import type { DaemonSet, Pod } from "../../../../src/kube/resources.ts"
import * as Time from "../../../../src/kube/time.ts"

export const now = 100

export const hash = "new"

export const PodFacts = Schema.Struct({
  revision: Schema.Literals(["new", "new", "old", "old", "older", ""]),
  phase: Schema.Literals(["Pending", "Running", "Running", "Running", "Unknown", "Failed", "Succeeded"]),
  isGoing: Schema.Literals([false, false, false, true]),
  isBound: Schema.Literals([true, true, false]),
  /** Ready for this many seconds; undefined if not ready. */
  ready: Schema.UndefinedOr(Schema.Literals([0, 9, 10, 50])),
  born: Schema.Literals([1, 2, 3])
})

export type PodFacts = typeof PodFacts.Type

/** A pod whose node does not matter. */
export const podOf = (facts: PodFacts, name: string, node = "n"): Pod => ({
  metadata: {
    namespace: "ns",
    name,
    uid: name,
    creationTimestamp: Time.format(facts.born * 1000),
    ...(facts.revision === "" ? {} : { labels: { "controller-revision-hash": facts.revision } }),
    ...(facts.isGoing ? { deletionTimestamp: Time.format(now * 1000) } : {})
  },
  spec: { containers: [], ...(facts.isBound ? { nodeName: node } : { affinity: pinnedTo(node) }) },
  status: {
    phase: facts.phase,
    conditions: [
      facts.ready === undefined
        ? { type: "Ready", status: "False", lastTransitionTime: Time.format(0) }
        : { type: "Ready", status: "True", lastTransitionTime: Time.format((now - facts.ready) * 1000) }
    ]
  }
})

const pinnedTo = (node: string) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] }]
    }
  }
})

export const SetFacts = Schema.Struct({
  minReady: Schema.Literals([0, 0, 10]),
  strategy: Schema.Literals(["none", "OnDelete", "RollingUpdate"]),
  maxSurge: Schema.UndefinedOr(Schema.Literals([0, 1, 2, "0%", "1%", "34%", "50%", "100%"])),
  maxUnavailable: Schema.UndefinedOr(Schema.Literals([0, 1, 2, 3, "0%", "1%", "34%", "67%", "100%"]))
})

export type SetFacts = typeof SetFacts.Type

const defined = <A>(value: A | undefined, of: (value: A) => object): object => (value === undefined ? {} : of(value))

export const setOf = ({ maxSurge, maxUnavailable, minReady, strategy }: SetFacts): DaemonSet => ({
  metadata: { name: "log", namespace: "ns", uid: "uid-log", generation: 7 },
  spec: {
    selector: { matchLabels: { app: "log" } },
    template: {},
    ...(minReady === 0 ? {} : { minReadySeconds: minReady }),
    ...(strategy === "none"
      ? {}
      : {
          updateStrategy: {
            type: strategy,
            rollingUpdate: {
              ...defined(maxSurge, (value) => ({ maxSurge: value })),
              ...defined(maxUnavailable, (value) => ({ maxUnavailable: value }))
            }
          }
        })
  }
})

export const PlaceFacts = Schema.Struct({
  /** `gone`: a node that only its pods name. */
  verdict: Schema.Literals(["welcome", "welcome", "welcome", "endured", "unwanted", "gone"]),
  pods: Schema.Array(PodFacts).check(Schema.isMaxLength(3)),
  /** The backoff of a failed pod there, in milliseconds. */
  wait: Schema.Literals([0, 0, 700, 2000])
})

export type PlaceFacts = typeof PlaceFacts.Type

export const SnapshotFacts = Schema.Struct({
  set: SetFacts,
  places: Schema.Array(PlaceFacts).check(Schema.isMaxLength(5))
})

export type SnapshotFacts = typeof SnapshotFacts.Type

/** Snapshots of every kind. */
export const snapshots = Arbitrary.schema(SnapshotFacts)

const Living = Schema.Struct({
  revision: Schema.Literals(["new", "old"]),
  phase: Schema.Literal("Running"),
  isGoing: Schema.Literal(false),
  isBound: Schema.Literal(true),
  ready: Schema.UndefinedOr(Schema.Literal(50)),
  born: Schema.Literals([1, 2])
})

/** Snapshots during an update with a surge that affects most nodes. */
export const surges = Arbitrary.schema(
  Schema.Struct({
    set: Schema.Struct({
      minReady: Schema.Literals([0, 10]),
      strategy: Schema.Literal("RollingUpdate"),
      maxSurge: Schema.Literals([1, 2, "50%"]),
      maxUnavailable: Schema.UndefinedOr(Schema.Literals([0, 1]))
    }),
    places: Schema.Array(
      Schema.Struct({
        verdict: Schema.Literals(["welcome", "welcome", "endured"]),
        pods: Schema.Array(Living).check(Schema.isMinLength(1), Schema.isMaxLength(2)),
        wait: Schema.Literal(0)
      })
    ).check(Schema.isMinLength(2), Schema.isMaxLength(6))
  })
)

/** Bound pods first, then the oldest, then by name; without terminating terminal pods. */
export const inOrder = (pods: ReadonlyArray<PodFacts>): ReadonlyArray<PodFacts> =>
  pods
    .filter(({ isGoing, phase }) => !(isGoing && (phase === "Failed" || phase === "Succeeded")))
    .toSorted((a, b) => Number(b.isBound) - Number(a.isBound) || a.born - b.born)

export const nameOf = (i: number): string => `n${i}`

export const snapshotOf = ({ places, set }: SnapshotFacts): Snapshot.Snapshot => ({
  set: setOf(set),
  hash,
  now: now * 1000,
  desired: places.filter(({ verdict }) => verdict === "welcome").length,
  places: places.map(({ pods, verdict }, i) => ({
    name: nameOf(i),
    exists: verdict !== "gone",
    shouldRun: verdict === "welcome",
    mayStay: verdict === "welcome" || verdict === "endured",
    pods: inOrder(pods).map((facts, j) => podOf(facts, `p${i}${j}`, nameOf(i)))
  }))
})

/** The expected value, from the facts of a pod. */
export const isAvailable = ({ minReady }: SetFacts, { ready }: PodFacts): boolean =>
  ready !== undefined && ready >= minReady

export const isRunning = ({ isGoing, phase }: PodFacts): boolean =>
  !isGoing && phase !== "Failed" && phase !== "Succeeded"

const count = (value: number | string, desired: number): number =>
  typeof value === "number" ? value : Math.ceil((desired * Number.parseInt(value)) / 100)

/** maxSurge and maxUnavailable, in nodes. */
export const boundsOf = ({ maxSurge, maxUnavailable, strategy }: SetFacts, desired: number) => {
  if (strategy === "OnDelete") return { surge: 0, unavailable: 0 }
  if (strategy === "none") return { surge: 0, unavailable: 1 }
  const surge = count(maxSurge ?? 0, desired)
  const unavailable = count(maxUnavailable ?? (surge === 0 ? 1 : 0), desired)
  return surge + unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable }
}
