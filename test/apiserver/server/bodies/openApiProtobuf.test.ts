/**
 * The OpenAPI documents as protobuf, decoded by field numbers alone: fields are where kubectl reads them. Source of the numbers:
 * gnostic: OpenAPIv2.proto and OpenAPIv3.proto.
 */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Answer } from "../../../../src/apiserver/Api.ts"
import { ApiServer } from "../../../../src/apiserver/ApiServer.ts"
import { withProtobuf } from "../../../../src/apiserver/server/bodies/openApiProtobuf.ts"
import { same } from "../../client.ts"

const type = (dialect: string) => `application/com.github.proto-openapi.spec.${dialect}@v1.0+protobuf`

const ask = (path: string, accept: string, headers: Record<string, string> = {}) =>
  Effect.flatMap(ApiServer, (server) =>
    withProtobuf(server).handle({
      method: "GET",
      path,
      query: new URLSearchParams(),
      headers: { ...headers, accept },
      body: "",
      user: { name: "x", groups: [] }
    })
  ).pipe(Effect.map((answer) => answer as Answer))

/** Fields of a message by number, as bytes. */
const fields = (bytes: Uint8Array): ReadonlyMap<number, ReadonlyArray<Uint8Array>> => {
  const reader = new BinaryReader(bytes)
  const found = new Map<number, Array<Uint8Array>>()
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag()
    const value = wire === WireType.LengthDelimited ? reader.bytes() : Uint8Array.of(reader.uint32())
    found.set(number, [...(found.get(number) ?? []), value])
  }
  return found
}

/** Every value at a path of field numbers. */
const at = (bytes: Uint8Array, ...path: ReadonlyArray<number>): ReadonlyArray<Uint8Array> =>
  path.reduce<ReadonlyArray<Uint8Array>>(
    (values, number) => values.flatMap((value) => fields(value).get(number) ?? []),
    [bytes]
  )

const texts = (bytes: Uint8Array, ...path: ReadonlyArray<number>): ReadonlyArray<string> =>
  at(bytes, ...path).map((value) => new TextDecoder().decode(value))

/** The value of a `{ name = 1, value = 2 }` pair. */
const named = (pairs: ReadonlyArray<Uint8Array>, name: string): Uint8Array => {
  const pair = pairs.find((one) => texts(one, 1)[0] === name)
  assert.isDefined(pair, name)
  return at(pair ?? new Uint8Array(), 2)[0] ?? new Uint8Array()
}

/** The YAML of an extension: NamedAny { name, value: Any { yaml = 2 } }. */
const extension = (pairs: ReadonlyArray<Uint8Array>, name: string): unknown =>
  JSON.parse(texts(named(pairs, name), 2)[0] ?? "null")

const gvk = { group: "apps", version: "v1", kind: "Deployment" }
const path = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"

describe("OpenAPI as protobuf", () => {
  it.effect("version 2: kinds, fields, merge keys and query parameters", () =>
    Effect.gen(function* () {
      const { bytes = new Uint8Array(), ...answer } = yield* ask("/openapi/v2", type("v2"))
      same(
        [answer.status, answer.contentType, answer.body],
        [200, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", ""]
      )
      same([texts(bytes, 1), texts(bytes, 2, 1)], [["2.0"], ["Kubernetes"]])
      const definitions = at(bytes, 9, 1)
      const deployment = named(definitions, "io.k8s.api.apps.v1.Deployment")
      same(extension(at(deployment, 31), "x-kubernetes-group-version-kind"), [gvk])
      same(texts(deployment, 22, 1), ["object"])
      const containers = named(at(named(definitions, "io.k8s.api.core.v1.PodSpec"), 25, 1), "containers")
      same(texts(containers, 23, 1, 1), ["#/definitions/io.k8s.api.core.v1.Container"])
      same(extension(at(containers, 31), "x-kubernetes-patch-merge-key"), "name")
      same(texts(named(definitions, "io.k8s.api.core.v1.PodSpec"), 19), ["containers"])

      const patch = at(named(at(bytes, 8, 2), path), 8)[0] ?? new Uint8Array()
      same(extension(at(patch, 13), "x-kubernetes-group-version-kind"), gvk)
      // ParametersItem.parameter.non_body_parameter.query_parameter_sub_schema.name
      assert.includeMembers([...texts(patch, 8, 1, 2, 3, 4)], ["fieldValidation", "dryRun"])
      same(texts(patch, 8, 1, 1, 5, 1), ["#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Patch"])
    }).pipe(Effect.provide(ApiServer.layer()))
  )

  it.effect("version 3: kinds, fields, merge keys and query parameters", () =>
    Effect.gen(function* () {
      const { bytes = new Uint8Array(), ...answer } = yield* ask("/openapi/v3/apis/apps/v1", type("v3"))
      same([answer.status, answer.contentType], [200, "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"])
      same(texts(bytes, 1), ["3.0.0"])
      const schemas = at(bytes, 5, 1, 1)
      const deployment = named(schemas, "io.k8s.api.apps.v1.Deployment")
      same(extension(at(deployment, 1, 36), "x-kubernetes-group-version-kind"), [gvk])
      const properties = at(named(schemas, "io.k8s.api.apps.v1.DeploymentSpec"), 1, 31, 1)
      same(texts(named(properties, "selector"), 1, 26, 2, 1), [
        "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"
      ])
      same(
        [texts(named(properties, "minReadySeconds"), 1, 25), texts(named(properties, "minReadySeconds"), 1, 35)],
        [["integer"], ["int32"]]
      )
      const operation = at(named(at(bytes, 4, 1), path), 10)[0] ?? new Uint8Array()
      same(extension(at(operation, 13), "x-kubernetes-group-version-kind"), gvk)
      assert.includeMembers([...texts(operation, 6, 1, 1)], ["fieldValidation", "dryRun"])
    }).pipe(Effect.provide(ApiServer.layer()))
  )

  it.effect("only when the client prefers it, with its own entity tag", () =>
    Effect.gen(function* () {
      for (const accept of ["application/json", `application/json, ${type("v2")}`, "*/*", ""]) {
        same((yield* ask("/openapi/v2", accept)).contentType, "application/json", accept)
      }
      const json = yield* ask("/openapi/v2", "application/json")
      const dotted = yield* ask("/openapi/v2", `${type("v2").replace("@", ".")}, */*`)
      const tag = dotted.headers?.["etag"] ?? ""
      assert.isDefined(dotted.bytes)
      assert.notStrictEqual(tag, json.headers?.["etag"])
      const again = yield* ask("/openapi/v2", type("v2"), { "if-none-match": tag })
      same([again.status, again.bytes, again.headers?.["etag"]], [304, undefined, tag])
      same((yield* ask("/openapi/v2", type("v2"), { "if-none-match": json.headers?.["etag"] ?? "" })).status, 200)
      // The wrong version, and documents without a protobuf encoding.
      same((yield* ask("/openapi/v2", type("v3"))).status, 406)
      same((yield* ask("/openapi/v3/apis/none/v1", type("v3"))).status, 404)
      same((yield* ask("/version", type("v2"))).contentType, "application/json")
    }).pipe(Effect.provide(ApiServer.layer()))
  )
})
