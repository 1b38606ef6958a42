/** Deletion as a real API server does it, where it is easy to get wrong; and objects that end by themselves. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import {
  configMap,
  configMaps,
  get,
  layer,
  names,
  nth,
  patch,
  pod,
  pods,
  post,
  put,
  refused,
  remove,
  same,
  settle,
  watch
} from "./client.ts"

const jobs = "/apis/batch/v1/namespaces/default/jobs"
const events = "/api/v1/namespaces/default/events"
const container = { name: "main", image: "web:1" }
const job = (name: string, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { template: { spec: { restartPolicy: "Never", containers: [container] } } }
})
const event = (name: string, extra: object = {}) => ({
  metadata: { name },
  involvedObject: { kind: "Pod", namespace: "default", name: "p" },
  reason: "Tested",
  ...extra
})

describe("propagation", () => {
  it.effect("of kinds older than the collector orphans unless something is said", () =>
    Effect.gen(function* () {
      yield* post(jobs, job("a"))
      same((yield* remove(`${jobs}/a`)).metadata.finalizers, ["orphan"])
      yield* post(jobs, job("b"))
      same((yield* remove(`${jobs}/b`, undefined, { propagationPolicy: "Background" })).kind, "Status")
      yield* post(jobs, job("c", { finalizers: ["foregroundDeletion"] }))
      same((yield* remove(`${jobs}/c`)).metadata.finalizers, ["foregroundDeletion"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("is said once: the old word and the new one contradict each other", () =>
    Effect.gen(function* () {
      yield* post(configMaps, configMap("a"))
      const both = yield* refused(
        remove(`${configMaps}/a`, { propagationPolicy: "Foreground", orphanDependents: true })
      )
      same(
        [both.status, both.message],
        [
          422,
          'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Foreground": orphanDependents and deletionPropagation cannot be both set'
        ]
      )
      const odd = yield* refused(remove(`${configMaps}/a`, undefined, { propagationPolicy: "Odd" }))
      assert.match(odd.message, /supported values: "Foreground", "Background", "Orphan", "nil"$/)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("that comes later takes the earlier one's place, and may end the object", () =>
    Effect.gen(function* () {
      yield* post(configMaps, configMap("a"))
      const by = (propagationPolicy: string) => remove(`${configMaps}/a`, undefined, { propagationPolicy })
      same((yield* by("Orphan")).metadata.finalizers, ["orphan"])
      same((yield* by("Foreground")).metadata.finalizers, ["foregroundDeletion"])
      same((yield* by("Background")).kind, "Status")
      same((yield* refused(get(`${configMaps}/a`))).status, 404)
    }).pipe(Effect.provide(layer()))
  )
})

describe("a deletion", () => {
  it.effect("whose preconditions fail names the kind, as the reference server does", () =>
    Effect.gen(function* () {
      yield* post(jobs, job("a"))
      const refusal = yield* refused(remove(`${jobs}/a`, { preconditions: { uid: "other" } }))
      assert.match(
        refusal.message,
        /^Operation cannot be fulfilled on Job.batch "a": the UID in the precondition \(other\)/
      )
      same(refusal.error.details?.kind, "Job")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("counts a generation when it is marked, once", () =>
    Effect.gen(function* () {
      yield* post(jobs, job("a", { finalizers: ["a.b/c"] }))
      same((yield* remove(`${jobs}/a`)).metadata.generation, 2)
      same((yield* remove(`${jobs}/a`)).metadata.generation, 2)
      const undone = yield* patch(`${jobs}/a`, "merge", { metadata: { deletionTimestamp: null } })
      assert.isDefined(undone.metadata.deletionTimestamp)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("of a pod that is over needs no grace, and one that is asked for does not help it", () =>
    Effect.gen(function* () {
      yield* post(pods, pod("a", {}, { nodeName: "n" }))
      yield* patch(`${pods}/a/status`, "merge", { status: { phase: "Succeeded" } })
      yield* remove(`${pods}/a`, undefined, { gracePeriodSeconds: 30 })
      same((yield* refused(get(`${pods}/a`))).status, 404)
      const made = yield* post(pods, pod("b", {}, { nodeName: "n", terminationGracePeriodSeconds: 7 }))
      same((yield* remove(`${pods}/b`)).metadata.deletionGracePeriodSeconds, 7)
      const now = { gracePeriodSeconds: 0, preconditions: { uid: "other" } }
      same((yield* refused(remove(`${pods}/b`, now))).status, 409)
      yield* remove(`${pods}/b`, { gracePeriodSeconds: 0, preconditions: { uid: made.metadata.uid } })
      same((yield* refused(get(`${pods}/b`))).status, 404)
    }).pipe(Effect.provide(layer()))
  )
})

describe("deletecollection", () => {
  it.effect("deletes the page that its query shows", () =>
    Effect.gen(function* () {
      for (const name of ["a", "b", "c"]) yield* post(configMaps, configMap(name))
      const dry = yield* remove(configMaps, undefined, { dryRun: "All" })
      same(
        [names(dry), names(yield* get(configMaps))],
        [
          ["a", "b", "c"],
          ["a", "b", "c"]
        ]
      )
      const first = yield* remove(configMaps, undefined, { limit: 2 })
      same([names(first), first.metadata.remainingItemCount], [["a", "b"], 1])
      same(names(yield* get(configMaps)), ["c"])
      same(names(yield* remove(configMaps, undefined, { continue: first.metadata.continue })), ["c"])
    }).pipe(Effect.provide(layer()))
  )
})

describe("a namespace", () => {
  it.effect("has no grace, and goes when both of its lists are empty", () =>
    Effect.gen(function* () {
      const path = "/api/v1/namespaces/team"
      yield* post("/api/v1/namespaces", { metadata: { name: "team", finalizers: ["a.b/c"] } })
      const marked = yield* remove(path)
      same(
        [marked.status.phase, marked.metadata.deletionGracePeriodSeconds, marked.metadata.finalizers],
        ["Terminating", undefined, ["a.b/c"]]
      )
      same((yield* remove(path)).metadata.resourceVersion, marked.metadata.resourceVersion)
      const emptied = yield* put(`${path}/finalize`, { ...marked, spec: { finalizers: [] } })
      same([emptied.spec.finalizers ?? [], emptied.metadata.finalizers], [[], ["a.b/c"]])
      const seen = yield* watch("/api/v1/namespaces", { resourceVersion: emptied.metadata.resourceVersion })
      const last = yield* patch(path, "merge", { metadata: { finalizers: [] } })
      same((yield* refused(get(path))).status, 404)
      yield* settle
      same(seen.seen(), ["DELETED team"])
      same((seen.events[0]?.object as any).metadata.resourceVersion, last.metadata.resourceVersion)
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )
})

describe("an event", () => {
  it.effect("is forgotten an hour after its last write, and watchers are told", () =>
    Effect.gen(function* () {
      yield* post(events, event("a"))
      yield* post(events, event("b"))
      const seen = yield* watch(events, { resourceVersion: nth(2), timeoutSeconds: 7200 })
      yield* TestClock.adjust("30 minutes")
      yield* patch(`${events}/b`, "strategic", { count: 2 })
      yield* TestClock.adjust("30 minutes")
      same(names(yield* get(events)), ["b"])
      same((yield* refused(get(`${events}/a`))).status, 404)
      yield* settle
      same(seen.seen(), ["MODIFIED b", "DELETED a"])
      yield* TestClock.adjust("30 minutes")
      yield* post(events, event("c"))
      same(names(yield* get("/apis/events.k8s.io/v1/namespaces/default/events")), ["c"])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )
})
