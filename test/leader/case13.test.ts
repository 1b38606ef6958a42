import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { Leadership } from "../../src/layers/Leadership.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import * as Election from "../../src/leader/Election.ts"
import * as Harness from "./harness.ts"

const leasePath = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/demo"

/** One process: takes part in the election until the end, and writes five times a second while it can prove that it leads. */
interface Process {
  readonly name: string
  fault: Harness.Fault
  /** Milliseconds by which its wall clock is wrong. */
  skew: number
  fiber: Fiber.Fiber<unknown, unknown> | undefined
}

/** Who wrote when, in milliseconds. */
type Journal = Array<{ readonly by: string; readonly at: number }>

const start = Effect.fnUntraced(function* (server: Harness.Server, journal: Journal, process: Process) {
  const clock = yield* Clock.Clock
  const client = Harness.client(Harness.faulty(server.transport, () => process.fault))
  const layer = Election.layer({ namespace: "kube-system", name: "demo", identity: process.name }).pipe(
    Layer.provide(Layer.merge(client, Recorder.layerNoop))
  )
  const write = Effect.map(Clock.monotonicTimeNanos, (nanos) => {
    journal.push({ by: process.name, at: Number(nanos) / 1e6 })
  })
  const life = Effect.forever(
    Leadership.run((term) =>
      Effect.forever(
        Effect.andThen(
          Effect.suspend(() => (term.isValidUnsafe() ? write : Effect.void)),
          Effect.sleep(200)
        )
      )
    )
  )
  process.fiber = yield* life.pipe(
    Effect.provide(layer, { local: true }),
    Effect.provideService(
      Clock.Clock,
      Harness.skewed(clock, () => process.skew)
    ),
    Effect.forkScoped
  )
})

const make = (name: string): Process => ({ name, fault: Harness.fine, skew: 0, fiber: undefined })

/** Writers in order, without repetitions: `a b a` means that leadership went from a to b and back. */
const order = (journal: Journal) => journal.map(({ by }) => by).filter((by, i, all) => by !== all[i - 1])

/** The time between the last write of one leader and the first write of the next. */
const gaps = (journal: Journal) =>
  journal.flatMap(({ by, at }, i) => {
    const before = journal[i - 1]
    return before !== undefined && before.by !== by ? [at - before.at] : []
  })

const setup = Effect.gen(function* () {
  const server = Harness.server()
  const journal: Journal = []
  const [a, b, c] = [make("a"), make("b"), make("c")]
  yield* start(server, journal, a)
  yield* TestClock.adjust("1 seconds")
  yield* start(server, journal, b)
  yield* start(server, journal, c)
  yield* TestClock.adjust("10 seconds")
  assert.deepStrictEqual(order(journal), ["a"])
  const all = [a, b, c]
  // All three close at the end of the test, at one moment of virtual time: nothing may hang then.
  yield* Effect.addFinalizer(() => Effect.sync(() => all.forEach((process) => (process.fault = Harness.fine))))
  return { server, journal, a, b, c, all }
})

const allAlive = (processes: ReadonlyArray<Process>) =>
  assert.isTrue(processes.every(({ fiber }) => fiber !== undefined && fiber.pollUnsafe() === undefined))

describe("regression case 13: at most one writer, and the process stays up", () => {
  it.effect("the lease is stolen", () =>
    Effect.gen(function* () {
      const { server, journal, all } = yield* setup
      server.edit(leasePath, (lease) => (lease.spec.holderIdentity = "somebody"))
      const stolenAt = 11_000
      yield* TestClock.adjust("2 seconds")
      const count = journal.length
      yield* TestClock.adjust("12 seconds")
      assert.strictEqual(journal.length, count, "nobody writes while somebody else holds the lease")
      assert.isTrue(journal.at(-1)!.at <= stolenAt + 2000)
      yield* TestClock.adjust("30 seconds")
      assert.isTrue(journal.length > count)
      allAlive(all)
    })
  )

  it.effect("slow renewals change nothing as long as they arrive in time", () =>
    Effect.gen(function* () {
      const { journal, a, all } = yield* setup
      a.fault = { _tag: "Ok", there: 2_000, back: 2_000 }
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(order(journal), ["a"])
      allAlive(all)
    })
  )

  it.effect("if renewals are too slow, the next leader writes only after the last one has stopped", () =>
    Effect.gen(function* () {
      const { journal, a, all } = yield* setup
      a.fault = { _tag: "Ok", there: 7_000, back: 7_000 }
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(order(journal)[0], "a")
      assert.isTrue(order(journal).length > 1)
      assert.isTrue(
        gaps(journal).every((gap) => gap >= 4_000),
        String(gaps(journal))
      )
      allAlive(all)
    })
  )

  it.effect("wall clocks are hours apart, and jump", () =>
    Effect.gen(function* () {
      const { journal, a, b, c, all } = yield* setup
      const hour = 3_600_000
      for (const [x, y, z] of [
        [-5 * hour, 0, 5 * hour],
        [5 * hour, 0, -5 * hour],
        [-1, 1, 0],
        [-5 * hour, -5 * hour, -5 * hour]
      ] as const) {
        a.skew = x
        b.skew = y
        c.skew = z
        yield* TestClock.adjust("1 minute")
      }
      assert.deepStrictEqual(order(journal), ["a"])
      allAlive(all)
    })
  )

  it.effect("the leader's wall clock stands still: its renewals still count", () =>
    Effect.gen(function* () {
      const { journal, a, all } = yield* setup
      for (let i = 0; i < 300; i++) {
        yield* TestClock.adjust("200 millis")
        a.skew -= 200
      }
      assert.deepStrictEqual(order(journal), ["a"])
      allAlive(all)
    })
  )

  it.effect("while the server is unreachable for two minutes no candidate writes, and then one does", () =>
    Effect.gen(function* () {
      const { journal, all } = yield* setup
      for (const process of all) process.fault = { _tag: "Error", status: 0, back: 10 }
      yield* TestClock.adjust("10 seconds")
      const count = journal.length
      yield* TestClock.adjust("110 seconds")
      assert.strictEqual(journal.length, count)
      for (const process of all) process.fault = Harness.fine
      yield* TestClock.adjust("35 seconds")
      assert.isTrue(journal.length > count)
      assert.isTrue(
        gaps(journal).every((gap) => gap >= 4_000),
        String(gaps(journal))
      )
      allAlive(all)
    })
  )

  it.effect(
    "if only the leader is cut off, the next one leads within the lease and two retries, and not before the first has stopped",
    () =>
      Effect.gen(function* () {
        const { journal, a, all } = yield* setup
        a.fault = { _tag: "Hang" }
        yield* TestClock.adjust("60 seconds")
        const writers = order(journal)
        assert.strictEqual(writers.length, 2)
        assert.isTrue(
          gaps(journal).every((gap) => gap >= 4_000 && gap <= 15_000),
          String(gaps(journal))
        )
        const takeover = journal.find(({ by }) => by !== "a")!
        assert.isTrue(takeover.at <= 11_000 + 15_000 + 2 * 4_400 + 1_000, String(takeover.at))
        allAlive(all)
        a.fault = Harness.fine
      })
  )

  it.effect(
    "after SIGTERM with a renewal in flight the release is retried after its conflict, and the next candidate leads within 5 s",
    () =>
      Effect.gen(function* () {
        const { server, journal, a, b, c } = yield* setup
        a.fault = { _tag: "LostAnswer", there: 300 }
        // The renewal of second 12 was sent and has arrived; its response never comes.
        yield* TestClock.adjust("2 seconds")
        a.fault = Harness.fine
        const before = server.requests.length
        yield* Fiber.interrupt(a.fiber!)
        assert.deepStrictEqual(
          server.requests.slice(before).map((request) => request.method),
          ["PUT", "GET", "PUT"]
        )
        assert.strictEqual(server.objects.get(leasePath)!["spec"].holderIdentity, "")
        yield* TestClock.adjust("5 seconds")
        assert.strictEqual(order(journal).length, 2)
        assert.isTrue(journal.at(-1)!.at >= 17_500)
        allAlive([b, c])
      })
  )
})
