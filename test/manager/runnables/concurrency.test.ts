import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import { Deployment, Pod } from "../../../src/kube/resources.ts"
import * as Concurrency from "../../../src/manager/runnables/concurrency.ts"

const read = (text: string) =>
  Option.match(Concurrency.codec.decode(text), {
    onNone: () => Concurrency.codec.explain?.(text),
    onSome: (kinds) => Object.fromEntries(kinds)
  })

describe("--group-kind-concurrency", () => {
  for (const [text, expected] of [
    ["", {}],
    ["Deployment.apps=5", { "Deployment.apps": 5 }],
    [" Deployment.apps=5 , Pod=2,", { "Deployment.apps": 5, Pod: 2 }],
    ["Lease.coordination.k8s.io=3,Lease.coordination.k8s.io=3", { "Lease.coordination.k8s.io": 3 }],
    ["Pod=1,Pod=2", "Pod is there twice"],
    ["Pod", '"Pod" must be like Deployment.apps=5 or Pod=5'],
    ["pods=1", '"pods=1" must be like Deployment.apps=5 or Pod=5'],
    ["Pod.=1", '"Pod.=1" must be like Deployment.apps=5 or Pod=5'],
    ["Pod=0", '"Pod=0" must end with a number of at least 1'],
    ["Pod=many", '"Pod=many" must end with a number of at least 1']
  ] as const) {
    it(`reads "${text}"`, () => assert.deepStrictEqual(read(text), expected))
  }

  it("names a kind without a controller, and the nearest kind that has one", () => {
    const unknown = (text: string) =>
      Concurrency.unknown(Option.getOrThrow(Concurrency.codec.decode(text)), [{ for: Deployment }, {}, { for: Pod }])
    assert.isUndefined(unknown("Deployment.apps=1,Pod=2"))
    assert.strictEqual(
      unknown("Deployment.app=1"),
      "no controller reconciles Deployment.app: did you mean Deployment.apps?"
    )
    assert.strictEqual(unknown("Widget=1"), "no controller reconciles Widget; there are: Deployment.apps, Pod")
  })
})
