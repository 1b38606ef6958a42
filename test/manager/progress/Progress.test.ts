/** Progress on a terminal and in logs, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as Logs from "../../../src/manager/logs/Logs.ts"
import type { Host } from "../../../src/manager/process/Host.ts"
import * as Progress from "../../../src/manager/progress/Progress.ts"
import type { State } from "../../../src/manager/progress/render.ts"
import * as StatusLine from "../../../src/manager/progress/StatusLine.ts"

/** A host whose two streams are one terminal, or none. */
const terminal = (env: Host["env"] = {}, isTTY = true, columns = 60) => {
  let said = ""
  const output = { write: (text: string) => (said += text), on: () => {}, isTTY, columns, writableLength: 0 }
  const host = { argv: [], env, stdout: output, stderr: output, on: () => {}, emit: () => {}, exit: () => {} }
  const attached = StatusLine.attach(host as unknown as Host)
  return { ...attached, said: () => said, screen: () => screenOf(said) }
}

/** What a terminal shows of a text with carriage returns and erasures: its lines, with the last one. */
const screenOf = (text: string): ReadonlyArray<string> =>
  text.split("\n").map((row) => row.split("\u001b[K").at(-1)?.replaceAll("\r", "") ?? "")

const state: State = { verb: "Synced", done: 1, total: 4, unit: "kinds", detail: "" }

/** Runs work of twelve seconds that logs after one second and writes to standard output after two. */
const work = (from: ReturnType<typeof terminal>, form: Logs.Format, level: Logs.Options["level"] = "Info") =>
  Effect.gen(function* () {
    const slow = Effect.gen(function* () {
      yield* Effect.sleep("1 second")
      yield* Effect.logInfo("hello")
      yield* Effect.logError("trouble")
      yield* Effect.sleep("1 second")
      from.host.stdout.write("a result\n")
      yield* Effect.sleep("10 seconds")
    })
    const fiber = yield* Effect.forkChild(Progress.during(Effect.succeed(state), slow))
    for (let second = 0; second < 13; second++) yield* TestClock.adjust("1 second")
    yield* Fiber.join(fiber)
  }).pipe(
    Effect.provideService(Progress.Screen, from.status),
    Effect.provide(Logs.layer(from.host, { ...Logs.initial, form, level }))
  )

describe("progress", () => {
  it.effect("on a terminal is one line below the logs, which it never overwrites, and is gone at the end", () =>
    Effect.gen(function* () {
      const from = terminal({ NO_COLOR: "1" })
      yield* work(from, "console")
      const rows = from.screen()
      assert.strictEqual(rows.length, 4)
      assert.match(rows[0] ?? "", /^timestamp=\S+ level=INFO .*hello$/)
      assert.match(rows[1] ?? "", /^timestamp=\S+ level=ERROR .*trouble$/)
      assert.deepStrictEqual(rows.slice(2), ["a result", ""])
      const frames = new Set(from.said().match(/. #+\.+ Synced 1 of 4 kinds/g))
      assert.strictEqual(frames.size, 4)
      assert.notInclude(from.said(), "\u001b[3")
    })
  )

  it.effect("has colours only without NO_COLOR, and characters beyond ASCII only in a UTF-8 locale", () =>
    Effect.gen(function* () {
      const from = terminal({ LANG: "en_US.UTF-8" })
      yield* work(from, "console")
      assert.include(from.said(), "\u001b[36m⠋")
      assert.include(from.said(), "█")
      const plain = terminal({ LANG: "en_US.UTF-8", NO_COLOR: "false" })
      yield* work(plain, "console")
      assert.notInclude(plain.said(), "\u001b[3")
    })
  )

  for (const [name, from, form] of [
    ["with logs in JSON", () => terminal(), "json"],
    ["where no terminal reads", () => terminal({}, false), "console"],
    ["in a continuous integration service", () => terminal({ CI: "true" }), "console"],
    ["on a terminal that cannot erase", () => terminal({ TERM: "dumb" }), "console"]
  ] as const) {
    it.effect(`${name} is a log line each five seconds, without control characters`, () =>
      Effect.gen(function* () {
        const one = from()
        yield* work(one, form)
        for (const control of ["\r", "\u001b"]) assert.notInclude(one.said(), control)
        const lines = one.said().trimEnd().split("\n")
        assert.strictEqual(lines.filter((line) => line.includes("Synced 1 of 4 kinds")).length, 2, one.said())
        if (form === "json") {
          for (const line of lines.filter((line) => line !== "a result")) assert.isObject(JSON.parse(line))
        }
      })
    )
  }

  it.effect("is silent if the log level admits errors only", () =>
    Effect.gen(function* () {
      const from = terminal()
      yield* work(from, "console", "Error")
      assert.strictEqual(from.screen().length, 3)
      assert.notInclude(from.said(), "Synced")
    })
  )

  it.effect("of short work shows nothing", () =>
    Effect.gen(function* () {
      const from = terminal()
      yield* Progress.during(Effect.succeed(state), Effect.void).pipe(
        Effect.provideService(Progress.Screen, from.status),
        Effect.provide(Logs.layer(from.host, Logs.initial))
      )
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(from.said(), "")
    })
  )

  it.effect("that is followed ends with the work, and says so in the logs if it had a line there", () =>
    Effect.gen(function* () {
      const from = terminal({}, false)
      let now: State | undefined = state
      const fiber = yield* Effect.forkChild(
        Effect.provide(Progress.follow(Effect.sync(() => now)), Logs.layer(from.host, Logs.initial))
      )
      yield* TestClock.adjust("7 seconds")
      now = undefined
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(fiber)
      const lines = from.said().trimEnd().split("\n")
      assert.strictEqual(lines.length, 2)
      assert.match(lines[1] ?? "", /Synced 4 of 4 kinds/)
    })
  )
})

describe("the status line", () => {
  it("is erased before the process exits at once", () => {
    const from = terminal()
    from.status?.show("busy")
    from.host.exit(1)
    assert.deepStrictEqual(from.screen(), [""])
  })

  it("has the usual width on a terminal that reports no columns", () =>
    assert.strictEqual(terminal({}, true, 0).status?.style().width, 80))

  it("waits for the end of a line that is written in parts", () => {
    const from = terminal()
    from.status?.show("busy")
    from.host.stdout.write("one ")
    from.host.stdout.write("line\n")
    from.status?.show("still busy")
    assert.deepStrictEqual(from.screen(), ["one line", "still busy"])
  })
})
