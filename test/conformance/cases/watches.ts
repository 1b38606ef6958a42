/** Watches: order, resumption, selectors, bookmarks, ends and expiry. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Event } from "../../../src/kube/resources.ts"
import * as ResourceVersion from "../../../src/kube/ResourceVersion.ts"
import type { WatchOptions } from "../../../src/layers/KubeClient.ts"
import type { WatchEvent } from "../../../src/layers/Transport.ts"
import { type Case, configMap, type Subject } from "../Case.ts"

const objectOf = (event: WatchEvent): KubeObject => event.object as KubeObject
const versionOf = (event: WatchEvent): string => objectOf(event).metadata.resourceVersion ?? ""
const line = (event: WatchEvent): string => `${event.type} ${objectOf(event).metadata.name}`

/** Objects of the test carry this label; a real server puts some of its own into every namespace. */
const labels = { mine: "yes" }
const mine = { labelSelector: "mine=yes" }

const now = ({ client, namespace }: Subject) =>
  Effect.map(client.list(ConfigMap, { namespace }), (list) => list.metadata.resourceVersion ?? "")

const take = ({ client, namespace }: Subject, count: number, options: WatchOptions) =>
  Stream.runCollect(Stream.take(client.watch(ConfigMap, { namespace, ...mine, timeoutSeconds: 30, ...options }), count))

/** Create a, change a, create b, delete a: four events. */
const story = Effect.fnUntraced(function* ({ client, namespace }: Subject) {
  const a = yield* client.create(ConfigMap, configMap("a", { k: "1" }, labels), { namespace })
  yield* client.update(ConfigMap, { ...a, data: { k: "2" } })
  yield* client.create(ConfigMap, configMap("b", {}, labels), { namespace })
  yield* client.delete(ConfigMap, { namespace, name: "a" })
})

const told = ["ADDED a", "MODIFIED a", "ADDED b", "DELETED a"]

export const watches: ReadonlyArray<Case> = [
  {
    title: "a watch from a list's version tells everything after it, in order, each version above the last",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const resourceVersion = yield* now(subject)
      yield* story(subject)
      const events = yield* take(subject, 4, { resourceVersion })
      assert.deepStrictEqual(events.map(line), told)
      let last = resourceVersion
      for (const event of events) {
        assert.isAbove(ResourceVersion.compare(versionOf(event), last), 0)
        assert.deepStrictEqual([objectOf(event).apiVersion, objectOf(event).kind], ["v1", "ConfigMap"])
        last = versionOf(event)
      }
      const deleted = events[3] as { object: { data: unknown } } | undefined
      assert.deepStrictEqual(deleted?.object.data, { k: "2" })
    })
  },
  {
    title: "a watch resumed at any event's version continues right after it",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const resourceVersion = yield* now(subject)
      yield* story(subject)
      const events = yield* take(subject, 4, { resourceVersion })
      for (const at of [0, 1, 2]) {
        const rest = yield* take(subject, 3 - at, { resourceVersion: versionOf(events[at] as WatchEvent) })
        assert.deepStrictEqual(rest.map(line), told.slice(at + 1))
      }
    })
  },
  {
    title: "a live watch hears of a change made while it is open",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      const resourceVersion = yield* now(subject)
      yield* client.create(ConfigMap, configMap("a", {}, labels), { namespace })
      const seen: Array<string> = []
      const stream = client.watch(ConfigMap, { namespace, ...mine, resourceVersion, timeoutSeconds: 30 })
      yield* stream.pipe(
        Stream.tap((event) => {
          seen.push(line(event))
          return event.type === "ADDED"
            ? Effect.asVoid(client.delete(ConfigMap, { namespace, name: "a" }))
            : Effect.void
        }),
        Stream.take(2),
        Stream.runDrain
      )
      assert.deepStrictEqual(seen, ["ADDED a", "DELETED a"])
    })
  },
  {
    title: "without a version a watch begins with what there is",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      yield* story(subject)
      assert.deepStrictEqual((yield* take(subject, 1, {})).map(line), ["ADDED b"])
      assert.deepStrictEqual((yield* take(subject, 1, { resourceVersion: "0" })).map(line), ["ADDED b"])
    })
  },
  {
    title: "an object that enters or leaves the selection is added or deleted",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      const resourceVersion = yield* now(subject)
      const target = { namespace, name: "a" }
      yield* client.create(ConfigMap, configMap("a"), { namespace })
      yield* client.patch(ConfigMap, target, Patch.merge({ metadata: { labels } }))
      yield* client.patch(ConfigMap, target, Patch.merge({ data: { k: "1" } }))
      const left = yield* client.patch(ConfigMap, target, Patch.merge({ metadata: { labels: { mine: null } } }))
      const events = yield* take(subject, 3, { resourceVersion })
      assert.deepStrictEqual(events.map(line), ["ADDED a", "MODIFIED a", "DELETED a"])
      assert.strictEqual(versionOf(events[2] as WatchEvent), left.metadata.resourceVersion)
    })
  },
  {
    title: "a field selector narrows a watch to one object",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const resourceVersion = yield* now(subject)
      yield* story(subject)
      const events = yield* take(subject, 3, { resourceVersion, fieldSelector: "metadata.name=a" })
      assert.deepStrictEqual(events.map(line), ["ADDED a", "MODIFIED a", "DELETED a"])
    })
  },
  {
    title: "a watch over all namespaces hears of this one",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const resourceVersion = yield* now(subject)
      yield* story(subject)
      const events = yield* Stream.runCollect(
        subject.client.watch(ConfigMap, { ...mine, resourceVersion, timeoutSeconds: 30 }).pipe(
          Stream.filter((event) => objectOf(event).metadata.namespace === subject.namespace),
          Stream.take(4)
        )
      )
      assert.deepStrictEqual(events.map(line), told)
    })
  },
  {
    title: "metadata alone: events without the rest, named after the real kind",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      const resourceVersion = yield* now(subject)
      yield* story(subject)
      const Partial = Resource.metadataOnly(ConfigMap)
      const events = yield* Stream.runCollect(
        Stream.take(client.watch(Partial, { namespace, ...mine, resourceVersion, timeoutSeconds: 30 }), 4)
      )
      assert.deepStrictEqual(events.map(line), told)
      for (const event of events) {
        assert.deepStrictEqual(Object.keys(objectOf(event)).sort(), ["apiVersion", "kind", "metadata"])
        assert.deepStrictEqual([objectOf(event).apiVersion, objectOf(event).kind], ["v1", "ConfigMap"])
      }
    })
  },
  {
    title: "timeoutSeconds ends a watch cleanly, and a bookmark before it says how far it got",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      const resourceVersion = yield* now(subject)
      yield* story(subject)
      const at = yield* now(subject)
      const options = { namespace, ...mine, resourceVersion, timeoutSeconds: 5, allowWatchBookmarks: true }
      let events: ReadonlyArray<WatchEvent> = []
      // Real servers send the last bookmark when they find the time, about two seconds before the end, without a promise,
      // and only on a watch that has told of something since it was opened.
      for (let i = 0; i < 3 && events.at(-1)?.type !== "BOOKMARK"; i++) {
        const fresh = Effect.asVoid(client.create(ConfigMap, configMap(`fresh-${i}`, {}, labels), { namespace }))
        const watch = client.watch(ConfigMap, options)
        events = yield* Stream.runCollect(
          Stream.tap(watch, (event) => (line(event) === "DELETED a" ? fresh : Effect.void))
        )
        assert.deepStrictEqual(events.slice(0, 4).map(line), told)
      }
      const bookmark = events.at(-1)
      assert.strictEqual(bookmark?.type, "BOOKMARK")
      if (bookmark === undefined) return
      assert.strictEqual(objectOf(bookmark).kind, "ConfigMap")
      assert.isTrue(ResourceVersion.isAtLeast(versionOf(bookmark), at))
    })
  },
  {
    title: "no bookmarks unless they are asked for",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      const resourceVersion = yield* now(subject)
      const events = yield* Stream.runCollect(
        client.watch(ConfigMap, { namespace, ...mine, resourceVersion, timeoutSeconds: 2 })
      )
      assert.deepStrictEqual(events, [])
    })
  },
  {
    title: "a version that is too old is Gone",
    since: 20,
    alone: true,
    run: Effect.fnUntraced(function* (subject) {
      // Events, because real servers keep other kinds in a cache that outlives compaction.
      const { client, compact, namespace } = subject
      const make = (name: string) =>
        client.create(Event, { metadata: { name }, involvedObject: { namespace } }, { namespace })
      const first = yield* make("one")
      yield* make("two")
      yield* make("three")
      yield* compact
      const { resourceVersion } = first.metadata
      const late = client.watch(Event, { namespace, resourceVersion, timeoutSeconds: 30 })
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(late))).reason._tag, "Gone")
    })
  },
  {
    title: "a version that is no number is refused",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const error = yield* Effect.flip(take(subject, 1, { resourceVersion: "nonsense" }))
      assert.include(["BadRequest", "Invalid", "ServerError"], error.reason._tag)
    })
  },
  {
    title: "a streaming list begins with what there is and marks its end with a bookmark",
    since: 32,
    rule: "KEP-3157: watch-list is on from 1.32",
    run: Effect.fnUntraced(function* (subject) {
      yield* story(subject)
      const events = yield* take(subject, 2, {
        sendInitialEvents: true,
        allowWatchBookmarks: true,
        resourceVersionMatch: "NotOlderThan"
      })
      assert.deepStrictEqual(
        events.map((event) => event.type),
        ["ADDED", "BOOKMARK"]
      )
      const annotations = events[1] === undefined ? {} : objectOf(events[1]).metadata.annotations
      assert.deepStrictEqual(annotations, { "k8s.io/initial-events-end": "true" })
    })
  }
]
