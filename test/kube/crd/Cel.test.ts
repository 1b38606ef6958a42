import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Cel from "../../../src/kube/crd/Cel.ts"
import * as Crd from "../../../src/kube/crd/Crd.ts"
import * as Resource from "../../../src/kube/Resource.ts"

const kind = (spec: Schema.ConstraintCodec<unknown, unknown>) =>
  Resource.make({ group: "example.com", version: "v1", kind: "Pool", plural: "pools", spec })

const Pool = Resource.make({
  group: "example.com",
  version: "v1",
  kind: "Pool",
  plural: "pools",
  spec: Schema.Struct({
    min: Schema.Int,
    max: Schema.Int,
    zone: Schema.String.check(
      Schema.isMaxLength(20),
      Cel.rule("self == oldSelf", { message: "zone cannot be changed" })
    )
  }).check(Cel.rule("self.min <= self.max", { message: "min must not exceed max", fieldPath: ".min" }))
})

const object = (spec: object) => ({ metadata: { name: "blue", namespace: "default" }, spec })

describe("a rule as a check of a Schema", () => {
  it("is in the definition of the kind", () => {
    const definition = Result.getOrThrow(Crd.make(Pool))
    const spec = definition.spec.versions[0]?.schema.openAPIV3Schema.properties?.["spec"]
    assert.deepStrictEqual(spec?.["x-kubernetes-validations"], [
      { rule: "self.min <= self.max", message: "min must not exceed max", fieldPath: ".min" }
    ])
  })

  it("refuses an object when it is decoded, with the message and the field of the rule", () => {
    const refused = Pool.decode(object({ min: 5, max: 3, zone: "a" }))
    assert.isTrue(Result.isFailure(refused))
    if (Result.isSuccess(refused)) return
    assert.strictEqual(refused.failure.path, "spec.min")
    assert.include(refused.failure.message, "min must not exceed max")
    assert.isTrue(Result.isSuccess(Pool.decode(object({ min: 2, max: 3, zone: "a" }))))
  })

  it("refuses a change of a value that a transition rule keeps, when the object is encoded", () => {
    const stored = object({ min: 2, max: 3, zone: "a" })
    const decoded = Result.getOrThrow(Pool.decode(stored))
    const moved = { ...decoded, spec: { ...decoded.spec, zone: "b" } }
    const refused = Pool.encode(moved, stored)
    assert.isTrue(Result.isFailure(refused) && refused.failure.message.includes("zone cannot be changed"))
    const grown = { ...decoded, spec: { ...decoded.spec, max: 4 } }
    assert.isTrue(Result.isSuccess(Pool.encode(grown, stored)))
  })

  it("is refused in a definition, if the server would not compile it", () => {
    const wrong = kind(Schema.Struct({ min: Schema.Int }).check(Cel.rule("self.other > 1")))
    const made = Crd.make(wrong)
    assert.isTrue(Result.isFailure(made) && made.failure.message.includes("undefined field 'other'"))
  })

  it("is refused in a definition, if it may cost more than the server allows", () => {
    const names = Schema.Struct({ names: Schema.Array(Schema.String) })
    const wrong = kind(names.check(Cel.rule("self.names.all(a, self.names.exists_one(b, a == b))")))
    const made = Crd.make(wrong)
    assert.isTrue(Result.isFailure(made) && made.failure.message.includes("estimated rule cost exceeds budget"))
  })
})
