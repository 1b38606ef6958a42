/** ConversionReviews through the route: all objects or none are converted, names are kept, and handlers change labels and annotations only. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { isDeepStrictEqual } from "node:util"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as Conversion from "../../../src/manager/webhooks/conversion.ts"
import { handler } from "../../../src/manager/webhooks/handle.ts"
import * as Webhook from "../../../src/layers/Webhook.ts"
import { checkProperty, oneOf } from "../../support/property.ts"
import { conversion, Gadget, GadgetV1 } from "../../layers/webhook/gadget.ts"
import { post } from "./asking.ts"

const group = "demo.example.com"

const gadget = (version: string, name: string, spec: object) => ({
  apiVersion: `${group}/${version}`,
  kind: "Gadget",
  metadata: { name, namespace: "ns", uid: `uid-${name}`, labels: { a: "b" }, resourceVersion: "7" },
  spec
})

const review = (version: string, objects: ReadonlyArray<unknown>, more: object = {}, api = "v1") => ({
  apiVersion: `apiextensions.k8s.io/${api}`,
  kind: "ConversionReview",
  request: { uid: "c-1", desiredAPIVersion: `${group}/${version}`, objects, ...more }
})

const convert = (body: unknown, hooks: ReadonlyArray<Webhook.Webhook> = [conversion]) =>
  Effect.flatMap(handler(hooks), (routes) => post(routes, "/convert", body))

describe("a conversion", () => {
  for (const api of ["v1", "v1beta1"]) {
    it.effect(`of many is answered in their order, in ${api}`, () =>
      Effect.gen(function* () {
        const objects = [gadget("v1", "x", { count: 1, extra: { kept: 1 } }), gadget("v2", "y", { size: 2 })]
        const { review: answer, status } = yield* convert(review("v2", objects, {}, api))
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(answer, {
          kind: "ConversionReview",
          apiVersion: `apiextensions.k8s.io/${api}`,
          response: {
            uid: "c-1",
            convertedObjects: [gadget("v2", "x", { extra: { kept: 1 }, size: 1 }), objects[1]],
            result: { metadata: {}, status: "Success" }
          }
        })
      })
    )
  }

  it.effect("converts what no Schema can decode, so that it can be listed", () =>
    Effect.gen(function* () {
      const { review: answer } = yield* convert(review("v1", [gadget("v2", "x", { size: "many" })]))
      assert.deepStrictEqual(answer.response.convertedObjects, [gadget("v1", "x", { count: "many" })])
    })
  )

  it.effect("between two spokes goes through the hub", () =>
    Effect.gen(function* () {
      const spec = Schema.Struct({ size: Schema.Int })
      const hub = Resource.make({
        group,
        version: "v2",
        kind: "Gadget",
        plural: "gadgets",
        spec,
        versions: ["v1", "v3"].map((version) => ({ version, spec }))
      })
      const seen: Array<string> = []
      const spoke = (version: string) => {
        const say =
          (way: string) =>
          <A>(object: A) =>
            Effect.sync(() => (seen.push(`${way} ${version}`), object))
        const resource = Resource.make({ group, version, kind: "Gadget", plural: "gadgets", spec })
        return Webhook.spoke(resource, { of: hub, toHub: say("from"), fromHub: say("to") })
      }
      const hook = Webhook.converting(hub, [spoke("v1"), spoke("v3")])
      const { review: answer } = yield* convert(review("v3", [gadget("v1", "x", {}), gadget("v2", "y", {})]), [hook])
      assert.deepStrictEqual(seen, ["from v1", "to v3", "to v3"])
      assert.strictEqual(answer.response.convertedObjects[0].apiVersion, `${group}/v3`)
    })
  )

  const object = gadget("v1", "x", { count: 1 })
  const failing: ReadonlyArray<readonly [string, unknown, string]> = [
    [
      "to a version that there is not",
      review("v9", [object]),
      'Gadget ns/x: there is no Gadget in "demo.example.com/v9"'
    ],
    [
      "of a kind that nobody converts",
      review("v2", [{ ...object, kind: "Pod" }]),
      `nobody converts Pod of ${group}/v1`
    ],
    [
      "of one that is from nowhere",
      review("v2", [object, { ...object, apiVersion: `${group}/v0` }]),
      `Gadget ns/x: there is no Gadget in "${group}/v0"`
    ]
  ]
  for (const [what, body, message] of failing) {
    it.effect(`${what} fails, and all others with it`, () =>
      Effect.gen(function* () {
        const { review: answer, status } = yield* convert(body)
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(answer.response, {
          uid: "c-1",
          convertedObjects: [],
          result: { metadata: {}, status: "Failure", message }
        })
      })
    )
  }

  it.effect("whose handler fails has a response with its uid", () =>
    Effect.gen(function* () {
      const hook = Webhook.converting(Gadget, [
        Webhook.spoke(GadgetV1, { of: Gadget, toHub: () => Effect.die("a bug"), fromHub: () => Effect.die("a bug") })
      ])
      const { review: answer, status } = yield* convert(review("v2", [object]), [hook])
      assert.deepStrictEqual([status, answer.response.uid, answer.response.result.status], [200, "c-1", "Failure"])
    })
  )

  for (const [what, body] of [
    ["without objects", review("v2", [], { objects: null })],
    ["of what are no objects", review("v2", [1])],
    ["to nothing", review("v2", [], { desiredAPIVersion: "" })],
    ["that is none", "[]"]
  ] as const) {
    it.effect(`${what} is refused`, () =>
      Effect.gen(function* () {
        const { review: answer, status } = yield* convert(body)
        assert.deepStrictEqual([status, answer.response.result.status], [400, "Failure"])
      })
    )
  }
})

const text = oneOf("a", "b")
const metadata = Schema.Struct({
  name: Schema.Literals(["a", "b"]),
  namespace: Schema.optionalKey(Schema.Literals(["a", "b"])),
  uid: Schema.optionalKey(Schema.Literals(["a", "b"])),
  labels: Schema.optionalKey(Schema.Struct({ x: Schema.Literals(["a", "b"]) })),
  annotations: Schema.optionalKey(Schema.Struct({ x: Schema.Literals(["a", "b"]) })),
  finalizers: Schema.optionalKey(Schema.Array(Schema.Literals(["a", "b"])))
})
const cases = Arbitrary.all([Arbitrary.schema(metadata), Arbitrary.schema(metadata), text] as const)

/** A handler that returns this metadata for every object. */
const making = (metadata: object): Webhook.Conversion => ({
  ...conversion,
  convert: (object) => Effect.succeed({ ...object, kind: "Other", apiVersion: "other/v1", metadata } as KubeObject)
})

describe("Conversion", () => {
  checkProperty(
    "of the metadata labels and annotations are the handler's, the rest the object's",
    cases,
    ([own, made, name]) => {
      const object = { ...gadget("v1", name, {}), metadata: own } as KubeObject
      const wanted = { apiVersion: "", uid: "", version: `${group}/v2`, objects: [object] }
      const exit = Effect.runSyncExit(Conversion.convert([making(made)], wanted))
      if (!Exit.isSuccess(exit)) return false
      const [one] = exit.value
      const { annotations, labels, ...rest } = (one?.metadata ?? {}) as Record<string, unknown>
      const { annotations: _a, labels: _l, ...kept } = own
      return (
        one?.apiVersion === `${group}/v2` &&
        one.kind === "Gadget" &&
        isDeepStrictEqual({ ...rest }, { ...kept }) &&
        isDeepStrictEqual([annotations, labels], [made.annotations, made.labels])
      )
    }
  )
})
