/**
 * What Kubernetes' end-to-end suite asks of the protection of claims: test/e2e/storage/pvc_protection.go, without the case that is about the
 * scheduler.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { PersistentVolumeClaim, Pod } from "../../../src/kube/resources.ts"
import * as World from "../stand.ts"

const finalizer = "kubernetes.io/pvc-protection"

const claim = World.get(PersistentVolumeClaim, "data")

/** A claim, and a pod that runs with it. */
const inUse = Effect.gen(function* () {
  yield* World.create(PersistentVolumeClaim, {
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
  })
  yield* World.create(Pod, {
    metadata: { name: "user", labels: { app: "user" } },
    spec: World.spec("web:1", undefined, {
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }]
    })
  })
  yield* World.running("app=user", 1)
  assert.include((yield* claim).metadata.finalizers ?? [], finalizer)
})

World.scenario(
  "a claim that no pod uses goes at once",
  Effect.gen(function* () {
    yield* inUse
    yield* World.remove(Pod, "user")
    yield* World.gone(Pod, "user")
    yield* World.remove(PersistentVolumeClaim, "data")
    yield* World.gone(PersistentVolumeClaim, "data")
  })
)

World.scenario(
  "a claim that a pod uses stays until that is gone",
  Effect.gen(function* () {
    yield* inUse
    yield* World.remove(PersistentVolumeClaim, "data")
    yield* World.advance("1 minute")
    const { metadata } = yield* claim
    assert.isDefined(metadata.deletionTimestamp)
    assert.include(metadata.finalizers ?? [], finalizer)
    yield* World.remove(Pod, "user")
    yield* World.gone(Pod, "user")
    yield* World.gone(PersistentVolumeClaim, "data")
  })
)
