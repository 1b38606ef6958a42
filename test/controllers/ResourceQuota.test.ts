/** What a user sees of a quota: spec G.11, and the cases that Kubernetes' own suite looks at. */
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
import * as Stand from "./resourcequota/harness.ts"

const same = assert.deepStrictEqual

describe("a quota", () => {
  // The Service `kubernetes` is there from the beginning.
  it.effect("is told at once what is used of everything it limits, itself included", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.create(Secret, "there")
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
        yield* Stand.quota("q", hard)
        const zero = Object.fromEntries(Object.keys(hard).map((name) => [name, "0"]))
        same(yield* Stand.status(), { hard, used: { ...zero, resourcequotas: "1", secrets: "1", services: "1" } })
      })
    )
  )

  it.effect("tells its new limits as soon as they change, and no more of what is not limited", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.quota("q", { cpu: "1", memory: "500Mi" })
        yield* Stand.patch(ResourceQuota, "q", { spec: { hard: { cpu: "2", memory: null, pods: "3" } } })
        same(yield* Stand.status(), { hard: { cpu: "2", pods: "3" }, used: { cpu: "0", pods: "0" } })
        // The same by value: nothing to tell.
        const calls = yield* Stand.recording
        yield* Stand.patch(ResourceQuota, "q", { spec: { hard: { cpu: "2000m" } } })
        same(calls.length, 0)
        yield* Stand.remove(ResourceQuota, "q")
        yield* Stand.advance("10 minutes")
        same(calls.length, 0)
      })
    )
  )

  it.effect("whose status somebody else changes is put right when everything is counted anew", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.quota("q", { cpu: "1", memory: "1Gi" })
        yield* Stand.patch(ResourceQuota, "q", { status: { hard: { cpu: "2" }, used: null } }, "status")
        yield* Stand.advance("2 minutes")
        same((yield* Stand.status())?.hard, { cpu: "2", memory: "1Gi" })
        yield* Stand.advance("3 minutes")
        same(yield* Stand.status(), { hard: { cpu: "1", memory: "1Gi" }, used: { cpu: "0", memory: "0" } })
      })
    )
  )

  it.effect("that is right is not written, however often it is looked at", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.quota("q", { pods: "2", "requests.cpu": "1", secrets: "5" })
        yield* Stand.pod("a", { cpu: "1000m" })
        const calls = yield* Stand.recording
        yield* Stand.patch(ResourceQuota, "q", { spec: { hard: { pods: "3" } } })
        same(calls.splice(0).length, 1)
        yield* Stand.patch(Pod, "a", { metadata: { labels: { a: "b" } } })
        yield* Stand.advance("1 hour")
        same([calls.length, yield* Stand.used()], [0, { pods: "1", "requests.cpu": "1", secrets: "0" }])
      })
    )
  )

  it.effect("that counts quotas is told of those that go", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.quota("q", { resourcequotas: "3" })
        yield* Stand.quota("other", { pods: "1" })
        same(yield* Stand.used(), { resourcequotas: "2" })
        yield* Stand.remove(ResourceQuota, "other")
        same(yield* Stand.used(), { resourcequotas: "1" })
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
    it.effect(`that ${name} counts is captured, and what is freed can be used again`, () =>
      Stand.world(
        Effect.gen(function* () {
          yield* Stand.quota("q", { [name]: "1" })
          yield* Stand.create(resource, "a", body)
          same(yield* Stand.used(), { [name]: "1" })
          assert.include(yield* Stand.refused(Stand.create(resource, "b", body)), "exceeded quota: q")
          yield* Stand.remove(resource, "a", { propagationPolicy: "Background" })
          same(yield* Stand.used(), { [name]: "0" })
          yield* Stand.create(resource, "b", body)
        })
      )
    )

  it.effect("a Service's is captured by its ports and balancer too, also when its type changes", () =>
    Stand.world(
      Effect.gen(function* () {
        const told = Effect.map(Stand.used(), (all) => Object.values(all ?? {}).join())
        yield* Stand.quota("q", { services: "10", "services.loadbalancers": "1", "services.nodeports": "1" })
        const service = (type: string) => ({ spec: { type, ports: [{ port: 80 }] } })
        yield* Stand.create(Service, "a", service("ClusterIP"))
        yield* Stand.create(Service, "b", service("NodePort"))
        assert.include(
          yield* Stand.refused(Stand.create(Service, "c", service("LoadBalancer"))),
          "exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1"
        )
        same(yield* told, "3,0,1")
        yield* Stand.patch(Service, "b", { spec: { type: "LoadBalancer" } })
        same(yield* told, "3,1,1")
        yield* Stand.patch(Service, "b", { spec: { type: "ClusterIP", ports: [{ port: 80, nodePort: null }] } })
        same(yield* told, "3,0,0")
        yield* Stand.remove(Service, "a")
        yield* Stand.remove(Service, "b")
        same(yield* told, "1,0,0")
      })
    )
  )

  it.effect("a pod's is captured by all that it asks for, until it is gone", () =>
    Stand.world(
      Effect.gen(function* () {
        const hard = {
          pods: "5",
          cpu: "1",
          memory: "500Mi",
          "ephemeral-storage": "50Gi",
          "requests.example.com/dongle": "3"
        }
        yield* Stand.quota("q", hard)
        const requests = { cpu: "500m", memory: "252Mi", "ephemeral-storage": "30Gi", "example.com/dongle": "2" }
        const limits = { "example.com/dongle": "2" }
        yield* Stand.pod("a", requests, {}, limits)
        const taken = {
          pods: "1",
          cpu: "500m",
          memory: "252Mi",
          "ephemeral-storage": "30Gi",
          "requests.example.com/dongle": "2"
        }
        same(yield* Stand.used(), taken)
        assert.include(yield* Stand.refused(Stand.pod("b", { cpu: "600m", memory: "100Mi" })), "exceeded quota")
        const second = Stand.pod("b", { ...requests, memory: "100Mi" }, {}, limits)
        assert.include(yield* Stand.refused(second), "requests.example.com/dongle=2")
        same(yield* Stand.used(), taken)
        yield* Stand.remove(Pod, "a")
        same(yield* Stand.used(), Object.fromEntries(Object.keys(hard).map((name) => [name, "0"])))
      })
    )
  )

  it.effect("a pod's ends with its work, but for its number; or when it should long be gone", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.quota("q", { pods: "2", "count/pods": "5", "requests.cpu": "1" })
        yield* Stand.pod("a", { cpu: "200m" })
        yield* Stand.pod("b", { cpu: "300m" }, { nodeName: "lost", terminationGracePeriodSeconds: 30 })
        yield* Stand.patch(Pod, "a", { status: { phase: "Succeeded" } }, "status")
        same(yield* Stand.used(), { pods: "1", "count/pods": "2", "requests.cpu": "300m" })
        yield* Stand.remove(Pod, "b", {})
        yield* Stand.advance("59 seconds")
        same((yield* Stand.used())?.["pods"], "1")
        // Nobody confirms that it is gone: thirty seconds to end, and as long once more.
        yield* Stand.advance("2 seconds")
        same(yield* Stand.used(), { pods: "0", "count/pods": "2", "requests.cpu": "0" })
      })
    )
  )

  it.effect("a claim's is captured by its size, and by its class where it has one", () =>
    Stand.world(
      Effect.gen(function* () {
        const gold = "gold.storageclass.storage.k8s.io"
        const names = [
          "persistentvolumeclaims",
          "requests.storage",
          `${gold}/persistentvolumeclaims`,
          `${gold}/requests.storage`
        ]
        yield* Stand.quota("q", Object.fromEntries(names.map((name) => [name, "10Gi"])))
        const told = Effect.map(Stand.used(), (all) => names.map((name) => all?.[name]).join())
        yield* Stand.claim("a")
        same(yield* told, "1,1Gi,0,0")
        yield* Stand.claim("b", { storageClassName: "gold" })
        same(yield* told, "2,2Gi,1,1Gi")
        // Set aside for it by whoever makes it grow.
        yield* Stand.patch(PersistentVolumeClaim, "b", { status: { allocatedResources: { storage: "3Gi" } } }, "status")
        same(yield* told, "2,4Gi,1,3Gi")
        yield* Stand.patch(PersistentVolumeClaim, "b", { status: { allocatedResources: null } }, "status")
        same(yield* told, "2,2Gi,1,1Gi")
        yield* Stand.remove(PersistentVolumeClaim, "a")
        yield* Stand.remove(PersistentVolumeClaim, "b")
        same(yield* told, "0,0,0,0")
      })
    )
  )

  it.effect("that nobody charged is added a second later", () =>
    Stand.world(
      Effect.gen(function* () {
        yield* Stand.quota("q", { secrets: "5", pods: "5" })
        for (const name of ["a", "b"]) {
          yield* Stand.create(Secret, name)
          yield* Stand.pod(name)
        }
        yield* Stand.patch(ResourceQuota, "q", { status: { used: { secrets: "0", pods: "1" } } }, "status")
        yield* Stand.create(Secret, "c")
        yield* Stand.advance("900 millis")
        same(yield* Stand.used(), { secrets: "1", pods: "1" })
        yield* Stand.advance("100 millis")
        same(yield* Stand.used(), { secrets: "3", pods: "2" })
      })
    )
  )

  it.effect(
    "that was charged and never came is freed when everything is counted anew, not by the next that comes",
    () =>
      Stand.world(
        Effect.gen(function* () {
          yield* Stand.quota("q", { secrets: "5" })
          yield* Stand.create(Secret, "a")
          assert.include(yield* Stand.refused(Stand.create(Secret, "a")), "already exists")
          yield* Stand.create(Secret, "b")
          yield* Stand.advance("2 minutes")
          same(yield* Stand.used(), { secrets: "3" })
          yield* Stand.advance("3 minutes")
          same(yield* Stand.used(), { secrets: "2" })
        })
      )
  )
})
