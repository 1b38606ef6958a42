/** Random objects are valid by the Schema and by the definition, and so is the sample for users. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Crd from "../../../../src/kube/crd/Crd.ts"
import * as Resource from "../../../../src/kube/Resource.ts"
import { prune } from "../../../../src/kube/structural/prune.ts"
import { validate } from "../../../../src/kube/structural/validate.ts"
import { runs } from "../../../support/runs.ts"
import { Memcached } from "../fixtures.ts"
import { recipes } from "../recipes.ts"

const widget = { group: "example.com", version: "v1", kind: "Widget", plural: "widgets" } as const

/** Valid by the definition, and without anything that would be pruned. */
const isAllowed = (resource: Resource.AnyCustom, object: unknown): boolean => {
  const schema = Result.getOrThrow(Crd.make(resource)).spec.versions[0]?.schema.openAPIV3Schema ?? {}
  return validate(schema, object).length === 0 && prune(schema, object).value === object
}

/** A list whose elements are unique by the definition only. */
const Ports = Resource.make({
  ...widget,
  scope: "Cluster",
  spec: Schema.Struct({
    ports: Schema.Array(Schema.Struct({ port: Schema.Literals([1, 2, 3]) })).annotate({
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["port"]
    })
  })
})

describe("objects of a kind", () => {
  it.effect.prop(
    "that are random are valid, and are the same after decoding and encoding",
    { object: Resource.arbitrary(Memcached) },
    ({ object }) => {
      assert.isTrue(isAllowed(Memcached, object))
      const decoded = Result.getOrThrow(Memcached.decode(object))
      const written = Result.getOrThrow(Memcached.encode(decoded, object))
      assert.deepStrictEqual(written, { ...object, spec: { containerPort: 11211, ...object.spec } })
      return Effect.void
    },
    { arbitrary: { runs: runs(100) } }
  )

  it.effect.prop(
    "that are random obey rules that only the definition has",
    { object: Resource.arbitrary(Ports) },
    ({ object }) => {
      assert.isTrue(isAllowed(Ports, object))
      assert.notProperty(object.metadata, "namespace")
      return Effect.void
    },
    { arbitrary: { runs: runs(100) } }
  )

  it.effect.prop(
    "that are invalid are refused by both, for a field inside of them",
    { object: Resource.invalid(Memcached) },
    ({ object }) => {
      assert.isFalse(isAllowed(Memcached, object))
      const { path } = Result.getOrThrow(Result.flip(Memcached.decode(object)))
      assert.match(path, /^(spec|status)/)
      return Effect.void
    },
    { arbitrary: { runs: runs(100) } }
  )

  it.effect("are invalid in every way that the declaration allows to be invalid", () =>
    Effect.gen(function* () {
      const drawn = yield* Arbitrary.sampleEffect(Resource.invalid(Memcached), { count: 400, seed: 1 })
      const paths = new Set(drawn.map((one) => Result.getOrThrow(Result.flip(Memcached.decode(one))).path))
      const specs = drawn.map((one) => (one as { readonly spec?: { readonly size?: unknown } }).spec)
      for (const path of ["spec", "spec.size", "spec.containerPort", "spec.budget", "spec.tier", "status.conditions"]) {
        assert.isTrue(paths.has(path), `${path} in ${[...paths].join(", ")}`)
      }
      for (const size of [0, 4]) assert.isTrue(specs.some((spec) => spec?.size === size))
      assert.isTrue(specs.some((spec) => spec !== undefined && !("size" in Object(spec))))
    })
  )

  it("have a sample with what is required and what has a default", () => {
    assert.deepStrictEqual<unknown>(Resource.sample(Memcached), {
      apiVersion: "cache.example.com/v1alpha1",
      kind: "Memcached",
      metadata: { name: "memcached-sample", namespace: "default" },
      spec: { size: 1, containerPort: 11211 }
    })
  })

  it("have no sample where a value cannot be guessed", () => {
    const Coded = Resource.make({
      ...widget,
      spec: Schema.Struct({ code: Schema.String.check(Schema.isPattern(/^\d+$/)) })
    })
    assert.isUndefined(Resource.sample(Coded))
  })

  it.effect("have samples that are valid, whatever the Schema", () =>
    Effect.gen(function* () {
      let found = 0
      const result = yield* Arbitrary.checkEffect(
        recipes,
        (recipe) => {
          const Random = Resource.make({ ...widget, spec: recipe.schema })
          const sample = Resource.sample(Random)
          if (sample !== undefined) found++
          return sample === undefined || isAllowed(Random, sample)
        },
        { runs: 100, seed: 1 }
      )
      assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
      // Most Schemas have no patterns, so most have samples.
      assert.isAbove(found, 30)
    })
  )
})
