/**
 * The harness for the cases of Kubernetes' end-to-end suite: all controllers that these cases need, three simulated machines, and the calls of
 * a user. A case checks what that suite checks. The tests of each loop cover the details.
 */
import { assert, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as CronJobLoop from "../../src/controllers/CronJob.ts"
import * as DaemonSetLoop from "../../src/controllers/DaemonSet.ts"
import * as DeploymentLoop from "../../src/controllers/Deployment.ts"
import * as EndpointsLoop from "../../src/controllers/Endpoints.ts"
import * as EndpointSliceLoop from "../../src/controllers/EndpointSlice.ts"
import * as EndpointSliceMirroringLoop from "../../src/controllers/EndpointSliceMirroring.ts"
import * as GarbageCollector from "../../src/controllers/GarbageCollector.ts"
import * as JobLoop from "../../src/controllers/Job.ts"
import * as NamespaceLoop from "../../src/controllers/Namespace.ts"
import * as NodeLifecycle from "../../src/controllers/NodeLifecycle.ts"
import * as PodGC from "../../src/controllers/PodGC.ts"
import * as PvcProtection from "../../src/controllers/PvcProtection.ts"
import * as ReplicaSetLoop from "../../src/controllers/ReplicaSet.ts"
import * as ReplicationControllerLoop from "../../src/controllers/ReplicationController.ts"
import * as RootCa from "../../src/controllers/RootCa.ts"
import * as ServiceAccountLoop from "../../src/controllers/ServiceAccount.ts"
import * as ServiceAccountToken from "../../src/controllers/ServiceAccountToken.ts"
import * as TaintEviction from "../../src/controllers/TaintEviction.ts"
import * as TtlAfterFinished from "../../src/controllers/TtlAfterFinished.ts"
import * as ApiError from "../../src/kube/ApiError.ts"
import * as Zone from "../../src/kube/cron/Zone.ts"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Patch from "../../src/kube/Patch.ts"
import type * as Resource from "../../src/kube/Resource.ts"
import { Pod } from "../../src/kube/resources.ts"
import type { ClusterAuthority } from "../../src/layers/ClusterAuthority.ts"
import { ClusterTest, type Provides } from "../../src/testing/ClusterTest.ts"
import type { Descriptor } from "../../src/layers/Controller.ts"
import type { Discovery } from "../../src/layers/Discovery.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import type * as Nodes from "../../src/simulation/Nodes.ts"

const loops: ReadonlyArray<Descriptor<ClusterAuthority | Discovery | KubeClient>> = [
  ServiceAccountToken.make({}),
  ServiceAccountLoop.make(),
  RootCa.make(),
  NamespaceLoop.make({}),
  GarbageCollector.make({}),
  PodGC.make({ terminatedPodThreshold: 100 }),
  DeploymentLoop.make({}),
  ReplicaSetLoop.make({}),
  ReplicationControllerLoop.make({}),
  DaemonSetLoop.make({}),
  JobLoop.make({}),
  CronJobLoop.make({ zone: Zone.utc }),
  TtlAfterFinished.make({}),
  PvcProtection.make(),
  EndpointsLoop.make({}),
  EndpointSliceLoop.make({}),
  EndpointSliceMirroringLoop.make({}),
  NodeLifecycle.make({}),
  TaintEviction.make()
]

export type Services = Provides | Nodes.Nodes | Scope.Scope

/** One case, on a cluster of its own. */
export const scenario = <E>(title: string, body: Effect.Effect<void, E, Services>) =>
  it.effect(title, () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      for (const loop of loops) yield* cluster.run(loop)
      yield* body
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 3 })))
  )

const client = KubeClient

export const advance = (time: Duration.Input) => Effect.flatMap(ClusterTest, (cluster) => cluster.advance(time))

/** Repeats the check every second, as that suite does, until it succeeds; two minutes at most by default. */
export const until = <A, E, R>(check: Effect.Effect<A, E, R>, within: Duration.Input = "2 minutes") =>
  Effect.flatMap(ClusterTest, (cluster) => cluster.eventually(check, { within, every: "1 second" }))

/** The namespace of an object: `default`, unless its resource is cluster-scoped. */
const placeOf = (resource: Resource.Any) => (resource.scope === "Cluster" ? {} : { namespace: "default" })

export const create = <A extends KubeObject>(resource: Resource.Resource<A>, object: object, namespace?: string) =>
  Effect.flatMap(client, (the) =>
    the.create(resource, object as never, namespace === undefined ? placeOf(resource) : { namespace })
  )

export const get = <A extends KubeObject>(resource: Resource.Resource<A>, name: string, namespace?: string) =>
  Effect.flatMap(client, (the) =>
    the.get(resource, { ...placeOf(resource), ...(namespace === undefined ? {} : { namespace }), name })
  )

/** All objects of the namespace, or of the cluster, optionally with a label: `app=web`. */
export const list = <A extends KubeObject>(resource: Resource.Resource<A>, labelSelector?: string) =>
  Effect.flatMap(client, (the) =>
    Effect.map(
      the.list(resource, { ...placeOf(resource), ...(labelSelector === undefined ? {} : { labelSelector }) }),
      ({ items }) => items
    )
  )

/** A merge patch, which users send unless lists matter. */
export const patch = (resource: Resource.Any, name: string, body: object, subresource?: string) =>
  Effect.flatMap(client, (the) => the.patch(resource, { ...placeOf(resource), name, subresource }, Patch.merge(body)))

export const strategic = (resource: Resource.Any, name: string, body: object, subresource?: string) =>
  Effect.flatMap(client, (the) =>
    the.patch(resource, { ...placeOf(resource), name, subresource }, Patch.strategic(body))
  )

/** Reads, changes and writes an object; retries after a Conflict. */
export const update = <A extends KubeObject>(
  resource: Resource.Resource<A>,
  name: string,
  change: (object: A) => object,
  subresource?: "status"
) =>
  Effect.flatMap(client, (the) => {
    const once = Effect.flatMap(get(resource, name), (object) => {
      const changed = change(object) as never
      return the.update(resource, changed, subresource === undefined ? {} : { subresource })
    })
    return Effect.retry(once, { times: 10, while: (error) => ApiError.hasReason(error, "Conflict") })
  })

export const remove = (resource: Resource.Any, name: string, options: object = {}) =>
  Effect.flatMap(client, (the) => the.delete(resource, { ...placeOf(resource), name }, options))

export const removeAll = (resource: Resource.Any, labelSelector: string, options: object = {}) =>
  Effect.flatMap(client, (the) =>
    the.deleteCollection(resource, { ...placeOf(resource), labelSelector }, options as never)
  )

/** Whether the server has no such object. */
export const isGone = (resource: Resource.Any, name: string, namespace?: string) =>
  Effect.map(
    Effect.result(get(resource, name, namespace)),
    (found) => Result.isFailure(found) && ApiError.hasReason(found.failure, "NotFound")
  )

export const gone = (resource: Resource.Any, name: string, within: Duration.Input = "2 minutes") =>
  until(
    Effect.map(isGone(resource, name), (is) => assert.isTrue(is, `${resource.kind} ${name} is still there`)),
    within
  )

/** Every state of the objects of a kind from now on, as a watch reports them. */
export const watched = <A extends KubeObject>(resource: Resource.Resource<A>) =>
  Effect.gen(function* () {
    const seen: Array<A> = []
    const the = yield* client
    const { metadata } = yield* the.list(resource, placeOf(resource))
    const changes = the.watch(resource, { ...placeOf(resource), resourceVersion: metadata.resourceVersion ?? "" })
    yield* Effect.forkScoped(Stream.runForEach(changes, ({ object }) => Effect.sync(() => seen.push(object as A))))
    return seen
  })

/** The pods that are not being deleted. */
export const livingPods = (labelSelector?: string) =>
  Effect.map(list(Pod, labelSelector), (all) => all.filter(({ metadata }) => metadata.deletionTimestamp === undefined))

export const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ status: holds, type }) => type === "Ready" && holds === "True") === true

/** Waits until this number of pods with the label run and are ready. */
export const running = (labelSelector: string, count: number) =>
  until(
    Effect.map(livingPods(labelSelector), (all) => {
      const ready = all.filter(isReady)
      assert.deepStrictEqual([ready.length, all.length], [count, count], "pods that are ready, and all pods")
      return ready
    })
  )

export const controllerOf = ({ metadata }: KubeObject) =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)

/** The spec of a pod with one container that runs until it is stopped, or runs the command. */
export const spec = (image = "web:1", command?: ReadonlyArray<string>, more: object = {}) => ({
  terminationGracePeriodSeconds: 0,
  containers: [{ name: "main", image, ...(command === undefined ? {} : { command }) }],
  ...more
})

export const template = (labels: Readonly<Record<string, string>>, image?: string) => ({
  metadata: { labels },
  spec: spec(image)
})
