import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Ranking from "../../../../src/controllers/shared/workload/ranking.ts"
import type { Pod } from "../../../../src/kube/resources.ts"
import * as Time from "../../../../src/kube/time.ts"
import { checkProperty } from "../../../support/property.ts"
import { runs } from "../../../support/runs.ts"

const Seconds = Schema.Literals([1, 2, 3, 900, 1000, 1600, 1990, 2000, 2010])

/** Texts that are no int32 in the spelling that is accepted. */
const notCosts = ["+1", "008", "x", "-", "2147483648", "-2147483649", "1e3"] as const

/** The facts that the rules depend on; the uid follows from the index in the list. */
const Facts = Schema.Struct({
  node: Schema.Literals(["", "n1", "n2"]),
  phase: Schema.Literals(["Pending", "Unknown", "Running"]),
  ready: Schema.Literals(["yes", "no", "unsaid"]),
  /** Undefined: the ready time is unknown. */
  since: Schema.UndefinedOr(Seconds),
  cost: Schema.Literals(["", "5", "12", "0", "-2", "-3", "-30", "-2147483648", ...notCosts]),
  restarts: Schema.Literals([0, 1, 2]),
  sidecarRestarts: Schema.Literals([0, 1]),
  created: Seconds
})

type Facts = typeof Facts.Type

const now = 2000 * 1000

const podOf = (facts: Facts, index: number): Pod => ({
  metadata: {
    name: `pod-${index}`,
    uid: String.fromCodePoint(97 + ((index * 7) % 10)),
    creationTimestamp: Time.format(facts.created * 1000),
    ...(facts.cost === "" ? {} : { annotations: { [Ranking.deletionCost]: facts.cost } })
  },
  spec: {
    containers: [],
    initContainers: [{ name: "sidecar", restartPolicy: "Always" }, { name: "init" }],
    ...(facts.node === "" ? {} : { nodeName: facts.node })
  },
  status: {
    phase: facts.phase,
    containerStatuses: [status("main", facts.restarts), status("other", 0)],
    initContainerStatuses: [status("sidecar", facts.sidecarRestarts), status("init", 9)],
    conditions:
      facts.ready === "unsaid"
        ? []
        : [
            {
              type: "Ready",
              status: facts.ready === "yes" ? "True" : "False",
              ...(facts.since === undefined ? {} : { lastTransitionTime: Time.format(facts.since * 1000) })
            }
          ]
  }
})

const status = (name: string, restartCount: number) => ({ name, restartCount, image: "", imageID: "", ready: true })

/** One of the eight rules: negative if the first pod is deleted first. */
type Rule = (a: Facts, b: Facts, uids: readonly [string, string], colocated: (node: string) => number) => number

const lower =
  (of: (facts: Facts) => number): Rule =>
  (a, b) =>
    of(a) - of(b)

const costOf = (text: string): number => (notCosts.some((one) => one === text) ? 0 : Number(text))

/** How many binary digits an age in nanoseconds has. */
const digits = (seconds: number): number => (seconds <= 0 ? 0 : (BigInt(seconds) * 1_000_000_000n).toString(2).length)

const younger =
  (time: (facts: Facts) => number | undefined): Rule =>
  (a, b, [x, y]) => {
    const s = time(a)
    const t = time(b)
    if (s === t) return 0
    if (s === undefined) return -1
    if (t === undefined) return 1
    return digits(2000 - s) - digits(2000 - t) || (x < y ? -1 : 1)
  }

const isReady = (facts: Facts) => facts.ready === "yes"

/** Rules 1 to 5, which order any number of pods, and 6 to 8, which order two. */
const total: ReadonlyArray<Rule> = [
  lower((facts) => (facts.node === "" ? 0 : 1)),
  lower((facts) => ["Pending", "Unknown", "Running"].indexOf(facts.phase)),
  lower((facts) => (isReady(facts) ? 1 : 0)),
  lower((facts) => costOf(facts.cost)),
  (a, b, _, colocated) => colocated(b.node) - colocated(a.node)
]

const pairwise: ReadonlyArray<Rule> = [
  (a, b, uids, colocated) => (isReady(a) && isReady(b) ? younger((facts) => facts.since)(a, b, uids, colocated) : 0),
  lower((facts) => -facts.restarts),
  lower((facts) => -facts.sidecarRestarts),
  younger((facts) => facts.created)
]

const decide = (
  rules: ReadonlyArray<Rule>,
  pods: ReadonlyArray<Facts>,
  i: number,
  j: number,
  others: ReadonlyArray<Facts> = []
): number => {
  const colocated = (node: string) => [...pods, ...others].filter((facts) => facts.node === node).length
  const uid = (index: number) => podOf(facts(index), index).metadata.uid ?? ""
  const facts = (index: number): Facts => {
    const found = pods[index]
    if (found === undefined) throw new Error(`no pod ${index}`)
    return found
  }
  for (const rule of rules) {
    const verdict = rule(facts(i), facts(j), [uid(i), uid(j)], colocated)
    if (verdict !== 0) return verdict
  }
  return 0
}

const indexOf = (pod: Pod): number => Number(pod.metadata.name.slice(4))

interface Pair {
  readonly pair: readonly [Facts, Facts]
  /** Further pods that count for colocation. */
  readonly others: ReadonlyArray<Facts>
}

/** Of two pods, in either order, the one is deleted that the rules select. */
const pairHolds = ({ others, pair }: Pair): boolean => {
  const [a, b] = [podOf(pair[0], 0), podOf(pair[1], 1)]
  const verdict = decide([...total, ...pairwise], pair, 0, 1, others)
  const related = [a, b, ...others.map((facts, i) => podOf(facts, i + 2))]
  const first = (pods: ReadonlyArray<Pod>) => Ranking.victims(pods, 1, () => related, now).map(indexOf)
  if (verdict === 0) return first([a, b]).length === 1
  const expected = verdict < 0 ? 0 : 1
  return first([a, b])[0] === expected && first([b, a])[0] === expected
}

/** The requested number of pods is deleted, each once, and by the first five rules none that stays is to be deleted before them. */
const crowdHolds = (facts: ReadonlyArray<Facts>, count: number): boolean => {
  const pods = facts.map(podOf)
  const victims = Ranking.victims(pods, count, () => pods, now).map(indexOf)
  const survivors = pods.map(indexOf).filter((index) => !victims.includes(index))
  return (
    victims.length === Math.min(count, pods.length) &&
    new Set(victims).size === victims.length &&
    victims.every((victim) => survivors.every((survivor) => decide(total, facts, victim, survivor) <= 0))
  )
}

const facts = Arbitrary.schema(Facts)

const exactly =
  (time: (facts: Facts) => number | undefined): Rule =>
  (a, b) =>
    (time(b) ?? Infinity) === (time(a) ?? Infinity) ? 0 : (time(b) ?? Infinity) - (time(a) ?? Infinity)

/** The rules for the pods of a Job, without cost and colocation and with exact times; they order any number of pods. */
const ofJobs: ReadonlyArray<Rule> = [
  ...total.slice(0, 3),
  (a, b, uids, colocated) => (isReady(a) && isReady(b) ? exactly((facts) => facts.since)(a, b, uids, colocated) : 0),
  lower((facts) => -facts.restarts),
  lower((facts) => -facts.sidecarRestarts),
  exactly((facts) => facts.created)
]

/** No pod is deleted before one that the rules delete first. */
const jobHolds = (pods: ReadonlyArray<Facts>): boolean => {
  const order = Ranking.byDeletionOrder(pods.map(podOf)).map(indexOf)
  return (
    new Set(order).size === pods.length &&
    order.every((first, at) => order.slice(at + 1).every((later) => decide(ofJobs, pods, first, later) <= 0))
  )
}

describe("ranking", () => {
  checkProperty(
    "orders two pods by the eight rules",
    Arbitrary.all({ pair: Arbitrary.all([facts, facts]), others: Arbitrary.array(facts, { maxLength: 2 }) }),
    pairHolds,
    { runs: runs(2000) }
  )

  checkProperty(
    "returns the requested number of pods, in deletion order",
    Arbitrary.all({
      pods: Arbitrary.array(facts, { maxLength: 8 }),
      count: Arbitrary.schema(Schema.Literals([0, 1, 2, 3, 8, 9]))
    }),
    ({ count, pods }) => crowdHolds(pods, count)
  )

  checkProperty("orders the pods of a Job with exact ages", Arbitrary.array(facts, { maxLength: 6 }), jobHolds)

  const plain: Facts = {
    node: "n1",
    phase: "Running",
    ready: "yes",
    since: 1000,
    cost: "",
    restarts: 0,
    sidecarRestarts: 0,
    created: 1000
  }

  it("counts only active pods for colocation, and reads them only if a pod stays", () => {
    const [a, b] = [podOf(plain, 0), podOf({ ...plain, node: "n2" }, 1)]
    const terminating = (pod: Pod): Pod => ({
      ...pod,
      metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" }
    })
    const victim = (...others: ReadonlyArray<Pod>) => Ranking.victims([a, b], 1, () => [a, b, ...others], now)
    assert.deepStrictEqual(victim(), [a])
    assert.deepStrictEqual(victim(podOf({ ...plain, node: "n2" }, 2)), [b])
    assert.deepStrictEqual(victim(terminating(b), terminating(b)), [a])
    assert.deepStrictEqual(
      Ranking.victims([a, b], 2, () => assert.fail("reads the related pods"), now),
      [a, b]
    )
  })

  it("puts a ready pod without a ready time before one whose ready time is in the future", () => {
    const [future, unknown] = [podOf({ ...plain, since: 2010 }, 0), podOf({ ...plain, since: undefined }, 1)]
    for (const pods of [
      [future, unknown],
      [unknown, future]
    ])
      assert.deepStrictEqual(
        Ranking.victims(pods, 1, () => pods, now),
        [unknown]
      )
  })

  it("compares ages by their power of two in nanoseconds, and equal ones by uid", () => {
    const ages: ReadonlyArray<readonly [first: number, second: number, victim: number]> = [
      [1000, 10, 1],
      // Both lie between 2 ** 38 and 2 ** 39 nanoseconds.
      [510, 490, 0],
      [490, 510, 0],
      // Negative ages are those of times in the future; they and zero are equal.
      [1000, -10, 1],
      [-10, 0, 0],
      [0, -10, 0],
      [1000, 0, 1]
    ]
    for (const [first, second, victim] of ages) {
      const pods = [first, second].map((age, i) => podOf({ ...plain, created: (2000 - age) as Facts["created"] }, i))
      for (const given of [pods, pods.toReversed()])
        assert.deepStrictEqual(Ranking.victims(given, 1, () => pods, now).map(indexOf), [victim], `${first}, ${second}`)
    }
  })

  it("a pod without spec and status counts as pending and without a node", () => {
    const bare: Pod = { metadata: { name: "bare" } }
    const pods = [podOf({ ...plain, phase: "Pending", ready: "no" }, 0), bare]
    assert.deepStrictEqual(
      Ranking.victims(pods, 1, () => pods, now),
      [bare]
    )
    assert.deepStrictEqual(Ranking.byDeletionOrder(pods)[0], bare)
    const withoutStatuses: Pod = { metadata: { name: "a" }, spec: { containers: [] } }
    const withSidecar = {
      ...withoutStatuses,
      spec: { containers: [], initContainers: podOf(plain, 0).spec?.initContainers }
    }
    for (const status of [undefined, {}]) {
      const others = [withoutStatuses, { ...withSidecar, status }] as ReadonlyArray<Pod>
      assert.deepStrictEqual(Ranking.byDeletionOrder(others), others)
    }
  })

  it("reads the cost from the annotation of Kubernetes", () => {
    assert.strictEqual(Ranking.deletionCost, "controller.kubernetes.io/pod-deletion-cost")
  })
})
