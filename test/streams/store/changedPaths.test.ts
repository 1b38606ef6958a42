import { assert, describe, it } from "@effect/vitest"
import { changedPaths, mostPaths } from "../../../src/streams/store/changedPaths.ts"

const pod = (fields: object) => ({ metadata: { name: "web-1", resourceVersion: "1" }, ...fields })

describe("the changed paths of an object", () => {
  const cases: ReadonlyArray<readonly [string, object, object, ReadonlyArray<string>]> = [
    ["a condition", { status: { conditions: [1] } }, { status: { conditions: [2] } }, ["status.conditions"]],
    ["a new status", {}, { status: { phase: "Running" } }, ["status"]],
    ["data", { data: { password: "a" } }, { data: { password: "b" } }, ["data"]],
    ["a field that is gone", { spec: { a: 1, b: 1 } }, { spec: { b: 1 } }, ["spec.a"]],
    ["a field with the name of a method", { spec: {} }, { spec: { toString: 1 } }, ["spec.toString"]],
    ["an empty field", { spec: { a: {} } }, { spec: {} }, ["spec.a"]]
  ]
  for (const [title, before, after, expected] of cases) {
    it(`of ${title} are ${expected.join(", ") || "none"}`, () => {
      assert.deepStrictEqual(changedPaths(pod(before), pod(after)), expected)
    })
  }

  it("leave out what every write changes", () => {
    const before = { metadata: { name: "a", resourceVersion: "1", generation: 1, labels: { a: "1" } } }
    const after = { metadata: { name: "a", resourceVersion: "2", generation: 2, labels: { a: "2" } } }
    assert.deepStrictEqual(changedPaths(before, after), ["metadata.labels"])
  })

  it("are at most eight", () => {
    const spec = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}`, n]))
    const paths = changedPaths(pod({ spec: {} }), pod({ spec }))
    assert.strictEqual(paths.length, mostPaths)
    assert.strictEqual(paths.at(-1), "13 more")
  })

  it("are found in objects that are nested deeper than the stack allows", () => {
    const spec = (leaf: number) => ({ spec: { x: JSON.parse(`${"[".repeat(9000)}${leaf}${"]".repeat(9000)}`) } })
    assert.deepStrictEqual(changedPaths(pod(spec(1)), pod(spec(2))), ["spec.x"])
  })

  it("are short, because users choose the names of some fields", () => {
    const name = "a\u001b[2J".repeat(100_000)
    const [path = ""] = changedPaths(pod({ spec: {} }), pod({ spec: { [name]: 1 } }))
    assert.isBelow(path.length, 200)
    assert.isTrue(path.startsWith("spec.a"))
  })
})
