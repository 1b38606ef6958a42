/** Events: one stored object, served by two groups, selected by the field selectors of kubectl describe. */
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { get, layer, names, nth, patch, post, put, refused, same, settle, watch } from "./client.ts"

const core = "/api/v1/namespaces/default/events"
const group = "/apis/events.k8s.io/v1/namespaces/default/events"

const event = (name: string, involved: object = {}) => ({
  metadata: { name, namespace: "default" },
  involvedObject: { kind: "Pod", namespace: "default", name: "web", uid: "u1", apiVersion: "v1", ...involved },
  reason: "PodCount",
  message: "pod count is 3",
  type: "Normal",
  source: { component: "pod-count", host: "h" },
  count: 2,
  firstTimestamp: "2026-01-01T00:00:00Z",
  lastTimestamp: "2026-01-01T00:01:00Z"
})

describe("events", () => {
  it.effect("written as core/v1 are read as events.k8s.io/v1, and back", () =>
    Effect.gen(function* () {
      const made = yield* post(core, event("a"))
      const other = yield* get(`${group}/a`)
      same([other.kind, other.apiVersion], ["Event", "events.k8s.io/v1"])
      same(other.metadata, made.metadata)
      same(other.regarding, made.involvedObject)
      same([other.note, other.deprecatedCount, other.reportingController], ["pod count is 3", 2, "pod-count"])
      same(
        [other.deprecatedSource, other.message, other.involvedObject, other.count],
        [made.source, undefined, undefined, undefined]
      )
      same([other.deprecatedFirstTimestamp, other.deprecatedLastTimestamp], [made.firstTimestamp, made.lastTimestamp])
      const patched = yield* patch(`${group}/a`, "merge", { note: "changed", deprecatedCount: 3 })
      same(patched.note, "changed")
      const again = yield* get(`${core}/a`)
      same([again.message, again.count, again.note, again.source], ["changed", 3, undefined, made.source])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("with a series are converted in both groups and their watches", () =>
    Effect.gen(function* () {
      const seen = yield* watch(core)
      const other = yield* watch(group)
      const sent = {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        metadata: { name: "b" },
        eventTime: "2026-01-01T00:00:00.000000Z",
        reportingController: "example.com/c",
        reportingInstance: "c-0",
        action: "Counted",
        reason: "PodCount",
        regarding: { kind: "Pod", name: "web", namespace: "default" },
        note: "n",
        type: "Normal",
        series: { count: 2, lastObservedTime: "2026-01-01T00:00:01.000000Z" }
      }
      const made = yield* post(group, sent)
      same([made.note, made.series, made.reportingController], ["n", sent.series, "example.com/c"])
      yield* put(`${group}/b`, { ...made, series: { ...sent.series, count: 3 } })
      yield* settle
      const stored = seen.events.map((one) => one.object as any)
      same(
        stored.map((one) => [one.apiVersion, one.message, one.reportingComponent, one.series.count]),
        [
          ["v1", "n", "example.com/c", 2],
          ["v1", "n", "example.com/c", 3]
        ]
      )
      same(
        other.events.map((one: any) => [one.type, one.object.apiVersion, one.object.note]),
        [
          ["ADDED", "events.k8s.io/v1", "n"],
          ["MODIFIED", "events.k8s.io/v1", "n"]
        ]
      )
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("are selected by fields of their involved object", () =>
    Effect.gen(function* () {
      yield* post(core, event("a"))
      yield* post(core, event("b", { name: "db", uid: "u2", fieldPath: "spec.containers{x}" }))
      const by = (path: string, fieldSelector: string) => Effect.map(get(path, { fieldSelector }), names)
      same(
        yield* by(
          core,
          "involvedObject.name=web,involvedObject.namespace=default,involvedObject.kind=Pod,involvedObject.uid=u1"
        ),
        ["a"]
      )
      same(yield* by(core, "involvedObject.uid=u2"), ["b"])
      same(yield* by(core, "involvedObject.fieldPath=spec.containers{x}"), ["b"])
      same(yield* by(core, "involvedObject.apiVersion=v1,reason=PodCount,type=Normal,source=pod-count"), ["a", "b"])
      same(yield* by(core, "type!=Normal"), [])
      same(yield* by(group, "regarding.name=web"), ["a"])
      same(
        (yield* refused(by(group, "involvedObject.name=web"))).message,
        "field label not supported: involvedObject.name"
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("have the same table in both groups", () =>
    Effect.gen(function* () {
      yield* post(core, event("a"))
      const accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
      const cells = (path: string) => Effect.map(get(path, {}, accept), (table) => table.rows[0].cells.slice(1, 4))
      same(yield* cells(core), ["Normal", "PodCount", "pod/web"])
      same(yield* cells(group), yield* cells(core))
    }).pipe(Effect.provide(layer()))
  )

  it.effect("expire an hour after their last write, with a DELETED watch event", () =>
    Effect.gen(function* () {
      yield* post(core, event("a"))
      yield* post(core, event("b"))
      const seen = yield* watch(core, { resourceVersion: nth(2), timeoutSeconds: 7200 })
      yield* TestClock.adjust("30 minutes")
      yield* patch(`${core}/b`, "strategic", { count: 3 })
      yield* TestClock.adjust("30 minutes")
      same(names(yield* get(core)), ["b"])
      same((yield* refused(get(`${core}/a`))).status, 404)
      yield* settle
      same(seen.seen(), ["MODIFIED b", "DELETED a"])
      yield* TestClock.adjust("30 minutes")
      yield* post(core, event("c"))
      same(names(yield* get(group)), ["c"])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )
})
