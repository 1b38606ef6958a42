import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import type { Occurrence } from "../../../src/layers/recorder/occurrence.ts"
import * as Series from "../../../src/layers/recorder/series.ts"
import { checkProperty } from "../../support/property.ts"
import { runs } from "../../support/runs.ts"

const minute = 60_000

const occurrence = (object: string, time: number, name: string): Occurrence => ({
  object: { apiVersion: "v1", kind: "Pod", namespace: "default", name: object },
  type: "Normal",
  reason: "Counted",
  message: `at ${time}`,
  action: "",
  component: "test",
  instance: "",
  name,
  time
})

const Step = Schema.Union([
  Schema.TaggedStruct("Event", { object: Schema.Literals(["a", "b"]) }),
  Schema.TaggedStruct("Sweep", {}),
  Schema.TaggedStruct("Pass", { millis: Schema.Literals([1, minute, 6 * minute, 6 * minute + 1, 31 * minute]) })
])
const Steps = Arbitrary.schema(Schema.Array(Step).check(Schema.isMaxLength(100)))

/** The events on the server, by name; a patch of an event that was never created is an error. */
const store = () => {
  const stored = new Map<string, number>()
  let valid = true
  return {
    stored,
    valid: () => valid,
    apply: (actions: ReadonlyArray<Series.Action>) => {
      for (const { _tag, series } of actions) {
        if (
          (_tag === "Create") === stored.has(series.occurrence.name) ||
          series.count <= (stored.get(series.occurrence.name) ?? 0)
        ) {
          valid = false
        }
        stored.set(series.occurrence.name, series.count)
      }
    }
  }
}

/** The stored counts add up to the number of all events, and events more than six minutes apart are not in one series. */
const addsUp = (steps: ReadonlyArray<typeof Step.Type>) => {
  const state = Series.make()
  const server = store()
  let now = 0
  let events = 0
  const groups: Record<string, number> = {}
  const last: Record<string, number> = {}
  for (const [index, step] of steps.entries()) {
    if (step._tag === "Pass") now += step.millis
    else if (step._tag === "Sweep") server.apply(Series.sweep(state, now))
    else {
      events++
      const before = last[step.object]
      if (before === undefined || now - before > 6 * minute) groups[step.object] = (groups[step.object] ?? 0) + 1
      last[step.object] = now
      server.apply(Series.observe(state, occurrence(step.object, now, `n${index}`), now))
    }
  }
  server.apply(Series.finish(state, now))
  const total = [...server.stored.values()].reduce((sum, count) => sum + count, 0)
  const expected = Object.values(groups).reduce((sum, count) => sum + count, 0)
  return server.valid() && total === events && server.stored.size === expected && Series.finish(state, now).length === 0
}

describe("series", () => {
  checkProperty("every event is counted once, in its series", Steps, addsUp, {
    runs: runs(500),
    seed: 5,
    size: 100
  })

  it("writes the first two events at once, then the series every half hour, and at its end", () => {
    const state = Series.make()
    const writes: Array<string> = []
    const note = (now: number, actions: ReadonlyArray<Series.Action>) => {
      for (const { _tag, series } of actions) writes.push(`${now / minute} ${_tag} ${series.count}`)
    }
    for (let now = 0; now <= 40 * minute; now += minute) {
      note(now, Series.observe(state, occurrence("a", now, `n${now}`), now))
      if (now % (6 * minute) === 0) note(now, Series.sweep(state, now))
    }
    note(48 * minute, Series.sweep(state, 48 * minute))
    assert.deepStrictEqual(writes, ["0 Create 1", "1 Patch 2", "36 Patch 37", "48 Patch 41"])
    assert.strictEqual(state.entries.size(), 0)
  })
})
