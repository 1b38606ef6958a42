/** The harness of the ReplicaSet and ReplicationController tests: manifests, pods whose state the test sets, and recorded API calls. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as ReplicaSetController from "../../../../src/controllers/ReplicaSet.ts"
import * as ReplicationControllerController from "../../../../src/controllers/ReplicationController.ts"
import type { ReplicaOwner } from "../../../../src/controllers/shared/workload/replicas.ts"
import type { Draft, KubeObject } from "../../../../src/kube/Meta.ts"
import * as Patch from "../../../../src/kube/Patch.ts"
import type * as Resource from "../../../../src/kube/Resource.ts"
import { ControllerRevision, Event, Pod, ReplicaSet, ReplicationController } from "../../../../src/kube/resources.ts"
import * as Time from "../../../../src/kube/time.ts"
import { ApiServer } from "../../../../src/apiserver/ApiServer.ts"
import { isWatch, type Rule } from "../../../../src/apiserver/faults.ts"
import * as ClusterTest from "../../../../src/testing/ClusterTest.ts"
import type { Descriptor } from "../../../../src/layers/Controller.ts"
import { KubeClient } from "../../../../src/layers/KubeClient.ts"
import { Recorder } from "../../../../src/layers/Recorder.ts"
import type { Request } from "../../../../src/layers/Transport.ts"
import { advance, line, settle } from "../../../support/cluster.ts"

export { advance, line, settle }

/** One of the two kinds, with its properties. */
export interface Kind {
  readonly name: string
  readonly resource: Resource.Resource<ReplicaOwner>
  readonly controller: Descriptor
  readonly component: string
  readonly apiVersion: string
  readonly selector: (labels: Record<string, string>) => object
  readonly countsTerminating: boolean
}

export const replicaSet: Kind = {
  name: "ReplicaSet",
  resource: ReplicaSet,
  controller: ReplicaSetController.make(),
  component: "replicaset-controller",
  apiVersion: "apps/v1",
  selector: (matchLabels) => ({ matchLabels }),
  countsTerminating: true
}

export const replicationController: Kind = {
  name: "ReplicationController",
  resource: ReplicationController,
  controller: ReplicationControllerController.make(),
  component: "replication-controller",
  apiVersion: "v1",
  selector: (labels) => labels,
  countsTerminating: false
}

export const kinds: ReadonlyArray<Kind> = [replicaSet, replicationController]

export const labels = { app: "web" }

export const podSpec = { containers: [{ name: "main", image: "web:1" }] }

/** An owner of pods with the label `app=web`, as a manifest. */
export const owner = (kind: Kind, spec: object = {}, metadata: object = {}): object => ({
  apiVersion: kind.apiVersion,
  kind: kind.name,
  metadata: { name: "web", namespace: "default", ...metadata },
  spec: {
    replicas: 3,
    selector: kind.selector(labels),
    template: { metadata: { labels }, spec: podSpec },
    ...spec
  }
})

/** A pod without an owner, unless the metadata names one. */
export const pod = (name: string, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", labels, ...metadata },
  spec: podSpec
})

export const reference = (kind: Kind, object: KubeObject): object => ({
  apiVersion: kind.apiVersion,
  kind: kind.name,
  name: object.metadata.name,
  uid: object.metadata.uid,
  controller: true,
  blockOwnerDeletion: true
})

export const get = <A extends KubeObject>(resource: Resource.Resource<A>, name = "web", namespace = "default") =>
  Effect.flatMap(KubeClient, (client) => client.get(resource, { namespace, name }))

export const patch = (resource: Resource.Any, name: string, body: object, namespace = "default") =>
  Effect.flatMap(KubeClient, (client) => client.patch(resource, { namespace, name }, Patch.merge(body)))

export const scale = (kind: Kind, replicas: number, namespace = "default") =>
  patch(kind.resource, "web", { spec: { replicas } }, namespace)

export const statusOf = (kind: Kind, name = "web", namespace = "default") =>
  Effect.map(get(kind.resource, name, namespace), ({ status }) => status)

/** All pods of the namespace, read from the server. */
export const pods = Effect.flatMap(KubeClient, (client) =>
  Effect.map(client.list(Pod, { namespace: "default" }), ({ items }) => items)
)

export const podNames = Effect.map(pods, (all) => all.map(({ metadata }) => metadata.name))

export const remove = (resource: Resource.Any, name: string, options: object = {}) =>
  Effect.flatMap(KubeClient, (client) => client.delete(resource, { namespace: "default", name }, options))

/** Writes the status that a kubelet writes when the containers are ready. */
export const ready = (name: string, status: "True" | "False" = "True") =>
  Effect.gen(function* () {
    const now = Time.format(yield* Clock.currentTimeMillis)
    const client = yield* KubeClient
    yield* client.patch(
      Pod,
      { namespace: "default", name },
      Patch.strategic({
        status: { phase: "Running", conditions: [{ type: "Ready", status, lastTransitionTime: now }] }
      }),
      { subresource: "status" }
    )
  })

/** Writes the phase that a kubelet writes when the containers have ended. */
export const phase = (name: string, phase: "Failed" | "Succeeded") =>
  Effect.flatMap(KubeClient, (client) =>
    client.patch(Pod, { namespace: "default", name }, Patch.merge({ status: { phase } }), { subresource: "status" })
  )

/** Binds a pod to a node, so that a deleted pod stays terminating: no kubelet ends its grace period. */
export const bind = (name: string, node = "worker-1") =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(
      Pod,
      // The subresource takes a Binding instead of a Pod.
      {
        metadata: { name, namespace: "default" },
        target: { apiVersion: "v1", kind: "Node", name: node }
      } as Draft<Pod>,
      { namespace: "default", subresource: "binding" }
    )
  )

/** All ControllerRevisions, lowest number first. */
export const revisions = Effect.flatMap(KubeClient, (client) =>
  Effect.map(client.list(ControllerRevision, { namespace: "default" }), ({ items }) =>
    [...items].sort((a, b) => a.revision - b.revision)
  )
)

/** Events about an object in the order of their names, `type reason message xCount`. */
export const events = (name = "web") =>
  Effect.gen(function* () {
    yield* (yield* Recorder).drained
    const client = yield* KubeClient
    const { items } = yield* client.list(Event, { fieldSelector: `involvedObject.name=${name}` })
    return items.map((event) => ({
      text: `${event.type} ${event.reason} ${event.message}`,
      component: event.source?.component,
      count: event.count
    }))
  })

/** Records the calls except watches and those about events from now on; `rules` inject faults. */
export const recording = (rules: ReadonlyArray<Rule> = []) =>
  Effect.gen(function* () {
    const calls: Array<Request> = []
    yield* (yield* ApiServer).setFaults([
      {
        match: (request) => {
          if (request.context.resource !== "events" && !isWatch(request)) calls.push(request)
          return false
        },
        fault: { _tag: "Drop" }
      },
      ...rules
    ])
    return calls
  })

export const apply = (...objects: ReadonlyArray<object>) =>
  Effect.flatMap(ClusterTest.ClusterTest, (cluster) => Effect.tap(cluster.apply(objects), () => cluster.settle))

/** Runs the controller on a cluster without nodes during the test. */
export const withLoop = <A, E>(
  kind: Kind,
  test: Effect.Effect<A, E, ClusterTest.Provides | Scope.Scope>,
  options: ClusterTest.Options = {}
) => Effect.andThen(start(kind), test).pipe(Effect.scoped, Effect.provide(ClusterTest.ClusterTest.layer(options)))

export const start = (kind: Kind) => Effect.flatMap(ClusterTest.ClusterTest, (cluster) => cluster.run(kind.controller))
