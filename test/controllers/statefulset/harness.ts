/** The harness of the StatefulSet tests: manifests, simulated nodes, what happens to pods, and recorded API calls. */
import { it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as StatefulSetController from "../../../src/controllers/StatefulSet.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { ControllerRevision, Event, PersistentVolumeClaim, Pod, StatefulSet } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { isWatch, type Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest, type Provides } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Nodes from "../../../src/simulation/Nodes.ts"
import { Recorder } from "../../../src/layers/Recorder.ts"
import type { Request } from "../../../src/layers/Transport.ts"

export const labels = { app: "web" }

export const podSpec = (image = "web:1", more: object = {}, spec: object = {}) => ({
  containers: [{ name: "main", image, ...more }],
  ...spec
})

/** A StatefulSet of three pods with the label `app=web`, as a manifest. */
export const statefulSet = (spec: object = {}, metadata: object = {}) => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "web", namespace: "default", ...metadata },
  spec: {
    replicas: 3,
    serviceName: "web",
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: podSpec() },
    ...spec
  }
})

/** The template of a claim; each pod mounts it. */
export const claimTemplate = (name = "data", metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
})

/** With one claim for each replica. */
export const withClaims = (spec: object = {}) =>
  statefulSet({
    volumeClaimTemplates: [claimTemplate()],
    template: {
      metadata: { labels },
      spec: podSpec("web:1", { volumeMounts: [{ name: "data", mountPath: "/data" }] })
    },
    ...spec
  })

const withClient = <A, E, R>(use: (client: KubeClient["Service"]) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(KubeClient, use)

export const settle = Effect.flatMap(ClusterTest, (cluster) => cluster.settle)

export const advance = (time: Duration.Input) => Effect.flatMap(ClusterTest, (cluster) => cluster.advance(time))

export const create = <A extends KubeObject>(resource: Resource.Resource<A>, object: object) =>
  withClient((client) => Effect.tap(client.create(resource, object as never), () => settle))

/** A set that is up after as many minutes as it needs at most. */
export const running = (manifest: object = statefulSet()) =>
  Effect.andThen(create(StatefulSet, manifest), advance("1 minute"))

export const get = withClient((client) => client.get(StatefulSet, { namespace: "default", name: "web" }))

/** A server leaves out counts that are zero. */
export const status = Effect.map(get, (set) => ({
  readyReplicas: 0,
  currentReplicas: 0,
  updatedReplicas: 0,
  currentRevision: "",
  updateRevision: "",
  ...(set.status as NonNullable<StatefulSet["status"]>)
}))

/** A merge patch, and what follows from it at once. */
export const patch = (resource: Resource.Any, name: string, body: object, subresource?: string) =>
  withClient((client) =>
    Effect.tap(client.patch(resource, { namespace: "default", name, subresource }, Patch.merge(body)), () => settle)
  )

export const change = (spec: object) => patch(StatefulSet, "web", { spec })

export const useImage = (image: string) => change({ template: { spec: podSpec(image) } })

export const scale = (replicas: number) => change({ replicas })

export const remove = (resource: Resource.Any, name: string, options: object = {}) =>
  withClient((client) => Effect.tap(client.delete(resource, { namespace: "default", name }, options), () => settle))

/** In the order of ordinals. */
export const pods = withClient((client) =>
  Effect.map(client.list(Pod, { namespace: "default" }), ({ items }) =>
    [...items].sort((a, b) => ordinalOf(a) - ordinalOf(b))
  )
)

const ordinalOf = ({ metadata }: Pod): number => Number(/[0-9]+$/.exec(metadata.name)?.[0])

export const names = Effect.map(pods, (all) => all.map(({ metadata }) => metadata.name))

export const living = Effect.map(pods, (all) =>
  all.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.name)
)

export const pod = (name: string) => withClient((client) => client.get(Pod, { namespace: "default", name }))

export const uidOf = (name: string) => Effect.map(pod(name), ({ metadata }) => metadata.uid)

export const imageOf = ({ spec }: Pod): string => spec?.containers[0]?.image ?? ""

export const revisionOf = ({ metadata }: Pod): string => metadata.labels?.["controller-revision-hash"] ?? ""

/** The image of each pod, lowest ordinal first. */
export const images = Effect.map(pods, (all) => all.map(imageOf))

/** Lets a pod not be ready, or be so again. */
export const unready = (name: string, isUnready = true) =>
  Effect.andThen(
    patch(Pod, name, { metadata: { annotations: { [annotation]: isUnready ? "main" : null } } }),
    advance("1 second")
  )

const annotation = "simulation/unready"

/** A kubelet ends a pod for good. */
export const evict = (name: string) =>
  Effect.flatMap(Nodes.Nodes, (machines) => Effect.andThen(machines.evict({ name }), settle))

export const claims = withClient((client) =>
  Effect.map(client.list(PersistentVolumeClaim, { namespace: "default" }), ({ items }) =>
    [...items].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  )
)

/** `data-web-0: StatefulSet web` for each claim. */
export const ownersOfClaims = Effect.map(claims, (all) =>
  all.map(({ metadata: { name, ownerReferences = [] } }) =>
    [`${name}:`, ...ownerReferences.map((one) => `${one.kind} ${one.name}${one.controller === true ? "" : "?"}`)].join(
      " "
    )
  )
)

/** All revisions, lowest number first. */
export const revisions = withClient((client) =>
  Effect.map(client.list(ControllerRevision, { namespace: "default" }), ({ items }) =>
    [...items].sort((a, b) => a.revision - b.revision)
  )
)

/** Events about the StatefulSet in the order of their names, `Normal SuccessfulCreate Create Pod …`. */
export const events = Effect.gen(function* () {
  yield* (yield* Recorder).drained
  const { items } = yield* (yield* KubeClient).list(Event, { fieldSelector: "involvedObject.kind=StatefulSet" })
  return items.map(({ message, reason, type }) => `${type} ${reason} ${message}`)
})

const kinds = ["pods", "controllerrevisions.apps", "persistentvolumeclaims", "statefulsets.apps"]

/** Writes of the loop from now on, events left out; rules for bad luck come first. */
export const recording = (rules: ReadonlyArray<Rule> = []) =>
  Effect.gen(function* () {
    const calls: Array<Request> = []
    yield* (yield* ApiServer).setFaults([
      {
        match: (request) => {
          const { resource = "" } = request.context
          const isOurs = kinds.some((kind) => resource.startsWith(kind))
          if (isOurs && request.method !== "GET" && !isWatch(request)) calls.push(request)
          return false
        },
        fault: { _tag: "Drop" }
      },
      ...rules
    ])
    return calls
  })

/** So many calls get that code for an answer, and nothing is done. */
export const refusing = (
  verb: "create" | "update" | "delete",
  resource: string,
  times: number,
  code: 403 | 404 = 403
): Rule => ({
  match: { verb, resource },
  fault: { _tag: "Status", code },
  times
})

/** `update statefulsets.apps/status web`. */
export const line = ({ context }: Request): string =>
  [context.verb, context.resource, context.name].filter((part) => part !== undefined).join(" ")

export const start = Effect.flatMap(ClusterTest, (cluster) => cluster.run(StatefulSetController.make()))

type Body<E> = Effect.Effect<void, E, Provides | Nodes.Nodes | Scope.Scope>

/** A scenario with two simulated nodes besides the control plane, with the loop running. */
export const scenario = <E>(title: string, body: Body<E>) => without(title, Effect.andThen(start, body))

/** A scenario that starts the loop itself. */
export const without = <E>(title: string, body: Body<E>) =>
  it.effect(title, () => body.pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 3 }))))

export { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet }
