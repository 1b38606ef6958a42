import { assert, describe, it } from "@effect/vitest"
import type { KubeObject, ObjectMeta } from "../../../src/kube/Meta.ts"
import type { Delta } from "../../../src/streams/store/Store.ts"
import * as Predicate from "../../../src/streams/store/predicate.ts"

const object = (metadata: Partial<ObjectMeta> = {}): KubeObject => ({ metadata: { name: "a", ...metadata } })
const created = (metadata?: Partial<ObjectMeta>): Delta<KubeObject> => ({
  _tag: "Created",
  object: object(metadata),
  initial: false
})
const deleted: Delta<KubeObject> = { _tag: "Deleted", object: object(), stateUnknown: false }
const updated = (from: Partial<ObjectMeta>, to: Partial<ObjectMeta>): Delta<KubeObject> => ({
  _tag: "Updated",
  previous: object(from),
  object: object(to)
})

describe("predicates", () => {
  const family = [
    ["resourceVersionChanged", Predicate.resourceVersionChanged, { resourceVersion: "1" }, { resourceVersion: "2" }],
    ["generationChanged", Predicate.generationChanged, { generation: 1 }, { generation: 2 }],
    ["labelsChanged", Predicate.labelsChanged, { labels: { a: "1" } }, { labels: { a: "2" } }],
    ["annotationsChanged", Predicate.annotationsChanged, { annotations: { a: "1" } }, { annotations: { b: "1" } }]
  ] as const
  for (const [name, predicate, from, to] of family) {
    it(`${name} filters updates only`, () => {
      assert.isTrue(predicate(created()))
      assert.isTrue(predicate(deleted))
      assert.isTrue(predicate(updated(from, to)))
      assert.isTrue(predicate(updated({}, to)))
      assert.isTrue(predicate(updated(from, {})))
      assert.isFalse(predicate(updated(from, structuredClone(from))))
    })
  }

  it("generationChanged drops status writes and resyncs", () => {
    assert.isFalse(
      Predicate.generationChanged(
        updated({ generation: 3, resourceVersion: "1" }, { generation: 3, resourceVersion: "2" })
      )
    )
    const same = object({ generation: 3 })
    assert.isFalse(Predicate.generationChanged({ _tag: "Updated", object: same, previous: same }))
  })

  it("absent and empty labels are equal, and a label may have the name of a property of Object.prototype", () => {
    assert.isFalse(Predicate.labelsChanged(updated({}, { labels: {} })))
    assert.isTrue(Predicate.labelsChanged(updated({ labels: { a: "1" } }, { labels: { toString: "1" } })))
  })

  it("labelSelector tests the new object", () => {
    const selected = Predicate.labelSelector([{ key: "app", operator: "In", values: ["web"] }])
    const web = { labels: { app: "web" } }
    assert.deepStrictEqual(
      [created(web), created(), updated({}, web), updated(web, {})].map((delta) => selected(delta)),
      [true, false, true, false]
    )
  })

  it("and, or, not and filter combine", () => {
    const yes = Predicate.filter(() => true)
    const no = Predicate.not(yes)
    const results = [
      Predicate.and(yes, no),
      Predicate.and(yes, yes),
      Predicate.and(),
      Predicate.or(yes, no),
      Predicate.or(no, no),
      Predicate.or()
    ].map((predicate) => predicate(deleted))
    assert.deepStrictEqual(results, [false, true, true, true, false, false])
  })
})
