/** Custom kinds: decoding and encoding by their Schemas, and the errors. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Resource from "../../../src/kube/Resource.ts"

const Widget = Resource.make({
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  spec: Schema.Struct({
    size: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })),
    mode: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("fast"))),
    members: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.String }))),
    labels: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
  }),
  status: Schema.Struct({ ready: Schema.optionalKey(Schema.Boolean) })
})

const stored = (spec: unknown, more: object = {}) => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name: "one", namespace: "app", uid: "u" },
  spec,
  ...more
})

const message = (object: unknown): string => Result.getOrThrow(Result.flip(Widget.decode(object))).message

describe("a kind declared with Schemas", () => {
  it("has the id, scope and path of any resource", () => {
    assert.strictEqual(Widget.id, "example.com/v1/widgets")
    assert.strictEqual(Widget.scope, "Namespaced")
    assert.strictEqual(
      Resource.path(Widget, { namespace: "app", name: "one" }),
      "/apis/example.com/v1/namespaces/app/widgets/one"
    )
    assert.strictEqual(Resource.metadataOnly(Widget).id, "metadata:example.com/v1/widgets")
  })

  it("decode fills in defaults, and keeps apiVersion, kind and metadata", () => {
    const decoded = Result.getOrThrow(Widget.decode(stored({ size: 2 })))
    assert.deepStrictEqual(decoded, stored({ size: 2, mode: "fast" }) as typeof decoded)
  })

  it.each([
    [stored({ size: 9 }), "Widget app/one does not fit its schema: spec.size: Expected a value between 1 and 3"],
    [stored({}), "Widget app/one does not fit its schema: spec.size: Missing key"],
    [stored(undefined), "Widget app/one does not fit its schema: spec: Expected object"],
    [
      stored({ size: 1, members: [{ name: "a" }, { name: 2 }] }),
      "Widget app/one does not fit its schema: spec.members[1].name: Expected string"
    ],
    [
      stored({ size: 1, labels: { "a.b/c": 1 } }),
      'Widget app/one does not fit its schema: spec.labels["a.b/c"]: Expected string'
    ],
    [
      stored({ size: 1 }, { status: { ready: "yes" } }),
      "Widget app/one does not fit its schema: status.ready: Expected boolean"
    ],
    [null, "Widget does not fit its schema: metadata: Expected an object with metadata"],
    [{ metadata: 5 }, "Widget does not fit its schema: metadata: Expected an object with metadata"],
    [{ metadata: {}, spec: 5 }, "Widget does not fit its schema: spec: Expected object"]
  ])("decode reports in one sentence what does not fit: %j", (object, sentence) => {
    assert.strictEqual(message(object), sentence)
  })

  it("encode writes over the object it came from, and keeps unknown fields", () => {
    const original = stored(
      { size: 2, future: { a: 1 }, members: [{ name: "a", weight: 5 }, { name: "b" }] },
      { status: { ready: false, observed: 3 }, extra: true }
    )
    const decoded = Result.getOrThrow(Widget.decode(original))
    const changed = { ...decoded, spec: { ...decoded.spec, size: 3 }, status: { ready: true } }
    assert.deepStrictEqual<unknown>(
      Result.getOrThrow(Widget.encode(changed, original)),
      stored(
        { size: 3, mode: "fast", future: { a: 1 }, members: [{ name: "a", weight: 5 }, { name: "b" }] },
        { status: { ready: true, observed: 3 }, extra: true }
      )
    )
  })

  it("encode removes a removed field, except from an object that cannot be decoded", () => {
    const decoded = Result.getOrThrow(Widget.decode(stored({ size: 2 })))
    const readable = stored({ size: 1, labels: { a: "b" } })
    assert.notProperty(Result.getOrThrow(Widget.encode(decoded, readable)).spec, "labels")
    const broken = stored({ size: 99, labels: { a: "b" } })
    assert.deepStrictEqual<unknown>(
      Result.getOrThrow(Widget.encode(decoded, broken)),
      stored({ size: 2, labels: { a: "b" }, mode: "fast" })
    )
  })

  it("encode refuses a value that decode would refuse", () => {
    const decoded = Result.getOrThrow(Widget.decode(stored({ size: 2 })))
    const failure = Result.getOrThrow(Result.flip(Widget.encode({ ...decoded, spec: { ...decoded.spec, size: 7 } })))
    assert.strictEqual(failure.path, "spec.size")
  })

  it("encode takes the metadata of the decoded object", () => {
    const decoded = Result.getOrThrow(Widget.decode(stored({ size: 2 })))
    const metadata = { ...decoded.metadata, finalizers: ["example.com/finalizer"] }
    const written = Result.getOrThrow(Widget.encode({ ...decoded, metadata }, stored({ size: 2 })))
    assert.deepStrictEqual(written.metadata, metadata)
  })
})
