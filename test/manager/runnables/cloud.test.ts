import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { CloudProvider, type Machine } from "../../../src/layers/CloudProvider.ts"
import type { Descriptor } from "../../../src/layers/Controller.ts"
import * as Registry from "../../../src/manager/registry.ts"
import * as Cloud from "../../../src/manager/runnables/cloud.ts"

const controller = (name: string, cloud?: true): Registry.Entry => ({
  controller: {
    name,
    access: [],
    reads: [],
    needsLeader: true,
    cloud,
    layer: Layer.empty
  } satisfies Descriptor,
  byDefault: "on",
  summary: ""
})
const table = [controller("pods"), controller("cloud-node", true)]

const chosen = (patterns: string, cloudLoops: Cloud.Choice["cloudLoops"], provider?: string) =>
  Result.match(
    Result.flatMap(
      Cloud.among(table, patterns.split(","), { cloudLoops, cloudProvider: Option.fromUndefinedOr(provider) }),
      (here) => Registry.select(here, patterns.split(","), { embedded: true })
    ),
    {
      onFailure: ({ message }) => message,
      onSuccess: (selection) => selection.chosen.map((entry) => entry.controller.name)
    }
  )

describe("controllers that need a cloud", () => {
  it("do not run with an external cloud provider, and to name one is an error", () => {
    assert.deepStrictEqual(chosen("*", "external"), ["pods"])
    assert.deepStrictEqual(chosen("*,-cloud-node", "external"), ["pods"])
    assert.deepStrictEqual(chosen("*", "external", "memory"), ["pods"])
    assert.strictEqual(
      chosen("cloud-node", "external"),
      '"cloud-node" needs a cloud and runs only with --cloud-loops=include'
    )
  })

  it("run here with a cloud provider, and not without one", () => {
    assert.deepStrictEqual(chosen("*", "include", "memory"), ["pods", "cloud-node"])
    const message = "--cloud-loops=include needs a cloud: name one with --cloud-provider (memory)"
    assert.strictEqual(chosen("*", "include"), message)
    assert.strictEqual(chosen("pods", "include"), message)
  })

  it("fail for an unknown cloud", () => {
    assert.strictEqual(chosen("*", "include", "memoy"), 'there is no cloud provider "memoy": did you mean memory?')
    assert.strictEqual(chosen("*", "external", "moon"), 'there is no cloud provider "moon"; there is: memory')
  })
})

describe("the cloud in memory", () => {
  const node = (name: string) => ({ name, providerId: undefined })

  it.effect("returns what is configured, computed at each call", () => {
    const machines = new Map<string, Machine>([["a", { instance: { zone: "z" } }]])
    return Effect.gen(function* () {
      const cloud = yield* CloudProvider
      assert.isTrue(yield* cloud.exists(node("a")))
      assert.isFalse(yield* cloud.exists(node("b")))
      assert.deepInclude(yield* cloud.metadata(node("a")), { providerId: "memory://a", zone: "z", region: undefined })
      assert.isUndefined(yield* cloud.metadata(node("b")))
      assert.isFalse(yield* cloud.isShutDown(node("a")))
      machines.set("a", { isShutDown: true })
      assert.isTrue(yield* cloud.isShutDown(node("a")))
      assert.isFalse(yield* cloud.isShutDown(node("b")))
    }).pipe(Effect.provide(CloudProvider.layerMemory((name) => machines.get(name))))
  })

  it.effect("of the program has a running machine for every node", () =>
    Effect.gen(function* () {
      const cloud = yield* CloudProvider
      assert.isTrue(yield* cloud.exists(node("any")))
      assert.isFalse(yield* cloud.isShutDown(node("any")))
    }).pipe(Effect.provide(Cloud.layerOf({ cloudLoops: "include", cloudProvider: Option.some("memory") })))
  )
})
