/** Controllers whose kinds are served only at times: a whole manager in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { ConfigMap, Pod, Secret } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import * as Health from "../../../src/layers/Health.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Leadership } from "../../../src/layers/Leadership.ts"
import * as Manager from "../../../src/manager/Manager.ts"
import * as States from "../../../src/manager/runnables/states.ts"
import * as Cluster from "../../support/cluster.ts"
import * as Switches from "../../support/switches.ts"
import { logged } from "../../support/logged.ts"
import { layer, pass, successiveTerms } from "./running.ts"

/** A controller that records its starts, stops and reconciles in `trace`. */
const loop = (
  name: string,
  of: typeof ConfigMap | typeof Secret,
  trace: Array<string>,
  placement: Controller.Placement = {}
) => {
  const controller = Controller.make({
    ...placement,
    name,
    for: of as typeof ConfigMap,
    reconcile: ({ name: object }) => Effect.sync(() => void trace.push(`${name} ${object}`))
  })
  const watched = Layer.effectDiscard(
    Effect.acquireRelease(
      Effect.sync(() => trace.push(`+${name}`)),
      () => Effect.sync(() => trace.push(`-${name}`))
    )
  )
  return { ...controller, layer: Layer.provideMerge(controller.layer, watched) }
}

const unready = Effect.flatMap(Health.Health, (health) =>
  Effect.flatMap(health.checks("readiness"), (checks) =>
    Effect.map(
      Effect.forEach(checks, ({ run }) => run),
      (answers) => answers.filter((answer) => answer !== undefined)
    )
  )
)

const own = Effect.provideService(Health.Health, Health.makeUnsafe())

const stateOf = (name: string) => Effect.map(States.States, (states) => states.all().get(name)?._tag)

describe("a controller whose kind is not served", () => {
  it.effect(
    "waits and logs it, does not affect readiness, starts when the kind is served and stops when it is not",
    () =>
      Effect.gen(function* () {
        const { lines, logger } = logged()
        const { set } = yield* Switches.Switches
        const trace: Array<string> = []
        yield* (yield* KubeClient).create(Secret, { metadata: { name: "s", namespace: "default" } })
        yield* set(Secret, "absent")
        const controllers = [loop("maps", ConfigMap, trace), loop("secrets", Secret, trace)]
        const fiber = yield* Effect.forkChild(Effect.provide(Manager.run({ controllers }), logger))
        yield* Cluster.settle
        yield* pass("1 minute")
        assert.deepStrictEqual(trace, ["+maps"])
        assert.deepStrictEqual(lines(/Skipping/), [
          "secrets: Skipping Controller until the server serves secrets: is the CustomResourceDefinition installed?"
        ])
        assert.deepStrictEqual(yield* unready, [])
        assert.strictEqual(yield* stateOf("secrets"), "Waiting")
        yield* set(Secret, "served")
        yield* pass("10 seconds")
        assert.deepStrictEqual(trace.splice(0), ["+maps", "+secrets", "secrets s"])
        assert.strictEqual(yield* stateOf("secrets"), "Started")
        yield* set(Secret, "absent")
        yield* pass("35 seconds")
        assert.deepStrictEqual(trace.splice(0), ["-secrets"])
        assert.strictEqual(yield* stateOf("secrets"), "Waiting")
        assert.deepStrictEqual(yield* unready, [])
        yield* set(Secret, "served")
        yield* pass("10 seconds")
        assert.deepStrictEqual(trace.splice(0), ["+secrets", "secrets s"])
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(trace, ["-secrets", "-maps"])
      }).pipe(own, Effect.provideService(States.States, States.makeUnsafe()), Effect.provide(layer))
  )

  it.effect("stops at once when its informer gets a 404, not at the next round", () =>
    Effect.gen(function* () {
      const { set } = yield* Switches.Switches
      const trace: Array<string> = []
      const fiber = yield* Effect.forkChild(Manager.run({ controllers: [loop("secrets", Secret, trace)] }))
      yield* Cluster.settle
      yield* pass("30 seconds")
      yield* set(Secret, "absent")
      yield* pass("8 seconds")
      assert.deepStrictEqual(trace, ["+secrets", "-secrets"])
      yield* Fiber.interrupt(fiber)
    }).pipe(own, Effect.provide(layer))
  )

  it.effect("waits for a required kind that it does not read", () =>
    Effect.gen(function* () {
      const { set } = yield* Switches.Switches
      const trace: Array<string> = []
      yield* set(Pod, "absent")
      const controllers = [loop("maps", ConfigMap, trace, { requires: [Pod] })]
      const fiber = yield* Effect.forkChild(Manager.run({ controllers }))
      yield* pass("1 minute")
      assert.deepStrictEqual(trace, [])
      yield* set(Pod, "served")
      yield* pass("10 seconds")
      assert.deepStrictEqual(trace, ["+maps"])
      // The kind has no informer, so only the next discovery request notices that it is not served any more.
      yield* set(Pod, "absent")
      yield* pass("31 seconds")
      assert.deepStrictEqual(trace, ["+maps", "-maps"])
      yield* Fiber.interrupt(fiber)
    }).pipe(own, Effect.provide(layer))
  )

  it.effect("is skipped for good with missingKinds=skip: one log line, and no further discovery", () =>
    Effect.gen(function* () {
      const { lines, logger } = logged()
      const { asked, set } = yield* Switches.Switches
      const trace: Array<string> = []
      yield* set(Secret, "absent")
      const first = loop("secrets", Secret, trace, { startFirst: true })
      const manager = Manager.run({ controllers: [first, loop("maps", ConfigMap, trace)], missingKinds: "skip" })
      const fiber = yield* Effect.forkChild(Effect.provide(manager, logger))
      yield* Cluster.settle
      yield* set(Secret, "served")
      const before = asked.length
      yield* pass("5 minutes")
      assert.deepStrictEqual(trace, ["+maps"])
      assert.deepStrictEqual(lines(/Skipping/), ["secrets: Skipping Controller: the server does not serve secrets"])
      assert.deepStrictEqual(
        asked.slice(before).filter((line) => !line.includes("configmaps")),
        []
      )
      assert.strictEqual(yield* stateOf("secrets"), "Skipped")
      assert.deepStrictEqual(yield* unready, [])
      yield* Fiber.interrupt(fiber)
    }).pipe(own, Effect.provideService(States.States, States.makeUnsafe()), Effect.provide(layer))
  )

  it.effect(
    "a standby keeps its caches synced, and the next term starts the controllers whose kinds are served then",
    () =>
      Effect.gen(function* () {
        const { set } = yield* Switches.Switches
        const trace: Array<string> = []
        const { lead, leadership } = yield* successiveTerms
        yield* set(Secret, "absent")
        const controllers = [loop("secrets", Secret, trace), loop("maps", ConfigMap, trace)]
        const fiber = yield* Effect.forkChild(
          Effect.provideService(Manager.run({ controllers, onLost: "rejoin" }), Leadership, leadership)
        )
        yield* Cluster.settle
        const lose = yield* lead
        assert.deepStrictEqual(trace.splice(0), ["+maps"])
        yield* set(Secret, "served")
        yield* pass("10 seconds")
        assert.deepStrictEqual(trace.splice(0), ["+secrets"])
        yield* lose
        yield* Cluster.settle
        assert.deepStrictEqual(trace.splice(0), ["-secrets", "-maps"])
        yield* Effect.asVoid(lead)
        assert.deepStrictEqual(trace.splice(0), ["+secrets", "+maps"])
        yield* Fiber.interrupt(fiber)
      }).pipe(own, Effect.provide(layer))
  )

  it.effect("keeps the last result while discovery fails", () =>
    Effect.gen(function* () {
      const { set } = yield* Switches.Switches
      const { setFaults } = yield* ApiServer
      const trace: Array<string> = []
      yield* setFaults([{ match: ({ path }) => path === "/api/v1", fault: { _tag: "Status", code: 503 } }])
      const fiber = yield* Effect.forkChild(Manager.run({ controllers: [loop("secrets", Secret, trace)] }))
      yield* pass("20 seconds")
      assert.deepStrictEqual(trace, ["+secrets"])
      yield* set(Secret, "absent")
      yield* pass("2 minutes")
      assert.deepStrictEqual(trace, ["+secrets"])
      yield* setFaults([])
      yield* pass("10 seconds")
      assert.deepStrictEqual(trace, ["+secrets", "-secrets"])
      yield* Fiber.interrupt(fiber)
    }).pipe(own, Effect.provide(layer))
  )
})
