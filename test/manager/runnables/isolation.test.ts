/** The other controllers while one kind may not be read: a whole manager in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { ConfigMap, Secret } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import * as Health from "../../../src/layers/Health.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Manager from "../../../src/manager/Manager.ts"
import * as Cluster from "../../support/cluster.ts"
import { logged } from "../../support/logged.ts"
import * as Switches from "../../support/switches.ts"
import { layer, messageOf, pass } from "./running.ts"

const two = (seen: Array<string>) => [
  Controller.make({
    name: "maps",
    for: ConfigMap,
    reconcile: ({ name }) => Effect.sync(() => void seen.push(`maps ${name}`))
  }),
  Controller.make({
    name: "secrets",
    for: Secret,
    reconcile: ({ name }) => Effect.sync(() => void seen.push(`secrets ${name}`))
  })
]

const populated = Effect.gen(function* () {
  const client = yield* KubeClient
  yield* client.create(ConfigMap, { metadata: { name: "m", namespace: "default" } })
  yield* client.create(Secret, { metadata: { name: "s", namespace: "default" } })
})

const unsynced = Effect.flatMap(Health.Health, (health) =>
  Effect.flatMap(
    health.checks("readiness"),
    (checks) => checks.find(({ name }) => name === "informer-sync")?.run ?? Effect.succeed("not registered")
  )
)

const isolated = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(Effect.provideService(Health.Health, Health.makeUnsafe()))

const refused = /(list|watch) secrets: secrets is forbidden/

describe("independent isolation", () => {
  for (const warm of [true, false]) {
    it.effect(`a kind that may not be read delays only who needs it, until the right is granted (warm: ${warm})`, () =>
      Effect.gen(function* () {
        const { lines, logger } = logged()
        const { set } = yield* Switches.Switches
        const seen: Array<string> = []
        yield* populated
        yield* set(Secret, "forbidden")
        const fiber = yield* Effect.forkChild(Effect.provide(Manager.run({ controllers: two(seen), warm }), logger))
        yield* pass("1 second")
        assert.deepStrictEqual(seen, ["maps m"])
        assert.match(
          (yield* unsynced) ?? "",
          /^secrets not synced, failed .*(list|watch) secrets: secrets is forbidden$/
        )
        yield* pass("1 minute")
        assert.deepStrictEqual(lines(/waits/), [])
        yield* pass("2 minutes")
        const [line, ...more] = lines(/waits/)
        assert.deepStrictEqual(more, [])
        assert.match(line ?? "", /^secrets: Controller waits: secrets did not sync within 2m: (list|watch) secrets: /)
        assert.match(line ?? "", /; grant list and watch on secrets, or leave the controller out with --controllers$/)
        yield* pass("1 hour")
        assert.isFalse(Cluster.isDone(fiber))
        assert.lengthOf(lines(/waits/), 1)
        yield* set(Secret, "served")
        yield* pass("1 minute")
        assert.deepStrictEqual(seen, ["maps m", "secrets s"])
        assert.isUndefined(yield* unsynced)
        assert.deepStrictEqual(lines(/waits no longer/), ["secrets: Controller waits no longer: its kinds have synced"])
        yield* Fiber.interrupt(fiber)
      }).pipe(isolated, Effect.provide(layer))
    )
  }
})

describe("strict isolation", () => {
  for (const warm of [true, false]) {
    it.effect(`ends with controller, kind and the last error when the time is over (warm: ${warm})`, () =>
      Effect.gen(function* () {
        const { set } = yield* Switches.Switches
        const seen: Array<string> = []
        yield* set(Secret, "forbidden")
        const manager = Manager.run({ controllers: two(seen), isolation: "strict", syncTimeout: "90 seconds", warm })
        const fiber = yield* Effect.forkChild(manager)
        yield* pass("89 seconds")
        assert.isFalse(Cluster.isDone(fiber))
        yield* pass("2 seconds")
        const message = yield* messageOf(fiber)
        assert.match(message, /^secrets failed: secrets did not sync within 1m 30s: /)
        assert.match(message, refused)
      }).pipe(isolated, Effect.provide(layer))
    )
  }

  it.effect("does not count a kind that is not served", () =>
    Effect.gen(function* () {
      const { set } = yield* Switches.Switches
      yield* set(Secret, "absent")
      const fiber = yield* Effect.forkChild(Manager.run({ controllers: two([]), isolation: "strict" }))
      yield* pass("10 minutes")
      assert.isFalse(Cluster.isDone(fiber))
      yield* Fiber.interrupt(fiber)
    }).pipe(isolated, Effect.provide(layer))
  )
})
