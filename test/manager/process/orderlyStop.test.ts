/** Signals and the time limit of a stop, in virtual time: a program that ends when the test says so, and a host that only records. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { TestClock } from "effect/testing"
import type { Host } from "../../../src/manager/process/Host.ts"
import { orderly, Verdict } from "../../../src/manager/process/orderlyStop.ts"
import * as Shutdown from "../../../src/layers/Shutdown.ts"

type Signal = Parameters<Host["on"]>[0]

/** A host that records the exit code and its output. */
const name = "manager"

const hosted = (env: Host["env"] = {}) => {
  const listeners = new Map<Signal, Array<() => void>>()
  const exits: Array<number> = []
  let stderr = ""
  const send = (signal: Signal) => {
    for (const listener of listeners.get(signal) ?? []) listener()
  }
  const output = { write: (text: string) => void (stderr += text), on: () => {} }
  const host: Host = {
    argv: [],
    env,
    stdout: output,
    stderr: output,
    on: (signal, listener) => listeners.set(signal, [...(listeners.get(signal) ?? []), listener]),
    emit: send,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a process would be gone
    exit: (code) => void exits.push(code) as never
  }
  return { host, send, exits, said: () => stderr }
}

/** A program whose outermost scope takes the given time to close, and its fiber, which the runtime interrupts after a signal. */
const running = Effect.fnUntraced(function* (
  host: Host,
  options: Shutdown.Options,
  closing: Effect.Effect<void> = Effect.void
) {
  const program = Effect.scoped(
    Effect.andThen(
      Effect.addFinalizer(() => closing),
      Effect.never
    )
  )
  const fiber = yield* Effect.forkDetach(orderly(host, { name, ...options })(program), { startImmediately: true })
  for (const signal of ["SIGINT", "SIGTERM"] as const) host.on(signal, () => fiber.interruptUnsafe())
  return fiber
})

describe("an orderly stop", () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    it.effect(`${signal} begins it`, () =>
      Effect.gen(function* () {
        const { exits, host, said, send } = hosted()
        const fiber = yield* running(host, { timeout: "10 seconds" }, Effect.sleep("9 seconds"))
        send(signal)
        yield* TestClock.adjust("9 seconds")
        const exit = yield* Fiber.await(fiber)
        assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
        assert.deepStrictEqual([exits, said()], [[], ""])
      })
    )
  }

  it.effect("a second SIGINT or SIGTERM ends the process at once; a second SIGHUP does not", () =>
    Effect.gen(function* () {
      for (const first of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
        for (const second of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
          const { exits, host, send } = hosted()
          yield* running(host, { timeout: Infinity }, Effect.never)
          send(first)
          send(second)
          assert.deepStrictEqual(exits, second === "SIGHUP" ? [] : [1], `${first}, ${second}`)
        }
      }
    })
  )

  it.effect("under npm start the forwarded first signal is ignored, a later second one is not", () =>
    Effect.gen(function* () {
      const { exits, host, send } = hosted({ npm_lifecycle_event: "start" })
      yield* running(host, { timeout: Infinity }, Effect.never)
      send("SIGINT")
      send("SIGINT")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(exits, [])
      send("SIGINT")
      assert.deepStrictEqual(exits, [1])
    })
  )

  for (const [name, hanging] of [
    ["a finaliser that hangs", Effect.never],
    ["one that cannot be interrupted", Effect.uninterruptible(Effect.never)]
  ] as const) {
    it.effect(`${name} is not waited for longer than the stop may take`, () =>
      Effect.gen(function* () {
        const { exits, host, said, send } = hosted()
        yield* running(host, { timeout: "10 seconds" }, hanging)
        send("SIGTERM")
        yield* TestClock.adjust("9999 millis")
        assert.deepStrictEqual([exits, said()], [[], ""])
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(
          [exits, said()],
          [[1], "manager: the stop took longer than 10s; not everything was closed\n"]
        )
      })
    )
  }

  it.effect("has no limit with an infinite timeout", () =>
    Effect.gen(function* () {
      const { exits, host, send } = hosted()
      yield* running(host, { timeout: Infinity }, Effect.never)
      send("SIGTERM")
      yield* TestClock.adjust("24 hours")
      assert.deepStrictEqual(exits, [])
    })
  )

  it.effect("a program that ends by itself has the same time to close", () =>
    Effect.gen(function* () {
      const { exits, host } = hosted()
      const begun = Effect.flatMap(Shutdown.Shutdown, ({ begin }) => begin)
      const program = Effect.ensuring(Effect.andThen(begun, Effect.fail("lost")), Effect.never)
      yield* Effect.forkDetach(orderly(host, { name, timeout: "10 seconds" })(program))
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(exits, [1])
    })
  )

  it.effect("work that was given up is one line and exit code 1, although a signal is no failure", () =>
    Effect.gen(function* () {
      const { exits, host, said, send } = hosted()
      const verdict: Verdict = { code: 0 }
      const giveUp = Effect.flatMap(Shutdown.Shutdown, (shutdown) => shutdown.giveUp(["web default/a", "3 events"]))
      const program = Effect.scoped(
        Effect.andThen(
          Effect.addFinalizer(() => giveUp),
          Effect.never
        )
      )
      const fiber = yield* orderly(host, { name })(program).pipe(
        Effect.provideService(Verdict, verdict),
        Effect.forkDetach({ startImmediately: true })
      )
      host.on("SIGTERM", () => fiber.interruptUnsafe())
      send("SIGTERM")
      yield* Fiber.await(fiber)
      assert.strictEqual(
        said(),
        "manager: the stop may take 30s, which was not enough; given up: web default/a, 3 events\n"
      )
      assert.deepStrictEqual([verdict.code, exits], [1, []])
    })
  )
})
