import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { printable } from "../../../src/kube/printable.ts"
import { line, sentence, type State, type Style } from "../../../src/manager/progress/render.ts"
import { stateOf } from "../../../src/manager/progress/syncProgress.ts"
import type { InformerStatus } from "../../../src/layers/Cache.ts"

const state: State = { verb: "Synced", done: 12, total: 20, unit: "kinds", detail: "pods 34,000 objects" }

const plain: Style = { width: 80, isUnicode: false, isColored: false }

/** The sequences that select a colour. Source: ECMA-48 SGR. */
const escape = "\u001b"
const colors = new RegExp(`${escape}\\[\\d\\dm`, "g")

describe("the sentence of progress", () => {
  it("has the counts and the detail, in one printable line", () => {
    assert.strictEqual(sentence(state), "Synced 12 of 20 kinds: pods 34,000 objects")
    assert.strictEqual(sentence({ ...state, detail: "" }), "Synced 12 of 20 kinds")
    const hostile = sentence({ ...state, detail: "\u001b[2J\na\u009b".repeat(1000) })
    assert.strictEqual(printable(hostile), hostile)
    assert.notInclude(hostile, "\n")
    assert.isBelow(hostile.length, 2000)
  })
})

describe("the line of progress", () => {
  it("has a spinner, a bar and the sentence", () => {
    assert.strictEqual(
      line(state, plain, 0),
      "- ############........ Synced 12 of 20 kinds: pods 34,000 objects".replace(
        "############........",
        `${"#".repeat(11)}${".".repeat(8)}`
      )
    )
    assert.match(line(state, { ...plain, isUnicode: true }, 1), /^⠙ █{11}░{8} Synced /)
    assert.match(
      line(state, { ...plain, isColored: true }, 0),
      new RegExp(`^${escape}\\[36m-${escape}\\[39m ${escape}\\[32m#+${escape}\\[39m\\.+ Synced`)
    )
  })

  const numbers = Arbitrary.schema(Schema.Number)
  const texts = Arbitrary.schema(Schema.String)

  it.prop(
    "is never wider than the terminal and never has control characters but colours, whatever the state",
    {
      done: numbers,
      total: numbers,
      frame: numbers,
      width: numbers,
      verb: texts,
      unit: texts,
      detail: texts,
      isUnicode: Arbitrary.schema(Schema.Boolean),
      isColored: Arbitrary.schema(Schema.Boolean)
    },
    ({ detail, done, frame, isColored, isUnicode, total, unit, verb, width }) => {
      for (const columns of [width, Math.abs(width) % 130]) {
        const drawn = line({ verb, done, total, unit, detail }, { width: columns, isUnicode, isColored }, frame)
        const visible = drawn.replace(colors, "")
        assert.strictEqual(printable(visible), visible)
        assert.isAtMost(visible.length, Number.isNaN(columns) ? 0 : Math.max(0, Math.min(columns, 200)))
        if (!isColored) assert.strictEqual(visible, drawn)
      }
    }
  )
})

const informer = (resource: string, over: Partial<InformerStatus> = {}) =>
  ({ resource, synced: true, objects: 1, lastError: undefined, ...over }) as unknown as InformerStatus

const failed = { synced: false, lastError: { message: "no" } } as unknown as Partial<InformerStatus>

describe("the progress of the first sync", () => {
  const kinds = new Set(["events", "nodes", "pods"])

  it("counts the kinds that have synced, with the largest ones, and names the others", () =>
    assert.deepStrictEqual(
      stateOf(kinds, [
        informer("nodes"),
        informer("pods", { objects: 34_000 }),
        informer("pods", { objects: 7 }),
        informer("secrets")
      ]),
      {
        verb: "Synced",
        done: 2,
        total: 3,
        unit: "kinds",
        detail: "pods 34,007 objects, nodes 1 object; waiting for events"
      }
    ))

  it("does not count a kind while one of its informers has not synced", () =>
    assert.strictEqual(stateOf(kinds, [informer("pods"), informer("pods", { synced: false })])?.done, 0))

  it("is over when every kind has synced or has failed", () => {
    assert.isUndefined(stateOf(kinds, [informer("pods"), informer("events"), informer("nodes", failed)]))
    assert.isUndefined(stateOf(new Set(), []))
    assert.isDefined(stateOf(kinds, [informer("pods"), informer("nodes", failed)]))
  })

  it("names at most three kinds", () => {
    const many = new Set(Array.from({ length: 50 }, (_, n) => `kind${n}.example.com`))
    assert.strictEqual(
      stateOf(many, [])?.detail,
      "waiting for kind0.example.com, kind1.example.com, kind10.example.com, …"
    )
  })
})
