/** The settings for all loops apply to each loop without its own setting. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import { TestClock } from "effect/testing"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { Defaults, type Loops } from "../../../src/layers/controller/defaults.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Supervisor } from "../../../src/layers/Supervisor.ts"
import * as Cluster from "../../support/cluster.ts"

const create = (name: string) =>
  Effect.flatMap(KubeClient, (client) => client.create(ConfigMap, { metadata: { name, namespace: "default" } }))

type Own = Controller.Runs

/** Starts the controller under the defaults, with its own options. */
const start = (loops: Loops, own: Own, reconcile: () => Effect.Effect<void, unknown>) =>
  Cluster.start(Controller.make({ name: "looping", for: ConfigMap, ...own, reconcile })).pipe(
    Effect.provideService(Defaults, loops)
  )

/** A reconcile that always fails, and how often it has run. */
const failures = () => {
  let runs = 0
  return { failing: () => Effect.suspend(() => ((runs += 1), Effect.fail("no"))), runs: () => runs }
}

describe("the defaults of loops", () => {
  for (const [title, loops, own, expected] of [
    ["one without them", {}, {}, 1],
    ["as many as they say", { concurrency: 3 }, {}, 3],
    ["as many as they say for its kind", { concurrency: 3, concurrencyOf: new Map([["ConfigMap", 2]]) }, {}, 2],
    [
      "as many as the controller says",
      { concurrency: 3, concurrencyOf: new Map([["ConfigMap", 4]]) },
      { concurrency: 2 },
      2
    ]
  ] as const) {
    it.effect(`keys at once: ${title}`, () =>
      Effect.gen(function* () {
        for (const name of ["a", "b", "c", "d"]) yield* create(name)
        let running = 0
        const { stop } = yield* start(loops, own, () =>
          Effect.andThen(
            Effect.sync(() => void running++),
            Effect.sleep("1 minute")
          )
        )
        assert.strictEqual(running, expected)
        yield* TestClock.adjust("10 minutes")
        yield* stop()
      }).pipe(Effect.provide(Cluster.layer))
    )
  }

  for (const [title, loops, own, expected] of [
    ["five minutes without them", {}, {}, 300],
    ["as long as they say", { timeout: "20 seconds" }, {}, 20],
    ["as long as the controller says", { timeout: "20 seconds" }, { timeout: "30 seconds" }, 30]
  ] as const) {
    it.effect(`run timeout: ${title}`, () =>
      Effect.gen(function* () {
        yield* create("a")
        let interrupted = 0
        const { stop } = yield* start(loops, own, () =>
          Effect.onInterrupt(Effect.never, () => Effect.sync(() => void interrupted++))
        )
        yield* TestClock.adjust(`${expected - 1} seconds`)
        assert.strictEqual(interrupted, 0)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(interrupted, 1)
        yield* Effect.forkChild(stop())
        yield* TestClock.adjust("10 minutes")
      }).pipe(Effect.provide(Cluster.layer))
    )
  }

  it.effect("a run without a timeout has no time limit", () =>
    Effect.gen(function* () {
      yield* create("a")
      let interrupted = 0
      const { stop } = yield* start({ timeout: "none" }, {}, () =>
        Effect.onInterrupt(Effect.sleep("2 hours"), () => Effect.sync(() => void interrupted++))
      )
      yield* TestClock.adjust("3 hours")
      assert.strictEqual(interrupted, 0)
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("the bounds of the backoff can be set separately, and retries can be limited", () =>
    Effect.gen(function* () {
      yield* create("a")
      const { failing, runs } = failures()
      const { stop } = yield* start(
        { backoff: { base: "10 seconds", max: "1 hour" }, retries: 3 },
        { backoff: { max: "15 seconds" } },
        failing
      )
      const seen: Array<number> = [runs()]
      for (const wait of [9, 1, 14, 1, 15, 3600]) {
        yield* TestClock.adjust(`${wait} seconds`)
        seen.push(runs())
      }
      // 10 s, then 15 s instead of 20 s, then 15 s, and then no more.
      assert.deepStrictEqual(seen, [1, 1, 2, 2, 3, 4, 4])
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("a controller's own limit of retries replaces the one for all loops", () =>
    Effect.gen(function* () {
      yield* create("a")
      const { failing, runs } = failures()
      const { stop } = yield* start({ retries: 3 }, { retries: 1 }, failing)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(runs(), 2)
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("the retries of all keys of a controller with a bucket share its tokens", () =>
    Effect.gen(function* () {
      for (const name of ["a", "b", "c"]) yield* create(name)
      const { failing, runs } = failures()
      const { stop } = yield* start({ retries: 1 }, { bucket: { perSecond: 1 / 60, burst: 1 } }, failing)
      const seen: Array<number> = []
      for (const wait of ["59 seconds", "1 minute", "1 minute"] as const) {
        yield* TestClock.adjust(wait)
        seen.push(runs())
      }
      assert.deepStrictEqual(seen, [4, 5, 6])
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  for (const [prioritizes, expected] of [
    [true, ["new", "old-0", "old-1", "old-2"]],
    [false, ["old-0", "old-1", "old-2", "new"]]
  ] as const) {
    it.effect(`keys of the first list wait for keys of changes: ${prioritizes}`, () =>
      Effect.gen(function* () {
        for (const index of [0, 1, 2]) yield* create(`old-${index}`)
        const order: Array<string> = []
        const controller = Controller.make({
          name: "looping",
          for: ConfigMap,
          // Long enough for the new key to arrive while the first of the old keys is in flight.
          reconcile: ({ name }) =>
            Effect.andThen(Effect.sleep("1 second"), () => Effect.sync(() => void order.push(name)))
        })
        const { stop } = yield* Effect.provideService(Cluster.start(controller), Defaults, { prioritizes })
        yield* create("new")
        yield* Cluster.settle
        yield* TestClock.adjust("10 seconds")
        const [first = ""] = order
        assert.deepStrictEqual(
          order.slice(1),
          expected.filter((name) => name !== first)
        )
        yield* stop()
      }).pipe(Effect.provide(Cluster.layer))
    )
  }

  for (const [title, recoversDefects, expected] of [
    ["is one of its key's failures", undefined, "still running"],
    ["ends whoever supervises, if they say so", false, "looping failed: oops"]
  ] as const) {
    it.effect(`a defect ${title}`, () =>
      Effect.gen(function* () {
        yield* create("a")
        const watched = yield* Effect.forkChild(Effect.flip((yield* Supervisor).failure))
        const { stop } = yield* start({ recoversDefects }, {}, () => Effect.die(new Error("oops")))
        yield* Cluster.settle
        const exit = watched.pollUnsafe()
        assert.strictEqual(exit?._tag === "Success" ? exit.value.message : "still running", expected)
        yield* stop(Exit.interrupt())
      }).pipe(Effect.provide(Cluster.layer))
    )
  }

  it.effect("a defect of a scheduled run ends the manager, if so configured", () =>
    Effect.gen(function* () {
      const watched = yield* Effect.forkChild(Effect.flip((yield* Supervisor).failure))
      const controller = Controller.scheduled({
        name: "looping",
        access: [],
        schedule: Schedule.spaced("1 second"),
        run: () => Effect.die(new Error("oops"))
      })
      yield* Effect.provideService(Cluster.start(controller), Defaults, { recoversDefects: false })
      const exit = watched.pollUnsafe()
      assert.strictEqual(exit?._tag === "Success" ? exit.value.message : "still running", "looping failed: oops")
    }).pipe(Effect.provide(Cluster.layer))
  )
})
