/** Claims on a real API server, which puts the finalizer on by itself: they stay until no pod uses them. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as PvcProtection from "../../../src/controllers/PvcProtection.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { PersistentVolumeClaim, Pod } from "../../../src/kube/resources.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import { Endpoint } from "../../../src/layers/Endpoint.ts"
import * as HttpTransport from "../../../src/platform/HttpTransport.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Recorder } from "../../../src/layers/Recorder.ts"
import { Supervisor } from "../../../src/layers/Supervisor.ts"
import * as envtest from "../../support/envtest.ts"

const assets = envtest.assets()
const missing = "missing" in assets ? assets.missing : undefined

if (missing !== undefined) console.log(`skipped: claims on a real API server, because ${missing}`)
else console.log("skipped on a real API server of 1.20: CronJobs, because it serves them as batch/v1beta1 only")

const server = Layer.effect(
  Endpoint,
  Effect.map(
    Effect.suspend(() => envtest.start("folder" in assets ? assets.folder : "")),
    ({ endpoint }) => endpoint
  )
)

const cluster = PvcProtection.make().layer.pipe(
  Layer.provideMerge(Recorder.layer),
  Layer.provideMerge(Cache.layer()),
  Layer.provideMerge(KubeClient.layer),
  Layer.provideMerge(HttpTransport.layer),
  Layer.provideMerge(Supervisor.layer),
  Layer.provide(server)
)

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

/** Waits for the server to tell that the claim is as wanted; undefined stands for gone. */
const until = (name: string, wanted: (claim: PersistentVolumeClaim | undefined) => boolean) =>
  Effect.flatMap(Cache, (cache) =>
    cache.changes(PersistentVolumeClaim).pipe(
      Stream.filter(
        ({ _tag, object }) => object.metadata.name === name && wanted(_tag === "Deleted" ? undefined : object)
      ),
      Stream.runHead
    )
  )

it.live.skipIf(missing !== undefined)(
  "keeps claims until no pod uses them on a real API server",
  () =>
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
      yield* until("free", (found) => found === undefined)
      const used = yield* client.get(PersistentVolumeClaim, { namespace, name: "used" })
      assert.deepStrictEqual(used.metadata.finalizers, [finalizer])
      yield* client.delete(Pod, { namespace, name: "user" }, { gracePeriodSeconds: 0 })
      yield* until("used", (found) => found === undefined)

      yield* client.patch(
        PersistentVolumeClaim,
        { namespace, name: "bare" },
        Patch.merge({ metadata: { finalizers: null } })
      )
      yield* until("bare", (found) => found?.metadata.finalizers?.includes(finalizer) === true)
    }).pipe(Effect.provide(cluster)),
  60_000
)
