/** The writes and syncs for a Memcached when nothing changes, when only a pod is deleted, and when a client changes it continuously. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Patch from "../../../src/kube/Patch.ts"
import { Pod } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type * as Faults from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Harness from "./harness.ts"

const { namespace } = Harness

/** Records every write to Memcacheds and Deployments without a fault. */
const recordingWrites = (calls: Array<string>): Faults.Rule => ({
  match: ({ context, method }) => {
    const { resource = "" } = context
    if (method !== "GET" && /^(memcacheds|deployments)\./.test(resource)) calls.push(`${context.verb} ${resource}`)
    return false
  },
  fault: { _tag: "Drop" }
})

/** The writes during half an hour without changes, in which the caches resync every ten minutes, and those after an edit. */
const quietHalfHour = Effect.gen(function* () {
  const cluster = yield* ClusterTest
  yield* Harness.start()
  yield* cluster.apply([Harness.object("cache")])
  yield* cluster.advance("1 minute")
  // Another owner, which the operator leaves alone.
  yield* Harness.editDeployment("cache", {
    metadata: { ownerReferences: [...((yield* Harness.deployments)[0]?.metadata.ownerReferences ?? []), further] }
  })
  yield* cluster.advance("1 minute")
  const calls: Array<string> = []
  yield* (yield* ApiServer).setFaults([recordingWrites(calls)])
  yield* cluster.advance("30 minutes")
  const quiet = calls.splice(0)
  yield* Harness.edit("cache", { spec: { size: 3 } })
  yield* cluster.advance("1 minute")
  return { quiet, edited: calls }
}).pipe(
  Effect.scoped,
  Effect.provide(Harness.layer({ nodes: 2, cache: { resync: { period: "10 minutes", spread: "around" } } }))
)

const further = { apiVersion: "v1", kind: "Namespace", name: "default", uid: "00000000-0000-4000-8000-000000000000" }

/** The pods in the status before and after a pod disappears whose deletion a finalizer delayed. */
const afterLatePod = Effect.gen(function* () {
  const cluster = yield* ClusterTest
  const client = yield* KubeClient
  yield* Harness.start()
  yield* cluster.apply([Harness.object("cache")])
  yield* cluster.advance("1 minute")
  const [name = ""] = (yield* Harness.get("cache")).status?.nodes ?? []
  const hold = (finalizers: ReadonlyArray<string>) =>
    client.patch(Pod, { namespace, name }, Patch.merge({ metadata: { finalizers } }))
  yield* hold(["example.test/held"])
  yield* client.delete(Pod, { namespace, name })
  yield* cluster.advance("2 minutes")
  const before = (yield* Harness.get("cache")).status?.nodes ?? []
  yield* hold([])
  yield* cluster.advance("1 minute")
  return { name, before, after: (yield* Harness.get("cache")).status?.nodes ?? [] }
}).pipe(Effect.scoped, Effect.provide(Harness.layer({ nodes: 2 })))

/** How often the operator has reconciled a Memcached. */
const runsOf = Effect.map(Metric.snapshot, (all) =>
  all
    .filter(
      ({ attributes, id }) => id === "controller_runtime_reconcile_total" && attributes?.["controller"] === "memcached"
    )
    .reduce((sum, { state }) => sum + ("count" in state ? Number(state.count) : 0), 0)
)

/** The objects after a thousand changes in a minute, and the number of reconciles. */
const underThousandChanges = Effect.gen(function* () {
  const cluster = yield* ClusterTest
  yield* Harness.start()
  yield* cluster.apply([Harness.object("cache", { size: 1 })])
  yield* cluster.advance("1 minute")
  const before = yield* runsOf
  for (let count = 1; count <= 1000; count++) {
    yield* Harness.edit("cache", { spec: { size: (count % 3) + 1 } })
    yield* cluster.advance("60 millis")
  }
  yield* cluster.advance("1 minute")
  return {
    runs: (yield* runsOf) - before,
    stored: yield* Harness.get("cache"),
    deployments: yield* Harness.deployments
  }
}).pipe(
  Effect.scoped,
  Effect.provide(Harness.layer({ nodes: 2 })),
  Effect.provideService(Metric.MetricRegistry, new Map())
)

describe("the writes of memcached", () => {
  it.effect("writes nothing when the caches resync and nothing has changed", () =>
    Effect.map(quietHalfHour, ({ edited, quiet }) => {
      assert.deepStrictEqual(quiet, [])
      assert.include(edited, "patch deployments.apps")
    })
  )

  it.effect("lists a pod exactly as long as it exists", () =>
    Effect.gen(function* () {
      const { after, before, name } = yield* afterLatePod
      assert.include(before, name)
      assert.lengthOf(before, 3)
      assert.notInclude(after, name)
      assert.lengthOf(after, 2)
    })
  )

  it.effect(
    "a thousand changes in a minute converge, with no more syncs than changes",
    () =>
      Effect.gen(function* () {
        const { deployments, runs, stored } = yield* underThousandChanges
        assert.strictEqual(stored.spec.size, 2)
        assert.deepStrictEqual(
          deployments.map((deployment) => deployment.spec?.replicas),
          [2]
        )
        assert.strictEqual(stored.status?.conditions?.[0]?.observedGeneration, 1001)
        assert.lengthOf(stored.status?.nodes ?? [], 2)
        assert.isAtMost(runs, 1000)
        assert.isAtLeast(runs, 100)
      }),
    120_000
  )
})
