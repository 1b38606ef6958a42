/** Watches: order, resumption, selectors, bookmarks, timeouts and expiry. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Event, Pod } from "../../../src/kube/resources.ts"
import * as ResourceVersion from "../../../src/kube/ResourceVersion.ts"
import type { WatchOptions } from "../../../src/layers/KubeClient.ts"
import type { WatchEvent } from "../../../src/layers/Transport.ts"
import { done, events, merge } from "../assertions.ts"
import { type Case, configMap, pod, type Subject } from "../Case.ts"
import { at } from "../objects.ts"

const objectOf = (event: WatchEvent): KubeObject => event.object as KubeObject
const versionOf = (event: WatchEvent): string => objectOf(event).metadata.resourceVersion ?? ""
const line = (event: WatchEvent): string => `${event.type} ${objectOf(event).metadata.name}`

/** The label of the objects of a case; a real server creates a ConfigMap of its own in each namespace. */
const labels = { mine: "yes" }
const mine = { labelSelector: "mine=yes" }

const now = ({ client, namespace }: Subject) =>
  Effect.map(client.list(ConfigMap, { namespace }), (list) => list.metadata.resourceVersion ?? "")

const take = ({ client, namespace }: Subject, count: number, options: WatchOptions) =>
  Stream.runCollect(Stream.take(client.watch(ConfigMap, { namespace, ...mine, timeoutSeconds: 30, ...options }), count))

/** Creates a ConfigMap that the watches of the cases select. */
const createMine = ({ client, namespace }: Subject, name: string, data: Record<string, string> = {}) =>
  client.create(ConfigMap, configMap(name, data, labels), { namespace })

const deleteA = ({ client, namespace }: Subject) => client.delete(ConfigMap, { namespace, name: "a" })

/** Creates a, updates a, creates b, and deletes a: four events. */
const fourEvents = Effect.fnUntraced(function* (subject: Subject) {
  const { client } = subject
  const a = yield* createMine(subject, "a", { k: "1" })
  yield* client.update(ConfigMap, { ...a, data: { k: "2" } })
  yield* createMine(subject, "b")
  yield* deleteA(subject)
})

const linesOfFourEvents = ["ADDED a", "MODIFIED a", "ADDED b", "DELETED a"]

/** Events, because a real server keeps other resources in a cache that outlives compaction. */
const createEvent = ({ client, namespace }: Subject, name: string) =>
  client.create(Event, { metadata: { name }, involvedObject: { namespace } }, { namespace })

/** Creates three events, compacts the store, and returns the resourceVersion of the first. */
const compactedVersion = Effect.fnUntraced(function* (subject: Subject) {
  const { metadata } = yield* createEvent(subject, "one")
  yield* createEvent(subject, "two")
  yield* createEvent(subject, "three")
  yield* subject.compact
  return metadata.resourceVersion
})

export const watches: ReadonlyArray<Case> = [
  {
    title:
      "a watch from the resourceVersion of a list delivers all later changes in order, with increasing resourceVersions",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const resourceVersion = yield* now(subject)
      yield* fourEvents(subject)
      const events = yield* take(subject, 4, { resourceVersion })
      assert.deepStrictEqual(events.map(line), linesOfFourEvents)
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
    title: "a watch from the resourceVersion of an event continues after that event",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const resourceVersion = yield* now(subject)
      yield* fourEvents(subject)
      const events = yield* take(subject, 4, { resourceVersion })
      for (const at of [0, 1, 2]) {
        const rest = yield* take(subject, 3 - at, { resourceVersion: versionOf(events[at] as WatchEvent) })
        assert.deepStrictEqual(rest.map(line), linesOfFourEvents.slice(at + 1))
      }
    })
  },
  {
    title: "a watch delivers a change made while it is open",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      const resourceVersion = yield* now(subject)
      yield* createMine(subject, "a")
      const seen: Array<string> = []
      const stream = client.watch(ConfigMap, { namespace, ...mine, resourceVersion, timeoutSeconds: 30 })
      yield* stream.pipe(
        Stream.tap((event) => {
          seen.push(line(event))
          return event.type === "ADDED" ? Effect.asVoid(deleteA(subject)) : Effect.void
        }),
        Stream.take(2),
        Stream.runDrain
      )
      assert.deepStrictEqual(seen, ["ADDED a", "DELETED a"])
    })
  },
  {
    title: "a watch without resourceVersion starts with the existing objects",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      yield* fourEvents(subject)
      assert.deepStrictEqual((yield* take(subject, 1, {})).map(line), ["ADDED b"])
      assert.deepStrictEqual((yield* take(subject, 1, { resourceVersion: "0" })).map(line), ["ADDED b"])
    })
  },
  {
    title: "an object that starts or stops matching a label selector is added or deleted",
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
    title: "a watch with a field selector for a name delivers one object",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const resourceVersion = yield* now(subject)
      yield* fourEvents(subject)
      const events = yield* take(subject, 3, { resourceVersion, fieldSelector: "metadata.name=a" })
      assert.deepStrictEqual(events.map(line), ["ADDED a", "MODIFIED a", "DELETED a"])
    })
  },
  {
    title: "a watch of all namespaces delivers the changes of each namespace",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const resourceVersion = yield* now(subject)
      yield* fourEvents(subject)
      const events = yield* Stream.runCollect(
        subject.client.watch(ConfigMap, { ...mine, resourceVersion, timeoutSeconds: 30 }).pipe(
          Stream.filter((event) => objectOf(event).metadata.namespace === subject.namespace),
          Stream.take(4)
        )
      )
      assert.deepStrictEqual(events.map(line), linesOfFourEvents)
    })
  },
  {
    title: "a client's watch of metadata delivers only metadata, and takes the name of the real kind",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      const resourceVersion = yield* now(subject)
      yield* fourEvents(subject)
      const Partial = Resource.metadataOnly(ConfigMap)
      const events = yield* Stream.runCollect(
        Stream.take(client.watch(Partial, { namespace, ...mine, resourceVersion, timeoutSeconds: 30 }), 4)
      )
      assert.deepStrictEqual(events.map(line), linesOfFourEvents)
      for (const event of events) {
        assert.deepStrictEqual(Object.keys(objectOf(event)).sort(), ["apiVersion", "kind", "metadata"])
        assert.deepStrictEqual([objectOf(event).apiVersion, objectOf(event).kind], ["v1", "ConfigMap"])
      }
    })
  },
  {
    title: "timeoutSeconds ends a watch cleanly, after a bookmark",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      const resourceVersion = yield* now(subject)
      yield* fourEvents(subject)
      const at = yield* now(subject)
      const options = { namespace, ...mine, resourceVersion, timeoutSeconds: 5, allowWatchBookmarks: true }
      let events: ReadonlyArray<WatchEvent> = []
      // Real servers send the last bookmark about two seconds before the end, without a guarantee, and only on a watch that has
      // delivered an event.
      for (let i = 0; i < 3 && events.at(-1)?.type !== "BOOKMARK"; i++) {
        const fresh = Effect.asVoid(client.create(ConfigMap, configMap(`fresh-${i}`, {}, labels), { namespace }))
        const watch = client.watch(ConfigMap, options)
        events = yield* Stream.runCollect(
          Stream.tap(watch, (event) => (line(event) === "DELETED a" ? fresh : Effect.void))
        )
        assert.deepStrictEqual(events.slice(0, 4).map(line), linesOfFourEvents)
      }
      const bookmark = events.at(-1)
      assert.strictEqual(bookmark?.type, "BOOKMARK")
      if (bookmark === undefined) return
      assert.strictEqual(objectOf(bookmark).kind, "ConfigMap")
      assert.isTrue(ResourceVersion.isAtLeast(versionOf(bookmark), at))
    })
  },
  {
    title: "a watch without allowWatchBookmarks has no bookmarks",
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
    title: "a client's watch from a compacted resourceVersion is Gone",
    since: 20,
    alone: true,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      const resourceVersion = yield* compactedVersion(subject)
      const late = client.watch(Event, { namespace, resourceVersion, timeoutSeconds: 30 })
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(late))).reason._tag, "Gone")
    })
  },
  {
    title: "a watch from the resourceVersion before that of the compaction still works",
    since: 20,
    alone: true,
    run: Effect.fnUntraced(function* (subject) {
      const { client, compact, namespace } = subject
      const attempt = Effect.fnUntraced(function* (name: string) {
        yield* createEvent(subject, `${name}-before`)
        const { metadata } = yield* createEvent(subject, name)
        yield* compact
        const resourceVersion = String(Number(metadata.resourceVersion) - 1)
        const events = client.watch(Event, { namespace, resourceVersion, timeoutSeconds: 30 })
        return yield* Stream.runCollect(Stream.take(events, 1))
      })
      // A real server may write objects of its own before the compaction, which changes the revision.
      const seen = yield* attempt("one").pipe(
        Effect.catch(() => attempt("two")),
        Effect.catch(() => attempt("three"))
      )
      assert.match(seen.map(line).join(), /^ADDED (one|two|three)$/)
    })
  },
  {
    title: "a resourceVersion that is not a number is an error",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const error = yield* Effect.flip(take(subject, 1, { resourceVersion: "nonsense" }))
      assert.include(["BadRequest", "Invalid", "ServerError"], error.reason._tag)
    })
  },
  {
    title: "sendInitialEvents delivers the existing objects and then a bookmark",
    since: 32,
    rule: "KEP-3157: watch-list is on from 1.32",
    run: Effect.fnUntraced(function* (subject) {
      yield* fourEvents(subject)
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
  },
  {
    title: "an object that starts and stops matching a field selector is added and deleted",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, client, namespace }) {
      const { pods } = at(namespace)
      const { metadata } = yield* client.list(Pod, { namespace })
      yield* client.create(Pod, pod("a"), { namespace })
      for (const phase of ["Running", "Succeeded"]) {
        done(yield* ask("PATCH", `${pods}/a/status`, { status: { phase } }, merge))
      }
      const query = `watch=true&timeoutSeconds=1&fieldSelector=status.phase%3DRunning&resourceVersion=${metadata.resourceVersion}`
      const all = events(yield* ask("GET", `${pods}?${query}`))
      assert.deepStrictEqual(
        all.map(({ object, type }) => [type, object.metadata.name, object.status.phase]),
        [
          ["ADDED", "a", "Running"],
          ["DELETED", "a", "Running"]
        ]
      )
    })
  },
  {
    title: "DELETED has the last state, with the resourceVersion of the deletion",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const resourceVersion = yield* now(subject)
      const made = yield* createMine(subject, "a", { k: "1" })
      yield* deleteA(subject)
      const [, deleted] = yield* take(subject, 2, { resourceVersion })
      const { data, metadata } = objectOf(deleted as WatchEvent) as KubeObject & { data: object }
      assert.deepStrictEqual([deleted?.type, data, metadata.uid], ["DELETED", { k: "1" }, made.metadata.uid])
      assert.isAbove(ResourceVersion.compare(metadata.resourceVersion ?? "", made.metadata.resourceVersion ?? ""), 0)
      assert.isTrue(ResourceVersion.isAtLeast(yield* now(subject), metadata.resourceVersion ?? ""))
    })
  },
  {
    title: "a deletion of an object with finalizers is MODIFIED, and then DELETED when the last finalizer is removed",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      const resourceVersion = yield* now(subject)
      const target = { namespace, name: "a" }
      yield* client.create(
        ConfigMap,
        { metadata: { name: "a", labels, finalizers: ["test.example/hold"] } },
        { namespace }
      )
      yield* client.delete(ConfigMap, target)
      yield* client.patch(ConfigMap, target, Patch.merge({ metadata: { finalizers: null } }))
      const seen = yield* take(subject, 3, { resourceVersion })
      assert.deepStrictEqual(seen.map(line), ["ADDED a", "MODIFIED a", "DELETED a"])
    })
  },
  {
    title: "a write that changes nothing sends no event",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      const resourceVersion = yield* now(subject)
      const made = yield* createMine(subject, "a", { k: "1" })
      yield* client.update(ConfigMap, made)
      yield* client.patch(ConfigMap, { namespace, name: "a" }, Patch.merge({ data: { k: "1" } }))
      yield* client.delete(ConfigMap, { namespace, name: "a" }, { dryRun: true })
      yield* createMine(subject, "b")
      const seen = yield* take(subject, 2, { resourceVersion })
      assert.deepStrictEqual(seen.map(line), ["ADDED a", "ADDED b"])
    })
  },
  {
    title: "an object that is deleted and created again is DELETED and ADDED, with another uid",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const resourceVersion = yield* now(subject)
      const make = createMine(subject, "a")
      const first = yield* make
      yield* deleteA(subject)
      const second = yield* make
      const seen = yield* take(subject, 3, { resourceVersion })
      assert.deepStrictEqual(seen.map(line), ["ADDED a", "DELETED a", "ADDED a"])
      assert.deepStrictEqual(
        seen.map((event) => objectOf(event).metadata.uid),
        [first.metadata.uid, first.metadata.uid, second.metadata.uid]
      )
    })
  },
  {
    title: "timeoutSeconds ends the response in time, with complete lines",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const resourceVersion = yield* now(subject)
      yield* fourEvents(subject)
      const started = Date.now()
      const query = `watch=1&timeoutSeconds=1&labelSelector=mine%3Dyes&resourceVersion=${resourceVersion}`
      const reply = yield* ask("GET", `${at(namespace).configMaps}?${query}`)
      assert.isAbove(Date.now() - started, 900)
      assert.deepStrictEqual(
        events(reply).map(({ object, type }) => `${type} ${object.metadata.name}`),
        linesOfFourEvents
      )
      assert.match(reply.contentType, /^application\/json/)
    })
  },
  {
    title: "a watch from a compacted resourceVersion gets 410, in an ERROR event or a response",
    since: 20,
    alone: true,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const resourceVersion = yield* compactedVersion(subject)
      const path = `${at(namespace).events}?watch=true&timeoutSeconds=2&resourceVersion=${resourceVersion}`
      const reply = yield* ask("GET", path)
      const status = reply.status === 410 ? reply.body : events(reply)[0]?.object
      assert.deepStrictEqual(
        [status.kind, status.status, status.code, status.reason],
        ["Status", "Failure", 410, "Expired"]
      )
    })
  },
  {
    title: "a watch at resourceVersion 0 starts with the existing objects, each ADDED, and continues with changes",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* createMine(subject, "a")
      yield* createMine(subject, "b")
      const seen: Array<string> = []
      yield* client.watch(ConfigMap, { namespace, ...mine, resourceVersion: "0", timeoutSeconds: 30 }).pipe(
        Stream.tap((event) => {
          seen.push(line(event))
          const both = seen.length === 2 && event.type === "ADDED"
          return both ? Effect.asVoid(deleteA(subject)) : Effect.void
        }),
        Stream.take(3),
        Stream.runDrain
      )
      assert.sameMembers(seen.slice(0, 2), ["ADDED a", "ADDED b"])
      assert.strictEqual(seen[2], "DELETED a")
    })
  }
]
