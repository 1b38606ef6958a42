/**
 * A project that uses the library without a platform: a controller, and its test on the embedded API server in virtual time. scripts/consumers.mjs compiles
 * and runs it with the packed package.
 */
import {
  Access,
  Cache,
  Controller,
  KubeClient,
  Namespace,
  Patch,
  Reconcile,
  Recorder,
  Supervisor
} from "effect-controller-manager"
import { Store } from "effect-controller-manager/internals"
import { ApiServer } from "effect-controller-manager/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"

/** Writes how often it has seen a namespace into its label `seen`, once an hour. */
const Counter = Controller.make({
  name: "counter",
  for: Namespace,
  predicate: ({ object }) => object.metadata.name === "shop",
  access: [Access.patch(Namespace)],
  reconcile: ({ name }, { cache, client }) =>
    Effect.gen(function* () {
      const namespace = yield* cache.get(Namespace, name)
      if (namespace === undefined || name !== "shop") return Reconcile.done
      const seen = Number(namespace.metadata.labels?.["seen"] ?? "0")
      if (seen < 2)
        yield* client.patch(Namespace, { name }, Patch.merge({ metadata: { labels: { seen: `${seen + 1}` } } }))
      return Reconcile.after("1 hour")
    })
})

/** A call that is not declared does not compile. */
export const Undeclared = Controller.make({
  name: "undeclared",
  for: Namespace,
  // @ts-expect-error deleting is not in its access
  reconcile: ({ name }, { client }) => client.delete(Namespace, { name })
})

const cluster = Recorder.layer.pipe(
  Layer.provideMerge(Cache.layer()),
  Layer.provideMerge(KubeClient.layer),
  Layer.provideMerge(ApiServer.layerTransport),
  Layer.provideMerge(ApiServer.layer()),
  Layer.provideMerge(Supervisor.layer),
  Layer.provideMerge(TestClock.layer())
)

const seen = (times: string) =>
  Effect.flatMap(Cache, (cache) =>
    cache.changes(Namespace).pipe(
      Stream.filter(({ object }) => object.metadata.labels?.["seen"] === times),
      Stream.runHead
    )
  )

const test = Effect.gen(function* () {
  const client = yield* KubeClient
  yield* client.create(Namespace, { metadata: { name: "shop" } })
  yield* Layer.build(Counter.layer)
  yield* seen("1")
  yield* TestClock.adjust("1 hour")
  yield* seen("2")
  return (yield* client.get(Namespace, { name: "shop" })).metadata.labels?.["seen"]
})

if (Store.make<Namespace>().list().length > 0) throw new Error("expected an empty store")
const answer = await Effect.runPromise(test.pipe(Effect.scoped, Effect.provide(cluster)))
if (answer !== "2") throw new Error(`expected the namespace to be seen twice, found ${answer}`)
