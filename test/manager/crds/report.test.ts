/** The exact output of `crds`, which operators search and compare. */
import { assert, describe, it } from "@effect/vitest"
import * as Access from "../../../src/kube/Access.ts"
import { printable } from "../../../src/kube/printable.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { Pod } from "../../../src/kube/resources.ts"
import type { Comparison } from "../../../src/manager/crds/Definitions.ts"
import * as Report from "../../../src/manager/crds/report.ts"
import { Memcached } from "../../kube/crd/fixtures.ts"

const same: Comparison = { name: "as.example.com", isNew: false, differences: [], broken: [] }

describe("the kinds of controllers", () => {
  it("are those declared with Schemas and those without a controller, each once, by name", () => {
    const Bbb = Resource.make({ ...Memcached.declaration, kind: "Bbb", plural: "bbbs" })
    const Aaa = Resource.make({ ...Memcached.declaration, kind: "Aaa", plural: "aaas" })
    assert.deepStrictEqual(
      Report.kindsOf(
        [
          { access: [Access.read(Memcached), Access.read(Pod), Access.patch(Memcached, "status")] },
          { access: [Access.read(Aaa), Access.read(Resource.metadataOnly(Memcached))] }
        ],
        [{ kind: Bbb }, { kind: Aaa }]
      ).map(Resource.qualifiedName),
      ["aaas.cache.example.com", "bbbs.cache.example.com", "memcacheds.cache.example.com"]
    )
  })
})

describe("what is said of definitions", () => {
  it("lists the outcome of each", () => {
    assert.strictEqual(
      Report.installed([
        { name: "as.example.com", outcome: "created" },
        { name: "bs.example.com", outcome: "unchanged" }
      ]),
      "as.example.com created\nbs.example.com unchanged"
    )
    assert.strictEqual(Report.installed([]), "none of the chosen controllers declares a kind of its own")
  })

  it("has no verdict if nothing differs", () => {
    assert.strictEqual(Report.compared([same]), "as.example.com is the same")
    assert.isUndefined(Report.verdict([same]))
    assert.isUndefined(Report.verdict([]))
  })

  it("has one line for each difference, and escapes control characters of the cluster's data", () => {
    const order = "\u001b[2J\u009b1A\nbs.example.com is the same"
    const all: ReadonlyArray<Comparison> = [
      {
        ...same,
        differences: [{ path: order, from: order, to: undefined }],
        broken: [{ object: "app/one", refused: [order], dropped: [order] }]
      }
    ]
    assert.strictEqual(Report.compared(all).split("\n").length, 4)
    assert.strictEqual(printable(Report.compared(all)), Report.compared(all))
  })

  it("lists what would change and which objects would be rejected or pruned, with their paths", () => {
    const all: ReadonlyArray<Comparison> = [
      same,
      { ...same, name: "bs.example.com", isNew: true },
      {
        ...same,
        name: "cs.example.com",
        differences: [
          { path: "spec.a", from: undefined, to: { type: "string" } },
          { path: "spec.b", from: 3, to: undefined },
          { path: "spec.c", from: 3, to: 2 }
        ],
        broken: [{ object: "app/one", refused: ["spec.c: Invalid value: 3"], dropped: ["spec.b"] }]
      }
    ]
    assert.strictEqual(
      Report.compared(all),
      [
        "as.example.com is the same",
        "bs.example.com is not in the cluster",
        "cs.example.com would change",
        '  + spec.a: {"type":"string"}',
        "  - spec.b: 3",
        "  ~ spec.c: 3 becomes 2",
        "  ! app/one would be refused: spec.c: Invalid value: 3",
        "  ! app/one would lose spec.b"
      ].join("\n")
    )
    assert.strictEqual(
      Report.verdict(all),
      "2 of 3 definitions differ from what is in the cluster, 1 stored objects would suffer"
    )
  })
})
