/** The progress of a search in shares. */
import { assert, describe, it } from "@effect/vitest"
import { Tracker } from "../../../src/cli/explore/Tracker.ts"

const of = (name: string, runs: number, tried: number, singles: number, failures: number) => ({
  name,
  runs,
  tried,
  singles,
  failures
})

describe("Tracker", () => {
  it("adds up the points that shares have tried, and counts failures that several of them may have found once", () => {
    const tracker = new Tracker(3)
    tracker.note(0, of("a", 4, 2, 5, 1))
    tracker.note(1, of("a", 3, 2, 5, 1))
    tracker.note(0, of("a", 8, 3, 5, 2))
    tracker.note(1, of("b", 2, 1, 7, 1))
    assert.deepStrictEqual(tracker.state(), {
      verb: "Perturbed",
      done: 3 + 2 + 1,
      total: 5 + 7,
      unit: "points",
      detail: "3 failures so far, 13 runs, 2 of 3 explorations"
    })
  })

  it("is at the beginning before anything is known", () => {
    const { detail, done, total } = new Tracker(1).state()
    assert.deepStrictEqual([done, total, detail], [0, 0, "no failures so far, 0 runs, 0 of 1 explorations"])
  })
})
