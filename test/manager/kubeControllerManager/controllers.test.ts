import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import { registry } from "../../../src/controllers/registry.ts"
import * as Loops from "../../../src/manager/kubeControllerManager/controllers.ts"
import * as Registry from "../../../src/manager/registry.ts"

const all = registry({ podCount: { schedule: Schedule.forever, nodeSelector: undefined } })

const chosen = (...patterns: ReadonlyArray<string>) =>
  Result.getOrThrow(Registry.select(Loops.table(all), patterns, { embedded: false })).chosen.map(
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
    assert.deepStrictEqual(Loops.choose(all, ["*", "bootstrapsigner", "-nodeipam", "token-cleaner-controller"]), {
      patterns: ["*"],
      note: "Of the controllers that were asked for, bootstrapsigner and token-cleaner-controller are not here"
    })
    assert.deepStrictEqual(Loops.choose(all, ["*", "-ttl"]), { patterns: ["*"], note: undefined })
    assert.deepStrictEqual(
      Loops.choose(all, ["*", "csrsigning"]).note,
      "Of the controllers that were asked for, csrsigning is not here"
    )
  })

  it("unknown names stay in the list, which is rejected later", () => {
    assert.deepStrictEqual(Loops.choose(all, ["*", "deploymet"]).patterns, ["*", "deploymet"])
  })

  it("no controller of this program is listed as missing, under any of its names", () => {
    const ours = all.flatMap(({ aliases = [], controller, group }) =>
      group === "core" ? [controller.name, ...aliases] : []
    )
    assert.deepStrictEqual(Loops.choose(all, ours), { patterns: ours, note: undefined })
  })
})
