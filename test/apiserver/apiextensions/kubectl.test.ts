/** kubectl with custom resources. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { cluster, missing } from "../openapi/kubectl.ts"
import { definition, memcached } from "./memcached.ts"

if (missing !== undefined) console.log(`skipped: kubectl with custom resources, because there is ${missing}`)

describe.skipIf(missing !== undefined)("kubectl, with custom resources", () => {
  it.live(
    "defines, waits, lists, explains, applies, scales and deletes",
    () =>
      Effect.gen(function* () {
        const { done, kubectl } = yield* cluster()
        const crd = "customresourcedefinition.apiextensions.k8s.io/memcacheds.cache.example.com"
        assert.strictEqual(yield* done("apply -f -", definition()), `${crd} created\n`)
        yield* done(`wait --for=condition=Established ${crd}`)
        assert.match(
          yield* done("api-resources --api-group=cache.example.com"),
          /memcacheds +mc +cache\.example\.com\/v1alpha1 +true +Memcached/
        )
        const explained = yield* done("explain memcached.spec")
        assert.match(explained, /GROUP: +cache\.example\.com\nKIND: +Memcached\nVERSION: +v1alpha1\n/)
        assert.match(explained, /size\t<integer> -required-/)
        const properties = yield* done("explain crd.spec.versions.schema.openAPIV3Schema.properties")
        assert.match(properties, /FIELD: properties <map\[string\]JSONSchemaProps>/)
        assert.match(properties, /\n {2}x-kubernetes-list-type\t<string>/)
        assert.match(
          yield* done("explain crd.spec.versions.schema.openAPIV3Schema.properties.properties.minLength"),
          /FIELD: minLength <integer>/
        )
        const object = "memcached.cache.example.com/a"
        assert.strictEqual(yield* done("apply -f -", memcached("a")), `${object} created\n`)
        assert.strictEqual(yield* done("apply -f -", memcached("a", { size: 2 })), `${object} configured\n`)
        assert.match(yield* done("get mc"), /^NAME +SIZE +AGE\na +2 +\d+s\n$/)
        assert.match(yield* done("get all"), /memcached\.cache\.example\.com\/a +2/)
        assert.strictEqual(yield* done("scale memcached/a --replicas=1"), `${object} scaled\n`)
        assert.strictEqual(yield* done("get mc a -o jsonpath={.spec.size}"), "1")
        const refused = yield* kubectl("apply -f -", memcached("a", { size: 9 }))
        assert.include(
          refused.stderr,
          "spec.size: Invalid value: 9: spec.size in body should be less than or equal to 3"
        )
        const typo = yield* kubectl("apply -f -", memcached("a", { size: 1, prot: 1 }))
        assert.include(typo.stderr, 'strict decoding error: unknown field "spec.prot"')
        assert.strictEqual(
          yield* done("apply --server-side --force-conflicts -f -", memcached("a")),
          `${object} serverside-applied\n`
        )
        yield* done(`delete ${crd}`)
        // kubectl reports it after a new discovery, or from cached discovery.
        assert.match(
          (yield* kubectl("get mc")).stderr,
          /doesn't have a resource type "mc"|could not find the requested resource/
        )
      }),
    60_000
  )
})
