/** What a timeline has after controllers have run on the embedded server. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import * as Access from "../../../src/kube/Access.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Namespace, Pod, Secret } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import * as GarbageCollector from "../../../src/controllers/GarbageCollector.ts"
import { Discovery } from "../../../src/layers/Discovery.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Reconcile from "../../../src/streams/reconcile/Reconcile.ts"
import type { Causes } from "../../../src/streams/reconcile/cause.ts"
import { mostShown, Timeline } from "../../../src/layers/Timeline.ts"
import type { Entry } from "../../../src/layers/timeline/entries.ts"
import * as Record from "../../../src/layers/timeline/record.ts"
import * as Cluster from "../../support/cluster.ts"

const withTimeline = (limit: number) =>
  Cluster.layer.pipe(Layer.provideMerge(Layer.effect(Timeline, Record.make(limit))))

const timeline = Effect.flatMap(Effect.service(Timeline), (one) =>
  one === undefined ? Effect.die("no timeline") : Effect.succeed(one)
)

const asked = (resource: string, key: string) => ({
  resource,
  key,
  resourceOf: (_: string, kind: string) => `${kind.toLowerCase()}s`
})

/** Fails at first; then labels its object, writes a namespace that may not exist, and records an event. */
const marker = () => {
  let runs = 0
  return Controller.make({
    name: "marker",
    for: ConfigMap,
    access: [Access.patch(ConfigMap), Access.patch(Namespace), Access.record],
    predicate: ({ object }) => object.metadata.name === "a",
    reconcile: (request, { client, events, cache }) =>
      Effect.gen(function* () {
        if (++runs === 1) return yield* Effect.fail("not yet")
        const object = yield* cache.get(ConfigMap, request.key)
        if (object === undefined || object.metadata.labels?.["seen"] === "yes") return Reconcile.after("1 hour")
        yield* client.patch(ConfigMap, object.metadata, Patch.merge({ metadata: { labels: { seen: "yes" } } }))
        yield* Effect.ignore(client.patch(Namespace, { name: "nowhere" }, Patch.merge({ metadata: {} })))
        yield* events.normal(object, "Marked", "it has the label now")
        return Reconcile.done
      })
  })
}

const line = (entry: Entry) => {
  switch (entry.type) {
    case "change":
      return `${entry.kind} ${entry.key} ${entry.change} ${entry.paths.join(",")}`.trim()
    case "reconcile":
      return `${entry.controller} ${entry.key} ${entry.outcome} because ${entry.reasons.join("; ")}`
    case "write":
      return `${entry.verb} ${entry.resource} ${entry.key} ${entry.status}`
    case "event":
      return `${entry.kind} ${entry.reason} of ${entry.resource}`
  }
}

describe("the timeline of an object", () => {
  it.effect(
    "has its changes, why it was reconciled, how that ended, the writes and the events, each with its cause",
    () =>
      Effect.gen(function* () {
        const { of } = yield* timeline
        const client = yield* KubeClient
        yield* Cluster.start(marker())
        yield* client.create(ConfigMap, { metadata: { namespace: "default", name: "a" } })
        yield* client.create(Secret, { metadata: { namespace: "default", name: "a" } })
        yield* TestClock.adjust("10 seconds")
        yield* Cluster.settle
        const { entries, truncated } = of(asked("configmaps", "default/a"))
        assert.isFalse(truncated)
        assert.deepStrictEqual(entries.map(line), [
          "ConfigMap default/a created",
          "marker default/a error because ConfigMap default/a created",
          "marker default/a done because retry 1 after not yet",
          "patch configmaps default/a 200",
          "patch namespaces nowhere 404",
          "Normal Marked of configmaps",
          "ConfigMap default/a modified metadata.labels",
          "marker default/a requeue because ConfigMap default/a modified: metadata.labels"
        ])
        const ids = entries.map(({ id }) => id)
        const causes = entries.map((entry) =>
          entry.type === "change" ? [] : entry.causes.map((id) => (id === null ? null : ids.indexOf(id)))
        )
        // The retry is caused by the failed run.
        assert.deepStrictEqual(causes, [[], [0], [1], [2], [2], [2], [], [6]])
        const last = entries.at(-1)
        assert.isTrue(last?.type === "reconcile" && last.due === last.at + 3_600_000)
        const failed = entries[1]
        assert.isTrue(failed?.type === "reconcile" && failed.error === "not yet" && failed.attempt === 1)
        assert.deepStrictEqual(of(asked("secrets", "default/a")).entries, [])
        yield* client.patch(ConfigMap, { namespace: "default", name: "a" }, Patch.merge({ data: { b: "c" } }))
        yield* Cluster.settle
        const [change, run] = of(asked("configmaps", "default/a")).entries.slice(-2)
        assert.isTrue(run?.type === "reconcile")
        if (run?.type !== "reconcile") return
        const linked = run.reasons.map((reason, index) => [reason, run.causes[index]])
        assert.deepStrictEqual(linked, [
          ["requeueAfter 3600000 ms", null],
          ["ConfigMap default/a modified: data", change?.id]
        ])
      }).pipe(Effect.scoped, Effect.provide(withTimeline(1 << 20)))
  )

  it.effect("of another object shows the run that has written to it", () =>
    Effect.gen(function* () {
      const { of } = yield* timeline
      yield* Cluster.start(marker())
      yield* (yield* KubeClient).create(ConfigMap, { metadata: { namespace: "default", name: "a" } })
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(of(asked("namespaces", "nowhere")).entries.map(line), [
        "marker default/a done because retry 1 after not yet",
        "patch namespaces nowhere 404"
      ])
    }).pipe(Effect.scoped, Effect.provide(withTimeline(1 << 20)))
  )

  it.effect("forgets the oldest entries beyond its limit, and says so", () =>
    Effect.gen(function* () {
      const limit = 4000
      const { bytesUnsafe, of } = yield* timeline
      const client = yield* KubeClient
      yield* Cluster.start(marker())
      yield* client.create(ConfigMap, { metadata: { namespace: "default", name: "a" } })
      for (let n = 0; n < 20; n++) {
        yield* client.patch(ConfigMap, { namespace: "default", name: "a" }, Patch.merge({ data: { n: String(n) } }))
        yield* TestClock.adjust("1 second")
        assert.isAtMost(bytesUnsafe(), limit)
      }
      const { entries, truncated } = of(asked("configmaps", "default/a"))
      assert.isTrue(truncated)
      assert.isAbove(entries.length, 2)
      assert.strictEqual(line(entries.at(-2)!), "ConfigMap default/a modified data")
    }).pipe(Effect.scoped, Effect.provide(withTimeline(4000)))
  )

  it.effect("has the reasons of a run in the order of its causes, and says how many more there are", () =>
    Effect.gen(function* () {
      const { begin, change, of } = yield* timeline
      const object = { metadata: { namespace: "default", name: "a", uid: "1", resourceVersion: "2" } }
      const delta = { _tag: "Created", object, initial: false } as const
      const causes = {
        first: { _tag: "Retry", attempt: 2, after: "409 Conflict", span: undefined },
        others: [{ _tag: "Change", kind: "ConfigMap", delta, entry: change(ConfigMap, delta), span: undefined }],
        more: 3
      } satisfies Causes
      begin("marker", ConfigMap, "default/a", causes)
      const [created, run] = of(asked("configmaps", "default/a")).entries
      assert.isTrue(run?.type === "reconcile")
      if (run?.type !== "reconcile") return
      assert.deepStrictEqual(run.causes, [null, created?.id ?? -1, null])
      assert.deepStrictEqual(run.reasons, ["retry 2 after 409 Conflict", "ConfigMap default/a created", "3 more"])
    }).pipe(Effect.provide(withTimeline(1 << 20)))
  )

  it.effect("counts the error of a run, which comes after its entry, and so long as it may be", () =>
    Effect.gen(function* () {
      const { begin, bytesUnsafe, end } = yield* timeline
      const error = new Error("denied ".repeat(1000))
      for (let n = 0; n < 20; n++) {
        const before = bytesUnsafe()
        const run = begin("marker", ConfigMap, "default/a", undefined)
        end(run, { _tag: "Failed", key: "default/a", elapsed: 1, attempt: 1, delay: 1, error })
        if (n < 5) assert.isAtLeast(bytesUnsafe() - before, 2 * (run.error?.length ?? 0))
        assert.isAtMost(bytesUnsafe(), 16_000)
      }
    }).pipe(Effect.provide(withTimeline(16_000)))
  )

  it.effect("shows the last entries of an object that has more than a view may have, and says so", () =>
    Effect.gen(function* () {
      const { of } = yield* timeline
      const client = yield* KubeClient
      yield* Cluster.start(marker())
      yield* client.create(ConfigMap, { metadata: { namespace: "default", name: "a" } })
      yield* TestClock.adjust("1 second")
      assert.isFalse(of(asked("configmaps", "default/a")).truncated)
      for (let n = 0; n < mostShown / 2; n++) {
        yield* client.patch(ConfigMap, { namespace: "default", name: "a" }, Patch.merge({ data: { n: String(n) } }))
        yield* Cluster.settle
      }
      const { entries, truncated } = of(asked("configmaps", "default/a"))
      assert.isTrue(truncated)
      assert.lengthOf(entries, mostShown)
    }).pipe(Effect.scoped, Effect.provide(withTimeline(1 << 20)))
  )

  it.effect("has a change once, whether the kind is watched whole or as metadata", () =>
    Effect.gen(function* () {
      const { change } = yield* timeline
      const delta = (resourceVersion: string) => ({
        _tag: "Deleted" as const,
        object: { apiVersion: "v1", kind: "Pod", metadata: { namespace: "default", name: "a", resourceVersion } },
        stateUnknown: false
      })
      const ids = [change(Pod, delta("1")), change(Resource.metadataOnly(Pod), delta("1")), change(Pod, delta("2"))]
      assert.deepStrictEqual(ids, [0, 0, 1])
    }).pipe(Effect.provide(withTimeline(1 << 20)))
  )

  it.effect("is not recorded without a timeline", () =>
    Effect.map(Effect.service(Timeline), (one) => assert.isUndefined(one))
  )
})

describe("the timeline of an object that the garbage collector deletes", () => {
  it.effect("has the deletion of its owner as the reason", () =>
    Effect.gen(function* () {
      const { of } = yield* timeline
      const client = yield* KubeClient
      yield* Cluster.start(GarbageCollector.make())
      const owner = yield* client.create(ConfigMap, { metadata: { namespace: "default", name: "owner" } })
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid ?? "" }]
      yield* client.create(ConfigMap, { metadata: { namespace: "default", name: "a", ownerReferences } })
      yield* TestClock.adjust("10 seconds")
      yield* client.delete(ConfigMap, { namespace: "default", name: "owner" })
      yield* TestClock.adjust("10 seconds")
      const { entries } = of(asked("configmaps", "default/a"))
      assert.deepStrictEqual(entries.map(line), [
        "ConfigMap default/owner deleted",
        "garbagecollector default/a done because ConfigMap default/owner deleted",
        "delete configmaps default/a 200"
      ])
    }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(Discovery.layer, withTimeline(1 << 20))))
  )
})
