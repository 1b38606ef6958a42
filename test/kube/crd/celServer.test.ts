/** Rules in CEL on the embedded API server: it judges each object as the kind's descriptor does, and says why in its Status. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Cel from "../../../src/kube/crd/Cel.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Definitions from "../../../src/manager/crds/Definitions.ts"
import { layer } from "../../support/cluster.ts"
import { runs, seed } from "../../support/runs.ts"

const fields = {
  min: Schema.Int.check(Schema.isBetween({ minimum: -3, maximum: 3 })),
  max: Schema.Int.check(Schema.isBetween({ minimum: -3, maximum: 3 })),
  ratio: Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 2 })),
  names: Schema.Array(Schema.String.check(Schema.isMaxLength(3))).check(Schema.isMaxLength(4)),
  labels: Schema.Record(Schema.String, Schema.String.check(Schema.isMaxLength(3))).check(Schema.isMaxProperties(3))
}

const kindWith = (rule: string) =>
  Resource.make({
    group: "example.com",
    version: "v1",
    kind: "Ruled",
    plural: "ruleds",
    spec: Schema.Struct(fields).check(Cel.rule(rule))
  })

const comparisons = ["<", "<=", "==", "!=", ">=", ">"]
const conditions = comparisons.flatMap((operator) => [
  `self.min ${operator} self.max`,
  `self.min * 2 - self.max ${operator} 1`,
  `self.min / 2 ${operator} 0`,
  `self.ratio / 2.0 ${operator} 0.5`,
  `self.names.size() ${operator} self.min`,
  `self.names.all(n, n.size() ${operator} 2)`,
  `self.names.exists(n, n ${operator} 'b')`,
  `self.labels.all(k, v, k.size() ${operator} v.size())`,
  `size(self.labels) ${operator} 1`,
  `10 / self.min ${operator} self.max`
])

/** A rule of two conditions, and objects to judge by it. */
const cases = Arbitrary.schema(
  Schema.Struct({
    left: Schema.Literals(conditions),
    operator: Schema.Literals([" && ", " || ", " == ", " ? true : "]),
    right: Schema.Literals(conditions),
    specs: Schema.Array(Schema.Struct(fields)).check(Schema.isBetweenLength(4, 6))
  })
)

const textOf = (left: string, operator: string, right: string): string =>
  operator === " == " ? `(${left}) == (${right})` : `${left}${operator}${right}`

describe("rules of a random definition", () => {
  it.effect(
    "allow the same objects on the embedded server and in the kind's descriptor",
    () =>
      Effect.map(
        Arbitrary.checkEffect(
          cases,
          ({ left, operator, right, specs }) =>
            Effect.provide(
              Effect.gen(function* () {
                const client = yield* KubeClient
                const rule = textOf(left, operator, right)
                const resource = kindWith(rule)
                yield* Definitions.install([resource])
                for (const [index, spec] of specs.entries()) {
                  const object = { metadata: { name: `ruled-${index}` }, spec }
                  const stored = yield* Effect.result(client.create(resource, object, { namespace: "default" }))
                  const decoded = resource.decode(object)
                  const isAgreed = Result.isSuccess(stored) === Result.isSuccess(decoded)
                  assert.isTrue(isAgreed, `${rule} ${JSON.stringify(spec)}`)
                }
                return true
              }),
              layer
            ),
          { runs: runs(25), ...(seed === undefined ? {} : { seed }) }
        ),
        (result) => assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
      ),
    runs(120_000)
  )
})

/** Two writes of an object, small enough that rules are broken and met about as often. */
const small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 }))

const Spec = Schema.Struct({
  min: small,
  max: small,
  zone: Schema.Literals(["a", "b"]),
  parts: Schema.Array(Schema.Struct({ name: Schema.Literals(["x", "y"]), low: small, high: small })).check(
    Schema.isMaxLength(1)
  )
})

const writes = Arbitrary.schema(Schema.Struct({ first: Spec, second: Spec }))

type Write = typeof Spec.Type

const Judged = Resource.make({
  group: "example.com",
  version: "v1",
  kind: "Judged",
  plural: "judgeds",
  spec: Schema.Struct({
    min: small,
    max: small.check(
      Cel.rule("!oldSelf.hasValue() || self >= oldSelf.value()", {
        optionalOldSelf: true,
        message: "max may not shrink"
      })
    ),
    zone: Schema.String.check(Schema.isMaxLength(1), Cel.rule("self == oldSelf", { message: "zone is fixed" })),
    parts: Schema.Array(
      Schema.Struct({ name: Schema.String.check(Schema.isMaxLength(1)), low: small, high: small }).check(
        Cel.rule("self.low <= self.high", { messageExpression: "self.name + ' is out of order'" })
      )
    ).check(Schema.isMaxLength(1))
  }).check(Cel.rule("self.min <= self.max", { message: "min must not exceed max", fieldPath: ".min" }))
})

/** What is wrong with a write, by the same conditions in TypeScript. */
const expected = (spec: Write, old?: Write): ReadonlyArray<string> => {
  const found: Array<string> = []
  if (spec.min > spec.max) found.push("spec.min min must not exceed max")
  if (old !== undefined && spec.max < old.max) found.push("spec.max max may not shrink")
  if (old !== undefined && spec.zone !== old.zone) found.push("spec.zone zone is fixed")
  for (const [index, { high, low, name }] of spec.parts.entries()) {
    if (low > high) found.push(`spec.parts[${index}] ${name} is out of order`)
  }
  return found.sort()
}

/** The causes of a refused write, as field and message. */
const causesOf = (error: unknown): ReadonlyArray<string> => {
  const causes: ReadonlyArray<{ readonly field: string; readonly message: string }> =
    (error as { readonly details?: { readonly causes?: [] } }).details?.causes ?? []
  return causes.map(({ field, message }) => `${field} ${message.replace(/^Invalid value: (?:.*: )?/, "")}`).sort()
}

describe("rules whose meaning is written in TypeScript too", () => {
  it.effect(
    "refuse the writes that break them on the embedded server, each with its field and message",
    () =>
      Effect.map(
        Arbitrary.checkEffect(
          writes,
          ({ first, second }) =>
            Effect.provide(
              Effect.gen(function* () {
                const client = yield* KubeClient
                yield* Definitions.install([Judged])
                const object = { metadata: { name: "one" }, spec: first }
                const created = yield* Effect.result(client.create(Judged, object, { namespace: "default" }))
                const problems = expected(first)
                if (Result.isFailure(created)) assert.deepStrictEqual(causesOf(created.failure), problems)
                else {
                  assert.deepStrictEqual(problems, [])
                  const updated = yield* Effect.result(client.update(Judged, { ...created.success, spec: second }))
                  const found = Result.isFailure(updated) ? causesOf(updated.failure) : []
                  assert.deepStrictEqual(found, expected(second, first))
                }
                return true
              }),
              layer
            ),
          { runs: runs(60), ...(seed === undefined ? {} : { seed }) }
        ),
        (result) => assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
      ),
    runs(120_000)
  )
})

describe("the embedded server", () => {
  it.effect("refuses a change that a transition rule forbids, with the field and the message of the rule", () =>
    Effect.provide(
      Effect.gen(function* () {
        const client = yield* KubeClient
        const zone = Schema.String.check(
          Schema.isMaxLength(20),
          Cel.rule("self == oldSelf", { message: "zone cannot be changed" })
        )
        const resource = Resource.make({
          group: "example.com",
          version: "v1",
          kind: "Ruled",
          plural: "ruleds",
          spec: Schema.Struct({ zone, size: Schema.Int })
        })
        yield* Definitions.install([resource])
        const object = { metadata: { name: "blue" }, spec: { zone: "a", size: 1 } }
        const stored = yield* client.create(resource, object, { namespace: "default" })
        const moved = yield* Effect.flip(client.update(resource, { ...stored, spec: { zone: "b", size: 1 } }))
        assert.include(JSON.stringify(moved), "spec.zone")
        assert.include(JSON.stringify(moved), "zone cannot be changed")
        yield* client.update(resource, { ...stored, spec: { zone: "a", size: 2 } })
      }),
      layer
    )
  )
})
