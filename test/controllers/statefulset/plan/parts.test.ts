/** Small parts of the loop of StatefulSets: what names say, how many may be unavailable, and which templates mean the same. */
import { assert, describe, it } from "@effect/vitest"
import * as Identity from "../../../../src/controllers/statefulset/identity.ts"
import * as Snapshot from "../../../../src/controllers/statefulset/plan/snapshot.ts"
import * as Outdated from "../../../../src/controllers/statefulset/plan/outdated.ts"
import * as Spec from "../../../../src/controllers/statefulset/spec.ts"
import type { Pod, StatefulSet } from "../../../../src/kube/resources.ts"

describe("names of replicas", () => {
  for (const [name, expected] of [
    ["web-0", { parent: "web", ordinal: 0 }],
    ["my-web-12", { parent: "my-web", ordinal: 12 }],
    ["web-2147483648", { parent: "web", ordinal: -1 }],
    ["web", undefined],
    ["web-", undefined],
    ["web-1a", undefined],
    ["web--1", { parent: "web-", ordinal: 1 }]
  ] as const)
    it(`are read: ${name}`, () => assert.deepStrictEqual(Identity.parse(name), expected))
})

const set = (spec: object): StatefulSet => ({ metadata: { name: "web", uid: "u" }, spec }) as never

describe("how many replicas may be unavailable", () => {
  for (const [maxUnavailable, replicas, expected] of [
    [undefined, 5, 1],
    [2, 5, 2],
    ["50%", 5, 2],
    ["1%", 5, 1],
    ["nonsense", 5, 1]
  ] as const)
    it(`${maxUnavailable} of ${replicas}`, () => {
      const updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxUnavailable } }
      assert.strictEqual(Spec.maxUnavailable(set({ replicas, updateStrategy })), expected)
    })
})

/** `n` is new and well, `o` old and well; capitals are not ready; `.` is missing. */
const snapshotOf = (letters: string, partition = 0): Snapshot.Snapshot => {
  const spec = { replicas: letters.length, updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition } } }
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

describe("which replicas are replaced", () => {
  for (const [letters, partition, atOnce, expected] of [
    ["ooo", 0, 1, [2]],
    ["oon", 0, 1, [1]],
    ["ooN", 0, 1, []],
    ["ooO", 0, 1, [2]],
    ["o.n", 0, 1, []],
    ["ooo", 3, 1, []],
    ["ooo", 2, 1, [2]],
    ["ooooo", 0, 2, [4, 3]],
    ["ooooN", 0, 2, [3]],
    ["oooNN", 0, 2, []],
    // Those that cannot be used anyway cost nothing, as far as they are on the way.
    ["oooOO", 0, 2, [4, 3]],
    ["oooOO", 0, 3, [4, 3, 2]],
    ["ooooo", 3, 5, [4, 3]]
  ] as const)
    it(`${letters}, from ${partition} on, ${atOnce} at once`, () =>
      assert.deepStrictEqual(
        Outdated.choose(snapshotOf(letters, partition), atOnce).map(({ ordinal }) => ordinal),
        [...expected]
      ))
})
