/** Which encoder a client gets for its Accept header. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { metadataEncoder } from "../../../src/apiserver/printers/Encoder.ts"
import { negotiateEncoder } from "../../../src/apiserver/printers/negotiate.ts"
import * as resources from "../../../src/apiserver/scheme/resources.ts"
import { isRefusal } from "../../../src/apiserver/StatusError.ts"

const resource = resources.all.find(({ plural }) => plural === "pods")!

const negotiate = (accept: string | undefined, includeObject: string | null = null, collection = true) =>
  negotiateEncoder(accept, { resource, collection, includeObject, now: 0 })

const whole = negotiate(undefined)

const table = "application/json;as=Table;v=v1;g=meta.k8s.io"
const partial = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

describe("The encoder of a response", () => {
  const Known = Schema.Literals(["application/json", "*/*", table, partial])
  const Unknown = Schema.Literals(["application/vnd.kubernetes.protobuf", "text/html", "application/json;as=Odd", ""])
  const Accept = Schema.Array(Schema.Union([Known, Unknown])).check(Schema.isMaxLength(4))

  it.prop("is that of the first media type that the server has, or 406", [Arbitrary.schema(Accept)], ([types]) => {
    const found = negotiate(types.join(","))
    const first = types.find((type) => Schema.is(Known)(type))
    if (first === undefined && types.some((type) => type !== "")) {
      assert.strictEqual(isRefusal(found) ? found.status.code : 200, 406)
    } else if (first === partial) assert.strictEqual(found, metadataEncoder)
    else if (first === table) assert.notStrictEqual(found, whole)
    else if (first !== undefined) assert.strictEqual(found, whole)
  })

  it.prop("of any header is an encoder or 406", [Arbitrary.schema(Schema.String)], ([accept]) => {
    const found = negotiate(accept)
    assert.isTrue(!isRefusal(found) || found.status.code === 406)
  })

  it("of a table is refused when the query asks for objects that tables do not have", () => {
    const codes = [null, "None", "Object", "Odd"].map((include) => {
      const found = negotiate(table, include)
      return isRefusal(found) ? found.status.code : 200
    })
    assert.deepStrictEqual(codes, [200, 200, 200, 400])
    assert.isTrue(isRefusal(negotiate(partial, null, false)))
  })
})
