import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as ApiError from "../../../src/kube/ApiError.ts"
import * as Framing from "../../../src/streams/watch/decode.ts"
import type { WatchEvent } from "../../../src/streams/watch/protocol.ts"
import { runs } from "../../support/runs.ts"
import { context, reset } from "./watchServer.ts"

const encoder = new TextEncoder()

/** Cuts bytes into chunks of the given sizes, repeatedly. */
const cut = (bytes: Uint8Array, sizes: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = Math.max(1, sizes[i % sizes.length] ?? 1)
    chunks.push(bytes.slice(at, at + size))
    at += size
  }
  return chunks
}

/** All events before the end, and how the stream ended. */
const read = (chunks: ReadonlyArray<Uint8Array>, options: Framing.Options = {}, end?: ApiError.ApiError) =>
  Effect.gen(function* () {
    const events: Array<WatchEvent> = []
    const bytes = Stream.rechunk(Stream.fromArray(chunks), 1)
    const failing = end === undefined ? bytes : Stream.concat(bytes, Stream.fail(end))
    const exit = yield* Stream.runForEach(Framing.events(failing, context, options), (event) =>
      Effect.sync(() => events.push(event))
    ).pipe(Effect.result)
    return { events, error: exit._tag === "Failure" ? exit.failure : undefined }
  })

const event = (name: string, type = "ADDED") => ({ type, object: { metadata: { name } } })
const lines = (...values: ReadonlyArray<unknown>): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("")
const names = (events: ReadonlyArray<WatchEvent>) =>
  events.map((found) => (found.object as { readonly metadata: { readonly name: string } }).metadata.name)

const sizes = Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))), {
  minLength: 1,
  maxLength: 5
})

/** Strings that UTF-8 can encode, without lone surrogates. */
const text = Arbitrary.map(Arbitrary.schema(Schema.String), (value) => Buffer.from(value).toString())

describe("framing", () => {
  it.effect.prop(
    "does not depend on where the bytes are cut, even inside characters",
    { texts: Arbitrary.array(text), sizes },
    ({ sizes, texts }) =>
      Effect.gen(function* () {
        const sent: ReadonlyArray<unknown> = [...texts, "ünï→𝄞", "a\nb"].map((name) => event(name))
        const { error, events } = yield* read(cut(encoder.encode(lines(...sent)), sizes))
        assert.isUndefined(error)
        assert.deepStrictEqual(events, sent)
      }),
    { arbitrary: { runs: runs(150) } }
  )

  it.effect("a chunk of bytes becomes one array of events", () =>
    Effect.gen(function* () {
      const bytes = cut(encoder.encode(lines(event("a"), event("b"), event("c"))), [110, 1000])
      const arrays = yield* Stream.runCollect(
        Stream.chunks(Framing.events(Stream.rechunk(Stream.fromArray(bytes), 1), context))
      )
      assert.deepStrictEqual(
        arrays.map((array) => array.length),
        [2, 1]
      )
    })
  )

  const bad: ReadonlyArray<readonly [string, string | Uint8Array, ApiError.ReasonTag]> = [
    ["a line that is not JSON", "{oops\n", "Decode"],
    ["a truncated last line", '{"type":"ADDED","object":{"metadata"', "Decode"],
    ["two documents on a line", `${JSON.stringify(event("x"))}${JSON.stringify(event("y"))}\n`, "Decode"],
    ["an unknown type", lines(event("x", "RENAMED")), "Decode"],
    ["no event at all", "17\n", "Decode"],
    ["null", "null\n", "Decode"],
    ["bytes that are not UTF-8", new Uint8Array([0x22, 0xff, 0x22, 0x0a]), "Decode"],
    ["a byte order mark", "\u{feff}{}\n", "Decode"],
    ["an ERROR event with a Status", lines({ type: "ERROR", object: { kind: "Status", code: 410 } }), "Gone"],
    ["an ERROR event without one", lines({ type: "ERROR" }), "ServerError"]
  ]
  for (const [title, text, reason] of bad) {
    it.effect(`${title} fails the stream, after the good events before it and without the following ones`, () =>
      Effect.gen(function* () {
        const part = typeof text === "string" ? encoder.encode(text) : text
        const last = part.at(-1) === 0x0a ? encoder.encode(lines(event("never"))) : new Uint8Array(0)
        const bytes = Uint8Array.from([...encoder.encode(lines(event("a"), event("b"))), ...part, ...last])
        for (const size of [1, 7, 64, 10_000]) {
          const { error, events } = yield* read(cut(bytes, [size]))
          assert.deepStrictEqual(names(events), ["a", "b"])
          assert.strictEqual(error?.reason._tag, reason)
        }
      })
    )
  }

  it.effect("blank lines are ignored, and a complete last line needs no newline", () =>
    Effect.gen(function* () {
      const text = `\n  \r\n${lines(event("a"))}\r\n\n${JSON.stringify(event("b"))}`
      const { error, events } = yield* read(cut(encoder.encode(text), [5]))
      assert.deepStrictEqual([names(events), error], [["a", "b"], undefined])
      assert.deepStrictEqual(yield* read([]), { events: [], error: undefined })
    })
  )

  it.effect("a line that is too long fails, before or after its end has arrived, wherever it is cut", () =>
    Effect.gen(function* () {
      const long = lines(event("a"), event("x".repeat(200)), event("never"))
      for (const text of [long, long.slice(0, 200)]) {
        for (const size of [1, 50, 10_000]) {
          const { error, events } = yield* read(cut(encoder.encode(text), [size]), { maxLineBytes: 100 })
          assert.deepStrictEqual(names(events), ["a"])
          assert.strictEqual(error?.reason._tag, "Decode")
          assert.include(error?.message, "longer than 100 bytes")
        }
      }
      const fits = yield* read([encoder.encode(lines(event("a")).repeat(50))], { maxLineBytes: 100 })
      assert.deepStrictEqual([fits.events.length, fits.error], [50, undefined])
    })
  )

  it.effect("a failure of the bytes fails the events, and an incomplete line is dropped", () =>
    Effect.gen(function* () {
      const cause = reset()
      const { error, events } = yield* read([encoder.encode(`${lines(event("a"))}{"type":"ADD`)], {}, cause)
      assert.deepStrictEqual(names(events), ["a"])
      assert.strictEqual(error, cause)
    })
  )
})
