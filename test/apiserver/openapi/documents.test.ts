/** The OpenAPI documents: every reference resolves, and every served kind is described. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Answer } from "../../../src/apiserver/Api.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { apiVersion } from "../../../src/apiserver/scheme/ResourceDefinition.ts"
import * as resources from "../../../src/apiserver/scheme/resources.ts"
import { get, layer, same } from "../client.ts"

const references = (value: unknown): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, member]) =>
    key === "$ref" && typeof member === "string" ? [member] : references(member)
  )
}

const resolve = (document: any, reference: string): unknown =>
  reference
    .slice(2)
    .split("/")
    .reduce((value, part) => value?.[part], document)

const dangling = (document: any) => references(document).filter((one) => resolve(document, one) === undefined)

const gvks = (schemas: Record<string, any>): ReadonlyArray<string> =>
  Object.values(schemas).flatMap((schema) =>
    (schema["x-kubernetes-group-version-kind"] ?? []).map((one: any) => `${one.group}/${one.version}/${one.kind}`)
  )

const served = resources.all.map((resource) => `${resource.group}/${resource.version}/${resource.kind}`)

const raw = (path: string, query: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  Effect.flatMap(ApiServer, (server) =>
    server.handle({
      method: "GET",
      path,
      query: new URLSearchParams(query),
      headers,
      body: "",
      user: { name: "x", groups: [] }
    })
  ).pipe(Effect.map((answer) => answer as Answer))

const operations = (document: any) =>
  Object.entries<any>(document.paths).flatMap(([path, item]) =>
    Object.entries<any>(item).flatMap(([method, operation]) =>
      method === "parameters" ? [] : [{ path, method, operation }]
    )
  )

/** What makes kubectl leave the validation of a manifest to the server. */
const validates = (document: any, group: string, kind: string) =>
  operations(document).some(
    ({ method, operation }) =>
      method === "patch" &&
      operation["x-kubernetes-group-version-kind"].group === group &&
      operation["x-kubernetes-group-version-kind"].kind === kind &&
      operation.parameters.some((one: any) => one.in === "query" && one.name === "fieldValidation") &&
      operation.parameters.some((one: any) => one.in === "query" && one.name === "dryRun")
  )

describe("version 2", () => {
  it.effect("has the parameter shardSelector on lists and deletions of collections, and nowhere else", () =>
    Effect.gen(function* () {
      const all = operations(yield* get("/openapi/v2"))
      const sharded = all.filter(({ operation }) =>
        operation.parameters.some((one: any) => one.in === "query" && one.name === "shardSelector")
      )
      const actions = new Set(["list", "deletecollection"])
      same(
        sharded,
        all.filter(({ operation }) => actions.has(operation["x-kubernetes-action"]))
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("describes every kind and operation, without dangling references", () =>
    Effect.gen(function* () {
      const document = yield* get("/openapi/v2")
      same(document.swagger, "2.0")
      same(dangling(document), [])
      const found = gvks(document.definitions)
      same(
        served.filter((one) => !found.includes(one)),
        []
      )
      for (const [group, kind] of [
        ["", "Pod"],
        ["apps", "Deployment"],
        ["coordination.k8s.io", "Lease"]
      ] as const) {
        assert.isTrue(validates(document, group, kind), kind)
      }
      same(
        new Set(operations(document).map(({ operation }) => operation.operationId)).size,
        operations(document).length
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("describes types and their merge strategies", () =>
    Effect.gen(function* () {
      const { definitions } = yield* get("/openapi/v2")
      const of = (name: string, field: string) => definitions[name].properties[field]
      const core = "io.k8s.api.core.v1"
      same(
        { ...of(`${core}.PodSpec`, "containers"), description: "" },
        {
          description: "",
          type: "array",
          items: { $ref: `#/definitions/${core}.Container` },
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          "x-kubernetes-patch-strategy": "merge",
          "x-kubernetes-patch-merge-key": "name"
        }
      )
      same(of(`${core}.PodSpec`, "volumes")["x-kubernetes-patch-strategy"], "merge,retainKeys")
      const { description: _, ...protocol } = of(`${core}.ContainerPort`, "protocol")
      same(protocol, { type: "string", default: "TCP" })
      same(of("io.k8s.api.apps.v1.DeploymentSpec", "strategy")["x-kubernetes-patch-strategy"], "retainKeys")
      same(of("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "finalizers")["x-kubernetes-list-type"], "set")
      same(definitions["io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"]["x-kubernetes-map-type"], "atomic")
      same(definitions["io.k8s.api.apps.v1.DeploymentSpec"].required, ["selector", "template"])
    }).pipe(Effect.provide(layer()))
  )
})

describe("version 3", () => {
  it.effect("has a document for every group and version, each complete in itself", () =>
    Effect.gen(function* () {
      const index = yield* get("/openapi/v3")
      const versions = new Map(
        resources.all.map((resource) => [`${resource.group === "" ? "api" : "apis"}/${apiVersion(resource)}`, resource])
      )
      same(new Set(Object.keys(index.paths)), new Set(versions.keys()))
      const found: Array<string> = []
      for (const [path, { serverRelativeURL }] of Object.entries<any>(index.paths)) {
        const [url, hash] = serverRelativeURL.split("?hash=")
        same(url, `/openapi/v3/${path}`)
        const document = yield* get(url, { hash })
        same([document.openapi, dangling(document)], ["3.0.0", []])
        found.push(...gvks(document.components.schemas))
      }
      same(
        served.filter((one) => !found.includes(one)),
        []
      )
      assert.isTrue(validates(yield* get("/openapi/v3/apis/apps/v1"), "apps", "Deployment"))
    }).pipe(Effect.provide(layer()))
  )

  it.effect("is cached by hash and by ETag", () =>
    Effect.gen(function* () {
      const url = "/openapi/v3/api/v1"
      const plain = yield* raw(url)
      const etag = plain.headers?.["etag"] ?? ""
      same([plain.status, plain.headers?.["cache-control"]], [200, undefined])
      const hashed = yield* raw(url, { hash: etag.slice(1, -1) })
      same([hashed.status, hashed.headers?.["cache-control"]], [200, "public, immutable"])
      const old = yield* raw(url, { hash: "OLD" })
      same([old.status, old.headers?.["location"]], [301, `${url}?hash=${etag.slice(1, -1)}`])
      const again = yield* raw(url, {}, { "if-none-match": etag })
      same([again.status, again.body], [304, ""])
      same((yield* raw(url, {}, { accept: "application/xml" })).status, 406)
      same((yield* raw("/openapi/v3/apis/nope/v1")).status, 404)
      same((yield* raw("/openapi/v2/more")).status, 404)
    }).pipe(Effect.provide(layer()))
  )
})
