/** Controllers of objects: which objects they receive, and what is reported about objects that cannot be decoded. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Crd from "../../../src/kube/crd/Crd.ts"
import * as Conditions from "../../../src/kube/conditions.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Event } from "../../../src/kube/resources.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { applier } from "../../../src/layers/controller/writes/apply.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Recorder } from "../../../src/layers/Recorder.ts"
import * as Predicate from "../../../src/streams/store/predicate.ts"
import { withoutValidation } from "../../support/definitions.ts"

const Gadget = Resource.make({
  group: "example.com",
  version: "v1",
  kind: "Gadget",
  plural: "gadgets",
  subresources: { status: true },
  spec: Schema.Struct({
    size: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })),
    colour: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("grey")))
  }),
  status: Schema.Struct({
    conditions: Schema.optionalKey(Conditions.schema),
    seen: Schema.optionalKey(Schema.Int)
  })
})

const definition = Result.getOrThrow(Crd.make(Gadget))

/** The definition without validation, so that objects can be stored that the schema does not accept. */
const withoutSchema = withoutValidation(definition)

const namespace = "default"
const gadget = (name: string, size: number, metadata: object = {}) => ({
  apiVersion: "example.com/v1",
  kind: "Gadget",
  metadata: { name, namespace, ...metadata },
  spec: { size }
})

const withInvalidObject = {
  crds: [withoutSchema],
  objects: [gadget("odd", 7), gadget("even", 2)],
  cache: { resync: { period: "10 hours", spread: "around" } }
} as const

const recording = (seen: Array<string>) =>
  Controller.make({
    name: "noting",
    for: Gadget,
    reconcileObject: ({ metadata, spec }) =>
      Effect.sync(() => void seen.push(`${metadata.name} ${spec.size} ${spec.colour}`))
  })

/** Warning events about gadgets, with their counts. */
const warnings = Effect.gen(function* () {
  yield* (yield* Recorder).flush
  const events = yield* (yield* ClusterTest).snapshot(Event)
  return events
    .filter(({ reason }) => reason === "InvalidObject")
    .map(({ count, involvedObject, message, source, type }) =>
      [type, source?.component, involvedObject.name, count, message].join(" | ")
    )
})

const get = (name: string) =>
  Effect.map(
    Effect.flatMap(ClusterTest, (cluster) => cluster.snapshot(Gadget)),
    (all) => all.find(({ metadata }) => metadata.name === name)
  )

const put = (name: string, body: object) =>
  Effect.flatMap(KubeClient, (client) => client.patch(Gadget, { namespace, name }, Patch.merge(body)))

const refused = "Gadget default/odd does not fit its schema: spec.size: Expected a value between 1 and 3"

describe("a controller of objects", () => {
  it.effect("receives decoded objects, and is not called for objects that are gone", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      const seen: Array<string> = []
      yield* cluster.run(recording(seen))
      yield* cluster.apply([gadget("a", 1)])
      yield* cluster.settle
      yield* put("a", { spec: { size: 2 } })
      yield* cluster.settle
      yield* client.delete(Gadget, { namespace, name: "a" })
      yield* cluster.settle
      assert.deepStrictEqual(seen, ["a 1 grey", "a 2 grey"])
      assert.deepStrictEqual(yield* warnings, [])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ crds: [definition] })))
  )

  it.effect("an object stored before there was validation is reported once, and the others are reconciled", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const seen: Array<string> = []
      yield* cluster.run(recording(seen))
      yield* cluster.settle
      assert.deepStrictEqual(seen, ["even 2 grey"])
      assert.deepStrictEqual(yield* warnings, [`Warning | noting | odd | 1 | ${refused}`])
      const [condition] = (yield* get("odd"))?.status?.conditions ?? []
      assert.deepInclude(condition, { type: "Valid", status: "False", reason: "InvalidObject", message: refused })
      assert.strictEqual(condition?.observedGeneration, 1)

      // Neither another run nor a change that repairs nothing reports it again.
      yield* put("odd", { metadata: { labels: { a: "b" } } })
      yield* cluster.advance("10 minutes")
      assert.deepStrictEqual(yield* warnings, [`Warning | noting | odd | 1 | ${refused}`])
      yield* put("odd", { spec: { size: 9 } })
      yield* cluster.settle
      assert.deepStrictEqual(yield* warnings, [`Warning | noting | odd | 2 | ${refused}`])
      assert.strictEqual((yield* get("odd"))?.status?.conditions?.[0]?.observedGeneration, 2)
      // Nor does a resync, after which the other objects are reconciled again.
      yield* cluster.advance("1 day")
      assert.isAbove(seen.length, 1)
      assert.deepStrictEqual(yield* warnings, [`Warning | noting | odd | 2 | ${refused}`])

      yield* put("odd", { spec: { size: 3 } })
      yield* cluster.settle
      assert.include(seen, "odd 3 grey")
      assert.deepStrictEqual((yield* get("odd"))?.status?.conditions, [])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer(withInvalidObject)))
  )

  it.effect("a write that the server rejects for such an object is not repeated", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.apply([definition])
      const seen: Array<string> = []
      yield* cluster.run(recording(seen))
      yield* cluster.advance("1 day")
      assert.isAbove(seen.length, 1)
      assert.notInclude(seen.join(), "odd")
      assert.deepStrictEqual(yield* warnings, [`Warning | noting | odd | 1 | ${refused}`])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer(withInvalidObject)))
  )

  it.effect("an object has its finalizers before it is reconciled, and they are removed after their cleanup", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      const seen: Array<string> = []
      yield* cluster.run(
        Controller.make({
          name: "finalizing",
          for: Gadget,
          predicate: Predicate.generationChanged,
          access: [Access.record],
          finalizers: {
            "example.com/door": ({ metadata, spec }, { events }) =>
              Effect.andThen(
                events.normal({ metadata, apiVersion: "example.com/v1", kind: "Gadget" }, "Closing", "bye"),
                Effect.sync(() => void seen.push(`closed ${metadata.name} ${spec.size}`))
              )
          },
          reconcileObject: ({ metadata }) =>
            Effect.sync(() => void seen.push(`${metadata.name} ${metadata.finalizers?.join(" ")}`))
        })
      )
      yield* cluster.apply([gadget("a", 1)])
      yield* cluster.settle
      assert.deepStrictEqual(seen, ["a example.com/door"])
      yield* client.delete(Gadget, { namespace, name: "a" })
      yield* cluster.advance("1 hour")
      assert.deepStrictEqual(seen, ["a example.com/door", "closed a 1"])
      assert.isUndefined(yield* get("a"))
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ crds: [definition], authorization: "RBAC" })))
  )

  it.effect("the cleanup of an object that cannot be decoded waits until the object is repaired", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      const seen: Array<string> = []
      yield* cluster.run(
        Controller.make({
          name: "finalizing",
          for: Gadget,
          finalizers: { "example.com/door": ({ spec }) => Effect.sync(() => void seen.push(`closed ${spec.size}`)) },
          reconcileObject: () => Effect.sync(() => void seen.push("live"))
        })
      )
      yield* client.delete(Gadget, { namespace, name: "odd" })
      yield* cluster.advance("1 hour")
      assert.deepStrictEqual(seen, [])
      const [first, second] = yield* warnings
      assert.include(first, refused)
      assert.include(second, "; until that is mended its deletion waits for the work of example.com/door")
      yield* put("odd", { spec: { size: 3 } })
      yield* cluster.advance("1 hour")
      assert.deepStrictEqual(seen, ["closed 3"])
      assert.isUndefined(yield* get("odd"))
    }).pipe(
      Effect.scoped,
      Effect.provide(
        ClusterTest.layer({
          crds: [withoutSchema],
          objects: [gadget("odd", 7, { finalizers: ["example.com/door"] })],
          authorization: "RBAC"
        })
      )
    )
  )

  it.effect("a decoding error of the reconcile itself is a failure of its run", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      let tries = 0
      yield* cluster.run(
        Controller.make({
          name: "stumbling",
          for: Gadget,
          reconcileObject: () => (tries++, Effect.asVoid(Effect.fromResult(Gadget.decode({ metadata: {} }))))
        })
      )
      yield* cluster.apply([gadget("a", 1)])
      yield* cluster.advance("1 minute")
      assert.isAbove(tries, 3)
      assert.deepStrictEqual(yield* warnings, [])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ crds: [definition] })))
  )

  it.effect("an object is decoded once in a run, and again after a write", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      let decoded = 0
      let runs = 0
      const Counted = { ...Gadget, decode: (object: unknown) => (decoded++, Gadget.decode(object)) }
      yield* cluster.run(
        Controller.make({
          name: "counting",
          for: Counted,
          finalizers: { "example.com/door": () => Effect.void },
          reconcileObject: () => Effect.sync(() => void runs++)
        })
      )
      yield* cluster.apply([gadget("a", 1)])
      yield* cluster.settle
      // The first run added the finalizer, and that write caused the second run.
      assert.deepStrictEqual([runs, decoded], [2, 3])
      yield* put("a", { spec: { size: 2 } })
      yield* cluster.settle
      assert.deepStrictEqual([runs, decoded], [3, 4])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ crds: [definition] })))
  )

  it.effect("objects of built-in kinds are passed unchanged", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const seen: Array<unknown> = []
      const controller = Controller.make({
        name: "plain",
        for: ConfigMap,
        reconcileObject: ({ data }) => Effect.sync(() => void seen.push(data))
      })
      assert.deepStrictEqual(controller.access, [Access.read(ConfigMap)])
      yield* cluster.run(controller)
      yield* cluster.apply([{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: "b" } }])
      yield* cluster.settle
      assert.deepStrictEqual(seen, [{ a: "b" }])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("applies with its own name as the field manager", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(
        Controller.make({
          name: "applying",
          for: Gadget,
          access: [Access.patch(Gadget, "status"), Access.create(ConfigMap), Access.patch(ConfigMap)],
          reconcileObject: (gadget, { client }) =>
            Effect.gen(function* () {
              const { apply, applyStatus } = applier(client)
              yield* apply(ConfigMap, {
                metadata: { name: "made", namespace: gadget.metadata.namespace },
                data: { a: "b" }
              })
              yield* applyStatus(Gadget, gadget, { seen: gadget.spec.size })
            })
        })
      )
      yield* cluster.apply([gadget("a", 2)])
      yield* cluster.settle
      assert.strictEqual((yield* get("a"))?.status?.seen, 2)
      const [made] = yield* cluster.snapshot(ConfigMap)
      const managers = [made, yield* get("a")].map((object) =>
        object?.metadata.managedFields?.map((one) => one.manager)
      )
      assert.deepStrictEqual(managers, [["applying"], ["applying", "test"]])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ crds: [definition], authorization: "RBAC" })))
  )
})
