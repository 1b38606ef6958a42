/** The graph in DOT: complete if small, bounded if large, with names quoted safely. */
import { assert, describe, it } from "@effect/vitest"
import * as Dot from "../../../src/controllers/garbagecollector/dot.ts"
import * as Graph from "../../../src/controllers/garbagecollector/graph.ts"

const observed = (uid: string, owners: ReadonlyArray<string> = [], deleting = false, name = uid): Graph.Event => ({
  _tag: "Observed",
  identity: { uid, apiVersion: "v1", kind: "Thing", namespace: "red", name },
  metadata: {
    name,
    uid,
    ownerReferences: owners.map((owner) => ({ apiVersion: "v1", kind: "Thing", name: owner, uid: owner })),
    ...(deleting ? { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["foregroundDeletion"] } : {})
  }
})

const graphOf = (...events: ReadonlyArray<Graph.Event>) => {
  const graph = Graph.make()
  graph.apply(events)
  return graph
}

describe("the graph in DOT", () => {
  it("has every object with its state, and every reference", () => {
    const graph = graphOf(observed("a", [], true), observed("b", ["a", "gone"]))
    assert.strictEqual(
      Dot.render(graph),
      [
        "strict digraph owners {",
        String.raw`  "a" [label="Thing red/a\nv1\nbeing deleted\nwaits for its dependents"];`,
        String.raw`  "gone" [label="Thing red/gone\nv1\nnot observed" style=dashed];`,
        String.raw`  "b" [label="Thing red/b\nv1"];`,
        '  "b" -> "a";',
        '  "b" -> "gone";',
        "}",
        ""
      ].join("\n")
    )
  })

  it("has for a uid all connected objects, in both directions", () => {
    const graph = graphOf(
      observed("a"),
      observed("b", ["a"]),
      observed("c", ["b"]),
      observed("x"),
      observed("y", ["x"])
    )
    const uids = Array.from(Dot.render(graph, ["b"]).matchAll(/^ {2}"(\w)" \[/gm), ([, uid]) => uid)
    assert.sameMembers(uids, ["a", "b", "c"])
    assert.strictEqual(Dot.render(graph, ["unknown"]), "strict digraph owners {\n}\n")
  })

  it("omits surplus objects, but none that a deletion waits for", () => {
    const many = Array.from({ length: Dot.limit + 10 }, (_, n) => observed(`n${n}`))
    const picture = Dot.render(graphOf(...many, observed("late", [], true)))
    assert.include(picture, "  // 11 more objects are not shown\n")
    assert.include(picture, '"late" [')
    assert.strictEqual(picture.split("[label=").length - 1, Dot.limit)
  })

  it("quotes names", () => {
    const picture = Dot.render(graphOf(observed("a", [], false, 'x"];\n\\"')))
    assert.include(picture, String.raw`Thing red/x\"];\n\\\"\nv1"`)
    assert.strictEqual(picture.split("\n").length, 4)
  })
})
