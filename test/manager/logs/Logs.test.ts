/** The lines of the log: keys, formats, times, stack traces, levels at run time, sampling, slow readers, no secrets. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { printable } from "../../../src/kube/printable.ts"
import * as CurrentRun from "../../../src/layers/controller/currentRun.ts"
import type { Host } from "../../../src/manager/process/Host.ts"
import * as Level from "../../../src/manager/logs/level.ts"
import * as Logs from "../../../src/manager/logs/Logs.ts"

const json: Logs.Options = { ...Logs.initial, form: "json" }

/** A host that records its standard error, and has the given number of buffered characters. */
const listening = () => {
  const lines: Array<string> = []
  const stderr = { write: (text: string) => lines.push(text), on: () => {}, writableLength: 0 }
  return { lines, stderr, host: { stderr } as unknown as Host }
}

/** The lines that the effect logs. */
const logged = (options: Logs.Options, effect: Effect.Effect<unknown>) =>
  Effect.gen(function* () {
    const { host, lines } = listening()
    yield* TestClock.setTime(Date.UTC(2026, 10, 21, 21, 23, 52, 435))
    yield* Effect.provide(effect, Logs.layer(host, options))
    return lines.join("")
  })

const parsed = (text: string): Record<string, unknown> => JSON.parse(text)

const pod = { group: "", kind: "Pod" }

describe("logs as JSON", () => {
  it.effect("have the keys of controller-runtime, in its order", () =>
    Effect.gen(function* () {
      const run = new CurrentRun.Run("default/web", yield* Random.Random, pod)
      const text = yield* logged(
        json,
        Effect.logError("Reconciler died", Cause.fail(new Error("no luck"))).pipe(
          Effect.annotateLogs({ controller: "web", controllerGroup: "", controllerKind: "Pod", attempt: 2 }),
          Effect.provideService(CurrentRun.CurrentRun, run)
        )
      )
      const line = parsed(text)
      assert.deepStrictEqual(
        Object.keys(line).join(" "),
        "level ts logger msg controller controllerGroup controllerKind attempt Pod namespace name reconcileID reason error stacktrace"
      )
      const { reconcileID, stacktrace, ...rest } = line
      assert.match(String(reconcileID), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.match(String(stacktrace), /^Error: no luck\n\s+at /)
      assert.deepStrictEqual(rest, {
        level: "error",
        ts: "2026-11-21T21:23:52Z",
        logger: "manager",
        msg: "Reconciler died",
        controller: "web",
        controllerGroup: "",
        controllerKind: "Pod",
        attempt: 2,
        Pod: { namespace: "default", name: "web" },
        namespace: "default",
        name: "web",
        reason: "added by the controller",
        error: "no luck"
      })
    })
  )

  it.effect("rename a value whose name is taken, and stay on one line", () =>
    Effect.gen(function* () {
      const loop: Record<string, unknown> = { count: 1n }
      loop["self"] = loop
      const values = { msg: "mine", level: 3, loop, nothing: undefined, error: new Error("a\nb") }
      const text = yield* logged(json, Effect.annotateLogs(Effect.logInfo("a\nb"), values))
      assert.strictEqual(text.trimEnd().split("\n").length, 1)
      const { error, level, level_, loop: seen, msg, msg_ } = parsed(text)
      assert.deepStrictEqual([level, level_, msg, msg_, error], ["info", 3, "a\nb", "mine", "a\nb"])
      assert.deepStrictEqual(Object.keys(seen as object), ["count"])
    })
  )

  it.effect("escape control characters without losing any", () =>
    Effect.gen(function* () {
      const order = "\u001b[2J\u009b1;1H\u202e\u007f\r"
      const values = { [`key${order}`]: order, error: new Error(order), list: [order] }
      for (const options of [json, Logs.initial]) {
        const text = yield* logged(options, Effect.annotateLogs(Effect.logError(order, Cause.fail(order)), values))
        assert.strictEqual(printable(text), text)
        assert.strictEqual(text.split("\n").length, 2)
      }
      const {
        [`key${order}`]: value,
        list,
        msg
      } = parsed(yield* logged(json, Effect.annotateLogs(Effect.logInfo(order), values)))
      assert.deepStrictEqual([value, list, msg], [order, [order], order])
      const word = yield* logged(Logs.initial, Effect.annotateLogs(Effect.logInfo("x"), { name: "\u009b2J" }))
      assert.include(word, String.raw` name="\u009b2J"`)
    })
  )

  it.effect("have the message of the cause where an error has none of its own", () =>
    Effect.gen(function* () {
      const wrapped = new Error("", { cause: new Error("", { cause: new Error("the disk is full") }) })
      const endless = new Error("")
      endless.cause = endless
      for (const [error, words] of [
        [wrapped, "the disk is full"],
        [new Error("outside", { cause: new Error("inside") }), "outside"],
        [new Error("", { cause: "a word" }), "Error"],
        [new TypeError(""), "TypeError"],
        [endless, "Error"]
      ] as const) {
        assert.strictEqual(parsed(yield* logged(json, Effect.logWarning("odd", Cause.fail(error))))["error"], words)
        assert.include(yield* logged(Logs.initial, Effect.logWarning("odd", Cause.fail(error))), words)
      }
    })
  )

  it.effect("are limited in length", () =>
    Effect.gen(function* () {
      const long = "x".repeat(1_000_000)
      const message = yield* logged(json, Effect.logInfo(long))
      assert.isBelow(message.length, 20_000)
      const value = yield* logged(json, Effect.annotateLogs(Effect.logInfo("big"), { values: [long] }))
      assert.deepInclude(parsed(value), { msg: "big" })
      assert.isBelow(value.length, 1000)
    })
  )

  for (const [time, ts] of [
    ["epoch", 1795296232.435],
    ["millis", 1795296232435],
    ["nanos", 1795296232435000000],
    ["iso8601", "2026-11-21T21:23:52.435Z"],
    ["rfc3339", "2026-11-21T21:23:52Z"],
    ["rfc3339nano", "2026-11-21T21:23:52.435Z"]
  ] as const) {
    it.effect(`write the time as ${time}`, () =>
      Effect.map(logged({ ...json, time }, Effect.logInfo("now")), (text) => assert.strictEqual(parsed(text)["ts"], ts))
    )
  }

  it.effect("show stack traces from the configured level on, and always the error", () =>
    Effect.gen(function* () {
      const failing = Effect.logWarning("odd", Cause.fail(new Error("no luck")))
      const without = parsed(yield* logged(json, failing))
      assert.deepStrictEqual([without["error"], without["stacktrace"]], ["no luck", undefined])
      const stack = parsed(yield* logged({ ...json, stacktraceLevel: "Warn" }, failing))["stacktrace"]
      assert.include(String(stack), "no luck")
    })
  )
})

describe("logs for people", () => {
  it.effect("are the lines that npm start prints", () =>
    Effect.gen(function* () {
      const text = yield* logged(
        Logs.initial,
        Effect.annotateLogs(Effect.logInfo("Serving probes"), { port: 8081, where: "here or there" })
      )
      assert.match(
        text,
        /^timestamp=2026-11-21T21:23:52\.435Z level=INFO fiber=#\d+ message="Serving probes" port=8081 where="here or there"\n$/
      )
    })
  )

  it.effect("are the default until a real cluster is found, unless a setting says otherwise", () =>
    Effect.gen(function* () {
      const found = Effect.andThen(
        Effect.logInfo("before"),
        Effect.flatMap(Logs.CurrentFormat, (form) => {
          form.onRealCluster()
          return Effect.logInfo("after")
        })
      )
      const lines = yield* logged({ ...Logs.initial, form: undefined }, found)
      assert.match(lines, /^timestamp=.*message=before\n\{"level":"info".*"msg":"after"\}\n$/)
      assert.notInclude(yield* logged({ ...Logs.initial, form: "console" }, found), "{")
    })
  )
})

describe("what is logged", () => {
  it.effect("follows the level, which can change", () =>
    Effect.gen(function* () {
      const program = Effect.gen(function* () {
        const level = yield* Level.Current
        yield* Effect.logDebug("one")
        assert.deepStrictEqual(level.set("1"), Result.succeed("Debug"))
        yield* Effect.logDebug("two")
        level.set("error")
        yield* Effect.logWarning("three")
        yield* Effect.logError("four")
      })
      const text = yield* logged(json, program)
      assert.deepStrictEqual(
        text
          .trim()
          .split("\n")
          .map((line) => parsed(line)["msg"]),
        ["two", "four"]
      )
    })
  )

  it.effect("is sampled if a message repeats and sampling is on", () =>
    Effect.gen(function* () {
      const many = Effect.forEach(Array.from({ length: 301 }), () => Effect.logInfo("again"), { discard: true })
      const count = (text: string) => text.trim().split("\n").length
      assert.strictEqual(count(yield* logged({ ...json, isSampled: true }, many)), 102)
      assert.strictEqual(count(yield* logged(json, many)), 301)
    })
  )

  it.effect("the buffer is bounded while the output is not read, and a line counts the dropped ones", () =>
    Effect.gen(function* () {
      const { host, lines, stderr } = listening()
      const say = (message: string, waiting: number) =>
        Effect.suspend(() => {
          stderr.writableLength = waiting
          return Effect.logInfo(message)
        })
      const megabyte = 1024 * 1024
      yield* Effect.provide(
        Effect.all([
          say("a", 0),
          say("b", megabyte + 1),
          say("c", megabyte),
          say("d", megabyte / 2),
          say("e", megabyte)
        ]),
        Logs.layer(host, json)
      )
      assert.deepStrictEqual(
        lines.map((line) => parsed(line)["msg"]),
        ["a", "2 lines were lost, because standard error is not read fast enough", "d", "e"]
      )
    })
  )

  const secrets = {
    header: "authorization: Bearer kU9x-3jd8.fjs93_kd~83kdl==",
    basic: 'curl -H "Authorization: Basic dXNlcjpzM2NyM3Q="',
    token: "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJlLXNpZ25hdHVyZQ",
    key: "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIBdzdGF0aWM\nqhkjOPQ==\n-----END EC PRIVATE KEY-----",
    cut: "-----BEGIN PRIVATE KEY-----\nMHcCAQEEIBdzdGF0aWM",
    address: "https://admin:hunter2@10.0.0.1:6443/api"
  }
  const parts = ["fjs93", "dXNlcj", "c2lnbmF0", "MHcCAQEE", "qhkjOPQ", "hunter2"]

  it.effect("has no secrets, in any part of a line", () =>
    Effect.gen(function* () {
      const said = Effect.forEach(Object.values(secrets), (secret) =>
        Effect.all([
          Effect.logInfo(secret),
          Effect.annotateLogs(Effect.logInfo("value"), { value: secret, deep: { list: [secret] } }),
          Effect.logError("failed", Cause.fail(new Error(secret))),
          Effect.logError("failed", Cause.die(secret)),
          Effect.annotateLogs(Effect.logInfo("kept"), { token: Redacted.make(secret) })
        ])
      )
      for (const form of ["json", "console"] as const) {
        const text = yield* logged({ ...json, form }, said)
        for (const part of parts) assert.notInclude(text, part)
        if (form === "json") for (const line of text.trim().split("\n")) parsed(line)
      }
    })
  )

  it.effect("keeps text that is no secret", () =>
    Effect.gen(function* () {
      const message = "a basic test, mailto:a@b, bearer of news, https://10.0.0.1:6443/api?x=@y, eyJust"
      assert.strictEqual(parsed(yield* logged(json, Effect.logInfo(message)))["msg"], message)
    })
  )
})
