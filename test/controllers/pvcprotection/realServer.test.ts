/** Claims on a real API server, which adds the finalizer itself: they are kept until no pod uses them. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PvcProtection from "../../../src/controllers/PvcProtection.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { PersistentVolumeClaim, Pod } from "../../../src/kube/resources.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as envtest from "../../support/envtest.ts"
import * as RealServer from "../../support/realServer.ts"

const isMissing = envtest.isMissing("claims on a real API server")
if (!isMissing)
  console.log("skipped on a real API server of 1.20: CronJobs, because it serves them as batch/v1beta1 only")

const cluster = PvcProtection.make().layer.pipe(Layer.provideMerge(RealServer.services()))

const namespace = "default"
const finalizer = "kubernetes.io/pvc-protection"

const claim = (name: string) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(PersistentVolumeClaim, {
      metadata: { namespace, name },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
    })
  )

const remove = (name: string) =>
  Effect.flatMap(KubeClient, (client) => client.delete(PersistentVolumeClaim, { namespace, name }))

it.live.skipIf(isMissing)("keeps claims until no pod uses them on a real API server", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    for (const name of ["used", "free", "bare"]) {
      assert.deepStrictEqual((yield* claim(name)).metadata.finalizers, [finalizer])
    }
    yield* client.create(Pod, {
      metadata: { namespace, name: "user" },
      spec: {
        nodeName: "worker-1",
        containers: [{ name: "main", image: "work:1" }],
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: "used" } }]
      }
    })
    yield* remove("used")
    yield* remove("free")
    yield* RealServer.until(PersistentVolumeClaim, "free", (found) => found === undefined)
    const used = yield* client.get(PersistentVolumeClaim, { namespace, name: "used" })
    assert.deepStrictEqual(used.metadata.finalizers, [finalizer])
    yield* client.delete(Pod, { namespace, name: "user" }, { gracePeriodSeconds: 0 })
    yield* RealServer.until(PersistentVolumeClaim, "used", (found) => found === undefined)

    yield* client.patch(
      PersistentVolumeClaim,
      { namespace, name: "bare" },
      Patch.merge({ metadata: { finalizers: null } })
    )
    yield* RealServer.until(
      PersistentVolumeClaim,
      "bare",
      (found) => found?.metadata.finalizers?.includes(finalizer) === true
    )
  }).pipe(Effect.provide(cluster))
)
