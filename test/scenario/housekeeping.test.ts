/**
 * serviceaccount, namespace and podgc on a real API server, with simulated nodes as ordinary clients: accounts are created and restored, a namespace
 * is emptied in order and reports what blocks it, and the pods of a lost node are deleted. In real time, waiting for watch events.
 * Needs `KUBEBUILDER_ASSETS`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Namespaces from "../../src/controllers/Namespace.ts"
import * as PodGC from "../../src/controllers/PodGC.ts"
import * as ServiceAccounts from "../../src/controllers/ServiceAccount.ts"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Patch from "../../src/kube/Patch.ts"
import type * as Resource from "../../src/kube/Resource.ts"
import { ConfigMap, Deployment, Namespace, Pod, Secret, Service, ServiceAccount } from "../../src/kube/resources.ts"
import { Cache } from "../../src/layers/Cache.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Machine from "../../src/simulation/Machine.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import { Supervisor } from "../../src/layers/Supervisor.ts"
import * as Cluster from "../support/cluster.ts"
import * as envtest from "../support/envtest.ts"
import * as RealServer from "../support/realServer.ts"

const isMissing = envtest.isMissing("housekeeping on a real API server")

const machines = ["steady", "doomed"].map((name, i) => Machine.make(name, i + 1, "worker"))

const cluster = Layer.mergeAll(
  ServiceAccounts.make().layer,
  Namespaces.make().layer,
  PodGC.make().layer,
  Layer.fresh(Nodes.layer({ machines, delays: { start: 100, stop: 2_000 } })).pipe(
    Layer.provide(Layer.fresh(Cache.layer()))
  )
).pipe(Layer.provideMerge(RealServer.services()))

/** The first watched state of an object for which the predicate holds; undefined stands for a deleted one. */
const until = <A extends KubeObject>(
  resource: Resource.Resource<A>,
  { name, namespace }: { readonly name: string; readonly namespace?: string },
  wanted: (object: A | undefined) => boolean
) =>
  Effect.flatMap(KubeClient, (client) =>
    client.watch(resource, { namespace, fieldSelector: `metadata.name=${name}` }).pipe(
      Stream.map(({ object, type }) => (type === "DELETED" ? undefined : (object as A))),
      Stream.filter(wanted),
      Stream.runHead,
      Effect.map(Option.getOrUndefined)
    )
  )

const running = (name: string, namespace: string) =>
  until(Pod, { name, namespace }, (found) => found?.status?.phase === "Running")

const conditionsOf = (namespace: Namespace | undefined) =>
  (namespace?.status?.conditions ?? []).map(({ reason, status }) => `${status} ${reason}`)

const accounts = Effect.gen(function* () {
  const client = yield* KubeClient
  for (const namespace of ["default", "kube-system"]) {
    yield* until(ServiceAccount, { name: "default", namespace }, (found) => found !== undefined)
  }
  const before = yield* client.get(ServiceAccount, { namespace: "default", name: "default" })
  yield* client.delete(ServiceAccount, { namespace: "default", name: "default" })
  yield* until(
    ServiceAccount,
    { name: "default", namespace: "default" },
    (found) => found !== undefined && found.metadata.uid !== before.metadata.uid
  )
})

const namespaces = Effect.gen(function* () {
  const client = yield* KubeClient
  const namespace = "app"
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "x" }] } }
  yield* client.create(Namespace, { metadata: { name: namespace } })
  yield* client.create(ConfigMap, { metadata: { namespace, name: "held", finalizers: ["example.test/held"] } })
  yield* client.create(Secret, { metadata: { namespace, name: "key" } })
  yield* client.create(Service, { metadata: { namespace, name: "web" }, spec: { ports: [{ port: 80 }] } })
  yield* client.create(Deployment, {
    metadata: { namespace, name: "web" },
    spec: { selector: { matchLabels: { app: "web" } }, template }
  })
  yield* Cluster.createPod("web", namespace, { nodeName: "steady" })
  yield* running("web", namespace)

  yield* client.delete(Namespace, { name: namespace })
  // While the pod terminates nothing else is deleted, and the conditions say what the namespace waits for.
  const waiting = yield* until(Namespace, { name: namespace }, (found) => conditionsOf(found).length === 5)
  assert.deepStrictEqual(conditionsOf(waiting), [
    "False ResourcesDiscovered",
    "False ParsedGroupVersions",
    "False ContentDeleted",
    "True SomeResourcesRemain",
    "False ContentHasNoFinalizers"
  ])
  assert.strictEqual(
    (yield* client.list(Secret, { namespace })).items.some(({ metadata }) => metadata.name === "key"),
    true
  )
  const held = yield* until(Namespace, { name: namespace }, (found) =>
    conditionsOf(found).includes("True SomeFinalizersRemain")
  )
  assert.deepStrictEqual(
    held?.status?.conditions?.filter(({ status }) => status === "True").map(({ message }) => message),
    [
      "Some resources are remaining: configmaps. has 1 resource instances",
      "Some content in the namespace has finalizers remaining: example.test/held in 1 resource instances"
    ]
  )
  for (const resource of [Pod, Secret, Service, Deployment, ServiceAccount] as ReadonlyArray<Resource.Any>) {
    assert.deepStrictEqual((yield* client.list(resource, { namespace })).items, [], resource.plural)
  }
  yield* client.patch(ConfigMap, { namespace, name: "held" }, Patch.merge({ metadata: { finalizers: null } }))
  yield* until(Namespace, { name: namespace }, (found) => found === undefined)
})

const pods = Effect.gen(function* () {
  const client = yield* KubeClient
  const nodes = yield* Nodes.Nodes
  const namespace = "kube-public"
  const finalizers = ["example.test/held"]
  yield* Cluster.createPod("lost", namespace, { nodeName: "doomed" }, { finalizers })
  yield* running("lost", namespace)
  yield* Cluster.createPod("unscheduled", namespace, { nodeSelector: { none: "such" } }, { finalizers })
  yield* client.delete(Pod, { namespace, name: "unscheduled" })
  yield* nodes.remove("doomed")

  const unscheduled = yield* until(
    Pod,
    { name: "unscheduled", namespace },
    (found) => found?.status?.phase === "Failed"
  )
  assert.isUndefined(unscheduled?.status?.conditions?.find(({ type }) => type === "DisruptionTarget"))

  const lost = yield* until(
    Pod,
    { name: "lost", namespace },
    (found) => found?.metadata.deletionTimestamp !== undefined
  )
  assert.strictEqual(lost?.status?.phase, "Failed")
  assert.strictEqual(lost?.metadata.deletionGracePeriodSeconds, 0)
  const target = lost?.status?.conditions?.find(({ type }) => type === "DisruptionTarget")
  assert.deepStrictEqual(
    [target?.status, target?.reason, target?.message],
    ["True", "DeletionByPodGC", "PodGC: node no longer exists"]
  )
  for (const name of ["lost", "unscheduled"]) {
    yield* client.patch(Pod, { namespace, name }, Patch.merge({ metadata: { finalizers: null } }))
  }
  assert.deepStrictEqual((yield* client.list(Pod, { namespace })).items, [])
})

describe.skipIf(isMissing)("housekeeping on a real API server", () => {
  it.live("accounts are kept, namespaces emptied and pods collected", () =>
    Effect.gen(function* () {
      const { failure } = yield* Supervisor
      yield* Effect.raceFirst(
        Effect.all([accounts, namespaces, pods], { concurrency: "unbounded", discard: true }),
        failure
      )
    }).pipe(Effect.provide(cluster))
  )
})
