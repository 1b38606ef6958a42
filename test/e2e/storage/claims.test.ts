/**
 * The cases for the protection of claims from Kubernetes' end-to-end suite: test/e2e/storage/pvc_protection.go, without the case about the
 * scheduler.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { PersistentVolumeClaim, Pod } from "../../../src/kube/resources.ts"
import * as Harness from "../harness.ts"

const finalizer = "kubernetes.io/pvc-protection"

const claim = Harness.get(PersistentVolumeClaim, "data")

/** Creates a claim, and a pod that uses it and runs. */
const inUse = Effect.gen(function* () {
  yield* Harness.create(PersistentVolumeClaim, {
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
  })
  yield* Harness.create(Pod, {
    metadata: { name: "user", labels: { app: "user" } },
    spec: Harness.spec("web:1", undefined, {
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }]
    })
  })
  yield* Harness.running("app=user", 1)
  assert.include((yield* claim).metadata.finalizers ?? [], finalizer)
})

Harness.scenario(
  "a claim that no pod uses is deleted at once",
  Effect.gen(function* () {
    yield* inUse
    yield* Harness.remove(Pod, "user")
    yield* Harness.gone(Pod, "user")
    yield* Harness.remove(PersistentVolumeClaim, "data")
    yield* Harness.gone(PersistentVolumeClaim, "data")
  })
)

Harness.scenario(
  "a claim that a pod uses is deleted after the pod",
  Effect.gen(function* () {
    yield* inUse
    yield* Harness.remove(PersistentVolumeClaim, "data")
    yield* Harness.advance("1 minute")
    const { metadata } = yield* claim
    assert.isDefined(metadata.deletionTimestamp)
    assert.include(metadata.finalizers ?? [], finalizer)
    yield* Harness.remove(Pod, "user")
    yield* Harness.gone(Pod, "user")
    yield* Harness.gone(PersistentVolumeClaim, "data")
  })
)
