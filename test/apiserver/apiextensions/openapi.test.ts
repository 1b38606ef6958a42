/** Custom resources in the OpenAPI documents. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { get, layer, post, remove, same } from "../client.ts"
import { definition, definitions } from "./memcached.ts"

const name = "com.example.cache.v1alpha1.Memcached"

describe("OpenAPI of custom resources", () => {
  it.effect("describes them while they are served", () =>
    Effect.gen(function* () {
      const before = yield* get("/openapi/v2")
      assert.isUndefined(before.definitions[name])
      yield* post(definitions, definition())
      const index = yield* get("/openapi/v3")
      const { serverRelativeURL } = index.paths["apis/cache.example.com/v1alpha1"]
      const [path, hash] = serverRelativeURL.split("?hash=")
      const v3 = yield* get(path, { hash })
      const memcached = v3.components.schemas[name]
      same(memcached["x-kubernetes-group-version-kind"], [
        { group: "cache.example.com", kind: "Memcached", version: "v1alpha1" }
      ])
      same(memcached.properties.spec.properties.size, { type: "integer", minimum: 1, maximum: 3 })
      same(memcached.properties.metadata, {
        $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
      })
      assert.isDefined(v3.components.schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"])
      const paths = Object.keys(v3.paths)
      const one = "/apis/cache.example.com/v1alpha1/namespaces/{namespace}/memcacheds/{name}"
      for (const below of ["", "/status", "/scale"]) assert.include(paths, one + below)
      // kubectl chooses the type of patch by these media types.
      const media = Object.keys(v3.paths[one].patch.requestBody.content)
      assert.include(media, "application/merge-patch+json")
      assert.notInclude(media, "application/strategic-merge-patch+json")
      const v2 = yield* get("/openapi/v2")
      same(v2.definitions[name].properties.spec.properties.size, { type: "integer" })
      same(v2.definitions[`${name}List`].properties.items, {
        type: "array",
        items: { $ref: `#/definitions/${name}` }
      })
      yield* remove(`${definitions}/memcacheds.cache.example.com`)
      assert.isUndefined((yield* get("/openapi/v2")).definitions[name])
      assert.isUndefined((yield* get("/openapi/v3")).paths["apis/cache.example.com/v1alpha1"])
    }).pipe(Effect.provide(layer()))
  )
})
