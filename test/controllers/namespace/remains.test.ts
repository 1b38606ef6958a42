import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Remains from "../../../src/controllers/namespace/remains.ts"
import { ConfigMap, Deployment, Pod } from "../../../src/kube/resources.ts"
import { runs } from "../../support/runs.ts"

const PodFacts = Schema.Struct({
  phase: Schema.Literals(["Pending", "Running", "Unknown", "Succeeded", "Failed"]),
  /** Seconds; undefined if the pod does not set it. */
  grace: Schema.UndefinedOr(Schema.Literals([0, 1, 30, 300]))
})

const Content = Schema.Struct({
  pods: Schema.Array(PodFacts).check(Schema.isMaxLength(5)),
  /** Milliseconds since the namespace was deleted. */
  age: Schema.Literals([0, 999, 1_000, 29_999, 30_000, 300_000]),
  /** The finalizers of each remaining object. */
  left: Schema.Array(Schema.Array(Schema.Literals(["x", "y"])).check(Schema.isMaxLength(2))).check(
    Schema.isMaxLength(4)
  ),
  grace: Schema.Literals([0, 30])
})

const contents = Arbitrary.schema(Content)

const deletedAt = 50_000

const check = ({ age, grace, left, pods }: typeof Content.Type): void => {
  const stopping = pods
    .filter(({ phase }) => phase !== "Succeeded" && phase !== "Failed")
    .map((one) => one.grace ?? 0)
    .sort((a, b) => b - a)
  const longest = stopping[0] ?? 0
  const found = Remains.graceOf(
    pods.map((one, i) => ({
      metadata: { name: `p${i}` },
      spec: { containers: [], ...(one.grace === undefined ? {} : { terminationGracePeriodSeconds: one.grace }) },
      status: { phase: one.phase }
    })),
    deletedAt,
    deletedAt + age
  )
  assert.strictEqual(found, age >= longest * 1000 ? 0 : longest)

  const objects = left.map((finalizers, i) => ({ metadata: { name: `o${i}`, finalizers } }))
  const remains = Remains.summarise(ConfigMap, "app", objects, grace)
  assert.strictEqual(remains.count, left.length)
  for (const name of ["x", "y"]) {
    const count = left.flat().filter((one) => one === name).length
    assert.strictEqual(remains.finalizers.get(name), count === 0 ? undefined : count)
  }
  const isHeld = left.some((finalizers) => finalizers.length > 0)
  assert.strictEqual(remains.estimate, left.length === 0 ? 0 : grace > 0 ? grace : isHeld ? 15 : 0)
  assert.strictEqual(
    remains.failure,
    left.length > 0 && grace === 0 && !isHeld
      ? "unexpected items still remain in namespace: app for gvr: /v1, Resource=configmaps"
      : undefined
  )
}

describe("what remains of a namespace's content", () => {
  it.effect.prop(
    "is awaited while a grace period or a finalizer explains it, and is a failure otherwise",
    { content: contents },
    ({ content }) => Effect.sync(() => check(content)),
    { arbitrary: { runs: runs(300) } }
  )

  it("is named as in kube-controller-manager", () => {
    const failure = (resource: typeof Pod | typeof Deployment) =>
      Remains.summarise(resource, "n", [{ metadata: { name: "a" } }], 0).failure
    assert.strictEqual(failure(Pod), "unexpected items still remain in namespace: n for gvr: /v1, Resource=pods")
    assert.strictEqual(
      failure(Deployment),
      "unexpected items still remain in namespace: n for gvr: apps/v1, Resource=deployments"
    )
  })
})
