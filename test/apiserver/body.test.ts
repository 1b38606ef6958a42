/** Bodies of requests, by themselves: what is decoded and what is refused. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import type { ApiRequest } from "../../src/apiserver/Api.ts"
import * as body from "../../src/apiserver/body.ts"
import { isObject } from "../../src/apiserver/json.ts"
import type { JsonObject } from "../../src/apiserver/json.ts"
import * as resources from "../../src/apiserver/scheme/resources.ts"
import { badRequest, isRefusal } from "../../src/apiserver/StatusError.ts"

const configMaps = resources.all.find(({ plural }) => plural === "configmaps")!

const request = (text: string, contentType?: string): ApiRequest => ({
  method: "POST",
  path: "/api/v1/namespaces/default/configmaps",
  query: new URLSearchParams(),
  headers: contentType === undefined ? {} : { "content-type": contentType },
  body: text,
  user: { name: "x", groups: [] }
})

/** The code of the refusal; 0 for an object. */
const codeOf = (result: unknown): number => (isRefusal(result) ? result.status.code : 0)

const read = (text: string, contentType?: string) =>
  body.object(request(text, contentType), configMaps, () => undefined)

describe("The object of a body", () => {
  const Text = Schema.Literals(["", "v1", "v2", "ConfigMap", "Secret"])
  const Metadata = Schema.Union([Schema.Null, Schema.Struct({ name: Schema.String }), Schema.Literals(["a", 1])])
  const Sent = Schema.Struct({
    apiVersion: Schema.optionalKey(Text),
    kind: Schema.optionalKey(Text),
    metadata: Schema.optionalKey(Metadata)
  })

  it.prop(
    "is refused if it is of another kind or version, or its metadata is no object",
    [Arbitrary.schema(Sent)],
    ([sent]) => {
      const { apiVersion = "", kind = "", metadata } = sent
      const isOurs = ["", "v1"].includes(apiVersion) && ["", "ConfigMap"].includes(kind)
      const isRead = isOurs && (metadata === undefined || metadata === null || typeof metadata === "object")
      const result = read(JSON.stringify(sent))
      assert.strictEqual(codeOf(result), isRead ? 0 : 400)
      if (!isRefusal(result)) assert.isTrue(isObject(result["metadata"]))
    }
  )

  it.prop("of any text is refused or an object", [Arbitrary.schema(Schema.String)], ([text]) => {
    assert.isTrue([0, 400].includes(codeOf(read(text))))
  })

  it("is refused without a body, with another media type, and when it is nested too deeply", () => {
    assert.strictEqual(codeOf(read("")), 400)
    assert.strictEqual(codeOf(read("{}", "application/json; charset=utf-8")), 0)
    assert.strictEqual(codeOf(read("{}", "text/plain")), 415)
    const nested = (levels: number) => `{"data":${"[".repeat(levels)}${"]".repeat(levels)}}`
    assert.strictEqual(codeOf(read(nested(body.maxDepth - 1))), 0)
    assert.strictEqual(codeOf(read(nested(body.maxDepth))), 400)
  })

  it("is refused as its decoder refuses it", () => {
    const refusal = badRequest("odd")
    const refuse = (object: JsonObject) => ("odd" in object ? refusal : undefined)
    assert.strictEqual(body.object(request('{"odd":1}'), configMaps, refuse), refusal)
    assert.strictEqual(body.optional(request('{"odd":1}'), "Binding", refuse), refusal)
    assert.strictEqual(body.configuration({ odd: 1 }, configMaps, refuse), refusal)
    assert.deepStrictEqual(body.optional(request('{"a":1}'), "Binding", refuse), { a: 1 })
    assert.isUndefined(body.optional(request(""), "Binding", refuse))
  })
})
