/** Single events on the graph, where their order matters; random sequences are in `model.test.ts`. */
import { assert, describe, it } from "@effect/vitest"
import * as Graph from "../../../src/controllers/garbagecollector/graph.ts"
import type * as Identity from "../../../src/controllers/garbagecollector/Identity.ts"
import type { KubeObject, OwnerReference } from "../../../src/kube/Meta.ts"

const identity = (uid: string, options: Partial<Identity.Identity> = {}): Identity.Identity => ({
  uid,
  apiVersion: "v1",
  kind: "Thing",
  namespace: "red",
  name: uid,
  ...options
})

const to = (uid: string, options: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: "v1",
  kind: "Thing",
  name: uid,
  uid,
  ...options
})

const observed = (
  uid: string,
  owners: ReadonlyArray<OwnerReference> = [],
  options: Partial<Identity.Identity> & { readonly deleting?: ReadonlyArray<string> } = {}
): Graph.Event => {
  const { deleting, ...rest } = options
  const metadata: KubeObject["metadata"] = {
    name: uid,
    uid,
    ownerReferences: owners,
    ...(deleting === undefined ? {} : { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: deleting })
  }
  return { _tag: "Observed", identity: identity(uid, rest), metadata }
}

const absent = (of: Identity.Identity, clusterScoped = false): Graph.Event => ({
  _tag: "Absent",
  identity: of,
  clusterScoped
})

/** A graph with these events applied, and the findings of the next event. */
const after = (...events: ReadonlyArray<Graph.Event>) => {
  const graph = Graph.make()
  graph.apply(events)
  return {
    graph,
    asks: (event: Graph.Event) => {
      const { absent, misplaced, toDelete, toOrphan, toVerify } = graph.apply([event])
      return {
        ...(toDelete.size === 0 ? {} : { toDelete: [...toDelete].sort() }),
        ...(toVerify.size === 0 ? {} : { toVerify: [...toVerify] }),
        ...(toOrphan.size === 0 ? {} : { toOrphan: [...toOrphan] }),
        ...(absent.length === 0 ? {} : { absent }),
        ...(misplaced.length === 0 ? {} : { misplaced })
      }
    }
  }
}

describe("an owner that was never observed", () => {
  it("is verified once, and no more after it is observed as named", () => {
    const { asks, graph } = after()
    assert.deepStrictEqual(asks(observed("child", [to("owner")])), { toVerify: ["owner"] })
    assert.deepStrictEqual(graph.get("owner"), {
      identity: identity("owner"),
      observed: false,
      owners: [],
      beingDeleted: false,
      waitsFor: undefined
    })
    assert.deepStrictEqual(asks(observed("second", [to("owner")])), {})
    assert.deepStrictEqual(asks(observed("owner")), {})
    assert.isTrue(graph.get("owner")?.observed)
    assert.deepStrictEqual(
      graph.dependents("owner").map((node) => node.identity.uid),
      ["child", "second"]
    )
  })

  it("is removed with its last dependent", () => {
    const { asks, graph } = after(observed("child", [to("owner")]))
    assert.deepStrictEqual(asks({ _tag: "Deleted", uid: "child", watched: true }), {})
    assert.strictEqual(graph.size(), 0)
  })

  it("has dependents with other coordinates enqueued when it is observed", () => {
    const wrong = { name: "other" }
    const { asks } = after(observed("child", [to("owner", wrong)]), observed("right", [to("owner")]))
    assert.deepStrictEqual(asks(observed("owner")), { toDelete: ["child"] })
  })

  it("has dependents in other namespaces reported when it is observed in one", () => {
    const { asks } = after(observed("child", [to("owner")], { namespace: "blue" }))
    assert.deepStrictEqual(asks(observed("owner")), {
      toDelete: ["child"],
      misplaced: [{ dependent: identity("child", { namespace: "blue" }), reference: to("owner") }]
    })
  })

  it("that is proven absent is removed, and its dependents are enqueued", () => {
    const { asks, graph } = after(observed("child", [to("owner")]))
    assert.deepStrictEqual(asks(absent(identity("owner"))), { toDelete: ["child"], absent: [identity("owner")] })
    assert.isUndefined(graph.get("owner"))
    assert.deepStrictEqual(
      graph.dependents("owner").map((node) => node.identity.uid),
      ["child"]
    )
  })

  it("is looked up under its other coordinates, in order and in turn", () => {
    const called = (uid: string, name: string, namespace = "red") =>
      observed(uid, [to("owner", { name })], { namespace })
    const { asks, graph } = after(
      called("one", "b"),
      called("two", "a"),
      called("three", "c"),
      called("four", "c", "blue")
    )
    const asked = Array.from({ length: 5 }, () => {
      const now = graph.get("owner")?.identity ?? identity("nothing")
      return [`${now.namespace}/${now.name}`, asks(absent(now)).toDelete]
    })
    assert.deepStrictEqual(asked, [
      ["red/b", ["one"]],
      ["red/c", ["three"]],
      ["blue/c", ["four"]],
      ["red/a", ["two"]],
      ["red/b", ["one"]]
    ])
  })

  it("of a cluster-scoped kind is absent for all namespaces at once", () => {
    const { asks, graph } = after(
      observed("child", [to("owner")]),
      observed("other", [to("owner")], { namespace: "blue" })
    )
    assert.deepStrictEqual(asks(absent(identity("owner"), true)), {
      toDelete: ["child", "other"],
      absent: [identity("owner", { namespace: "" })]
    })
    assert.isUndefined(graph.get("owner"))
  })

  it("that only a cluster-scoped object names may be namespaced: the next dependent is enqueued", () => {
    const { asks } = after(observed("node", [to("owner")], { namespace: "" }))
    assert.deepStrictEqual(asks(observed("child", [to("owner")])), { toDelete: ["child"] })
  })
})

describe("an observed owner", () => {
  it("is not removed because it is absent under other coordinates", () => {
    const { asks, graph } = after(observed("child", [to("owner", { name: "other" })]), observed("owner"))
    assert.deepStrictEqual(asks(absent(identity("owner", { name: "other" }))), {
      toDelete: ["child"],
      absent: [identity("owner", { name: "other" })]
    })
    assert.isTrue(graph.get("owner")?.observed)
  })

  it("is known to be absent after a watched deletion, not after an inferred one", () => {
    for (const watched of [true, false]) {
      const { asks } = after(observed("owner"), observed("child", [to("owner")]))
      assert.deepStrictEqual(asks({ _tag: "Deleted", uid: "owner", watched }), {
        toDelete: ["child"],
        ...(watched ? { absent: [identity("owner")] } : {})
      })
    }
  })

  it("has a dependent in another namespace enqueued and reported", () => {
    const { asks } = after(observed("owner"))
    assert.deepStrictEqual(asks(observed("child", [to("owner")], { namespace: "blue" })), {
      toDelete: ["child"],
      misplaced: [{ dependent: identity("child", { namespace: "blue" }), reference: to("owner") }]
    })
    assert.deepStrictEqual(asks(observed("node", [to("owner")], { namespace: "" })).toDelete, ["node"])
  })

  it("may be named in another version: the dependent is enqueued, not reported", () => {
    const { asks } = after(observed("owner"))
    assert.deepStrictEqual(asks(observed("child", [to("owner", { apiVersion: "v1beta1" })])), { toDelete: ["child"] })
  })

  it("without a namespace may own objects in any", () => {
    const { asks } = after(observed("owner", [], { namespace: "" }))
    assert.deepStrictEqual(asks(observed("child", [to("owner")])), {})
  })

  it("takes the version that was observed last", () => {
    const { asks, graph } = after(observed("owner", [], { apiVersion: "v1beta1" }))
    assert.deepStrictEqual(asks(observed("owner")), {})
    assert.strictEqual(graph.get("owner")?.identity.apiVersion, "v1")
  })
})

describe("a foreground deletion", () => {
  const blocking = { blockOwnerDeletion: true }
  const foreground = { deleting: ["foregroundDeletion"] }

  it("enqueues dependents and owner when it starts, once", () => {
    const { asks } = after(
      observed("owner"),
      observed("child", [to("owner", blocking)]),
      observed("other", [to("owner")])
    )
    assert.deepStrictEqual(asks(observed("owner", [], foreground)), { toDelete: ["child", "other", "owner"] })
    assert.deepStrictEqual(asks(observed("owner", [], foreground)), {})
  })

  it("enqueues a dependent that is observed later", () => {
    const { asks } = after(observed("owner", [], foreground))
    assert.deepStrictEqual(asks(observed("child", [to("owner", blocking)])), { toDelete: ["child"] })
  })

  it("is enqueued again when a dependent is deleted, loses its reference, or does not block any more", () => {
    const model = () => after(observed("owner", [], foreground), observed("child", [to("owner", blocking)]))
    assert.deepStrictEqual(model().asks({ _tag: "Deleted", uid: "child", watched: true }), { toDelete: ["owner"] })
    assert.deepStrictEqual(model().asks(observed("child")), { toDelete: ["owner"] })
    assert.deepStrictEqual(model().asks(observed("child", [to("owner")])), { toDelete: ["owner"] })
  })

  it("waits for blocking dependents, except those that wait for it in turn", () => {
    const { graph } = after(
      observed("a", [to("c", blocking)], foreground),
      observed("b", [to("a", blocking)], foreground),
      observed("c", [to("b", blocking), to("d", blocking)], foreground),
      observed("d", [], foreground),
      observed("leaf", [to("a", blocking)]),
      observed("loose", [to("a")])
    )
    const blockers = (uid: string) => graph.blocking(uid).map((node) => node.identity.uid)
    assert.deepStrictEqual([blockers("a"), blockers("b"), blockers("c"), blockers("d")], [["leaf"], [], [], ["c"]])
  })

  it("is enqueued again when its finalizer was removed and added again", () => {
    const { asks } = after(observed("owner", [], foreground))
    assert.deepStrictEqual(asks(observed("owner", [], foreground)), { toDelete: ["owner"] })
  })

  it("orphans before it waits for dependents", () => {
    const both = { deleting: ["foregroundDeletion", "orphan"] }
    const { asks, graph } = after(observed("owner"), observed("child", [to("owner", blocking)]))
    assert.deepStrictEqual(asks(observed("owner", [], both)), { toOrphan: ["owner"] })
    assert.strictEqual(graph.get("owner")?.waitsFor, "orphaning")
    assert.deepStrictEqual(asks(observed("owner", [], foreground)), { toDelete: ["child", "owner"] })
  })
})

describe("a resource that is not watched any more", () => {
  const unwatched: Graph.Event = { _tag: "Unwatched", apiVersion: "v1", kind: "Thing" }
  const other = { kind: "Other" }

  it("leaves owners to be verified, and removes all its other nodes", () => {
    const { asks, graph } = after(
      observed("owner"),
      observed("child", [to("owner")], other),
      observed("leaf", [to("child", other)]),
      observed("waiting", [], { ...other, deleting: ["foregroundDeletion"] }),
      observed("blocker", [to("waiting", { ...other, blockOwnerDeletion: true })])
    )
    assert.deepStrictEqual(asks(unwatched), { toVerify: ["owner"], toDelete: ["waiting"] })
    assert.deepStrictEqual(
      ["owner", "child", "leaf", "blocker"].map((uid) => graph.get(uid)?.observed),
      [false, true, undefined, undefined]
    )
    assert.deepStrictEqual(graph.dependents("child"), [])
    assert.deepStrictEqual(asks(observed("owner")), {})
  })

  it("and watched in another version keeps its nodes", () => {
    const { asks, graph } = after(observed("owner"), observed("child", [to("owner")], other))
    assert.deepStrictEqual(asks(observed("owner", [], { apiVersion: "v2" })), {})
    assert.deepStrictEqual(asks(unwatched), {})
    assert.strictEqual(graph.get("owner")?.identity.apiVersion, "v2")
  })
})

describe("references that change", () => {
  const blocking = { blockOwnerDeletion: true }
  const foreground = { deleting: ["foregroundDeletion"] }
  const gone = (uid: string): Graph.Event => ({ _tag: "Deleted", uid, watched: true })
  const dependents = (graph: Graph.Graph, uid: string) => graph.dependents(uid).map(({ identity }) => identity.uid)

  it("examine the owner when a reference no longer blocks it, and only then", () => {
    const { asks } = after(observed("owner"), observed("child", [to("owner")]))
    assert.deepStrictEqual(asks(observed("child", [to("owner", blocking)])), {})
    assert.deepStrictEqual(asks(observed("child", [to("owner", blocking)])), {})
    assert.deepStrictEqual(asks(observed("child", [to("owner")])), { toDelete: ["owner"] })
    assert.deepStrictEqual(asks(observed("child")), {})
  })

  it("change the dependents of the owners, and remove a virtual owner with its last reference", () => {
    const { asks, graph } = after(observed("one", [to("a"), to("b")]), observed("two", [to("a")]))
    assert.deepStrictEqual(asks(observed("one", [to("b")])), {})
    assert.deepStrictEqual([dependents(graph, "a"), dependents(graph, "b")], [["two"], ["one"]])
    assert.deepStrictEqual(asks(gone("two")), {})
    assert.deepStrictEqual([dependents(graph, "a"), graph.get("a")], [[], undefined])
    assert.strictEqual(graph.size(), 2)
    assert.deepStrictEqual(Array.from(graph.nodes(), ({ identity }) => identity.uid).sort(), ["b", "one"])
  })

  it("keep an observed owner without references, whose deletion asks for nothing", () => {
    const { asks, graph } = after(observed("owner"), observed("child", [to("owner")]))
    assert.deepStrictEqual(asks(observed("child")), {})
    assert.isTrue(graph.get("owner")?.observed)
    assert.deepStrictEqual(asks(gone("owner")), {})
  })

  it("keep an owner's other dependents when one is deleted, and the index when an owner is deleted first", () => {
    const { asks, graph } = after(observed("owner"), observed("one", [to("owner")]), observed("two", [to("owner")]))
    asks(gone("one"))
    assert.deepStrictEqual(dependents(graph, "owner"), ["two"])
    assert.deepStrictEqual(asks(gone("owner")).toDelete, ["two"])
    assert.deepStrictEqual(asks(gone("two")), {})
    assert.strictEqual(graph.size(), 0)
  })

  it("examine a cluster-scoped object that loses one, and no namespaced object", () => {
    const node = { namespace: "" }
    const { asks } = after(
      ...["a", "b"].map((uid) => observed(uid, [], node)),
      observed("node", [to("a"), to("b")], node),
      observed("child", [to("a"), to("b")])
    )
    assert.deepStrictEqual(asks(observed("node", [to("a"), to("b")], node)), {})
    assert.deepStrictEqual(asks(observed("child", [to("a")])), {})
    assert.deepStrictEqual(asks(observed("node", [to("a")], node)), { toDelete: ["node"] })
  })

  it("examine an object that waits for its dependents when one of its references begins to block", () => {
    const { asks } = after(
      observed("owner"),
      observed("child", [to("owner")], foreground),
      observed("blocker", [to("child", blocking)])
    )
    assert.deepStrictEqual(asks(observed("child", [to("owner")], foreground)), {})
    assert.deepStrictEqual(asks(observed("child", [to("owner", blocking)], foreground)), { toDelete: ["child"] })
    assert.deepStrictEqual(asks(observed("child", [to("owner", blocking)], foreground)), {})
    const idle = after(observed("owner"), observed("child", [to("owner")]))
    assert.deepStrictEqual(idle.asks(observed("child", [to("owner", blocking)])), {})
  })
})

describe("single events", () => {
  it("record whether an object is being deleted", () => {
    const { asks, graph } = after(observed("a"))
    assert.isFalse(graph.get("a")?.beingDeleted)
    const { identity: of } = graph.get("a") ?? assert.fail("no node")
    const metadata = { name: "a", uid: "a", deletionTimestamp: "2026-01-01T00:00:00Z" }
    assert.deepStrictEqual(asks({ _tag: "Observed", identity: of, metadata }), {})
    assert.deepInclude(graph.get("a"), { beingDeleted: true, waitsFor: undefined })
    asks(observed("a", [], { deleting: ["foregroundDeletion"] }))
    assert.strictEqual(graph.get("a")?.waitsFor, "dependents")
    asks(observed("a"))
    assert.deepInclude(graph.get("a"), { beingDeleted: false, waitsFor: undefined })
  })

  it("examine an owner without dependents when its foreground deletion begins", () => {
    const { asks } = after(observed("owner"))
    assert.deepStrictEqual(asks(observed("owner", [], { deleting: ["foregroundDeletion"] })), { toDelete: ["owner"] })
  })

  it("report the reference that names an owner of another namespace, not another reference", () => {
    const { asks } = after(observed("child", [to("right"), to("owner")], { namespace: "blue" }))
    assert.deepStrictEqual(asks(observed("owner")).misplaced, [
      { dependent: identity("child", { namespace: "blue" }), reference: to("owner") }
    ])
    const clusterScoped = after(observed("child", [to("owner", { name: "other" })]))
    assert.deepStrictEqual(clusterScoped.asks(observed("owner", [], { namespace: "" })), { toDelete: ["child"] })
  })

  it("about unknown objects change nothing", () => {
    const { asks, graph } = after(observed("child", [to("owner")]), observed("owner"))
    assert.deepStrictEqual(asks({ _tag: "Deleted", uid: "unknown", watched: true }), {})
    assert.deepStrictEqual(asks(absent(identity("unknown"))), {})
    assert.deepStrictEqual(asks(absent(identity("owner", { name: "unknown" }))), {})
    assert.strictEqual(graph.size(), 2)
  })

  it("turn a node that is not watched any more into a virtual one without references of its own", () => {
    const other = { kind: "Other" }
    const { asks, graph } = after(
      observed("top", [], other),
      observed("owner", [to("top", other)]),
      observed("child", [to("owner")], other)
    )
    assert.deepStrictEqual(asks({ _tag: "Unwatched", apiVersion: "v1", kind: "Thing" }), { toVerify: ["owner"] })
    assert.deepStrictEqual(graph.dependents("top"), [])
    assert.deepInclude(graph.get("owner"), { observed: false, owners: [] })
  })
})
