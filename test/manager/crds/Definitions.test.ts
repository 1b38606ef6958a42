/** Installing and comparing definitions, on the embedded API server. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Crd from "../../../src/kube/crd/Crd.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Definitions from "../../../src/manager/crds/Definitions.ts"
import { layer } from "../../support/cluster.ts"
import { Memcached } from "../../kube/crd/fixtures.ts"

const widget = { group: "example.com", version: "v1", kind: "Widget", plural: "widgets" } as const

const sized = (maximum: number) =>
  Resource.make({
    ...widget,
    spec: Schema.Struct({ size: Schema.Int.check(Schema.isLessThanOrEqualTo(maximum)) })
  })

const { CustomResourceDefinition } = Definitions

/** A client whose definitions have the given conditions. */
const saying = (conditions: ReadonlyArray<object>) =>
  Layer.effect(
    KubeClient,
    Effect.map(KubeClient, (client) =>
      KubeClient.of({
        ...client,
        get: (resource, target, options) =>
          Effect.map(client.get(resource, target, options), (object) => ({ ...object, status: { conditions } }))
      })
    )
  )

describe("definitions in a cluster", () => {
  it.effect("are installed, and are served when the installation ends", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      assert.deepStrictEqual(yield* Definitions.install([Memcached, sized(3)]), [
        { name: "memcacheds.cache.example.com", outcome: "created" },
        { name: "widgets.example.com", outcome: "created" }
      ])
      const sample = Resource.sample(Memcached)
      assert.isDefined(sample)
      if (sample === undefined) return
      const made = yield* client.create(Memcached, sample, { namespace: "default" })
      assert.strictEqual(Result.getOrThrow(Memcached.decode(made)).spec.containerPort, 11211)
    }).pipe(Effect.provide(layer))
  )

  it.effect("are written once, and again only after a change", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const version = Effect.map(
        client.get(CustomResourceDefinition, { name: "widgets.example.com" }),
        ({ metadata }) => metadata.resourceVersion
      )
      yield* Definitions.install([sized(3)])
      const before = yield* version
      assert.deepStrictEqual(yield* Definitions.install([sized(3)]), [
        { name: "widgets.example.com", outcome: "unchanged" }
      ])
      assert.strictEqual(yield* version, before)
      assert.deepStrictEqual(yield* Definitions.install([sized(2)]), [
        { name: "widgets.example.com", outcome: "updated" }
      ])
      assert.notStrictEqual(yield* version, before)
    }).pipe(Effect.provide(layer))
  )

  it.effect("keep the fields that other clients have set", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const wanted = Result.getOrThrow(Crd.make(sized(3)))
      yield* client.create(CustomResourceDefinition, {
        ...wanted,
        metadata: { ...wanted.metadata, labels: { team: "a" } }
      })
      yield* Definitions.install([sized(2)])
      const live = yield* client.get(CustomResourceDefinition, { name: "widgets.example.com" })
      assert.deepStrictEqual(live.metadata.labels, { team: "a" })
    }).pipe(Effect.provide(layer))
  )

  it.effect("are not written if one of them is invalid", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const bad = Resource.make({ ...widget, plural: "bads", kind: "Bad", spec: Schema.Struct({ when: Schema.Date }) })
      const failure = yield* Effect.flip(Definitions.install([sized(3), bad]))
      assert.strictEqual(failure._tag, "NotStructural")
      assert.isEmpty((yield* client.list(CustomResourceDefinition)).items)
    }).pipe(Effect.provide(layer))
  )

  it.effect("fail at once if another definition has their names", () =>
    Effect.gen(function* () {
      yield* Definitions.install([sized(3)])
      const rival = Resource.make({ ...widget, plural: "others", spec: Schema.Struct({}) })
      const failure = yield* Effect.flip(Definitions.install([rival]))
      assert.strictEqual(
        failure.message,
        'the API server has the definition others.example.com, but does not serve the kind: "widget" is already in use'
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("fail if they are not served within the timeout", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(
        Effect.flip(Definitions.install([sized(3)], { timeout: "5 seconds" })).pipe(Effect.provide(saying([])))
      )
      yield* TestClock.adjust("4900 millis")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("200 millis")
      assert.strictEqual(
        (yield* Fiber.join(waiting)).message,
        "the API server has the definition widgets.example.com, but does not serve the kind: not within 5s"
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("are compared without a write: what would change, and which objects would be rejected or pruned", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      assert.deepStrictEqual(yield* Definitions.diff([sized(3)]), [
        { name: "widgets.example.com", isNew: true, differences: [], broken: [] }
      ])
      yield* Definitions.install([sized(3)])
      for (const size of [1, 3]) {
        yield* client.create(sized(3), { metadata: { name: `w${size}` }, spec: { size } }, { namespace: "default" })
      }
      assert.deepStrictEqual(yield* Definitions.diff([sized(3)]), [
        { name: "widgets.example.com", isNew: false, differences: [], broken: [] }
      ])
      const [comparison] = yield* Definitions.diff([sized(2)])
      assert.deepStrictEqual(
        comparison?.differences.map(({ from, to }) => [from, to]),
        [[3, 2]]
      )
      assert.deepStrictEqual(
        comparison?.broken.map(({ object }) => object),
        ["default/w3"]
      )
    }).pipe(Effect.provide(layer))
  )
})
