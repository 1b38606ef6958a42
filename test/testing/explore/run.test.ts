/** What each kind of perturbation does to a run. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { callsOf, outcomeOf } from "./harness.ts"

const created = "create secrets default/a: 201"
const patched = "patch configmaps default/a: 200"

/** The calls for `a`, with the time of each. */
const callsAfter = (id: string) =>
  Effect.map(outcomeOf(id), ({ entries }) => callsOf(entries).filter((one) => one.includes("default/a")))

describe("a run", () => {
  const expected: Readonly<Record<string, ReadonlyArray<string>>> = {
    "": [`1 ${created}`, `1 ${patched}`],
    "crash-before@write#1": ["1 create secrets default/a: no response", `2 ${created}`, `2 ${patched}`],
    "crash@write#1": [`1 ${created}`, `2 ${patched}`],
    "lost@write#1": [`1 ${created}, lost`, `1 ${patched}`],
    "conflict@call#4": [`1 ${created}`, "1 patch configmaps default/a: 409 Conflict", `1 ${patched}`],
    "throttled@call#3": ["1 create secrets default/a: 429 TooManyRequests", `1 ${created}`, `1 ${patched}`],
    "error@call#3": ["1 create secrets default/a: 500 ServerError", `1 ${created}`, `1 ${patched}`],
    "timeout@call#3": ["1 create secrets default/a: Timeout", `1 ${created}`, `1 ${patched}`],
    // The patch of the old process arrives although the new one has made its own.
    "handoff@write#2": [`1 ${created}`, `1 ${patched}`, `2 ${patched}`],
    // The next process knows neither the Secret nor the annotation, and receives the annotation first.
    "travel-2@write#2": [
      `1 ${created}`,
      `1 ${patched}`,
      "2 create secrets default/a: 409 AlreadyExists",
      `2 ${patched}`,
      "2 create secrets default/a: 409 AlreadyExists"
    ]
  }
  for (const [id, calls] of Object.entries(expected)) {
    it.effect(
      id === "" ? "makes each write once without perturbations" : `with ${id} makes the calls that follow`,
      () => Effect.map(callsAfter(id), (actual) => assert.deepStrictEqual(actual, calls))
    )
  }

  const arrival = (id: string) =>
    Effect.map(outcomeOf(id), ({ entries }) => {
      const runs = entries.filter((entry) => entry.type === "run" && entry.key === "default/a")
      return runs.map(({ at }) => at)
    })

  it.effect("delivers an event later with late and lag", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* arrival(""))[0], 0)
      assert.strictEqual((yield* arrival("late@event#1"))[0], 100)
      assert.strictEqual((yield* arrival("lag@event#1"))[0], 30_000)
    })
  )

  it.effect("lists again with relist and gap", () =>
    Effect.gen(function* () {
      const lists = (id: string) =>
        Effect.map(outcomeOf(id), ({ entries }) =>
          entries.filter((one) => one.type === "call" && one.verb === "list").map(({ at }) => at)
        )
      assert.deepStrictEqual(yield* lists(""), [0, 0])
      const [, , again = -1] = yield* lists("relist@event#1")
      assert.isBelow(again, 5000)
      assert.isAtLeast(again, 0)
      const [, , later = -1] = yield* lists("gap@event#1")
      assert.isAtLeast(later, 30_000)
    })
  )

  it.effect("changes objects for the user with touch and delete", () =>
    Effect.gen(function* () {
      const { edits, objects } = yield* outcomeOf("touch@write#2")
      const [edit] = edits
      const found = objects.find(({ metadata }) => metadata.uid === edit?.uid)
      assert.strictEqual(found?.metadata.name, "a")
      assert.strictEqual(found?.metadata.annotations?.["copied"], "true")
      const deleted = yield* outcomeOf("delete@write#2")
      assert.deepStrictEqual(
        deleted.objects.filter(({ kind }) => kind === "ConfigMap").map(({ metadata }) => metadata.name),
        ["b"]
      )
    })
  )

  it.effect("is equal to the undisturbed one up to the perturbation", () =>
    Effect.gen(function* () {
      const { entries } = yield* outcomeOf("")
      for (const id of ["crash@write#3", "conflict@call#6", "gap@event#4", "touch@write#4", "jump-ahead@step#2"]) {
        const perturbed = (yield* outcomeOf(id)).entries
        const at = perturbed.findIndex((entry) => entry.perturbed !== undefined)
        assert.isAbove(at, 0, id)
        assert.deepStrictEqual(perturbed.slice(0, at), entries.slice(0, at), id)
      }
    })
  )

  it.effect("shows the processes a wall clock that jumps, and the server its own", () =>
    Effect.gen(function* () {
      const { objects } = yield* outcomeOf("jump-ahead@step#1")
      for (const { metadata } of objects) assert.match(metadata.creationTimestamp ?? "", /^1970-01-01T00:0/)
    })
  )
})
