/** Names in a generated module. */
import { assert, describe, it } from "@effect/vitest"
import * as Names from "../../../../src/kube/crd/types/names.ts"

describe("names of types", () => {
  it("are made of the path", () => {
    const nameOf = Names.make([])
    assert.strictEqual(nameOf(["HTTPRoute", "spec", "rules"]), "HTTPRouteSpecRules")
    assert.strictEqual(nameOf(["Kafka", "spec", "log-dirs", "a.b/c"]), "KafkaSpecLogDirsABC")
    assert.strictEqual(nameOf(["1st", "*/"]), "Type1st")
    assert.strictEqual(nameOf(["effect"]), "Effect")
    assert.strictEqual(nameOf(["*/"]), "Type")
  })

  it("get a number if they are taken, also by an import", () => {
    const nameOf = Names.make(["Schema"])
    assert.deepStrictEqual([["Schema"], ["Kind", "a-b"], ["Kind", "aB"], ["Kind", "aB2"]].map(nameOf), [
      "Schema2",
      "KindAB",
      "KindAB2",
      "KindAB22"
    ])
  })
})
