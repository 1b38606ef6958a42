/** Parts of the StatefulSet plan: names of replicas, maxUnavailable, and which outdated replicas are replaced. */
import { assert, describe, it } from "@effect/vitest"
import * as Identity from "../../../../src/controllers/statefulset/identity.ts"
import * as Snapshot from "../../../../src/controllers/statefulset/snapshot.ts"
import * as Outdated from "../../../../src/controllers/statefulset/plan/outdated.ts"
import * as Spec from "../../../../src/controllers/statefulset/spec.ts"
import type { Pod, StatefulSet } from "../../../../src/kube/resources.ts"

describe("the name of a replica", () => {
  for (const [name, expected] of [
    ["web-0", { parent: "web", ordinal: 0 }],
    ["my-web-12", { parent: "my-web", ordinal: 12 }],
    ["web-2147483648", { parent: "web", ordinal: -1 }],
    ["web", undefined],
    ["web-", undefined],
    ["web-1a", undefined],
    ["web--1", { parent: "web-", ordinal: 1 }]
  ] as const)
    it(`is parsed: ${name}`, () => assert.deepStrictEqual(Identity.parse(name), expected))
})

const set = (spec: object): StatefulSet => ({ metadata: { name: "web", uid: "u" }, spec }) as never

describe("maxUnavailable", () => {
  for (const [maxUnavailable, replicas, expected] of [
    [undefined, 5, 1],
    [2, 5, 2],
    ["50%", 5, 2],
    ["1%", 5, 1],
    ["nonsense", 5, 1]
  ] as const)
    it(`${maxUnavailable} of ${replicas} replicas is ${expected}`, () => {
      const updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxUnavailable } }
      assert.strictEqual(Spec.maxUnavailable(set({ replicas, updateStrategy })), expected)
    })
})

/** `n` is new and ready, `o` old and ready; capitals are not ready; `.` is missing. */
const snapshotOf = (letters: string, partition = 0, type = "RollingUpdate"): Snapshot.Snapshot => {
  const spec = { replicas: letters.length, updateStrategy: { type, rollingUpdate: { partition } } }
  const pods = Array.from(letters).flatMap((letter, ordinal): ReadonlyArray<Pod> => {
    if (letter === ".") return []
    const revision = letter.toLowerCase() === "n" ? "new" : "old"
    const ready = { type: "Ready", status: letter === letter.toLowerCase() ? "True" : "False" }
    return [
      {
        metadata: { name: `web-${ordinal}`, labels: { "controller-revision-hash": revision } },
        status: { phase: "Running", conditions: [ready] }
      }
    ]
  })
  const [current, update] = ["old", "new"].map((name) => ({ name, template: {} }))
  return Snapshot.take({ set: set(spec), current, update, pods, claim: () => undefined, now: 0 } as never)
}

describe("the outdated replicas to replace", () => {
  for (const [letters, partition, atOnce, expected] of [
    ["ooo", 0, 1, [2]],
    ["oon", 0, 1, [1]],
    ["ooN", 0, 1, []],
    ["ooO", 0, 1, [2]],
    ["oOO", 0, 1, [2]],
    ["Oon", 0, 1, [1]],
    ["o.n", 0, 1, []],
    ["ooo", 3, 1, []],
    ["ooo", 2, 1, [2]],
    ["ooooo", 0, 2, [4, 3]],
    ["ooooN", 0, 2, [3]],
    ["oooNN", 0, 2, []],
    // Unavailable pods above the last replaced one are replaced too: that makes no more replicas unavailable.
    ["oooOO", 0, 2, [4, 3]],
    ["oooOO", 0, 3, [4, 3, 2]],
    ["ooooo", 3, 5, [4, 3]]
  ] as const)
    it(`of ${letters}, from ${partition} on, ${atOnce} at once, are [${expected.join()}]`, () =>
      assert.deepStrictEqual(
        Outdated.choose(snapshotOf(letters, partition), atOnce).map(({ ordinal }) => ordinal),
        [...expected]
      ))

  it("are none with OnDelete", () => {
    for (const atOnce of [1, 2]) assert.deepStrictEqual(Outdated.choose(snapshotOf("ooo", 0, "OnDelete"), atOnce), [])
  })
})
