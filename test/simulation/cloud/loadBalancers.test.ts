import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Service } from "../../../src/kube/resources.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { nodes, settle } from "../harness.ts"

const namespace = "default"

const create = (name: string, spec: object = {}) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(Service, {
      metadata: { name, namespace },
      spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ port: 80 }], ...spec }
    })
  )

const patch = (name: string, body: object, subresource?: string) =>
  Effect.flatMap(KubeClient, (client) =>
    client.patch(Service, { name, namespace, subresource }, Patch.merge(body))
  ).pipe(Effect.andThen(settle))

const addresses = (name: string) =>
  Effect.flatMap(KubeClient, (client) =>
    Effect.map(client.get(Service, { name, namespace }), ({ status }) =>
      (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip ?? "")
    )
  )

it.effect("Services of type LoadBalancer get different addresses, and lose them with the type", () =>
  Effect.gen(function* () {
    const names = ["a", "b", "c"]
    yield* Effect.forEach(names, (name) => create(name), { concurrency: "unbounded" })
    yield* settle
    const all = (yield* Effect.forEach(names, addresses)).flat()
    assert.strictEqual(new Set(all).size, 3)
    for (const ip of all) assert.match(ip, /^198\.18\.0\.\d+$/)
    yield* patch("a", { spec: { type: "ClusterIP" } })
    assert.deepStrictEqual(yield* addresses("a"), [])
    yield* patch("a", { spec: { type: "LoadBalancer" } })
    assert.strictEqual((yield* addresses("a")).length, 1)
  }).pipe(Effect.provide(nodes()))
)

it.effect("a Service gets the address that it asks for, unless another Service has it", () =>
  Effect.gen(function* () {
    yield* create("first", { loadBalancerIP: "198.18.0.77" })
    yield* settle
    yield* create("second", { loadBalancerIP: "198.18.0.77" })
    yield* create("elsewhere", { loadBalancerIP: "203.0.113.1" })
    yield* settle
    assert.deepStrictEqual(yield* addresses("first"), ["198.18.0.77"])
    assert.notDeepEqual(yield* addresses("second"), ["198.18.0.77"])
    assert.match((yield* addresses("elsewhere")).join(), /^198\.18\./)
  }).pipe(Effect.provide(nodes()))
)

it.effect("Services of another type, of another class or with a foreign address stay as they are", () =>
  Effect.gen(function* () {
    yield* create("inside", { type: "ClusterIP" })
    yield* create("other", { loadBalancerClass: "example.com/other" })
    yield* create("foreign", { type: "ClusterIP" })
    yield* patch("foreign", { status: { loadBalancer: { ingress: [{ ip: "203.0.113.9" }] } } }, "status")
    yield* patch("foreign", { spec: { type: "LoadBalancer" } })
    assert.deepStrictEqual(yield* addresses("inside"), [])
    assert.deepStrictEqual(yield* addresses("other"), [])
    assert.deepStrictEqual(yield* addresses("foreign"), ["203.0.113.9"])
  }).pipe(Effect.provide(nodes()))
)
