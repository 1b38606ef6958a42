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
  ["a created object with an owner: its owner", created(pod("web", reference("a"))), ["a"]],
  ["a changed object with an owner: its owner", updated(pod("web", reference("a")), pod("x", reference("a"))), ["a"]],
  ["a deleted object with an owner: its owner", deleted(pod("web", reference("a"))), ["a"]],
  ["an unchanged object in a resync: none", updated(resync, resync), []],
  [
    "an object that changes its owner: both owners",
    updated(pod("web", reference("a")), pod("web", reference("b"))),
    ["a", "b"]
  ],
  [
    "a released object: the former owner and those whose selector matches",
    updated(pod("web", reference("a")), pod("web")),
    ["a", "b"]
  ],
  [
    "a released object that no selector matches: the former owner",
    updated(pod("web", reference("c")), pod("x")),
    ["c"]
  ],
  ["an adopted object: the new owner", updated(pod("web"), pod("web", reference("b"))), ["b"]],
  ["a created orphan: the owners whose selector matches", created(pod("web")), ["a", "b"]],
  ["an orphan that is terminating when it is first observed: none", created(pod("web", undefined, true)), []],
  ["an orphan whose labels change: the owners whose selector matches now", updated(pod("x"), pod("other")), ["c"]],
  ["an orphan that becomes terminating: none", updated(pod("web"), pod("web", undefined, true)), []],
  ["a deleted orphan: none", deleted(pod("web")), []],
  [
    "an object whose controller is of another kind: none",
    created(pod("web", reference("a", { kind: "DaemonSet" }))),
    []
  ],
  [
    "an object of a former owner of the same name: none",
    created(pod("web", reference("a", { uid: "uid-of-old" }))),
    []
  ],
  ["an object of an unknown owner: none", created(pod("web", reference("z"))), []],
  [
    "an object in another namespace than its owner: none",
    created({ metadata: { ...pod("web", reference("a")).metadata, namespace: "elsewhere" } }),
    []
  ]
]

describe("the owners", () => {
  for (const [what, delta, concerned] of rows) {
    it(`to sync after an event of ${what}`, () => assert.deepStrictEqual(names(delta), concerned))
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
