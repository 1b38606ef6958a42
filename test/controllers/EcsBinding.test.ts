/**
 * The ecsbinding controller on the embedded API server: each object is annotated once, other fields stay, and failures
 * are retried with backoff.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as EcsBindings from "../../src/controllers/EcsBinding.ts"
import * as Crd from "../../src/kube/crd/Crd.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import type * as Faults from "../../src/apiserver/faults.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"

const { EcsBinding } = EcsBindings

const definition = Result.getOrThrow(Crd.make(EcsBinding))

const layer = ClusterTest.layer({ crds: [definition] })

const object = (name: string, metadata: object = {}) => ({
  apiVersion: "hopegi.com/v1",
  kind: "EcsBinding",
  metadata: { name, ...metadata },
  spec: { id: "ecs-1", name: "first", nodename: "worker-1", innerip: "10.0.0.1" }
})

const bindings = Effect.flatMap(ClusterTest, (cluster) => cluster.snapshot(EcsBinding))

const marks = Effect.map(bindings, (all) => all.map(({ metadata }) => metadata.annotations))

/** Records every write to an EcsBinding with its time in seconds. */
const noting = (writes: Array<number>, now: () => number): Faults.Rule => ({
  match: ({ context, method }) => {
    if (context.resource?.startsWith("ecsbinding") === true && method !== "GET") writes.push(now())
    return false
  },
  fault: { _tag: "Drop" }
})

describe("the kind EcsBinding", () => {
  it("has the names, scope and columns of its definition", () => {
    const { names, scope, versions } = definition.spec
    assert.deepStrictEqual(names, {
      kind: "EcsBinding",
      listKind: "EcsBindingList",
      plural: "ecsbinding",
      singular: "ecsbinding",
      shortNames: ["ecsb"]
    })
    assert.strictEqual(scope, "Cluster")
    assert.deepStrictEqual(
      versions.map(({ additionalPrinterColumns = [], name }) => [
        name,
        additionalPrinterColumns.map((one) => one.name)
      ]),
      [["v1", ["Age", "NodeName", "InnerIp"]]]
    )
  })

  it.effect("keeps the field names of the original definition", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.apply([object("a")])
      const [stored] = yield* bindings
      assert.deepStrictEqual(stored?.spec, object("a").spec)
      const refused = yield* Effect.flip(
        cluster.apply([{ ...object("b"), spec: { id: "1", name: "x", node_name: "w" } }])
      )
      assert.include(refused.message, "node_name")
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})

describe("ecsbinding", () => {
  it.effect("annotates each object once, and changes nothing else", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const writes: Array<number> = []
      yield* (yield* ApiServer).setFaults([noting(writes, () => 0)])
      yield* cluster.apply([object("a", { annotations: { theirs: "yes" } })])
      yield* cluster.run(EcsBindings.make())
      yield* cluster.apply([object("b")])
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* marks, [{ theirs: "yes", "has-reconcile": "true" }, { "has-reconcile": "true" }])
      // Two writes by the user and two by the controller; later reconciliations write nothing.
      assert.lengthOf(writes, 4)
      yield* (yield* KubeClient).patch(EcsBinding, { name: "a" }, Patch.merge({ spec: { name: "other" } }))
      yield* cluster.advance("1 hour")
      assert.lengthOf(writes, 5)
      yield* (yield* KubeClient).delete(EcsBinding, { name: "b" })
      yield* cluster.advance("1 hour")
      assert.lengthOf(writes, 6)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("annotates it again when a user removes the annotation", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.apply([object("a")])
      yield* cluster.run(EcsBindings.make())
      for (const mark of [null, "false"]) {
        const body = { metadata: { annotations: { "has-reconcile": mark } } }
        yield* (yield* KubeClient).patch(EcsBinding, { name: "a" }, Patch.merge(body))
        yield* cluster.settle
        assert.deepStrictEqual(yield* marks, [{ "has-reconcile": "true" }])
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("doubles the delay after each failure, and succeeds when the server recovers", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const clock = yield* Clock.Clock
      const server = yield* ApiServer
      yield* cluster.apply([object("a")])
      const writes: Array<number> = []
      const trouble = noting(writes, () => clock.currentTimeMillisUnsafe())
      yield* server.setFaults([
        trouble,
        { match: { verb: "patch", resource: "ecsbinding.hopegi.com" }, fault: { _tag: "Status", code: 500 } }
      ])
      yield* cluster.run(EcsBindings.make())
      yield* cluster.advance("1 minute")
      const gaps = writes.slice(1).map((at, i) => at - (writes[i] ?? 0))
      assert.isAtLeast(gaps.length, 8)
      assert.isAtMost(gaps.length, 20)
      for (const [i, gap] of gaps.entries()) assert.isAtLeast(gap, 5 * 2 ** i)
      yield* server.setFaults([])
      yield* cluster.advance("2 minutes")
      assert.deepStrictEqual(yield* marks, [{ "has-reconcile": "true" }])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
