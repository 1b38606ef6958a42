import { assert, describe, it } from "@effect/vitest"
import * as Owners from "../../../../src/controllers/shared/workload/owners.ts"
import * as Selectors from "../../../../src/controllers/shared/workload/selectors.ts"
import type { KubeObject, OwnerReference } from "../../../../src/kube/Meta.ts"
import { ReplicaSet } from "../../../../src/kube/resources.ts"
import * as Selector from "../../../../src/kube/Selector.ts"
import type { Delta } from "../../../../src/streams/store/Store.ts"
import * as Store from "../../../../src/streams/store/Store.ts"

const owner = (name: string, app: string): ReplicaSet => ({
  metadata: { name, namespace: "ns", uid: `uid-${name}` },
  spec: { selector: { matchLabels: { app } } }
})

const objects = [owner("a", "web"), owner("b", "web"), owner("c", "other")]

const store = Store.make<ReplicaSet>()
store.apply({ _tag: "Restarted" })
store.apply({
  _tag: "Changed",
  events: objects.map((object) => ({ type: "ADDED", object })),
  resourceVersion: "1"
})
store.apply({ _tag: "Synced", resourceVersion: "1" })

const owners: Owners.Owners<ReplicaSet> = {
  resource: ReplicaSet,
  store,
  selects: ({ spec }, labels) => {
    const selector = Selectors.usable(spec?.selector)
    return selector !== undefined && Selector.matchesLabels(selector, labels)
  }
}

const reference = (name: string, change: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  name,
  uid: `uid-${name}`,
  controller: true,
  ...change
})

const pod = (app: string, controller?: OwnerReference, deleting = false): KubeObject => ({
  metadata: {
    name: "p",
    namespace: "ns",
    labels: { app },
    ...(controller === undefined ? {} : { ownerReferences: [controller] }),
    ...(deleting ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {})
  }
})

const created = (object: KubeObject): Delta<KubeObject> => ({ _tag: "Created", object, initial: false })
const updated = (previous: KubeObject, object: KubeObject): Delta<KubeObject> => ({ _tag: "Updated", previous, object })
const deleted = (object: KubeObject): Delta<KubeObject> => ({ _tag: "Deleted", object, stateUnknown: false })

const names = (delta: Delta<KubeObject>) => Owners.concerned(owners, delta).map(({ metadata }) => metadata.name)

const resync = pod("web", reference("a"))

/** The owners that each change concerns. */
const rows: ReadonlyArray<readonly [what: string, delta: Delta<KubeObject>, concerned: ReadonlyArray<string>]> = [
  ["an owned object that appears: its owner", created(pod("web", reference("a"))), ["a"]],
  ["an owned object that changes: its owner", updated(pod("web", reference("a")), pod("x", reference("a"))), ["a"]],
  ["an owned object that goes: its owner", deleted(pod("web", reference("a"))), ["a"]],
  ["a resync: nobody", updated(resync, resync), []],
  ["a new owner: the old one too", updated(pod("web", reference("a")), pod("web", reference("b"))), ["a", "b"]],
  ["a release: the old owner and who matches", updated(pod("web", reference("a")), pod("web")), ["a", "b"]],
  ["a release out of every selector: the old owner", updated(pod("web", reference("c")), pod("x")), ["c"]],
  ["an adoption: the new owner", updated(pod("web"), pod("web", reference("b"))), ["b"]],
  ["an orphan that appears: everybody who matches", created(pod("web")), ["a", "b"]],
  ["an orphan that appears on its way out: nobody", created(pod("web", undefined, true)), []],
  ["an orphan whose labels change: everybody who matches now", updated(pod("x"), pod("other")), ["c"]],
  ["an orphan that changes otherwise: nobody", updated(pod("web"), pod("web", undefined, true)), []],
  ["an orphan that goes: nobody", deleted(pod("web")), []],
  ["a foreign kind's object: nobody", created(pod("web", reference("a", { kind: "DaemonSet" }))), []],
  ["a namesake's object: nobody", created(pod("web", reference("a", { uid: "uid-of-old" }))), []],
  ["an object of an unknown owner: nobody", created(pod("web", reference("z"))), []],
  [
    "an object in another namespace than its owner: nobody",
    created({ metadata: { ...pod("web", reference("a")).metadata, namespace: "elsewhere" } }),
    []
  ]
]

describe("owners", () => {
  for (const [what, delta, concerned] of rows) {
    it(`concerned by ${what}`, () => assert.deepStrictEqual(names(delta), concerned))
  }
})

describe("selectors", () => {
  it("a selector that is absent, empty or invalid is not usable", () => {
    for (const spec of [
      undefined,
      {},
      { matchLabels: {} },
      { matchLabels: undefined },
      { matchExpressions: [{ key: "a", operator: "Near" }] }
    ])
      assert.isUndefined(Selectors.usable(spec))
    assert.strictEqual(Selectors.usable({ matchLabels: { a: "b" } })?.length, 1)
  })

  it("parses the selector of an object once, also where it is absent", () => {
    let reads = 0
    const selectorOf = Selectors.memoised((object: ReplicaSet) => {
      reads++
      return Selectors.usable(object.spec?.selector)
    })
    const [a] = objects
    const none: ReplicaSet = { metadata: { name: "none" } }
    if (a === undefined) return assert.fail()
    assert.strictEqual(selectorOf(a), selectorOf(a))
    assert.isUndefined(selectorOf(none) ?? selectorOf(none))
    assert.strictEqual(reads, 2)
  })
})
