/** ResourceQuota statuses, including the cases of Kubernetes' test/e2e/apimachinery/resource_quota.go. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Resource from "../../src/kube/Resource.ts"
import {
  ConfigMap,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
  ReplicationController,
  ResourceQuota,
  Secret,
  Service
} from "../../src/kube/resources.ts"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Harness from "./resourcequota/harness.ts"

const same = assert.deepStrictEqual

describe("a quota", () => {
  // The Service `kubernetes` exists from the start.
  it.effect("has the usage of all its limits in its status at once, itself included", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.create(Secret, "there")
        const hard = {
          pods: "5",
          services: "10",
          "services.nodeports": "1",
          resourcequotas: "1",
          secrets: "10",
          cpu: "1",
          memory: "500Mi",
          "count/replicasets.apps": "5",
          "requests.example.com/dongle": "3",
          "gold.storageclass.storage.k8s.io/requests.storage": "10Gi"
        }
        yield* Harness.quota("q", hard)
        const zero = Object.fromEntries(Object.keys(hard).map((name) => [name, "0"]))
        same(yield* Harness.status(), { hard, used: { ...zero, resourcequotas: "1", secrets: "1", services: "1" } })
      })
    )
  )

  it.effect("has new limits in its status as soon as they change, and drops removed ones", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.quota("q", { cpu: "1", memory: "500Mi" })
        yield* Harness.patch(ResourceQuota, "q", { spec: { hard: { cpu: "2", memory: null, pods: "3" } } })
        same(yield* Harness.status(), { hard: { cpu: "2", pods: "3" }, used: { cpu: "0", pods: "0" } })
        // Equal quantities cause no write.
        const calls = yield* Harness.recording
        yield* Harness.patch(ResourceQuota, "q", { spec: { hard: { cpu: "2000m" } } })
        same(calls.length, 0)
        yield* Harness.remove(ResourceQuota, "q")
        yield* Harness.advance("10 minutes")
        same(calls.length, 0)
      })
    )
  )

  it.effect("whose status another client changes is corrected by the next full recount", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.quota("q", { cpu: "1", memory: "1Gi" })
        yield* Harness.patch(ResourceQuota, "q", { status: { hard: { cpu: "2" }, used: null } }, "status")
        yield* Harness.advance("2 minutes")
        same((yield* Harness.status())?.hard, { cpu: "2", memory: "1Gi" })
        yield* Harness.advance("3 minutes")
        same(yield* Harness.status(), { hard: { cpu: "1", memory: "1Gi" }, used: { cpu: "0", memory: "0" } })
      })
    )
  )

  it.effect("with a correct status is not written, however often it is synced", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.quota("q", { pods: "2", "requests.cpu": "1", secrets: "5" })
        yield* Harness.pod("a", { cpu: "1000m" })
        const calls = yield* Harness.recording
        yield* Harness.patch(ResourceQuota, "q", { spec: { hard: { pods: "3" } } })
        same(calls.splice(0).length, 1)
        yield* Harness.patch(Pod, "a", { metadata: { labels: { a: "b" } } })
        yield* Harness.advance("1 hour")
        same([calls.length, yield* Harness.used()], [0, { pods: "1", "requests.cpu": "1", secrets: "0" }])
      })
    )
  )

  it.effect("that counts quotas is updated when one is deleted", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.quota("q", { resourcequotas: "3" })
        yield* Harness.quota("other", { pods: "1" })
        same(yield* Harness.used(), { resourcequotas: "2" })
        yield* Harness.remove(ResourceQuota, "other")
        same(yield* Harness.used(), { resourcequotas: "1" })
      })
    )
  )
})

const counted: ReadonlyArray<readonly [name: string, resource: Resource.Resource<KubeObject>, body: object]> = [
  ["secrets", Secret, {}],
  ["configmaps", ConfigMap, {}],
  ["count/configmaps", ConfigMap, {}],
  [
    "replicationcontrollers",
    ReplicationController,
    {
      spec: {
        replicas: 0,
        selector: { a: "b" },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "main", image: "web:1" }] } }
      }
    }
  ],
  [
    "count/replicasets.apps",
    ReplicaSet,
    {
      spec: {
        replicas: 0,
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "main", image: "web:1" }] } }
      }
    }
  ]
]

describe("the life of an object", () => {
  for (const [name, resource, body] of counted)
    it.effect(`that ${name} counts is in the usage until it is deleted, and then another can be created`, () =>
      Harness.withLoop(
        Effect.gen(function* () {
          yield* Harness.quota("q", { [name]: "1" })
          yield* Harness.create(resource, "a", body)
          same(yield* Harness.used(), { [name]: "1" })
          assert.include(yield* Harness.refused(Harness.create(resource, "b", body)), "exceeded quota: q")
          yield* Harness.remove(resource, "a", { propagationPolicy: "Background" })
          same(yield* Harness.used(), { [name]: "0" })
          yield* Harness.create(resource, "b", body)
        })
      )
    )

  it.effect("of a Service includes node ports and load balancers, also when its type changes", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const used = Effect.map(Harness.used(), (all) => Object.values(all ?? {}).join())
        yield* Harness.quota("q", { services: "10", "services.loadbalancers": "1", "services.nodeports": "1" })
        const service = (type: string) => ({ spec: { type, ports: [{ port: 80 }] } })
        yield* Harness.create(Service, "a", service("ClusterIP"))
        yield* Harness.create(Service, "b", service("NodePort"))
        assert.include(
          yield* Harness.refused(Harness.create(Service, "c", service("LoadBalancer"))),
          "exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1"
        )
        same(yield* used, "3,0,1")
        yield* Harness.patch(Service, "b", { spec: { type: "LoadBalancer" } })
        same(yield* used, "3,1,1")
        yield* Harness.patch(Service, "b", { spec: { type: "ClusterIP", ports: [{ port: 80, nodePort: null }] } })
        same(yield* used, "3,0,0")
        yield* Harness.remove(Service, "a")
        yield* Harness.remove(Service, "b")
        same(yield* used, "1,0,0")
      })
    )
  )

  it.effect("of a pod includes its requests and limits until it is deleted", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const hard = {
          pods: "5",
          cpu: "1",
          memory: "500Mi",
          "ephemeral-storage": "50Gi",
          "requests.example.com/dongle": "3"
        }
        yield* Harness.quota("q", hard)
        const requests = { cpu: "500m", memory: "252Mi", "ephemeral-storage": "30Gi", "example.com/dongle": "2" }
        const limits = { "example.com/dongle": "2" }
        yield* Harness.pod("a", requests, {}, limits)
        const taken = {
          pods: "1",
          cpu: "500m",
          memory: "252Mi",
          "ephemeral-storage": "30Gi",
          "requests.example.com/dongle": "2"
        }
        same(yield* Harness.used(), taken)
        assert.include(yield* Harness.refused(Harness.pod("b", { cpu: "600m", memory: "100Mi" })), "exceeded quota")
        const second = Harness.pod("b", { ...requests, memory: "100Mi" }, {}, limits)
        assert.include(yield* Harness.refused(second), "requests.example.com/dongle=2")
        same(yield* Harness.used(), taken)
        yield* Harness.remove(Pod, "a")
        same(yield* Harness.used(), Object.fromEntries(Object.keys(hard).map((name) => [name, "0"])))
      })
    )
  )

  it.effect("of a terminated pod, or one past its grace period, is only its object count", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.quota("q", { pods: "2", "count/pods": "5", "requests.cpu": "1" })
        yield* Harness.pod("a", { cpu: "200m" })
        yield* Harness.pod("b", { cpu: "300m" }, { nodeName: "lost", terminationGracePeriodSeconds: 30 })
        yield* Harness.patch(Pod, "a", { status: { phase: "Succeeded" } }, "status")
        same(yield* Harness.used(), { pods: "1", "count/pods": "2", "requests.cpu": "300m" })
        yield* Harness.remove(Pod, "b", {})
        yield* Harness.advance("59 seconds")
        same((yield* Harness.used())?.["pods"], "1")
        // No kubelet confirms the termination: the pod counts for twice the grace period of thirty seconds.
        yield* Harness.advance("2 seconds")
        same(yield* Harness.used(), { pods: "0", "count/pods": "2", "requests.cpu": "0" })
      })
    )
  )

  it.effect("of a claim includes its size, also by storage class", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const gold = "gold.storageclass.storage.k8s.io"
        const names = [
          "persistentvolumeclaims",
          "requests.storage",
          `${gold}/persistentvolumeclaims`,
          `${gold}/requests.storage`
        ]
        yield* Harness.quota("q", Object.fromEntries(names.map((name) => [name, "10Gi"])))
        const used = Effect.map(Harness.used(), (all) => names.map((name) => all?.[name]).join())
        yield* Harness.claim("a")
        same(yield* used, "1,1Gi,0,0")
        yield* Harness.claim("b", { storageClassName: "gold" })
        same(yield* used, "2,2Gi,1,1Gi")
        // The resizer has allocated it.
        yield* Harness.patch(
          PersistentVolumeClaim,
          "b",
          { status: { allocatedResources: { storage: "3Gi" } } },
          "status"
        )
        same(yield* used, "2,4Gi,1,3Gi")
        yield* Harness.patch(PersistentVolumeClaim, "b", { status: { allocatedResources: null } }, "status")
        same(yield* used, "2,2Gi,1,1Gi")
        yield* Harness.remove(PersistentVolumeClaim, "a")
        yield* Harness.remove(PersistentVolumeClaim, "b")
        same(yield* used, "0,0,0,0")
      })
    )
  )

  it.effect("that admission did not count is added a second later", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        yield* Harness.quota("q", { secrets: "5", pods: "5" })
        for (const name of ["a", "b"]) {
          yield* Harness.create(Secret, name)
          yield* Harness.pod(name)
        }
        yield* Harness.patch(ResourceQuota, "q", { status: { used: { secrets: "0", pods: "1" } } }, "status")
        yield* Harness.create(Secret, "c")
        yield* Harness.advance("900 millis")
        same(yield* Harness.used(), { secrets: "1", pods: "1" })
        yield* Harness.advance("100 millis")
        same(yield* Harness.used(), { secrets: "3", pods: "2" })
      })
    )
  )

  it.effect(
    "that admission counted and that was never created is removed by the full recount, not by the next creation",
    () =>
      Harness.withLoop(
        Effect.gen(function* () {
          yield* Harness.quota("q", { secrets: "5" })
          yield* Harness.create(Secret, "a")
          assert.include(yield* Harness.refused(Harness.create(Secret, "a")), "already exists")
          yield* Harness.create(Secret, "b")
          yield* Harness.advance("2 minutes")
          same(yield* Harness.used(), { secrets: "3" })
          yield* Harness.advance("3 minutes")
          same(yield* Harness.used(), { secrets: "2" })
        })
      )
  )
})
