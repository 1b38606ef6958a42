import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { CronJob, Deployment, Service } from "../../../src/kube/resources.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Demo from "../../../src/simulation/demo.ts"
import { clients, pass } from "../harness.ts"

const options = { demo: "shop", nodes: 50 } as const

const namespace = "shop"

const imageOf = (name: string) =>
  Effect.flatMap(KubeClient, (client) =>
    Effect.map(
      client.get(Deployment, { namespace, name }),
      ({ spec }) => spec?.template.spec?.containers[0]?.image ?? ""
    )
  )

it.effect("the shop is created once, in a size that follows from the number of nodes", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    yield* Demo.seed(options)
    const { items } = yield* client.list(Deployment, { namespace })
    assert.strictEqual(items.find(({ metadata }) => metadata.name === "storefront")?.spec?.replicas, 50)
    assert.isAbove(items.length, 4)
    const counts = [
      (yield* client.list(Service, { namespace })).items.length,
      (yield* client.list(CronJob, { namespace })).items.length
    ]
    assert.deepStrictEqual(counts, [5, 2])
    const version = (yield* client.get(Deployment, { namespace, name: "storefront" })).metadata.resourceVersion
    yield* Demo.seed({ ...options, nodes: 3 })
    const again = yield* client.get(Deployment, { namespace, name: "storefront" })
    assert.strictEqual(again.metadata.resourceVersion, version)
  }).pipe(Effect.provide(clients))
)

it.effect("versions are released while the shop runs, also if a Deployment is deleted", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    yield* Demo.seed(options)
    yield* Effect.forkScoped(Demo.run(options))
    yield* pass("20 seconds")
    assert.strictEqual(yield* imageOf("storefront"), "shop.example/storefront:1.1")
    yield* client.delete(Deployment, { namespace, name: "catalog" })
    const checkout = new Set<string>()
    for (let change = 1; change < 10; change++) {
      yield* pass("20 seconds")
      checkout.add(yield* imageOf("checkout"))
    }
    assert.strictEqual(yield* imageOf("storefront"), "shop.example/storefront:1.2")
    assert.includeMembers([...checkout], ["shop.example/checkout:unready", "shop.example/checkout:1.2"])
  }).pipe(Effect.scoped, Effect.provide(clients))
)

it.effect("without a demo nothing but namespaces is created", () =>
  Effect.gen(function* () {
    yield* Demo.seed({ demo: "none", nodes: 3 })
    assert.deepStrictEqual((yield* (yield* KubeClient).list(Deployment)).items, [])
  }).pipe(Effect.provide(clients))
)
