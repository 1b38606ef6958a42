/** Controllers that start before all others of their group. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { ConfigMap, Secret } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Leadership } from "../../../src/layers/Leadership.ts"
import * as Manager from "../../../src/manager/Manager.ts"
import * as Cluster from "../../support/cluster.ts"
import * as Switches from "../../support/switches.ts"
import { layer, messageOf, pass } from "./running.ts"

const other = (trace: Array<string>): Controller.Descriptor => ({
  name: "other",
  access: [],
  reads: [],
  needsLeader: true,
  layer: Layer.effectDiscard(Effect.sync(() => trace.push("+other")))
})

/** A manager with a controller that starts first, whose kind may not be read. */
const forbidden = Effect.gen(function* () {
  const { set } = yield* Switches.Switches
  const trace: Array<string> = []
  yield* set(ConfigMap, "forbidden")
  const first = Controller.make({ name: "first", for: ConfigMap, startFirst: true, reconcile: () => Effect.void })
  const fiber = yield* Effect.forkChild(Manager.run({ controllers: [first, other(trace)] }))
  return { fiber, set, trace }
})

describe("a controller that starts first", () => {
  it.effect("delays the others until all keys of its first list have been reconciled", () =>
    Effect.gen(function* () {
      const trace: Array<string> = []
      const client = yield* KubeClient
      for (const name of ["a", "b"]) yield* client.create(ConfigMap, { metadata: { name, namespace: "default" } })
      const last = yield* Deferred.make<void>()
      const first = Controller.make({
        name: "first",
        for: ConfigMap,
        startFirst: true,
        reconcile: ({ name }) =>
          Effect.andThen(name === "b" ? Deferred.await(last) : Effect.void, () => {
            trace.push(name)
            return Effect.void
          })
      })
      const fiber = yield* Effect.forkChild(Manager.run({ controllers: [other(trace), first] }))
      yield* pass("1 minute")
      assert.deepStrictEqual(trace, ["a"])
      yield* Deferred.succeed(last, undefined)
      yield* pass("1 second")
      assert.deepStrictEqual(trace, ["a", "b", "+other"])
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(layer))
  )

  it.effect("without objects is ready when its kinds have synced", () =>
    Effect.gen(function* () {
      const { fiber, set, trace } = yield* forbidden
      yield* pass("20 seconds")
      assert.deepStrictEqual(trace, [])
      yield* set(ConfigMap, "served")
      yield* pass("1 minute")
      assert.deepStrictEqual(trace, ["+other"])
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(layer))
  )

  it.effect("on a schedule delays the others until its first run has ended", () =>
    Effect.gen(function* () {
      const trace: Array<string> = []
      const first = Controller.scheduled({
        name: "first",
        access: [],
        startFirst: true,
        schedule: Schedule.spaced("1 hour"),
        run: () => Effect.andThen(Effect.sleep("10 seconds"), () => Effect.sync(() => void trace.push("run")))
      })
      const fiber = yield* Effect.forkChild(Manager.run({ controllers: [first, other(trace)] }))
      yield* pass("9 seconds")
      assert.deepStrictEqual(trace, [])
      yield* pass("2 seconds")
      assert.deepStrictEqual(trace, ["run", "+other"])
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(layer))
  )

  it.effect("delays its own group only", () =>
    Effect.gen(function* () {
      const { set } = yield* Switches.Switches
      const trace: Array<string> = []
      yield* set(Secret, "absent")
      const first = Controller.make({ name: "first", for: Secret, startFirst: true, reconcile: () => Effect.void })
      const leadership = yield* Leadership
      const fiber = yield* Effect.forkChild(
        Manager.run({
          controllers: [first, { ...other(trace), name: "beside" }],
          groups: [{ leadership, controllers: [other(trace)] }]
        })
      )
      yield* pass("1 minute")
      assert.deepStrictEqual(trace, ["+other"])
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(layer))
  )

  it.effect("that is not ready in time ends the manager, whatever the isolation", () =>
    Effect.gen(function* () {
      const { fiber, trace } = yield* forbidden
      yield* pass("130 seconds")
      assert.match(
        yield* messageOf(fiber),
        /^controller first starts first and was not ready within 2m: configmaps did not sync: (list|watch) configmaps: configmaps is forbidden/
      )
      assert.deepStrictEqual(trace, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("that fails to start ends the manager", () =>
    Effect.gen(function* () {
      const trace: Array<string> = []
      const first: Controller.Descriptor = {
        ...other(trace),
        name: "first",
        startFirst: true,
        layer: Layer.effectDiscard(Effect.die(new Error("no key to sign with")))
      }
      const fiber = yield* Effect.forkChild(Manager.run({ controllers: [other(trace), first] }))
      yield* Cluster.settle
      assert.strictEqual(yield* messageOf(fiber), "no key to sign with")
      assert.deepStrictEqual(trace, [])
    }).pipe(Effect.provide(layer))
  )
})
