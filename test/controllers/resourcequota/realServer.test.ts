/**
 * The quota controller on a real API server, which enforces quotas itself: the status matches the objects, freed capacity can be used again, and an
 * unchanged status is not written. Scopes that the server does not support are tested on the embedded one.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as ResourceQuotaController from "../../../src/controllers/ResourceQuota.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Quantity from "../../../src/kube/quantity.ts"
import { PersistentVolumeClaim, Pod, ResourceQuota, Service } from "../../../src/kube/resources.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as envtest from "../../support/envtest.ts"
import * as RealServer from "../../support/realServer.ts"

const isMissing = envtest.isMissing("quotas on a real API server")

/** Updates of the controllers' own objects that changed nothing. */
const { idle, layer: transport } = RealServer.recordIdle("/api/v1/")

const cluster = ResourceQuotaController.make().layer.pipe(Layer.provideMerge(RealServer.services(transport)))

const namespace = "default"
type Amounts = Readonly<Record<string, string>>

const until = (name: string, wanted: Amounts) =>
  RealServer.until(ResourceQuota, name, (quota) =>
    Object.entries(wanted).every(([one, amount]) => Quantity.compare(quota?.status?.used?.[one], amount) === 0)
  )

it.live.skipIf(isMissing)(
  "quotas on a real API server have the current usage, and freed capacity can be used again",
  () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const quota = (name: string, hard: Amounts, spec: object = {}) =>
        client.create(ResourceQuota, { metadata: { namespace, name }, spec: { hard, ...spec } })
      const gold = "gold.storageclass.storage.k8s.io"
      yield* quota("all", {
        pods: "1",
        cpu: "1",
        "requests.example.com/dongle": "3",
        "services.nodeports": "2",
        "count/deployments.apps": "1",
        [`${gold}/requests.storage`]: "5Gi"
      })
      yield* quota("ending", { pods: "5" }, { scopes: ["Terminating"] })
      yield* until("all", { pods: "0", cpu: "0", "services.nodeports": "0", "count/deployments.apps": "0" })
      yield* until("ending", { pods: "0" })
      const amounts = { cpu: "1500m", "example.com/dongle": "2" }
      const containers = [
        { name: "main", image: "web:1", resources: { requests: { ...amounts, cpu: "500m" }, limits: amounts } }
      ]
      const pod = (name: string) =>
        client.create(Pod, {
          metadata: { namespace, name },
          spec: { containers, activeDeadlineSeconds: 60, automountServiceAccountToken: false }
        })
      yield* pod("a")
      yield* until("all", { pods: "1", cpu: "500m", "requests.example.com/dongle": "2" })
      yield* until("ending", { pods: "1" })
      assert.include((yield* Effect.flip(pod("b"))).detail, "exceeded quota: all")
      const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
      yield* client.create(PersistentVolumeClaim, {
        metadata: { namespace, name: "a" },
        spec: { ...claim, storageClassName: "gold" }
      })
      const ports = [{ name: "http", port: 80 }]
      yield* client.create(Service, { metadata: { namespace, name: "a" }, spec: { type: "NodePort", ports } })
      yield* until("all", { [`${gold}/requests.storage`]: "1Gi", "services.nodeports": "1" })
      const plain = { spec: { type: "ClusterIP", ports: [{ ...ports[0], nodePort: null }] } }
      yield* client.patch(Service, { namespace, name: "a" }, Patch.merge(plain))
      yield* until("all", { "services.nodeports": "0" })
      yield* client.delete(Pod, { namespace, name: "a" }, { gracePeriodSeconds: 0 })
      yield* until("all", { pods: "0", cpu: "0", "requests.example.com/dongle": "0" })
      yield* until("ending", { pods: "0" })
      // The server reads quotas from a cache.
      yield* Effect.retry(pod("b"), {
        while: (error) => ApiError.hasReason(error, "Forbidden"),
        schedule: Schedule.spaced("50 millis")
      })
      yield* client.patch(ResourceQuota, { namespace, name: "all" }, Patch.merge({ spec: { hard: { pods: null } } }))
      yield* until("all", { cpu: "500m" })
      assert.deepStrictEqual(idle, [])
    }).pipe(Effect.provide(cluster))
)
