/** Evictions in a cluster whose ReplicaSets recreate their pods: which ones a budget allows, and when that changes. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ReplicaSetController from "../../../src/controllers/ReplicaSet.ts"
import { Pod, PodDisruptionBudget, ReplicaSet } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { ClusterTest, type Provides } from "../../../src/testing/ClusterTest.ts"
import * as Harness from "./harness.ts"

const { advance, budget, create, evict, patch, refusal, workload } = Harness

/** Three nodes, and both controllers. */
const cluster = <A, E>(test: Effect.Effect<A, E, Provides>) =>
  Effect.andThen(Harness.start(ReplicaSetController.make()), test).pipe(
    Effect.scoped,
    Effect.provide(ClusterTest.layer({ nodes: 3 }))
  )

/** Pods without a controller. */
const pods = (count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, i) => `pod-${i}`),
    (name) => create(Pod, name, { containers: Harness.containers }, { labels: Harness.labels })
  )

const replicaSet = (replicas: number, spec: object = {}, metadata: object = {}) =>
  create(
    ReplicaSet,
    "rs",
    workload(replicas, {
      template: { metadata: { labels: Harness.labels, ...metadata }, spec: { containers: Harness.containers, ...spec } }
    })
  )

/** One pod per node. */
const exclusive = { containers: [{ name: "main", image: "web:1", ports: [{ containerPort: 5555, hostPort: 5555 }] }] }

const isReady = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.conditions?.find(({ type }) => type === "Ready")?.status === "True"

const names = (filter: (pod: Pod) => boolean) =>
  Effect.gen(function* () {
    const all = yield* (yield* ClusterTest).snapshot(Pod)
    return all
      .filter(({ metadata }) => metadata.namespace === Harness.namespace)
      .filter(filter)
      .map(({ metadata }) => metadata.name)
  })

const first = Effect.map(names(isReady), ([name = "none"]) => name)

const needs = (healthy: number, currently: number): string =>
  `429: The disruption budget web needs ${healthy} healthy pods and has ${currently} currently`

describe("an eviction", () => {
  const cases = [
    { title: "without a budget", pods: 1 },
    { title: "with too few pods for a number", pods: 2, spec: { minAvailable: 2 }, refused: needs(2, 2) },
    { title: "with enough pods for a number", pods: 3, spec: { minAvailable: 2 } },
    { title: "with enough pods of a ReplicaSet for a percentage", replicas: 10, spec: { minAvailable: "90%" } },
    {
      title: "with too few pods of a ReplicaSet for a percentage",
      replicas: 10,
      exclusive: true,
      spec: { minAvailable: "90%" },
      refused: needs(9, 2)
    },
    {
      title: "with no pod missing, although a percentage of the ReplicaSet may be",
      replicas: 10,
      spec: { maxUnavailable: "10%" }
    },
    {
      title: "with more missing pods of a ReplicaSet than the one that may be",
      replicas: 10,
      exclusive: true,
      spec: { maxUnavailable: 1 },
      refused: needs(9, 2)
    }
  ] as const

  for (const one of cases) {
    const expected = "refused" in one ? one.refused : undefined
    it.effect(`${expected === undefined ? "is allowed" : "is refused"} ${one.title}`, () =>
      cluster(
        Effect.gen(function* () {
          if ("pods" in one) yield* pods(one.pods)
          else yield* replicaSet(one.replicas, "exclusive" in one ? exclusive : {})
          if ("spec" in one) yield* budget(one.spec)
          yield* advance("1 minute")
          const name = yield* first
          assert.strictEqual(yield* refusal(name), expected)
          const isDeleting = (yield* Harness.get(Pod, name)).metadata.deletionTimestamp !== undefined
          assert.strictEqual(isDeleting, expected === undefined)
        })
      )
    )
  }

  it.effect("is refused until the budget is updated or patched, and allowed once it is deleted", () =>
    cluster(
      Effect.gen(function* () {
        yield* budget({ minAvailable: 3 })
        yield* replicaSet(3)
        yield* advance("1 minute")
        const name = yield* first
        assert.strictEqual(yield* refusal(name), needs(3, 3))
        yield* patch(PodDisruptionBudget, "web", { spec: { minAvailable: 2 } })
        assert.strictEqual(yield* Harness.summary(), "healthy 3 of 2, expected 3, allowed 1")
        yield* evict(name)
        assert.strictEqual(yield* refusal(yield* first), needs(2, 2))
        yield* patch(PodDisruptionBudget, "web", { spec: { minAvailable: null, maxUnavailable: 0 } })
        yield* advance("1 minute")
        assert.lengthOf(yield* names(isReady), 3)
        const another = yield* first
        assert.strictEqual(yield* refusal(another), needs(3, 3))
        yield* Harness.remove(PodDisruptionBudget, "web", {})
        yield* evict(another)
      })
    )
  )

  for (const policy of [undefined, "IfHealthyBudget", "AlwaysAllow"] as const) {
    for (const ready of [true, false]) {
      const evicted = ready ? 1 : policy === "AlwaysAllow" ? 3 : 0
      it.effect(
        `of all ${ready ? "ready" : "unready"} pods with ${policy ?? "no policy"} removes ${evicted} of 3`,
        () =>
          cluster(
            Effect.gen(function* () {
              yield* budget({
                maxUnavailable: 1,
                ...(policy === undefined ? {} : { unhealthyPodEvictionPolicy: policy })
              })
              yield* replicaSet(3, {}, ready ? {} : { annotations: { "simulation/unready": "main" } })
              yield* advance("1 minute")
              const healthy = ready ? 3 : 0
              const allowed = ready ? 1 : 0
              assert.strictEqual(yield* Harness.summary(), `healthy ${healthy} of 2, expected 3, allowed ${allowed}`)
              const all = yield* names(() => true)
              const refusals = yield* Effect.forEach(all, (name) => refusal(name))
              assert.lengthOf(
                refusals.filter((one) => one === undefined),
                evicted
              )
              yield* advance("1 minute")
              const left = yield* names(() => true)
              assert.lengthOf(
                all.filter((name) => left.includes(name)),
                3 - evicted
              )
            })
          )
      )
    }
  }
})

describe("a status", () => {
  it.effect("can be updated and patched by other clients while it is correct", () =>
    cluster(
      Effect.gen(function* () {
        yield* budget({ minAvailable: 1 })
        yield* pods(1)
        yield* advance("1 minute")
        const disruptedPods = { "pod-0": Time.format(yield* Clock.currentTimeMillis) }
        yield* patch(PodDisruptionBudget, "web", { status: { disruptedPods } }, "status")
        assert.deepStrictEqual((yield* Harness.statusOf())?.disruptedPods, disruptedPods)
        assert.strictEqual(yield* Harness.summary(), "healthy 0 of 1, expected 1, allowed 0")
        yield* patch(PodDisruptionBudget, "web", { status: { disruptedPods: null } }, "status")
        assert.strictEqual(yield* Harness.summary(), "healthy 1 of 1, expected 1, allowed 0")
      })
    )
  )

  it.effect("has no failure for unmanaged pods with a number", () =>
    cluster(
      Effect.gen(function* () {
        yield* budget({ minAvailable: 1 })
        yield* pods(3)
        yield* advance("1 minute")
        assert.strictEqual(yield* Harness.condition(), "True SufficientPods")
        assert.deepStrictEqual(
          (yield* Harness.events).filter((one) => !one.includes("NoPods")),
          []
        )
      })
    )
  )
})

describe("concurrent evictions", () => {
  it.effect("are allowed one by one, without a conflict, until all pods are deleted", () =>
    cluster(
      Effect.gen(function* () {
        yield* pods(10)
        yield* budget({ minAvailable: 0 })
        yield* advance("1 minute")
        yield* patch(PodDisruptionBudget, "web", { spec: { minAvailable: 5 } })
        const tries = Effect.gen(function* () {
          const all = yield* names(({ metadata }) => metadata.deletionTimestamp === undefined)
          return yield* Effect.forEach(all, (name) => refusal(name), { concurrency: "unbounded" })
        })
        const refusals = yield* tries
        assert.deepStrictEqual([...new Set(refusals.filter((one) => one !== undefined))], [needs(5, 10)])
        assert.lengthOf(
          refusals.filter((one) => one === undefined),
          5
        )
        yield* patch(PodDisruptionBudget, "web", { spec: { minAvailable: 0 } })
        assert.deepStrictEqual([...new Set(yield* tries)], [undefined])
        yield* advance("1 minute")
        assert.deepStrictEqual(yield* names(() => true), [])
      })
    )
  )
})
