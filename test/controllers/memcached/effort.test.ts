/**
 * What a Memcached costs when nothing happens to it, when only a pod goes, and when somebody changes it all the time. Asked of the
 * operator and, where it could be otherwise, of a copy with that fault written in.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Memcacheds from "../../../src/controllers/Memcached.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { Pod } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/layers/apiserver/ApiServer.ts"
import type * as Faults from "../../../src/layers/apiserver/faults.ts"
import { ClusterTest } from "../../../src/layers/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { loadThrough } from "../../support/mutant.ts"
import type { Module } from "./play.ts"
import * as World from "./world.ts"

const { namespace } = World

/** Hears every call about Memcacheds and Deployments that is no question, and lets it pass. */
const hearing = (calls: Array<string>): Faults.Rule => ({
  match: ({ context, method }) => {
    const { resource = "" } = context
    if (method !== "GET" && /^(memcacheds|deployments)\./.test(resource)) calls.push(`${context.verb} ${resource}`)
    return false
  },
  fault: { _tag: "Drop" }
})

/** The calls of an hour in which nothing changes, and everything is told again every ten minutes. */
const quietHour = (module: Module) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* World.start(module.make({ image: World.image }))
    yield* cluster.apply([World.object("cache")])
    yield* cluster.advance("1 minute")
    // Further containers and owners are those of others.
    yield* World.editDeployment("cache", {
      metadata: { ownerReferences: [...((yield* World.deployments)[0]?.metadata.ownerReferences ?? []), further] }
    })
    yield* cluster.advance("1 minute")
    const calls: Array<string> = []
    yield* (yield* ApiServer).setFaults([hearing(calls)])
    yield* cluster.advance("30 minutes")
    return calls
  }).pipe(
    Effect.scoped,
    Effect.provide(World.layer({ nodes: 2, cache: { resync: { period: "10 minutes", spread: "around" } } }))
  )

const further = { apiVersion: "v1", kind: "Namespace", name: "default", uid: "00000000-0000-4000-8000-000000000000" }

/** The pods that are named after one has gone that was held up: the Deployment has long forgotten it. */
const afterLatePod = (module: Module) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    yield* World.start(module.make({ image: World.image }))
    yield* cluster.apply([World.object("cache")])
    yield* cluster.advance("1 minute")
    const [name = ""] = (yield* World.get("cache")).status?.nodes ?? []
    const hold = (finalizers: ReadonlyArray<string>) =>
      client.patch(Pod, { namespace, name }, Patch.merge({ metadata: { finalizers } }))
    yield* hold(["example.test/held"])
    yield* client.delete(Pod, { namespace, name })
    yield* cluster.advance("2 minutes")
    const before = (yield* World.get("cache")).status?.nodes ?? []
    yield* hold([])
    yield* cluster.advance("1 minute")
    return { name, before, after: (yield* World.get("cache")).status?.nodes ?? [] }
  }).pipe(Effect.scoped, Effect.provide(World.layer({ nodes: 2 })))

/** How often the operator has looked at a Memcached. */
const runsOf = Effect.map(Metric.snapshot, (all) =>
  all
    .filter(
      ({ attributes, id }) => id === "controller_runtime_reconcile_total" && attributes?.["controller"] === "memcached"
    )
    .reduce((sum, { state }) => sum + ("count" in state ? Number(state.count) : 0), 0)
)

/** What is there after a thousand changes in a minute, on a cluster where the Deployment and its pods follow, and how many runs it took. */
const underThousandChanges = (module: Module) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* World.start(module.make({ image: World.image }))
    yield* cluster.apply([World.object("cache", { size: 1 })])
    yield* cluster.advance("1 minute")
    const before = yield* runsOf
    for (let count = 1; count <= 1000; count++) {
      yield* World.edit("cache", { spec: { size: (count % 3) + 1 } })
      yield* cluster.advance("60 millis")
    }
    yield* cluster.advance("1 minute")
    return {
      runs: (yield* runsOf) - before,
      stored: yield* World.get("cache"),
      deployments: yield* World.deployments
    }
  }).pipe(
    Effect.scoped,
    Effect.provide(World.layer({ nodes: 2 })),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )

const mutant = (path: string, title: string, find: string, replace: string) =>
  Effect.promise(() => loadThrough<Module>("controllers/Memcached.ts", path, { title, find, replace }))

describe("the effort of memcached", () => {
  it.effect("writes nothing when all is told again and nothing has changed", () =>
    Effect.map(quietHour(Memcacheds), (calls) => assert.deepStrictEqual(calls, []))
  )

  it.effect("mutant is caught: it writes what is there", () =>
    Effect.gen(function* () {
      const find = "isBlocked || isSo(deployment, wanted, memcached)"
      const calls = yield* quietHour(yield* mutant("controllers/memcached/plan.ts", "writes again", find, "isBlocked"))
      assert.include(calls, "patch deployments.apps")
    })
  )

  it.effect("names a pod for as long as it is there, and no longer", () =>
    Effect.gen(function* () {
      const { after, before, name } = yield* afterLatePod(Memcacheds)
      assert.include(before, name)
      assert.lengthOf(before, 3)
      assert.notInclude(after, name)
      assert.lengthOf(after, 2)
    })
  )

  it.effect("mutant is caught: it does not look at pods", () =>
    Effect.gen(function* () {
      const blind = yield* mutant("controllers/Memcached.ts", "blind", "Trigger.map(keysOf)", "Trigger.map(() => [])")
      const { after, name } = yield* afterLatePod(blind)
      assert.include(after, name)
    })
  )

  it.effect(
    "a thousand changes in a minute end right, with no more runs than changes",
    () =>
      Effect.gen(function* () {
        const { deployments, runs, stored } = yield* underThousandChanges(Memcacheds)
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
