/**
 * delete and deletecollection: finalizers, grace periods, propagation, preconditions, namespaces, and surprising behaviour of
 * kube-apiserver.
 */
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

const held = configMap("a", {}, { finalizers: ["example.com/hold"] })
const jobs = "/apis/batch/v1/namespaces/default/jobs"
const job = (name: string, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "web:1" }] } } }
})

describe("delete", () => {
  it.effect("returns a Status, or the object for some kinds", () =>
    Effect.gen(function* () {
      const made = yield* post(configMaps, configMap("a"))
      same(yield* remove(`${configMaps}/a`), {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Success",
        details: { name: "a", kind: "configmaps", uid: made.metadata.uid }
      })
      same((yield* refused(remove(`${configMaps}/a`))).status, 404)
      yield* post(pods, pod("p"))
      same((yield* remove(`${pods}/p`)).kind, "Pod")
      same((yield* refused(get(`${pods}/p`))).status, 404)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("waits for finalizers, rejects new ones, and completes with the last", () =>
    Effect.gen(function* () {
      yield* post(configMaps, held)
      const seen = yield* watch(configMaps, { resourceVersion: nth(1) })
      yield* TestClock.adjust("10 seconds")
      const waiting = yield* remove(`${configMaps}/a`)
      same(
        [waiting.metadata.deletionTimestamp, waiting.metadata.deletionGracePeriodSeconds],
        ["1970-01-01T00:00:10Z", 0]
      )
      yield* TestClock.adjust("10 seconds")
      same((yield* remove(`${configMaps}/a`)).metadata, waiting.metadata)
      const added = yield* refused(
        patch(`${configMaps}/a`, "merge", { metadata: { finalizers: ["example.com/hold", "x.y/z"] } })
      )
      assert.match(
        added.message,
        /metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted/
      )
      const last = yield* patch(`${configMaps}/a`, "merge", { metadata: { finalizers: null } })
      same((yield* refused(get(`${configMaps}/a`))).status, 404)
      yield* settle
      same(seen.seen(), ["MODIFIED a", "DELETED a"])
      same((seen.events[1]?.object as any).metadata.resourceVersion, last.metadata.resourceVersion)
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("sets the grace period of a scheduled pod, which can only be shortened", () =>
    Effect.gen(function* () {
      yield* post(pods, pod("a", {}, { nodeName: "n1" }))
      const first = yield* remove(`${pods}/a`)
      same([first.metadata.deletionTimestamp, first.metadata.deletionGracePeriodSeconds], ["1970-01-01T00:00:30Z", 30])
      same(
        (yield* remove(`${pods}/a`, { gracePeriodSeconds: 60 })).metadata.resourceVersion,
        first.metadata.resourceVersion
      )
      const shorter = yield* remove(`${pods}/a`, undefined, { gracePeriodSeconds: 5 })
      same(
        [shorter.metadata.deletionTimestamp, shorter.metadata.deletionGracePeriodSeconds],
        ["1970-01-01T00:00:05Z", 5]
      )
      yield* remove(`${pods}/a`, { gracePeriodSeconds: 0 })
      same((yield* refused(get(`${pods}/a`))).status, 404)
      yield* post(pods, pod("b"))
      yield* remove(`${pods}/b`)
      same((yield* refused(get(`${pods}/b`))).status, 404)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("checks its preconditions", () =>
    Effect.gen(function* () {
      const made = yield* post(configMaps, configMap("a"))
      const uid = yield* refused(remove(`${configMaps}/a`, { preconditions: { uid: "other" } }))
      same([uid.status, uid.error.reason._tag], [409, "Conflict"])
      assert.match(uid.message, /the UID in the precondition \(other\) does not match the UID in record/)
      same((yield* refused(remove(`${configMaps}/a`, { preconditions: { resourceVersion: "1" } }))).status, 409)
      yield* remove(`${configMaps}/a`, {
        preconditions: { uid: made.metadata.uid, resourceVersion: made.metadata.resourceVersion }
      })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("sets the finalizer of the propagation policy for the garbage collector", () =>
    Effect.gen(function* () {
      const finalizers = (policy: string, own: ReadonlyArray<string> = []) =>
        Effect.gen(function* () {
          yield* post(configMaps, configMap("a", {}, { finalizers: own }))
          const answer = yield* remove(`${configMaps}/a`, { propagationPolicy: policy })
          yield* Effect.ignore(patch(`${configMaps}/a`, "merge", { metadata: { finalizers: [] } }))
          return answer.kind === "Status" ? "gone" : answer.metadata.finalizers
        })
      same(yield* finalizers("Foreground"), ["foregroundDeletion"])
      same(yield* finalizers("Orphan", ["a.b/c"]), ["a.b/c", "orphan"])
      same(yield* finalizers("Background"), "gone")
      yield* post(configMaps, configMap("b"))
      same((yield* refused(remove(`${configMaps}/b`, { propagationPolicy: "Odd" }))).status, 422)
      yield* remove(`${configMaps}/b`, { orphanDependents: true })
      same((yield* get(`${configMaps}/b`)).metadata.finalizers, ["orphan"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("of a collection deletes the selected objects", () =>
    Effect.gen(function* () {
      yield* post(configMaps, configMap("a", {}, { labels: { x: "y" } }))
      yield* post(configMaps, configMap("b"))
      yield* post(configMaps, configMap("c", {}, { labels: { x: "y" } }))
      same(names(yield* remove(configMaps, undefined, { labelSelector: "x=y" })), ["a", "c"])
      same(names(yield* get(configMaps)), ["b"])
    }).pipe(Effect.provide(layer()))
  )
})

describe("namespaces", () => {
  it.effect("stay Terminating until their finalizers are empty, and reject creates", () =>
    Effect.gen(function* () {
      const path = "/api/v1/namespaces/team"
      const made = yield* post("/api/v1/namespaces", { metadata: { name: "team" } })
      same(
        [made.spec, made.status, made.metadata.labels],
        [{ finalizers: ["kubernetes"] }, { phase: "Active" }, { "kubernetes.io/metadata.name": "team" }]
      )
      yield* post(`${path}/configmaps`, configMap("a"))
      const dying = yield* remove(path)
      same(dying.status.phase, "Terminating")
      const late = yield* refused(post(`${path}/configmaps`, configMap("b")))
      same(
        [late.status, late.message],
        [
          403,
          'configmaps "b" is forbidden: unable to create new content in namespace team because it is being terminated'
        ]
      )
      same(late.error.details?.causes?.[0]?.reason, "NamespaceTerminating")
      same((yield* put(path, { ...dying, spec: {} })).spec, { finalizers: ["kubernetes"] })
      same((yield* get(`${path}/configmaps`)).items.length, 1)
      yield* put(`${path}/finalize`, { ...(yield* get(path)), spec: { finalizers: [] } })
      same((yield* refused(get(path))).status, 404)
      same(
        (yield* refused(remove("/api/v1/namespaces/default"))).message,
        'namespaces "default" is forbidden: this namespace may not be deleted'
      )
    }).pipe(Effect.provide(layer()))
  )
})

describe("propagation", () => {
  it.effect("of kinds older than the garbage collector orphans by default", () =>
    Effect.gen(function* () {
      yield* post(jobs, job("a"))
      same((yield* remove(`${jobs}/a`)).metadata.finalizers, ["orphan"])
      yield* post(jobs, job("b"))
      same((yield* remove(`${jobs}/b`, undefined, { propagationPolicy: "Background" })).kind, "Status")
      yield* post(jobs, job("c", { finalizers: ["foregroundDeletion"] }))
      same((yield* remove(`${jobs}/c`)).metadata.finalizers, ["foregroundDeletion"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("orphanDependents and propagationPolicy are exclusive", () =>
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

  it.effect("of a later deletion replaces the earlier one, and may complete the deletion", () =>
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
  it.effect("whose preconditions fail names the kind, as kube-apiserver does", () =>
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

  it.effect("increments the generation once, with the deletionTimestamp", () =>
    Effect.gen(function* () {
      yield* post(jobs, job("a", { finalizers: ["a.b/c"] }))
      same((yield* remove(`${jobs}/a`)).metadata.generation, 2)
      same((yield* remove(`${jobs}/a`)).metadata.generation, 2)
      const undone = yield* patch(`${jobs}/a`, "merge", { metadata: { deletionTimestamp: null } })
      assert.isDefined(undone.metadata.deletionTimestamp)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("of a finished pod has no grace period, not even a requested one", () =>
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
  it.effect("deletes the page that its query selects", () =>
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

describe("a namespace with finalizers of its own", () => {
  it.effect("has no grace period, and is removed when both finalizer lists are empty", () =>
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
