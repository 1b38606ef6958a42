import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Key from "../../../src/kube/Key.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import { Pod } from "../../../src/kube/resources.ts"
import * as SharedInformer from "../../../src/layers/cache/Registry.ts"
import * as CacheMetrics from "../../../src/layers/cache/metrics.ts"
import * as Outstanding from "../../../src/layers/cache/Buffer.ts"
import type { Delta } from "../../../src/streams/store/Store.ts"
import type { Readable } from "../../../src/streams/store/Store.ts"
import * as Watch from "../../../src/streams/watch/watch.ts"
import { runs } from "../../support/runs.ts"
import * as Fake from "./fakeServer.ts"

/** The objects that a subscriber knows; each delta must be consistent with the deltas before it, and the store must not be older. */
const subscriber = (store: Readable<KubeObject>) => {
  const known = new Map<string, KubeObject>()
  const apply = (deltas: ReadonlyArray<Delta<KubeObject>>): void => {
    for (const delta of deltas) {
      const key = Key.of(delta.object)
      const before = known.get(key)
      if (delta._tag === "Created") assert.isUndefined(before, "created, but known")
      else assert.strictEqual(delta.object.metadata.uid, before?.metadata.uid, `${delta._tag}, but of another object`)
      if (delta._tag === "Updated") assert.strictEqual(delta.previous, before, "previous is not what was told last")
      if (delta._tag === "Deleted") known.delete(key)
      else known.set(key, delta.object)
      const version = store.get(key)?.metadata.resourceVersion ?? store.resourceVersion ?? "0"
      if (delta._tag !== "Deleted") {
        assert.isAtLeast(Number(version), Number(delta.object.metadata.resourceVersion), "the store comes first")
      }
    }
  }
  return { apply, known }
}

const acts = [
  ...(["put", "put", "put", "remove", "recreate"] as const),
  ...(["wait", "cut", "end", "lose", "defect", "listen", "follow", "release"] as const)
]

const scripts = Arbitrary.schema(
  Schema.Array(Schema.Struct({ act: Schema.Literals(acts), name: Schema.Literals(["a", "b", "c"]) }))
)

type Script = typeof scripts extends Arbitrary.Arbitrary<infer A> ? A : never

/**
 * After any failures of the server and the connection, and for any time of subscription, listeners and subscribers end with the server's
 * state, and receive each change once and in order.
 */
const holds = Effect.fnUntraced(function* (script: Script) {
  const kind = new Fake.FakeServer().kind(Pod)
  const outstanding = Outstanding.makeOutstanding()
  const informer = yield* SharedInformer.makeInformer<KubeObject>({
    resource: Pod,
    selection: {},
    watch: () =>
      Watch.watch<KubeObject>(
        { list: (request) => kind.list(request), watch: (request) => kind.watch(request) },
        { streamingList: "never" }
      ),
    freeze: true,
    outstanding,
    counters: CacheMetrics.none
  })
  const faults: Array<unknown> = []
  const known: Array<ReadonlyMap<string, KubeObject>> = []
  const gate = Latch.makeUnsafe()
  const probe = () => {
    const { apply, known: map } = subscriber(informer.store)
    known.push(map)
    return (deltas: ReadonlyArray<Delta<KubeObject>>) => {
      try {
        apply(deltas)
      } catch (fault) {
        faults.push(fault)
      }
    }
  }
  const follow = (wait: Effect.Effect<void>) => {
    const listener = probe()
    return Effect.forkScoped(
      Stream.runForEachArray(informer.changes, (deltas) =>
        Effect.andThen(
          Effect.sync(() => listener(deltas)),
          wait
        )
      )
    )
  }
  yield* informer.onDeltas(() => {
    throw new Error("a listener that throws")
  })
  yield* informer.onDeltas(probe())
  yield* follow(gate.await)
  let uid = 0
  for (const { act, name } of script) {
    const key = `default/${name}`
    const present = kind.objects.has(key)
    switch (act) {
      case "put": {
        if (!present) uid++
        const text = kind.objects.get(key)
        const before: KubeObject["metadata"] | undefined = text === undefined ? undefined : JSON.parse(text).metadata
        kind.put({ metadata: { namespace: "default", name, uid: before?.uid ?? `uid-${uid}` } })
        break
      }
      case "remove":
      case "recreate":
        if (present) kind.remove(key)
        if (act === "recreate") kind.put({ metadata: { namespace: "default", name, uid: `uid-${++uid}` } })
        break
      case "wait":
        yield* TestClock.adjust("40 seconds")
        break
      case "cut":
        kind.cut(Fake.unreachable(Pod))
        break
      case "end":
        kind.cut()
        break
      case "lose":
        kind.expire()
        break
      case "defect":
        for (const { queue } of kind.connections) Queue.failCauseUnsafe(queue, Cause.die(new Error("bug")))
        kind.connections.clear()
        break
      case "listen":
        yield* informer.onDeltas(probe())
        break
      case "follow":
        yield* follow(Effect.void)
        break
      case "release":
        yield* gate.open
        break
    }
  }
  yield* gate.open
  for (let i = 0; i < 20; i++) yield* TestClock.adjust("40 seconds")
  if (faults.length > 0) throw faults[0]
  const expected = new Map(Array.from(kind.objects, ([key, text]) => [key, JSON.parse(text)]))
  assert.deepStrictEqual(new Map(informer.store.list().map((object) => [Key.of(object), object])), expected)
  for (const map of known) assert.deepStrictEqual(new Map(map), expected)
  assert.strictEqual(outstanding.count(), 0)
  assert.isTrue(informer.store.synced)
})

describe("Informer", () => {
  it.effect.prop(
    "every listener and subscriber ends with the server's state, without gaps or repetitions",
    { script: scripts },
    ({ script }) => holds(script),
    { arbitrary: { runs: runs(200) } }
  )
})
