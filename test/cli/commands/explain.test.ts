/** Which entries `explain` prints, once and while it watches. */
import { assert, describe, it } from "@effect/vitest"
import { unseen } from "../../../src/cli/commands/explain.ts"
import type { Entry } from "../../../src/layers/timeline/entries.ts"

const run = (id: number, outcome: "running" | "done"): Entry => ({
  type: "reconcile",
  id,
  at: id,
  controller: "web",
  resource: "pods",
  key: "default/a",
  causes: [],
  reasons: [],
  waited: 0,
  duration: outcome === "running" ? null : 1,
  outcome
})

const ids = (entries: ReadonlyArray<Entry>) => entries.map(({ id }) => id)

describe("the entries that explain prints", () => {
  it("are all, with a run that has not ended and what came after it", () => {
    assert.deepStrictEqual(ids(unseen([run(1, "running"), run(2, "done")], new Set(), false)), [1, 2])
  })

  it("leave out, while it watches, a run that has not ended, until it has", () => {
    assert.deepStrictEqual(ids(unseen([run(1, "running"), run(2, "done")], new Set(), true)), [2])
    assert.deepStrictEqual(ids(unseen([run(1, "done"), run(2, "done")], new Set([2]), true)), [1])
  })
})
