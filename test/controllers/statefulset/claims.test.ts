/** The claims of a StatefulSet: created before the pods, and retained or garbage collected by the retention policy. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as GarbageCollector from "../../../src/controllers/GarbageCollector.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import * as Harness from "./harness.ts"

const collecting = Effect.flatMap(ClusterTest, (cluster) => cluster.run(GarbageCollector.make()))

const retention = (whenDeleted: "Retain" | "Delete", whenScaled: "Retain" | "Delete") => ({
  persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled }
})

const names = Effect.map(Harness.claims, (all) => all.map(({ metadata }) => metadata.name))

Harness.scenario(
  "creates claims before their pod, with the labels of the selector, and keeps them",
  Effect.gen(function* () {
    yield* collecting
    const templates = [
      Harness.claimTemplate("data", { labels: { disk: "fast", app: "other" }, annotations: { a: "b" } }),
      Harness.claimTemplate("log-files")
    ]
    yield* Harness.running(Harness.withClaims({ replicas: 2, volumeClaimTemplates: templates }))
    assert.deepStrictEqual(yield* names, ["data-web-0", "data-web-1", "log-files-web-0", "log-files-web-1"])
    const [claim] = yield* Harness.claims
    assert.deepStrictEqual(claim?.metadata.labels, { disk: "fast", app: "web" })
    assert.strictEqual(claim?.metadata.annotations?.["a"], "b")
    assert.deepInclude(claim?.spec, { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } })
    assert.deepStrictEqual((yield* Harness.events).slice(0, 3), [
      "Normal SuccessfulCreate Create Claim data-web-0 Pod web-0 in StatefulSet web success",
      "Normal SuccessfulCreate Create Claim log-files-web-0 Pod web-0 in StatefulSet web success",
      "Normal SuccessfulCreate Create Pod web-0 in StatefulSet web successful"
    ])
    const uids = (yield* Harness.claims).map(({ metadata }) => metadata.uid)
    yield* Harness.scale(0)
    yield* Harness.advance("1 minute")
    yield* Harness.remove(Harness.StatefulSet, "web")
    yield* Harness.advance("1 minute")
    yield* Harness.running(Harness.withClaims({ replicas: 2, volumeClaimTemplates: templates }))
    assert.deepStrictEqual(
      (yield* Harness.claims).map(({ metadata }) => metadata.uid),
      uids
    )
  })
)

Harness.scenario(
  "records why a claim cannot be created, and creates no pod without it",
  Effect.gen(function* () {
    const refuse = Harness.refusing("create", "persistentvolumeclaims", 1)
    yield* Harness.recording([refuse])
    yield* Harness.create(Harness.StatefulSet, Harness.withClaims({ replicas: 1 }))
    const [ofClaim = "", ofPod = ""] = yield* Harness.events
    assert.match(
      ofClaim,
      /^Warning FailedCreate Create Claim data-web-0 for Pod web-0 in StatefulSet web failed error: ./
    )
    assert.match(
      ofPod,
      /^Warning FailedCreate Create Pod web-0 in StatefulSet web failed error: failed to create PVC data-web-0: ./
    )
    yield* Harness.advance("1 minute")
    assert.deepInclude(yield* Harness.status, { readyReplicas: 1 })
  })
)

Harness.scenario(
  "creates no pod whose claim is being deleted, and both when it is gone",
  Effect.gen(function* () {
    yield* Harness.running(Harness.withClaims({ replicas: 1 }))
    yield* Harness.patch(Harness.PersistentVolumeClaim, "data-web-0", {
      metadata: { finalizers: ["example.test/held"] }
    })
    yield* Harness.remove(Harness.PersistentVolumeClaim, "data-web-0")
    yield* Harness.remove(Harness.Pod, "web-0")
    yield* Harness.advance("10 minutes")
    assert.deepStrictEqual(yield* Harness.names, [])
    const text = "Create Pod web-0 in StatefulSet web failed error: pvc data-web-0 is being deleted"
    assert.include(yield* Harness.events, `Warning FailedCreate ${text}`)
    yield* Harness.patch(Harness.PersistentVolumeClaim, "data-web-0", { metadata: { finalizers: null } })
    yield* Harness.advance("2 seconds")
    assert.deepStrictEqual([yield* names, yield* Harness.names], [["data-web-0"], ["web-0"]])
  })
)

Harness.scenario(
  "recreates the claim of a pending pod",
  Effect.gen(function* () {
    const nowhere = { ...Harness.podSpec(), nodeSelector: { nowhere: "yes" } }
    yield* Harness.running(
      Harness.withClaims({ replicas: 1, template: { metadata: { labels: Harness.labels }, spec: nowhere } })
    )
    const [{ metadata } = { metadata: { uid: "" } }] = yield* Harness.claims
    yield* Harness.patch(Harness.PersistentVolumeClaim, "data-web-0", { metadata: { finalizers: null } })
    yield* Harness.remove(Harness.PersistentVolumeClaim, "data-web-0")
    yield* Harness.advance("1 second")
    const [again] = yield* Harness.claims
    assert.strictEqual(again?.metadata.name, "data-web-0")
    assert.notStrictEqual(again?.metadata.uid, metadata.uid)
  })
)

Harness.scenario(
  "records FailedUpdate when the owners of a pending pod's claim cannot be written",
  Effect.gen(function* () {
    const spec = { ...Harness.podSpec(), nodeSelector: { nowhere: "yes" } }
    yield* Harness.running(
      Harness.withClaims({ replicas: 1, template: { metadata: { labels: Harness.labels }, spec } })
    )
    yield* Harness.recording([Harness.refusing("update", "persistentvolumeclaims", 1)])
    yield* Harness.change(retention("Delete", "Retain"))
    assert.match(
      (yield* Harness.events).find((event) => event.startsWith("Warning")) ?? "",
      /^Warning FailedUpdate Update Pod web-0 in StatefulSet web failed error: could not update claim data-web-0 for delete policy ownerRefs: ./
    )
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.ownersOfClaims, ["data-web-0: StatefulSet web"])
  })
)

Harness.scenario(
  "claims are deleted with the set under whenDeleted",
  Effect.gen(function* () {
    yield* collecting
    yield* Harness.running(Harness.withClaims(retention("Delete", "Retain")))
    const owned = ["data-web-0: StatefulSet web", "data-web-1: StatefulSet web", "data-web-2: StatefulSet web"]
    assert.deepStrictEqual(yield* Harness.ownersOfClaims, owned)
    yield* Harness.scale(1)
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.ownersOfClaims, owned)
    for (const name of yield* names)
      yield* Harness.patch(Harness.PersistentVolumeClaim, name, { metadata: { finalizers: null } })
    yield* Harness.remove(Harness.StatefulSet, "web")
    yield* Harness.advance("2 minutes")
    assert.deepStrictEqual(yield* names, [])
  })
)

Harness.scenario(
  "claims are deleted with surplus pods under whenScaled",
  Effect.gen(function* () {
    yield* collecting
    yield* Harness.running(Harness.withClaims(retention("Retain", "Delete")))
    assert.deepStrictEqual(yield* Harness.ownersOfClaims, ["data-web-0:", "data-web-1:", "data-web-2:"])
    for (const name of yield* names)
      yield* Harness.patch(Harness.PersistentVolumeClaim, name, { metadata: { finalizers: null } })
    yield* Harness.patch(Harness.Pod, "web-2", { metadata: { finalizers: ["example.test/held"] } })
    yield* Harness.scale(1)
    yield* Harness.advance("1 minute")
    // The owners of the claims are set before the pods are deleted in order.
    assert.deepStrictEqual(yield* Harness.ownersOfClaims, [
      "data-web-0:",
      "data-web-1: Pod web-1",
      "data-web-2: Pod web-2"
    ])
    yield* Harness.patch(Harness.Pod, "web-2", { metadata: { finalizers: null } })
    yield* Harness.advance("2 minutes")
    assert.deepStrictEqual(yield* Harness.ownersOfClaims, ["data-web-0:"])
    yield* Harness.remove(Harness.StatefulSet, "web")
    yield* Harness.advance("2 minutes")
    assert.deepStrictEqual(yield* names, ["data-web-0"])
  })
)

Harness.scenario(
  "under both policies a claim is owned by its pod while that is surplus, and by the set after a scale-up",
  Effect.gen(function* () {
    yield* Harness.running(Harness.withClaims({ replicas: 2, ...retention("Delete", "Delete") }))
    yield* Harness.unready("web-1")
    yield* Harness.patch(Harness.Pod, "web-0", { metadata: { annotations: { note: "x" } } })
    yield* Harness.patch(Harness.Pod, "web-1", { metadata: { finalizers: ["example.test/held"] } })
    yield* Harness.scale(1)
    assert.deepStrictEqual(yield* Harness.ownersOfClaims, ["data-web-0: StatefulSet web", "data-web-1: Pod web-1"])
    yield* Harness.change(retention("Retain", "Retain"))
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.ownersOfClaims, ["data-web-0:", "data-web-1:"])
    const events = yield* Harness.events
    assert.include(events, "Normal SuccessfulUpdate Update Pod web-0 in StatefulSet web successful")
  })
)

Harness.scenario(
  "creates no pod while the claim of its former pod waits for garbage collection",
  Effect.gen(function* () {
    yield* Harness.running(Harness.withClaims({ replicas: 2, ...retention("Retain", "Delete") }))
    const before = (yield* Harness.claims).map(({ metadata }) => metadata.uid)
    yield* Harness.scale(1)
    yield* Harness.advance("1 minute")
    yield* Harness.scale(2)
    yield* Harness.advance("10 minutes")
    // No garbage collector runs, and the claim that the last web-1 owned still exists.
    assert.deepStrictEqual(yield* Harness.names, ["web-0"])
    yield* Harness.patch(Harness.PersistentVolumeClaim, "data-web-1", { metadata: { finalizers: null } })
    yield* Harness.remove(Harness.PersistentVolumeClaim, "data-web-1")
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.names, ["web-0", "web-1"])
    const after = (yield* Harness.claims).map(({ metadata }) => metadata.uid)
    assert.strictEqual(after[0], before[0])
    assert.notStrictEqual(after[1], before[1])
  })
)

Harness.scenario(
  "does not change claims of another controller, and records an event",
  Effect.gen(function* () {
    const other = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "u-other", controller: true }
    yield* Harness.create(Harness.PersistentVolumeClaim, {
      ...Harness.claimTemplate(),
      metadata: { name: "data-web-0", namespace: "default", ownerReferences: [other] }
    })
    yield* Harness.running(Harness.withClaims({ replicas: 2, ...retention("Delete", "Retain") }))
    assert.deepStrictEqual(yield* Harness.ownersOfClaims, [
      "data-web-0: ConfigMap other",
      "data-web-1: StatefulSet web"
    ])
    const text =
      "PersistentVolumeClaim data-web-0 has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim"
    assert.include(yield* Harness.events, `Warning ConflictingController ${text}`)
    assert.deepInclude(yield* Harness.status, { readyReplicas: 2 })
  })
)

Harness.scenario(
  "does not change a claim of a former set of the same name",
  Effect.gen(function* () {
    const former = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "u-former", controller: true }
    yield* Harness.create(Harness.PersistentVolumeClaim, {
      ...Harness.claimTemplate(),
      metadata: { name: "data-web-0", namespace: "default", ownerReferences: [former] }
    })
    yield* Harness.running(Harness.withClaims({ replicas: 1, ...retention("Delete", "Delete") }))
    const [claim] = yield* Harness.claims
    assert.deepStrictEqual(
      claim?.metadata.ownerReferences?.map(({ uid }) => uid),
      ["u-former"]
    )
  })
)

Harness.scenario(
  "records a failed update for an adopted pod without its volumes",
  Effect.gen(function* () {
    yield* Harness.create(Harness.Pod, {
      metadata: { name: "web-0", namespace: "default", labels: Harness.labels },
      spec: Harness.podSpec()
    })
    yield* Harness.advance("10 seconds")
    yield* Harness.create(Harness.StatefulSet, Harness.withClaims({ replicas: 1 }))
    assert.match(
      (yield* Harness.events).join("\n"),
      /Warning FailedUpdate Update Pod web-0 in StatefulSet web failed error: ./
    )
    assert.deepStrictEqual(yield* names, ["data-web-0"])
  })
)
