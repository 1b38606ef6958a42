/** What is generated from the Schemas of a kind: valid, bounded, the same each time, and with the boundary values. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Cel from "../../../src/kube/crd/Cel.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { wanted } from "../../../src/testing/explore/operations/Operation.ts"
import { plan } from "../../../src/testing/explore/operations/plan.ts"
import { recipes } from "../../kube/crd/recipes.ts"
import { checkProperty } from "../../support/property.ts"
import { runs, seed } from "../../support/runs.ts"

const kindOf = (spec: Schema.Codec<any, any>) =>
  Resource.make({ group: "example.com", version: "v1", kind: "Random", plural: "randoms", spec })

const planOf = (kind: Resource.AnyCustom, objects: ReadonlyArray<object> = []) =>
  plan(
    {
      name: "random",
      options: {
        cluster: { objects },
        controllers: [Controller.make({ name: "random", for: kind, access: [], reconcile: () => Effect.void })]
      }
    },
    1
  )

/** The values that the changes of a field give it, in order. */
const valuesOf = (spec: Schema.Codec<any, any>, field: string) =>
  Effect.map(planOf(kindOf(spec)), ({ scenarios }) =>
    scenarios
      .filter(({ name }) => name.startsWith(`spec.${field}`))
      .flatMap(({ operations }) =>
        operations.flatMap((_, i) => {
          const object = wanted(operations.slice(0, i + 1)) as { readonly spec?: Record<string, unknown> } | undefined
          return [object?.spec?.[field]]
        })
      )
  )

const denyAll = [
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "none" },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: ["example.com"], apiVersions: ["*"], operations: ["CREATE"], resources: ["randoms"] }
        ]
      },
      validations: [{ expression: "false", message: "not in this cluster" }]
    }
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "none" },
    spec: { policyName: "none", validationActions: ["Deny"] }
  }
]

describe("operations", () => {
  checkProperty(
    "of random kinds are accepted by the server, are at most 15 in a scenario, end where they began, and are the same each time",
    recipes,
    ({ schema }) =>
      Effect.gen(function* () {
        const kind = kindOf(schema)
        const made = yield* planOf(kind)
        assert.isUndefined(made.problem)
        assert.deepEqual(made.refused, [])
        for (const { name, operations } of made.scenarios) {
          assert.isAtMost(operations.length, 15)
          if (name !== "lifecycle") assert.deepEqual(wanted(operations), wanted(operations.slice(0, 1)))
        }
        assert.deepEqual(yield* planOf(kind), made)
        return true
      }),
    { runs: runs(12), maxShrinks: 20, ...(seed === undefined ? {} : { seed }) }
  )
  it.effect("give a field its bounds, the values of its enumeration, and one, two and no elements", () =>
    Effect.gen(function* () {
      const size = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))
      const label = Schema.String.check(Schema.isMaxLength(3))
      const mode = Schema.optionalKey(Schema.Literals(["fast", "safe"]))
      const ports = Schema.Array(
        Schema.Struct({ port: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 })) })
      )
      const spec = Schema.Struct({ size, label, mode, ports, isOn: Schema.Boolean })
      assert.deepEqual(yield* valuesOf(spec, "size"), [1, 0, 5, 1])
      assert.deepEqual(yield* valuesOf(spec, "label"), ["exa", "", "x", "xxx", "exa"])
      assert.deepEqual(yield* valuesOf(spec, "mode"), [undefined, "fast", "safe", undefined])
      assert.deepEqual(yield* valuesOf(spec, "isOn"), [false, true, false])
      assert.deepEqual(yield* valuesOf(spec, "ports"), [
        [],
        [{ port: 1 }],
        [{ port: 1 }, { port: 2 }],
        [{ port: 2 }, { port: 2 }],
        [{ port: 9 }, { port: 2 }],
        []
      ])
    })
  )
  it.effect("do not have more of something than a run can have", () =>
    Effect.gen(function* () {
      const size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 }))
      assert.deepEqual(yield* valuesOf(Schema.Struct({ size }), "size"), [1, 2, 1])
    })
  )
  it.effect("that a rule in CEL refuses are left out, with the reason", () =>
    Effect.gen(function* () {
      const size = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))
      const zone = Schema.Literals(["a", "b"]).check(Cel.rule("self == oldSelf", { message: "zone is fixed" }))
      const { refused, scenarios } = yield* planOf(kindOf(Schema.Struct({ size, zone })))
      assert.deepEqual(
        scenarios.map(({ name }) => name),
        ["lifecycle", "spec.size"]
      )
      assert.strictEqual(refused.length, 1)
      assert.include(refused[0], "change spec.zone")
      assert.include(refused[0], "zone is fixed")
    })
  )
  it.effect("begin with a random object where the sample is refused", () =>
    Effect.gen(function* () {
      const name = Schema.String.check(Schema.isPattern(/^[b-d]{2}$/u))
      const { problem, scenarios } = yield* planOf(kindOf(Schema.Struct({ name })))
      assert.isUndefined(problem)
      const values = yield* valuesOf(Schema.Struct({ name }), "name")
      assert.isAbove(scenarios.length, 1)
      for (const value of values) assert.match(String(value), /^[b-d]{2}$/u)
    })
  )
  it.effect("cannot be generated where the server refuses every object", () =>
    Effect.gen(function* () {
      const kind = kindOf(Schema.Struct({ size: Schema.Int }))
      const { problem } = yield* planOf(kind, denyAll)
      assert.include(problem, "the server refuses generated objects")
      assert.include(problem, "not in this cluster")
    })
  )
})
