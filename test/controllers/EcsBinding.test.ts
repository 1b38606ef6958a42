/** What becomes of an EcsBinding: it is marked once, whatever else it has stays, and a server in trouble is not pressed. Source: framework.md C2, C3. */
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

/** Notes every write to an EcsBinding with its second, and lets it pass. */
const noting = (writes: Array<number>, now: () => number): Faults.Rule => ({
  match: ({ context, method }) => {
    if (context.resource?.startsWith("ecsbinding") === true && method !== "GET") writes.push(now())
    return false
  },
  fault: { _tag: "Drop" }
})

describe("the kind EcsBinding", () => {
  it("is what its users know: names, scope, columns", () => {
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

  it.effect("keeps both fields that others have called by other names", () =>
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
  it.effect("marks each once, and leaves the rest of it alone", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const writes: Array<number> = []
      yield* (yield* ApiServer).setFaults([noting(writes, () => 0)])
      yield* cluster.apply([object("a", { annotations: { theirs: "yes" } })])
      yield* cluster.run(EcsBindings.make())
      yield* cluster.apply([object("b")])
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* marks, [{ theirs: "yes", "has-reconcile": "true" }, { "has-reconcile": "true" }])
      // Two of the user, two of the controller; then it is looked at again, and nothing is written.
      assert.lengthOf(writes, 4)
      yield* (yield* KubeClient).patch(EcsBinding, { name: "a" }, Patch.merge({ spec: { name: "other" } }))
      yield* cluster.advance("1 hour")
      assert.lengthOf(writes, 5)
      yield* (yield* KubeClient).delete(EcsBinding, { name: "b" })
      yield* cluster.advance("1 hour")
      assert.lengthOf(writes, 6)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("marks it again when somebody takes the mark off", () =>
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

  it.effect("waits twice as long after each failure, and goes on when the server can", () =>
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
