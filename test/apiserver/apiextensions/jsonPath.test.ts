import { assert, describe, it } from "@effect/vitest"
import * as jsonPath from "../../../src/apiserver/apiextensions/jsonPath.ts"

const object = {
  metadata: { annotations: { "example.com/a": "yes" } },
  spec: { replicas: 3, list: [{ name: "a" }, { name: "b" }] },
  status: {
    conditions: [
      { type: "Available", status: "False" },
      { type: "Ready", status: "True", count: 2 }
    ]
  }
}

const rows: ReadonlyArray<readonly [path: string, value: unknown]> = [
  [".spec.replicas", 3],
  ["{.spec.replicas}", 3],
  [".spec.list[1].name", "b"],
  [".spec.list[-1].name", "b"],
  [".spec.list[*].name", "a"],
  [".metadata.annotations.example\\.com/a", "yes"],
  [".metadata.annotations['example.com/a']", "yes"],
  ['.status.conditions[?(@.type=="Ready")].status', "True"],
  [".status.conditions[?(@.type=='Ready')].status", "True"],
  [".status.conditions[?(@.count==2)].type", "Ready"],
  ['.status.conditions[?(@.type=="Gone")].status', undefined],
  [".spec.nothing.here", undefined],
  [".constructor", undefined],
  [".spec.list.name", undefined]
]

describe("JSON paths", () => {
  for (const [path, value] of rows) {
    it(`finds ${path}`, () => {
      const steps = jsonPath.parse(path)
      assert.isDefined(steps)
      assert.deepStrictEqual(jsonPath.first(steps ?? [], object), value as never)
    })
  }

  it("other syntax is rejected", () => {
    for (const path of ["", "spec", ".spec[", ".spec.list[?(@.name)]", "..spec", ".a[0:1]"]) {
      assert.isUndefined(jsonPath.parse(path), path)
    }
  })

  it("scale paths consist of member names only", () => {
    assert.deepStrictEqual(jsonPath.members(".spec.replicas"), ["spec", "replicas"])
    assert.isUndefined(jsonPath.members(".spec.list[0]"))
  })
})
