import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { table } from "../../support/controllers.ts"
import * as Loops from "../../../src/manager/kubeControllerManager/controllers.ts"
import * as Registry from "../../../src/manager/registry.ts"

const chosen = (...patterns: ReadonlyArray<string>) =>
  Result.getOrThrow(Registry.select(Loops.table(table), patterns, { embedded: false })).chosen.map(
    ({ controller }) => controller.name
  )

describe("in the place of kube-controller-manager", () => {
  it("`*` selects the controllers of kube-controller-manager, on any cluster, and no others", () => {
    const names = chosen("*")
    assert.includeMembers([...names], ["deployment", "garbagecollector", "job"])
    for (const name of ["pod-count", "memcached", "ecsbinding", "serviceaccount-token"]) assert.notInclude(names, name)
    assert.deepStrictEqual(chosen("*", "pod-count").slice(names.length), ["pod-count"])
    assert.deepStrictEqual(
      chosen("*", "-deployment"),
      names.filter((name) => name !== "deployment")
    )
  })

  it("names of controllers that this program lacks are left out, and enabled ones are logged", () => {
    assert.deepStrictEqual(Loops.choose(table, ["*", "bootstrapsigner", "-nodeipam", "token-cleaner-controller"]), {
      patterns: ["*"],
      note: "Of the controllers that were asked for, bootstrapsigner and token-cleaner-controller are not here"
    })
    assert.deepStrictEqual(Loops.choose(table, ["*", "-ttl"]), { patterns: ["*"], note: undefined })
    assert.deepStrictEqual(
      Loops.choose(table, ["*", "csrsigning"]).note,
      "Of the controllers that were asked for, csrsigning is not here"
    )
  })

  it("unknown names stay in the list, which is rejected later", () => {
    assert.deepStrictEqual(Loops.choose(table, ["*", "deploymet"]).patterns, ["*", "deploymet"])
  })

  it("no controller of this program is listed as missing, under any of its names", () => {
    const ours = table.flatMap(({ aliases = [], controller, group }) =>
      group === "core" ? [controller.name, ...aliases] : []
    )
    assert.deepStrictEqual(Loops.choose(table, ours), { patterns: ours, note: undefined })
  })
})
