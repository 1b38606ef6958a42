import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Correlator from "../../../src/layers/recorder/correlator.ts"
import type { Occurrence } from "../../../src/layers/recorder/occurrence.ts"
import { checkProperty } from "../../support/property.ts"
import { runs } from "../../support/runs.ts"

const occurrence = (message: string, time: number, object = "a", change: Partial<Occurrence> = {}): Occurrence => ({
  object: { apiVersion: "v1", kind: "Pod", namespace: "default", name: object, uid: `uid-${object}` },
  type: "Normal",
  reason: "Counted",
  message,
  action: "",
  component: "test",
  instance: "",
  name: `${object}.${time}`,
  time,
  ...change
})

const pauses = [1, 1_000, 60_000, 299_999, 300_000, 599_999, 600_000, 600_001, 7_499_000, 7_500_000, 7_500_001]

const Step = Schema.Struct({
  message: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 14 })),
  object: Schema.Literals(["a", "b"]),
  reason: Schema.Literals(["Counted", "Failed"]),
  /** Index into `pauses`; any higher one is no pause, so that most events come in bursts. */
  pause: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 80 }))
})
const Steps = Arbitrary.schema(Schema.Array(Step).check(Schema.isMaxLength(120)))

/**
 * A slow and simple reference model: lists instead of caches, a scan instead of a counter. It computes stored events from all occurrences,
 * so a lost count, an old name or a wrong prefix is found.
 */
const reference = () => {
  const recent = new Map<string, { messages: Array<string>; last: number }>()
  const counts = new Map<string, { count: number; name: string; first: number; at: number }>()
  const sent = new Map<string, { at: number; credit: number }>()
  return (o: Occurrence, now: number) => {
    const kind = `${o.object.name}/${o.reason}`
    let seen = recent.get(kind)
    if (seen === undefined || now - seen.last > 600_000) recent.set(kind, (seen = { messages: [], last: now }))
    seen.last = now
    if (!seen.messages.includes(o.message)) seen.messages.push(o.message)
    const combined = seen.messages.length >= 10
    if (combined) seen.messages.shift()
    const key = combined ? kind : `${kind}/${o.message}`
    const known = counts.get(key)
    const before = known !== undefined && now - known.at <= 7_500_000 ? known : undefined
    const after = { count: (before?.count ?? 0) + 1, name: before?.name ?? o.name, first: before?.first ?? o.time }
    counts.set(key, { ...after, at: now })
    const bucket = sent.get(o.object.name) ?? { at: now, credit: 7_500_000 }
    const credit = Math.min(7_500_000, bucket.credit + now - bucket.at)
    sent.set(o.object.name, { at: now, credit: credit >= 300_000 ? credit - 300_000 : credit })
    if (credit < 300_000) return { _tag: "Drop" }
    const message = combined ? `(combined from similar events): ${o.message}` : o.message
    return { _tag: before === undefined ? "Create" : "Patch", ...after, message, last: o.time }
  }
}

const agrees = (steps: ReadonlyArray<typeof Step.Type>) => {
  const state = Correlator.make()
  const expected = reference()
  let now = 0
  return steps.every((step, index) => {
    now += pauses[step.pause] ?? 0
    if (step.pause % 5 === 0) Correlator.sweep(state, now)
    const o = occurrence(`m${step.message}`, now, step.object, { reason: step.reason, name: `n${index}` })
    const action = Correlator.correlate(state, o, now)
    const flat =
      action._tag === "Drop"
        ? action
        : {
            _tag: action._tag,
            count: action.event.count,
            name: action.event.name,
            first: action.event.first,
            message: action.event.message,
            last: action.event.last
          }
    return JSON.stringify(flat) === JSON.stringify(expected(o, now))
  })
}

describe("correlator", () => {
  checkProperty("equals a reference model over random sequences of events", Steps, agrees, {
    runs: runs(500),
    seed: 3,
    size: 120
  })

  it("repeated events increment the count of one event", () => {
    const state = Correlator.make()
    const first = Correlator.correlate(state, occurrence("m", 0), 0)
    const second = Correlator.correlate(state, occurrence("m", 10_000), 10_000)
    assert.strictEqual(first._tag, "Create")
    assert.deepInclude(second._tag === "Patch" ? second.event : {}, { name: "a.0", count: 2, first: 0, last: 10_000 })
  })

  it("lets 25 events pass at once, then one in 300 s, for each source and object", () => {
    const state = Correlator.make()
    const passed = (object: string, now: number) =>
      Correlator.correlate(state, occurrence("same", now, object), now)._tag !== "Drop"
    assert.strictEqual(Array.from({ length: 40 }, () => passed("a", 0)).filter(Boolean).length, 25)
    assert.isTrue(passed("b", 0))
    assert.isFalse(passed("a", 299_999))
    assert.isTrue(passed("a", 300_000))
    assert.isFalse(passed("a", 300_001))
  })

  it("combines similar events from the tenth different message on", () => {
    const state = Correlator.make()
    const actions = Array.from({ length: 12 }, (_, i) => Correlator.correlate(state, occurrence(`m${i}`, i), i))
    const combined = actions.filter((action) => action._tag !== "Drop" && action.event.message.startsWith("(combined"))
    assert.deepStrictEqual(
      combined.map((action) => action._tag),
      ["Create", "Patch", "Patch"]
    )
    assert.strictEqual(
      actions[9]?._tag === "Create" ? actions[9].event.message : "",
      "(combined from similar events): m9"
    )
  })

  it("case 16: keeps a bounded number of entries: ten thousand objects leave 4096, and none after hours without events", () => {
    const state = Correlator.make()
    for (let i = 0; i < 10_000; i++) Correlator.correlate(state, occurrence("m", i, `object-${i}`), i)
    const sizes = () => [state.similar.size(), state.stored.size(), state.buckets.size()]
    assert.deepStrictEqual(sizes(), [4096, 4096, 4096])
    assert.strictEqual(Correlator.correlate(state, occurrence("m", 0, "object-9999"), 10_000)._tag, "Patch")
    assert.strictEqual(Correlator.correlate(state, occurrence("m", 0, "object-0"), 10_000)._tag, "Create")
    // Regression case 16: after some hours without events no entry is left.
    Correlator.sweep(state, 10_000 + 7_500_001)
    assert.deepStrictEqual(sizes(), [0, 0, 0])
  })
})
