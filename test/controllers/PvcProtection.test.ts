/** Deleted claims are kept until no pod uses them. Source: pkg/controller/volume/pvcprotection. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as PvcProtection from "../../src/controllers/PvcProtection.ts"
import { PersistentVolumeClaim, Pod } from "../../src/kube/resources.ts"
import * as ClusterTest from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { logged } from "../support/logged.ts"
import * as Harness from "./job/harness.ts"

const namespace = "default"
const finalizer = "kubernetes.io/pvc-protection"

const claim = (name: string, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name, namespace, ...metadata },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
})

const pod = (name: string, volumes: ReadonlyArray<object>, spec: object = {}, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace, ...metadata },
  spec: { containers: [{ name: "main", image: "work:1" }], volumes, nodeName: "worker-1", ...spec }
})

const mounts = (claimName: string) => ({ name: "data", persistentVolumeClaim: { claimName } })

const ephemeral = {
  name: "scratch",
  ephemeral: {
    volumeClaimTemplate: {
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
    }
  }
}

const claims = Effect.flatMap(ClusterTest.ClusterTest, (cluster) =>
  Effect.map(cluster.snapshot(PersistentVolumeClaim), (all) => all.map(({ metadata }) => metadata.name))
)

const none: ReadonlyArray<string> = []

const remove = (name: string) => Effect.andThen(Harness.remove(PersistentVolumeClaim, name), Harness.settle)

const start = Effect.flatMap(ClusterTest.ClusterTest, (cluster) => cluster.run(PvcProtection.make()))

const inCluster = <A, E>(test: Effect.Effect<A, E, ClusterTest.Provides | Scope.Scope>) =>
  Effect.andThen(start, test).pipe(Effect.scoped, Effect.provide(ClusterTest.ClusterTest.layer()))

describe("a claim", () => {
  it.effect("that no pod uses disappears as soon as it is deleted", () =>
    inCluster(
      Effect.gen(function* () {
        yield* Harness.apply(claim("data"), pod("other", [mounts("else")]))
        const calls = yield* Harness.recording()
        yield* remove("data")
        assert.deepStrictEqual(yield* claims, none)
        assert.deepStrictEqual(calls.map(Harness.line), [
          "delete persistentvolumeclaims",
          "list pods",
          "update persistentvolumeclaims"
        ])
      })
    )
  )

  it.effect("that a pod uses is kept until the pod is deleted, also after the pod has terminated", () =>
    inCluster(
      Effect.gen(function* () {
        yield* Harness.apply(claim("data"), pod("user", [mounts("data")]))
        yield* remove("data")
        assert.deepStrictEqual(yield* claims, ["data"])
        yield* Harness.patch(Pod, "user", { status: { phase: "Succeeded" } }, "status")
        yield* Harness.settle
        assert.deepStrictEqual(yield* claims, ["data"])
        yield* Harness.remove(Pod, "user", { gracePeriodSeconds: 0 })
        yield* Harness.settle
        assert.deepStrictEqual(yield* claims, none)
      })
    )
  )

  it.effect("is kept until the last of its pods is deleted", () =>
    inCluster(
      Effect.gen(function* () {
        yield* Harness.apply(
          claim("data"),
          pod("a", [mounts("data")]),
          pod("b", [mounts("else"), { ...mounts("data"), name: "more" }])
        )
        yield* remove("data")
        yield* Harness.remove(Pod, "a", { gracePeriodSeconds: 0 })
        yield* Harness.settle
        assert.deepStrictEqual(yield* claims, ["data"])
        yield* Harness.remove(Pod, "b", { gracePeriodSeconds: 0 })
        yield* Harness.settle
        assert.deepStrictEqual(yield* claims, none)
      })
    )
  )

  it.effect("is not kept for an unscheduled pod", () =>
    inCluster(
      Effect.gen(function* () {
        yield* Harness.apply(claim("data"), pod("waiting", [mounts("data")], { nodeName: undefined }))
        yield* remove("data")
        assert.deepStrictEqual(yield* claims, none)
      })
    )
  )

  it.effect("of an ephemeral volume belongs to its pod, and to no other pod of its name", () =>
    inCluster(
      Effect.gen(function* () {
        yield* Harness.apply(pod("user", [ephemeral], {}, { finalizers: ["example.com/held"] }))
        const user = yield* Effect.flatMap(KubeClient, (client) => client.get(Pod, { namespace, name: "user" }))
        const owner = { apiVersion: "v1", kind: "Pod", name: "user", uid: user.metadata.uid, controller: true }
        yield* Harness.apply(claim("user-scratch", { ownerReferences: [owner] }), claim("user-other"))
        yield* remove("user-other")
        yield* remove("user-scratch")
        assert.deepStrictEqual(yield* claims, ["user-scratch"])
        // The kubelet has stopped the pod, which only another controller's finalizer keeps.
        yield* Harness.remove(Pod, "user", { gracePeriodSeconds: 0 })
        yield* Harness.settle
        assert.deepStrictEqual(yield* claims, none)
      })
    )
  )

  it.effect("of an ephemeral volume's name that the pod does not own is not protected", () =>
    inCluster(
      Effect.gen(function* () {
        yield* Harness.apply(claim("user-scratch"), pod("user", [ephemeral]))
        yield* remove("user-scratch")
        assert.deepStrictEqual(yield* claims, none)
      })
    )
  )

  it.effect("without the finalizer gets it; one that has it is not written", () =>
    inCluster(
      Effect.gen(function* () {
        yield* Harness.apply(claim("old"), claim("new", { finalizers: ["example.com/mine"] }))
        yield* Harness.patch(PersistentVolumeClaim, "old", { metadata: { finalizers: null } })
        const calls = yield* Harness.recording()
        yield* Harness.settle
        const found = yield* Effect.flatMap(KubeClient, (client) =>
          client.get(PersistentVolumeClaim, { namespace, name: "old" })
        )
        assert.deepStrictEqual(found.metadata.finalizers, [finalizer])
        calls.length = 0
        yield* Harness.patch(PersistentVolumeClaim, "new", { metadata: { labels: { a: "b" } } })
        yield* Harness.advance("1 hour")
        assert.deepStrictEqual(calls.map(Harness.line), ["patch persistentvolumeclaims"])
      })
    )
  )

  it.effect("with other finalizers loses only the protection finalizer", () =>
    inCluster(
      Effect.gen(function* () {
        yield* Harness.apply(claim("data", { finalizers: ["example.com/mine"] }))
        yield* remove("data")
        const found = yield* Effect.flatMap(KubeClient, (client) =>
          client.get(PersistentVolumeClaim, { namespace, name: "data" })
        )
        assert.deepStrictEqual(found.metadata.finalizers, ["example.com/mine"])
      })
    )
  )

  it.effect("keeps its finalizer while the cache lags behind the server", () =>
    Effect.gen(function* () {
      yield* Harness.recording([
        { match: { verb: "watch", resource: "pods" }, fault: { _tag: "CutWatch", after: 1, how: "silence" }, times: 1 }
      ])
      yield* start
      yield* Harness.apply(claim("data"), pod("user", [mounts("data")]))
      yield* remove("data")
      assert.deepStrictEqual(yield* claims, ["data"])
      yield* Harness.advance("20 minutes")
      yield* Harness.remove(Pod, "user", { gracePeriodSeconds: 0 })
      yield* Harness.advance("20 minutes")
      assert.deepStrictEqual(yield* claims, none)
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.ClusterTest.layer({ admission: { storageProtection: true } })))
  )

  for (const [title, fault] of Object.entries({
    "writes conflict": { _tag: "Conflict" },
    "writes fail": { _tag: "Status", code: 403 },
    "answers get lost": { _tag: "DropAnswer" }
  } as const)) {
    for (const verb of ["update", "list"] as const) {
      if (verb === "list" && fault._tag === "Conflict") continue
      it.effect(`is finally deleted although ${title} (${verb})`, () =>
        inCluster(
          Effect.gen(function* () {
            yield* Harness.apply(claim("data"))
            const resource = verb === "update" ? "persistentvolumeclaims" : "pods"
            yield* Harness.recording([{ match: { verb, resource }, fault, times: 5 }])
            yield* remove("data")
            yield* Harness.advance("10 minutes")
            assert.deepStrictEqual(yield* claims, none)
          })
        )
      )
    }
  }

  it.effect("shares one pod list with other claims deleted together", () =>
    inCluster(
      Effect.gen(function* () {
        const names = Array.from({ length: 20 }, (_, i) => `data-${String(i).padStart(2, "0")}`)
        yield* Harness.apply(...names.map((name) => claim(name)), pod("user", [mounts("data-07")]))
        const calls = yield* Harness.recording()
        yield* Effect.flatMap(KubeClient, (client) => client.deleteCollection(PersistentVolumeClaim, { namespace }))
        yield* Harness.settle
        assert.deepStrictEqual(yield* claims, ["data-07"])
        const lists = calls.filter((call) => Harness.line(call) === "list pods")
        assert.isBelow(lists.length, 5)
        yield* Harness.remove(Pod, "user", { gracePeriodSeconds: 0 })
        yield* Harness.settle
        assert.deepStrictEqual(yield* claims, none)
      })
    )
  )

  it.effect("is counted and logged when its finalizer is removed", () => {
    const log = logged()
    return inCluster(
      Effect.gen(function* () {
        yield* Harness.apply(claim("data"))
        yield* remove("data")
        const series = (yield* Metric.snapshot).find(
          ({ attributes, id }) =>
            id === "pvc_protection_controller_finalizer_writes_total" && attributes?.["action"] === "removed"
        )
        assert.isDefined(series)
        assert.deepStrictEqual(log.lines(/no pod uses/), [
          "persistentvolumeclaim-protection: Removed the finalizer of a claim that no pod uses"
        ])
      })
    ).pipe(Effect.provide(log.logger))
  })
})
