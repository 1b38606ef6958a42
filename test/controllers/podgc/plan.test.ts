/** Which pods podgc deletes, and for which reason, compared with each rule by itself. Source: pkg/controller/podgc: gc. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Plan from "../../../src/controllers/podgc/plan.ts"
import type { Node, Pod } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { runs } from "../../support/runs.ts"

const Facts = Schema.Struct({
  phase: Schema.Literals(["Pending", "Running", "Succeeded", "Failed", "Evicted"]),
  node: Schema.Literals(["", "well", "down", "tainted", "out", "lost", "missing"]),
  isDeleted: Schema.Boolean,
  hasFinalizer: Schema.Boolean,
  /** Seconds since 1970. */
  created: Schema.Literals([0, 1, 2])
})

type Facts = typeof Facts.Type

const snapshots = Arbitrary.all({
  pods: Arbitrary.array(Arbitrary.schema(Facts), { maxLength: 12 }),
  threshold: Arbitrary.schema(Schema.Literals([0, 1, 2, 3, 100]))
})

type Snapshot = { readonly pods: ReadonlyArray<Facts>; readonly threshold: number }

const podOf = ({ created, hasFinalizer, isDeleted, node, phase }: Facts, index: number): Pod => ({
  metadata: {
    name: `pod-${index}`,
    namespace: "default",
    uid: `u${index}`,
    generation: 3,
    creationTimestamp: Time.format(created * 1000),
    ...(isDeleted ? { deletionTimestamp: Time.format(5000), deletionGracePeriodSeconds: 0 } : {}),
    ...(hasFinalizer ? { finalizers: ["example.test/held"] } : {})
  },
  spec: { containers: [], ...(node === "" ? {} : { nodeName: node }) },
  status: phase === "Evicted" ? { phase: "Failed", reason: "Evicted" } : { phase }
})

const nodeOf = (name: string, isReady: boolean, isTainted: boolean): Node => ({
  metadata: { name },
  spec: isTainted ? { taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }] } : {},
  status: { conditions: [{ type: "Ready", status: isReady ? "True" : "Unknown" }] }
})

const nodes = [
  nodeOf("well", true, false),
  nodeOf("down", false, false),
  nodeOf("tainted", true, true),
  nodeOf("out", false, true)
]

const isEnded = ({ phase }: Facts): boolean => phase !== "Pending" && phase !== "Running"

/** Whether the first of two ended pods is deleted first: evicted, older, lower name. */
const isDeletedBefore = (a: readonly [Facts, number], b: readonly [Facts, number]): boolean => {
  const [x, i] = a
  const [y, j] = b
  if ((x.phase === "Evicted") !== (y.phase === "Evicted")) return x.phase === "Evicted"
  if (x.created !== y.created) return x.created < y.created
  return `pod-${i}` < `pod-${j}`
}

/** The reasons to delete one pod, each evaluated by itself. */
const expected = ({ pods, threshold }: Snapshot, index: number): ReadonlyArray<Plan.Why> => {
  const facts = pods[index]
  if (facts === undefined || (isEnded(facts) && facts.isDeleted && facts.hasFinalizer)) return []
  const older = pods.filter((other, i) => isEnded(other) && isDeletedBefore([other, i], [facts, index])).length
  const excess = threshold > 0 ? pods.filter(isEnded).length - threshold : 0
  const rules: ReadonlyArray<readonly [Plan.Why, boolean]> = [
    ["terminated", isEnded(facts) && older < excess],
    ["terminating-out-of-service", facts.isDeleted && facts.node === "out"],
    ["orphaned", facts.node === "lost"],
    ["terminating-unscheduled", facts.isDeleted && facts.node === ""]
  ]
  return rules.filter(([, holds]) => holds).map(([why]) => why)
}

const check = (snapshot: Snapshot): void => {
  const pods = snapshot.pods.map(podOf)
  const removals = Plan.plan({ pods, nodes, lost: new Set(["lost"]), threshold: snapshot.threshold })
  assert.strictEqual(new Set(removals.map(({ pod }) => pod)).size, removals.length, "a pod is removed twice")
  pods.forEach((pod, index) => {
    const found = removals.filter((one) => one.pod === pod).map(({ why }) => why)
    assert.deepStrictEqual(found, expected(snapshot, index).slice(0, 1), pod.metadata.name)
  })
  const ended = removals.filter(({ why }) => why === "terminated").map(({ pod }) => pods.indexOf(pod))
  for (const [i, index] of ended.entries()) {
    const next = ended[i + 1]
    const [a, b] = [snapshot.pods[index], next === undefined ? undefined : snapshot.pods[next]]
    if (next !== undefined && a !== undefined && b !== undefined)
      assert.isTrue(isDeletedBefore([a, index], [b, next]), "order")
  }
  for (const removal of removals) {
    const verdict = Plan.verdict(removal, 9000)
    const facts = snapshot.pods[pods.indexOf(removal.pod)]
    const condition = {
      type: "DisruptionTarget",
      status: "True",
      reason: "DeletionByPodGC",
      message: "PodGC: node no longer exists",
      lastTransitionTime: "1970-01-01T00:00:09Z",
      observedGeneration: 3
    }
    const status = { phase: "Failed", observedGeneration: 3 }
    assert.deepStrictEqual(
      verdict,
      facts === undefined || isEnded(facts)
        ? undefined
        : {
            type: "strategic",
            body: {
              metadata: { uid: removal.pod.metadata.uid },
              status: facts.node === "lost" ? { ...status, conditions: [condition] } : status
            }
          }
    )
  }
  assert.deepStrictEqual(
    Plan.missingNodes(pods, nodes),
    new Set(snapshot.pods.map(({ node }) => node).filter((node) => node === "lost" || node === "missing"))
  )
}

describe("podgc plan", () => {
  it.effect.prop(
    "deletes exactly the pods that have a reason, for the first one, in order, and writes their status before",
    { snapshot: snapshots },
    ({ snapshot }) => Effect.sync(() => check(snapshot)),
    { arbitrary: { runs: runs(300) } }
  )

  it("keeps the transition time of a condition that is True already", () => {
    const pod = podOf({ phase: "Running", node: "lost", isDeleted: false, hasFinalizer: false, created: 0 }, 0)
    const since = { type: "DisruptionTarget", status: "True", lastTransitionTime: "1970-01-01T00:00:01Z" }
    const before = { ...pod, status: { ...pod.status, conditions: [since] } }
    const timeOf = (one: Pod) =>
      (Plan.verdict({ pod: one, why: "orphaned" }, 9000)?.body as { status: Pod["status"] }).status?.conditions?.[0]
        ?.lastTransitionTime
    assert.strictEqual(timeOf(before), since.lastTransitionTime)
    assert.strictEqual(timeOf(pod), "1970-01-01T00:00:09Z")
  })

  it("writes no observedGeneration for a pod without generation", () => {
    const pod = podOf({ phase: "Running", node: "lost", isDeleted: false, hasFinalizer: false, created: 0 }, 0)
    const { generation: _, ...metadata } = pod.metadata
    const body = JSON.stringify(Plan.verdict({ pod: { ...pod, metadata }, why: "orphaned" }, 9000))
    assert.notInclude(body, "observedGeneration")
  })
})
