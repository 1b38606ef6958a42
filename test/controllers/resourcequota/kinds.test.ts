/** Quotas on kinds that are discovered later, removed, or cannot be listed. Source: pkg/controller/resourcequota: QuotaMonitor. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Pod, ResourceQuota, Secret } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import * as Kinds from "./kinds.ts"
import * as Harness from "./harness.ts"

const same = assert.deepStrictEqual

const widgets = Kinds.custom("shop.example.com", "widgets", "Widget")
const count = "count/widgets.shop.example.com"

const installed = ({ definition }: ReturnType<typeof Kinds.custom>) =>
  Harness.create(Kinds.Definition, definition.metadata.name, definition)

describe("a quota on a kind that is discovered later", () => {
  it.effect("has the usage within half a minute, without a change of the quota, and follows the objects", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.quota("q", { [count]: "1", secrets: "1" })
        same(yield* Harness.used(), { secrets: "0" })
        yield* installed(widgets)
        yield* Harness.advance("31 seconds")
        same(yield* Harness.used(), { [count]: "0", secrets: "0" })
        yield* Harness.create(widgets.resource, "a", { spec: { size: 1 } })
        same((yield* Harness.used())?.[count], "1")
        assert.include(yield* Harness.refused(Harness.create(widgets.resource, "b")), "exceeded quota: q")
        yield* Harness.remove(widgets.resource, "a")
        same((yield* Harness.used())?.[count], "0")
      })
    )
  )

  it.effect("keeps the usage when the kind is removed again", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* installed(widgets)
        yield* Harness.advance("31 seconds")
        yield* Harness.quota("q", { [count]: "2", secrets: "1" })
        yield* Harness.create(widgets.resource, "a")
        yield* Harness.remove(Kinds.Definition, widgets.definition.metadata.name)
        yield* Harness.advance("1 minute")
        yield* Harness.create(Secret, "a")
        yield* Harness.advance("6 minutes")
        same(yield* Harness.used(), { [count]: "0", secrets: "1" })
      })
    )
  )

  it.effect("counts devices by class if the server has ResourceClaims", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const claims = Kinds.custom("resource.k8s.io", "resourceclaims", "ResourceClaim")
        yield* installed(claims)
        yield* Harness.advance("31 seconds")
        const devices = "gold.deviceclass.resource.k8s.io/devices"
        yield* Harness.quota("q", { "count/resourceclaims.resource.k8s.io": "1", [devices]: "1" })
        same(yield* Harness.used(), { "count/resourceclaims.resource.k8s.io": "0", [devices]: "0" })
        const requests = [{ name: "req-0", exactly: { deviceClassName: "gold" } }]
        yield* Harness.create(claims.resource, "a", { spec: { devices: { requests } } })
        same(yield* Harness.used(), { "count/resourceclaims.resource.k8s.io": "1", [devices]: "1" })
        yield* Harness.remove(claims.resource, "a")
        same(yield* Harness.used(), { "count/resourceclaims.resource.k8s.io": "0", [devices]: "0" })
      })
    )
  )
})

describe("extended resources", () => {
  const claims = Kinds.custom("resource.k8s.io", "resourceclaims", "ResourceClaim")
  const classes = Kinds.custom("resource.k8s.io", "deviceclasses", "DeviceClass", "Cluster")
  const own = "requests.example.com/gold"
  const implicit = "requests.deviceclass.resource.kubernetes.io/gold"

  const claim = (name: string, count: number, metadata: object = {}) =>
    Harness.create(claims.resource, name, {
      metadata,
      spec: { devices: { requests: [{ name: "req-0", exactly: { deviceClassName: "gold", count } }] } }
    })

  const gold = { "example.com/gold": "1" }

  /** A quota for both names, half a minute after the kinds were created. */
  const served = (test: Parameters<typeof Harness.withLoop>[0]) =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* installed(claims)
        yield* installed(classes)
        yield* Harness.create(classes.resource, "gold", { spec: { extendedResourceName: "example.com/gold" } })
        yield* Harness.advance("31 seconds")
        yield* Harness.quota("q", { [own]: "3", [implicit]: "3" })
        yield* test
      })
    )

  it.effect("are counted from pods and from ResourceClaims of their class, and admission counts both", () =>
    served(
      Effect.gen(function* () {
        same(yield* Harness.used(), { [own]: "0", [implicit]: "0" })
        yield* claim("a", 2)
        same(yield* Harness.used(), { [own]: "2", [implicit]: "2" })
        yield* Harness.pod("p", gold, {}, gold)
        same(yield* Harness.used(), { [own]: "3", [implicit]: "2" })
        const why = yield* Harness.refused(claim("b", 1))
        assert.include(why, `exceeded quota: q, requested: ${own}=1, used: ${own}=3, limited: ${own}=3`)
        yield* Harness.remove(claims.resource, "a")
        same(yield* Harness.used(), { [own]: "1", [implicit]: "0" })
      })
    )
  )

  it.effect("that a pod requests are not counted again in the claim created for the pod", () =>
    served(
      Effect.gen(function* () {
        const { metadata } = yield* Harness.pod("p", gold, {}, gold)
        const made = {
          annotations: { "resource.kubernetes.io/extended-resource-claim": "true" },
          ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: metadata.uid ?? "", controller: true }]
        }
        yield* claim("p-claim", 1, made)
        same(yield* Harness.used(), { [own]: "1", [implicit]: "1" })
        // The pod has terminated; its claim still exists and has the device.
        yield* Harness.patch(Pod, "p", { status: { phase: "Succeeded" } }, "status")
        yield* Harness.advance("2 seconds")
        same(yield* Harness.used(), { [own]: "1", [implicit]: "1" })
        yield* Harness.remove(Pod, "p")
        yield* Harness.remove(claims.resource, "p-claim")
        same(yield* Harness.used(), { [own]: "0", [implicit]: "0" })
      })
    )
  )

  it.effect("follow changes of the DeviceClass that names them", () =>
    served(
      Effect.gen(function* () {
        yield* claim("a", 2)
        yield* Harness.patch(classes.resource, "gold", { spec: { extendedResourceName: null } })
        same(yield* Harness.used(), { [own]: "0", [implicit]: "2" })
        yield* Harness.patch(classes.resource, "gold", { spec: { extendedResourceName: "example.com/gold" } })
        yield* Harness.advance("2 seconds")
        same(yield* Harness.used(), { [own]: "2", [implicit]: "2" })
      })
    )
  )

  it.effect("are counted from pods alone if the server has no ResourceClaims", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.quota("q", { [own]: "3", [implicit]: "3" })
        yield* Harness.pod("p", gold, {}, gold)
        same(yield* Harness.used(), { [own]: "1", [implicit]: "0" })
      })
    )
  )
})

describe("a kind that cannot be read", () => {
  it.effect("does not prevent the counting of other kinds, and is counted once it can be read", () =>
    Effect.gen(function* () {
      const server = yield* ApiServer
      const forbidden = { _tag: "Status", code: 403 } as const
      yield* server.setFaults([
        { match: ({ context, method }) => context.resource === "secrets" && method === "GET", fault: forbidden },
        { match: { verb: "watch", resource: "secrets" }, fault: forbidden }
      ])
      yield* Harness.start()
      yield* Harness.quota("q", { secrets: "3", configmaps: "3" })
      // The controller waits this long for all kinds before it counts any.
      yield* Harness.advance("31 seconds")
      same(yield* Harness.used(), { configmaps: "0" })
      yield* server.setFaults([])
      yield* Harness.advance("2 minutes")
      same(yield* Harness.used(), { secrets: "0", configmaps: "0" })
    }).pipe(Effect.scoped, Effect.provide(Harness.layer))
  )

  it.effect("because discovery of its group fails keeps its usage in the status", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.quota("q", { "count/deployments.apps": "1", secrets: "2" })
        const match = ({ path }: { readonly path: string }) => path.startsWith("/apis")
        yield* (yield* ApiServer).setFaults([{ match, fault: { _tag: "Status", code: 503 } }])
        yield* Harness.advance("1 minute")
        yield* Harness.create(Secret, "a")
        yield* Harness.remove(Secret, "a")
        same(yield* Harness.used(), { "count/deployments.apps": "0", secrets: "0" })
        yield* Harness.remove(ResourceQuota, "q")
      })
    )
  )
})
