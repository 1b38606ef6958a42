/** What an update and a deletion have to find in the stored object. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as resources from "../../../src/apiserver/scheme/resources.ts"
import { isRefusal } from "../../../src/apiserver/StatusError.ts"
import * as lifecycle from "../../../src/apiserver/validation/lifecycle.ts"
import * as metadata from "../../../src/apiserver/validation/metadata.ts"
import { clone } from "../../../src/apiserver/json.ts"

const pods = resources.all.find(({ plural }) => plural === "pods")!

const Name = Schema.Literals(["a", "b", "c"])

describe("A deletion", () => {
  const Preconditions = Schema.Struct({ uid: Schema.optionalKey(Name), resourceVersion: Schema.optionalKey(Name) })

  it.prop(
    "is refused if and only if a precondition names another object or version",
    [Arbitrary.schema(Preconditions)],
    ([given]) => {
      const { resourceVersion, uid } = given
      const object = { metadata: { name: "x", uid: "a", resourceVersion: "b" } }
      const options = {
        gracePeriodSeconds: undefined,
        propagationPolicy: undefined,
        dryRun: false,
        uid,
        resourceVersion
      }
      const refusal = lifecycle.refusePreconditions(pods, object, options)
      const holds = [undefined, "a"].includes(uid) && [undefined, "b"].includes(resourceVersion)
      assert.strictEqual(refusal?.status.code, holds ? undefined : 409)
    }
  )
})

describe("An update", () => {
  const Finalizers = Schema.Array(Name).check(Schema.isMaxLength(3))
  const Update = Schema.Struct({ before: Finalizers, after: Finalizers, isDeleted: Schema.Boolean })

  it.prop(
    "adds no finalizer to an object that is being deleted, and changes nothing when refused",
    [Arbitrary.schema(Update)],
    ([update]) => {
      const { after, before, isDeleted } = update
      const object = { metadata: { name: "x", finalizers: [...after] } }
      const existing = {
        metadata: { ...(isDeleted ? { deletionTimestamp: "1970-01-01T00:00:00Z" } : {}), finalizers: [...before] }
      }
      const copies = clone([object, existing])
      const refusal = metadata.refuseNewFinalizers(pods, object, existing)
      assert.strictEqual(isRefusal(refusal), isDeleted && after.some((one) => !before.includes(one)))
      assert.deepStrictEqual([object, existing], copies)
    }
  )
})
