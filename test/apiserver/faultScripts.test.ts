/** Fault scripts as generated data; an informer must converge once the faults have stopped. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ConfigMap } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import * as Faults from "../../src/apiserver/faults.ts"
import { Cache } from "../../src/layers/Cache.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { runs } from "../support/runs.ts"

const Step = Schema.Struct({
  what: Schema.Literals(["put", "remove", "compact", "wait"]),
  name: Schema.Literals(["a", "b", "c"]),
  faults: Schema.Array(Faults.DataRule).check(Schema.isMaxLength(3))
})

/** A change that bypasses the fault script. */
const change = Effect.fnUntraced(function* (step: typeof Step.Type, serial: number) {
  const server = yield* ApiServer
  const client = yield* KubeClient
  const cluster = yield* ClusterTest
  const target = { namespace: "default", name: step.name }
  yield* server.setFaults([])
  if (step.what === "put") {
    yield* cluster.apply([{ apiVersion: "v1", kind: "ConfigMap", metadata: target, data: { serial: String(serial) } }])
  }
  if (step.what === "remove") yield* Effect.ignore(client.delete(ConfigMap, target))
  if (step.what === "compact") yield* server.compact()
  yield* server.setFaults(step.faults)
  yield* cluster.advance(step.what === "wait" ? "90 seconds" : "3 seconds")
})

const survives = (steps: ReadonlyArray<typeof Step.Type>) =>
  Effect.gen(function* () {
    const cache = yield* Cache
    const cluster = yield* ClusterTest
    yield* cache.subscribe(ConfigMap)
    for (const [serial, step] of steps.entries()) yield* change(step, serial)
    yield* (yield* ApiServer).setFaults([])
    // The longest wait of a backoff, and of a Retry-After, and the idle timeout of a half-open watch.
    yield* cluster.advance("5 minutes")
    const seen = new Map((yield* cache.list(ConfigMap)).map((one) => [one.metadata.name, one.metadata.resourceVersion]))
    const real = new Map(
      (yield* cluster.snapshot(ConfigMap)).map((one) => [one.metadata.name, one.metadata.resourceVersion])
    )
    assert.deepStrictEqual(seen, real)
  }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))

describe("fault scripts", () => {
  it.effect.prop(
    "an informer converges to the state of the server after any fault script",
    { steps: Arbitrary.schema(Schema.Array(Step).check(Schema.isMaxLength(12))) },
    ({ steps }) => survives(steps),
    { arbitrary: { runs: runs(40) }, timeout: runs(30_000) }
  )

  it.effect("StaleList affects only lists with resourceVersion 0", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const server = yield* ApiServer
      for (const name of ["a", "b", "c"]) yield* client.create(ConfigMap, { metadata: { name, namespace: "default" } })
      yield* server.setFaults([{ match: { verb: "list" }, fault: { _tag: "StaleList", revisions: 2 } }])
      const names = (resourceVersion?: string) =>
        Effect.map(client.list(ConfigMap, { resourceVersion }), (list) => list.items.map((one) => one.metadata.name))
      assert.deepStrictEqual(yield* names("0"), ["a"])
      assert.deepStrictEqual(yield* names(), ["a", "b", "c"])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("Conflict affects writes only; a throttled call is retried after Retry-After", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const server = yield* ApiServer
      const metadata = { name: "a", namespace: "default" }
      yield* client.create(ConfigMap, { metadata })
      yield* server.setFaults([{ match: { resource: "configmaps" }, fault: { _tag: "Conflict" }, times: 2 }])
      const stored = yield* client.get(ConfigMap, metadata)
      const refused = yield* Effect.flip(client.update(ConfigMap, stored))
      assert.strictEqual(refused.reason._tag, "Conflict")
      yield* server.setFaults([{ match: {}, fault: { _tag: "Throttle", retryAfterSeconds: 0 }, times: 1 }])
      const fiber = yield* Effect.forkChild(client.get(ConfigMap, metadata))
      yield* (yield* ClusterTest).advance("1 second")
      assert.isDefined(fiber.pollUnsafe())
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("DuplicateEvents: the cache applies each change once", () =>
    Effect.gen(function* () {
      const cache = yield* Cache
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* (yield* ApiServer).setFaults([{ match: { verb: "watch" }, fault: { _tag: "DuplicateEvents" } }])
      const seen: Array<string> = []
      yield* cache.onDeltas(ConfigMap, undefined, (deltas) => {
        for (const delta of deltas) seen.push(delta._tag)
      })
      yield* cluster.settle
      const metadata = { name: "a", namespace: "default" }
      yield* client.create(ConfigMap, { metadata })
      yield* client.delete(ConfigMap, metadata)
      yield* cluster.settle
      assert.deepStrictEqual(seen, ["Created", "Deleted"])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )
})
