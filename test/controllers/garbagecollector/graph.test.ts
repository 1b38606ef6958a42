/** Single events on the graph, where their order matters; random sequences are in `model.test.ts`. */
import { assert, describe, it } from "@effect/vitest"
import * as Graph from "../../../src/controllers/garbagecollector/graph.ts"
import type * as Identity from "../../../src/controllers/garbagecollector/identity.ts"
import type { KubeObject, OwnerReference } from "../../../src/kube/Meta.ts"
import { identity, to } from "./coordinates.ts"

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
    findings: (event: Graph.Event) => {
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

describe("an update that changes neither owners nor deletion", () => {
  const owners = [to("owner")]
  const metadata = { name: "child", uid: "child", resourceVersion: "2", ownerReferences: owners }

  it("is taken without findings, and is what was observed last", () => {
    const { graph } = after(observed("child", owners))
    assert.isTrue(graph.refresh("v1", metadata))
    assert.strictEqual(graph.get("child")?.observed, metadata)
  })

  it("is none if the object is new, virtual, being deleted, has other owners, or is watched in another version", () => {
    const { graph } = after(observed("child", owners), observed("leaving", owners, { deleting: [] }), observed("bare"))
    const others: ReadonlyArray<KubeObject["metadata"]> = [
      { ...metadata, uid: "new" },
      { ...metadata, uid: "owner" },
      { ...metadata, uid: "leaving" },
      { ...metadata, uid: "bare" },
      { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
      { ...metadata, ownerReferences: [to("other")] }
    ]
    for (const other of others) assert.isFalse(graph.refresh("v1", other), JSON.stringify(other))
    assert.isFalse(graph.refresh("v2", metadata))
    assert.notStrictEqual(graph.get("child")?.observed, metadata)
  })
})

describe("an owner that was never observed", () => {
  it("is verified once, and not again after it is observed with the coordinates of the references", () => {
    const { findings, graph } = after()
    assert.deepStrictEqual(findings(observed("child", [to("owner")])), { toVerify: ["owner"] })
    assert.deepStrictEqual(graph.get("owner"), {
      identity: identity("owner"),
      observed: undefined,
      owners: [],
      beingDeleted: false,
      waitsFor: undefined
    })
    assert.deepStrictEqual(findings(observed("second", [to("owner")])), {})
    assert.deepStrictEqual(findings(observed("owner")), {})
    assert.isFalse(Graph.isVirtual(graph.get("owner")))
    assert.deepStrictEqual(
      graph.dependents("owner").map((node) => node.identity.uid),
      ["child", "second"]
    )
  })

  it("is removed with its last dependent", () => {
    const { findings, graph } = after(observed("child", [to("owner")]))
    assert.deepStrictEqual(findings({ _tag: "Deleted", uid: "child", watched: true }), {})
    assert.strictEqual(graph.size(), 0)
  })

  it("has dependents with other coordinates enqueued when it is observed", () => {
    const wrong = { name: "other" }
    const { findings } = after(observed("child", [to("owner", wrong)]), observed("right", [to("owner")]))
    assert.deepStrictEqual(findings(observed("owner")), { toDelete: ["child"] })
  })

  it("has dependents in other namespaces reported when it is observed in one", () => {
    const { findings } = after(observed("child", [to("owner")], { namespace: "blue" }))
    assert.deepStrictEqual(findings(observed("owner")), {
      toDelete: ["child"],
      misplaced: [{ dependent: identity("child", { namespace: "blue" }), reference: to("owner") }]
    })
  })

  it("that is proven absent is removed, and its dependents are enqueued", () => {
    const { findings, graph } = after(observed("child", [to("owner")]))
    assert.deepStrictEqual(findings(absent(identity("owner"))), { toDelete: ["child"], absent: [identity("owner")] })
    assert.isUndefined(graph.get("owner"))
    assert.deepStrictEqual(
      graph.dependents("owner").map((node) => node.identity.uid),
      ["child"]
    )
  })

  it("is looked up under each of its other coordinates in turn", () => {
    const called = (uid: string, name: string, namespace = "red") =>
      observed(uid, [to("owner", { name })], { namespace })
    const { findings, graph } = after(
      called("one", "b"),
      called("two", "a"),
      called("three", "c"),
      called("four", "c", "blue")
    )
    const verified = Array.from({ length: 5 }, () => {
      const now = graph.get("owner")?.identity ?? identity("nothing")
      return [`${now.namespace}/${now.name}`, findings(absent(now)).toDelete]
    })
    assert.deepStrictEqual(verified, [
      ["red/b", ["one"]],
      ["red/c", ["three"]],
      ["blue/c", ["four"]],
      ["red/a", ["two"]],
      ["red/b", ["one"]]
    ])
  })

  it("of a cluster-scoped kind is absent for all namespaces at once", () => {
    const { findings, graph } = after(
      observed("child", [to("owner")]),
      observed("other", [to("owner")], { namespace: "blue" })
    )
    assert.deepStrictEqual(findings(absent(identity("owner"), true)), {
      toDelete: ["child", "other"],
      absent: [identity("owner", { namespace: "" })]
    })
    assert.isUndefined(graph.get("owner"))
  })

  it("that only a cluster-scoped object names may be namespaced, so the next dependent is enqueued", () => {
    const { findings } = after(observed("node", [to("owner")], { namespace: "" }))
    assert.deepStrictEqual(findings(observed("child", [to("owner")])), { toDelete: ["child"] })
  })
})

describe("an observed owner", () => {
  it("is not removed because it is absent under other coordinates", () => {
    const { findings, graph } = after(observed("child", [to("owner", { name: "other" })]), observed("owner"))
    assert.deepStrictEqual(findings(absent(identity("owner", { name: "other" }))), {
      toDelete: ["child"],
      absent: [identity("owner", { name: "other" })]
    })
    assert.isFalse(Graph.isVirtual(graph.get("owner")))
  })

  it("keeps its identity when it is absent under other coordinates", () => {
    const { findings, graph } = after(
      observed("child", [to("owner", { name: "other" })]),
      observed("second", [to("owner", { name: "third" })]),
      observed("owner")
    )
    findings(absent(identity("owner", { name: "other" })))
    assert.deepStrictEqual(graph.get("owner")?.identity, identity("owner"))
  })

  it("is known to be absent after a watched deletion, not after an inferred one", () => {
    for (const watched of [true, false]) {
      const { findings } = after(observed("owner"), observed("child", [to("owner")]))
      assert.deepStrictEqual(findings({ _tag: "Deleted", uid: "owner", watched }), {
        toDelete: ["child"],
        ...(watched ? { absent: [identity("owner")] } : {})
      })
    }
  })

  it("has a dependent in another namespace enqueued and reported", () => {
    const { findings } = after(observed("owner"))
    assert.deepStrictEqual(findings(observed("child", [to("owner")], { namespace: "blue" })), {
      toDelete: ["child"],
      misplaced: [{ dependent: identity("child", { namespace: "blue" }), reference: to("owner") }]
    })
    assert.deepStrictEqual(findings(observed("node", [to("owner")], { namespace: "" })).toDelete, ["node"])
  })

  it("that a dependent names in another version has the dependent enqueued, but not reported", () => {
    const { findings } = after(observed("owner"))
    assert.deepStrictEqual(findings(observed("child", [to("owner", { apiVersion: "v1beta1" })])), {
      toDelete: ["child"]
    })
  })

  it("without a namespace may own objects in any", () => {
    const { findings } = after(observed("owner", [], { namespace: "" }))
    assert.deepStrictEqual(findings(observed("child", [to("owner")])), {})
  })

  it("takes the version that was observed last", () => {
    const { findings, graph } = after(observed("owner", [], { apiVersion: "v1beta1" }))
    assert.deepStrictEqual(findings(observed("owner")), {})
    assert.strictEqual(graph.get("owner")?.identity.apiVersion, "v1")
  })
})

describe("a foreground deletion", () => {
  const blocking = { blockOwnerDeletion: true }
  const foreground = { deleting: ["foregroundDeletion"] }

  it("enqueues dependents and owner when it starts, once", () => {
    const { findings } = after(
      observed("owner"),
      observed("child", [to("owner", blocking)]),
      observed("other", [to("owner")])
    )
    assert.deepStrictEqual(findings(observed("owner", [], foreground)), { toDelete: ["child", "other", "owner"] })
    assert.deepStrictEqual(findings(observed("owner", [], foreground)), {})
  })

  it("enqueues a dependent that is observed later", () => {
    const { findings } = after(observed("owner", [], foreground))
    assert.deepStrictEqual(findings(observed("child", [to("owner", blocking)])), { toDelete: ["child"] })
  })

  it("is enqueued again when a dependent is deleted, loses its reference, or does not block any more", () => {
    const model = () => after(observed("owner", [], foreground), observed("child", [to("owner", blocking)]))
    assert.deepStrictEqual(model().findings({ _tag: "Deleted", uid: "child", watched: true }), { toDelete: ["owner"] })
    assert.deepStrictEqual(model().findings(observed("child")), { toDelete: ["owner"] })
    assert.deepStrictEqual(model().findings(observed("child", [to("owner")])), { toDelete: ["owner"] })
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

  it("waits for a blocking dependent that it blocks itself, while that one is not in foreground deletion", () => {
    const { graph } = after(
      observed("owner", [to("child", blocking)], foreground),
      observed("child", [to("owner", blocking)])
    )
    assert.deepStrictEqual(
      graph.blocking("owner").map((node) => node.identity.uid),
      ["child"]
    )
  })

  it("is enqueued again when its finalizer was removed and added again", () => {
    const { findings } = after(observed("owner", [], foreground))
    assert.deepStrictEqual(findings(observed("owner", [], foreground)), { toDelete: ["owner"] })
  })

  it("orphans before it waits for dependents", () => {
    const both = { deleting: ["foregroundDeletion", "orphan"] }
    const { findings, graph } = after(observed("owner"), observed("child", [to("owner", blocking)]))
    assert.deepStrictEqual(findings(observed("owner", [], both)), { toOrphan: ["owner"] })
    assert.strictEqual(graph.get("owner")?.waitsFor, "orphaning")
    assert.deepStrictEqual(findings(observed("owner", [], foreground)), { toDelete: ["child", "owner"] })
  })
})

describe("a resource that is not watched any more", () => {
  const unwatched: Graph.Event = { _tag: "Unwatched", apiVersion: "v1", kind: "Thing" }
  const other = { kind: "Other" }

  it("leaves owners to be verified, and removes all its other nodes", () => {
    const { findings, graph } = after(
      observed("owner"),
      observed("child", [to("owner")], other),
      observed("leaf", [to("child", other)]),
      observed("waiting", [], { ...other, deleting: ["foregroundDeletion"] }),
      observed("blocker", [to("waiting", { ...other, blockOwnerDeletion: true })])
    )
    assert.deepStrictEqual(findings(unwatched), { toVerify: ["owner"], toDelete: ["waiting"] })
    assert.deepStrictEqual(
      ["owner", "child", "leaf", "blocker"].map((uid) => Graph.isVirtual(graph.get(uid))),
      [true, false, false, false]
    )
    assert.deepStrictEqual(graph.dependents("child"), [])
    assert.deepStrictEqual(findings(observed("owner")), {})
  })

  it("and watched in another version keeps its nodes", () => {
    const { findings, graph } = after(observed("owner"), observed("child", [to("owner")], other))
    assert.deepStrictEqual(findings(observed("owner", [], { apiVersion: "v2" })), {})
    assert.deepStrictEqual(findings(unwatched), {})
    assert.strictEqual(graph.get("owner")?.identity.apiVersion, "v2")
  })
})

describe("references that change", () => {
  const blocking = { blockOwnerDeletion: true }
  const foreground = { deleting: ["foregroundDeletion"] }
  const deleted = (uid: string): Graph.Event => ({ _tag: "Deleted", uid, watched: true })
  const dependents = (graph: Graph.Graph, uid: string) => graph.dependents(uid).map(({ identity }) => identity.uid)

  it("examine the owner when a reference no longer blocks it, and only then", () => {
    const { findings } = after(observed("owner"), observed("child", [to("owner")]))
    assert.deepStrictEqual(findings(observed("child", [to("owner", blocking)])), {})
    assert.deepStrictEqual(findings(observed("child", [to("owner", blocking)])), {})
    assert.deepStrictEqual(findings(observed("child", [to("owner")])), { toDelete: ["owner"] })
    assert.deepStrictEqual(findings(observed("child")), {})
  })

  it("change the dependents of the owners, and remove a virtual owner with its last reference", () => {
    const { findings, graph } = after(observed("one", [to("a"), to("b")]), observed("two", [to("a")]))
    assert.deepStrictEqual(findings(observed("one", [to("b")])), {})
    assert.deepStrictEqual([dependents(graph, "a"), dependents(graph, "b")], [["two"], ["one"]])
    assert.deepStrictEqual(findings(deleted("two")), {})
    assert.deepStrictEqual([dependents(graph, "a"), graph.get("a")], [[], undefined])
    assert.strictEqual(graph.size(), 2)
    assert.deepStrictEqual(Array.from(graph.nodes(), ({ identity }) => identity.uid).sort(), ["b", "one"])
  })

  it("keep an observed owner without references, and whose deletion has no findings", () => {
    const { findings, graph } = after(observed("owner"), observed("child", [to("owner")]))
    assert.deepStrictEqual(findings(observed("child")), {})
    assert.isFalse(Graph.isVirtual(graph.get("owner")))
    assert.deepStrictEqual(findings(deleted("owner")), {})
  })

  it("keep an owner's other dependents when one is deleted, and the index when an owner is deleted first", () => {
    const { findings, graph } = after(observed("owner"), observed("one", [to("owner")]), observed("two", [to("owner")]))
    findings(deleted("one"))
    assert.deepStrictEqual(dependents(graph, "owner"), ["two"])
    assert.deepStrictEqual(findings(deleted("owner")).toDelete, ["two"])
    assert.deepStrictEqual(findings(deleted("two")), {})
    assert.strictEqual(graph.size(), 0)
  })

  it("examine a cluster-scoped object that loses one, and no namespaced object", () => {
    const node = { namespace: "" }
    const { findings } = after(
      ...["a", "b"].map((uid) => observed(uid, [], node)),
      observed("node", [to("a"), to("b")], node),
      observed("child", [to("a"), to("b")])
    )
    assert.deepStrictEqual(findings(observed("node", [to("a"), to("b")], node)), {})
    assert.deepStrictEqual(findings(observed("child", [to("a")])), {})
    assert.deepStrictEqual(findings(observed("node", [to("a")], node)), { toDelete: ["node"] })
    assert.deepStrictEqual(findings(observed("node", [to("a")], node)), {})
  })

  it("examine an object that waits for its dependents when one of its references begins to block", () => {
    const { findings } = after(
      observed("owner"),
      observed("child", [to("owner")], foreground),
      observed("blocker", [to("child", blocking)])
    )
    assert.deepStrictEqual(findings(observed("child", [to("owner")], foreground)), {})
    assert.deepStrictEqual(findings(observed("child", [to("owner", blocking)], foreground)), { toDelete: ["child"] })
    assert.deepStrictEqual(findings(observed("child", [to("owner", blocking)], foreground)), {})
    const idle = after(observed("owner"), observed("child", [to("owner")]))
    assert.deepStrictEqual(idle.findings(observed("child", [to("owner", blocking)])), {})
  })
})

describe("events", () => {
  it("record whether an object is being deleted", () => {
    const { findings, graph } = after(observed("a"))
    assert.isFalse(graph.get("a")?.beingDeleted)
    const { identity: of } = graph.get("a") ?? assert.fail("no node")
    const metadata = { name: "a", uid: "a", deletionTimestamp: "2026-01-01T00:00:00Z" }
    assert.deepStrictEqual(findings({ _tag: "Observed", identity: of, metadata }), {})
    assert.deepInclude(graph.get("a"), { beingDeleted: true, waitsFor: undefined })
    findings(observed("a", [], { deleting: ["foregroundDeletion"] }))
    assert.strictEqual(graph.get("a")?.waitsFor, "dependents")
    findings(observed("a"))
    assert.deepInclude(graph.get("a"), { beingDeleted: false, waitsFor: undefined })
  })

  it("examine an owner without dependents when its foreground deletion begins", () => {
    const { findings } = after(observed("owner"))
    assert.deepStrictEqual(findings(observed("owner", [], { deleting: ["foregroundDeletion"] })), {
      toDelete: ["owner"]
    })
  })

  it("report the reference that names an owner of another namespace, not another reference", () => {
    const { findings } = after(observed("child", [to("right"), to("owner")], { namespace: "blue" }))
    assert.deepStrictEqual(findings(observed("owner")).misplaced, [
      { dependent: identity("child", { namespace: "blue" }), reference: to("owner") }
    ])
    const clusterScoped = after(observed("child", [to("owner", { name: "other" })]))
    assert.deepStrictEqual(clusterScoped.findings(observed("owner", [], { namespace: "" })), { toDelete: ["child"] })
  })

  it("about unknown objects change nothing", () => {
    const { findings, graph } = after(observed("child", [to("owner")]), observed("owner"))
    assert.deepStrictEqual(findings({ _tag: "Deleted", uid: "unknown", watched: true }), {})
    assert.deepStrictEqual(findings(absent(identity("unknown"))), {})
    assert.deepStrictEqual(findings(absent(identity("owner", { name: "unknown" }))), {})
    assert.strictEqual(graph.size(), 2)
  })

  it("turn a node that is not watched any more into a virtual one without references of its own", () => {
    const other = { kind: "Other" }
    const { findings, graph } = after(
      observed("top", [], other),
      observed("owner", [to("top", other)]),
      observed("child", [to("owner")], other)
    )
    assert.deepStrictEqual(findings({ _tag: "Unwatched", apiVersion: "v1", kind: "Thing" }), { toVerify: ["owner"] })
    assert.deepStrictEqual(graph.dependents("top"), [])
    assert.deepInclude(graph.get("owner"), { observed: undefined, owners: [] })
  })
})
