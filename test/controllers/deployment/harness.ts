/** The harness of the Deployment tests: objects, ReplicaSets whose status the test writes, and recorded requests. */
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as DeploymentController from "../../../src/controllers/Deployment.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { Deployment, Pod, ReplicaSet } from "../../../src/kube/resources.ts"
import type { Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest, type Provides } from "../../../src/testing/ClusterTest.ts"
import type { Request } from "../../../src/layers/Transport.ts"
import * as Cluster from "../../support/cluster.ts"
import { advance, create, line, patch, remove, settle, withClient } from "../../support/cluster.ts"

export const labels = { app: "web" }

export const podSpec = (image = "web:1") => ({ containers: [{ name: "main", image }] })

export const template = (image = "web:1") => ({ metadata: { labels }, spec: podSpec(image) })

/** A Deployment of three pods with the label `app=web`, as a manifest. */
export const deployment = (spec: object = {}, metadata: object = {}) => ({
  metadata: { name: "web", namespace: "default", ...metadata },
  spec: { replicas: 3, selector: { matchLabels: labels }, template: template(), ...spec }
})

/** A ReplicaSet of the Deployment, as a manifest. */
export const replicaSet = (name: string, spec: object = {}, metadata: object = {}) => ({
  metadata: { name, namespace: "default", labels, ...metadata },
  spec: { replicas: 3, selector: { matchLabels: labels }, template: template(), ...spec }
})

export { advance, create, line, patch, remove, settle }

export const get = <A extends KubeObject>(resource: Resource.Resource<A>, name = "web") =>
  withClient((client) => client.get(resource, { namespace: "default", name }))

/** A change of the Deployment's spec. */
export const change = (spec: object) => patch(Deployment, "web", { spec })

export const annotate = (annotations: object) => patch(Deployment, "web", { metadata: { annotations } })

export const useImage = (image: string) => change({ template: { spec: podSpec(image) } })

/** All ReplicaSets of the namespace, the newest last. */
export const sets = withClient((client) =>
  Effect.map(client.list(ReplicaSet, { namespace: "default" }), ({ items }) =>
    [...items]
      .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
      .sort((a, b) => Number(revisionOf(a)) - Number(revisionOf(b)))
  )
)

/** The ReplicaSet with that image. */
export const setOf = (image: string) =>
  Effect.flatMap(sets, (all) => {
    const found = all.find((set) => set.spec?.template?.spec?.containers[0]?.image === image)
    return found === undefined ? Effect.die(`no ReplicaSet has the image ${image}`) : Effect.succeed(found)
  })

const prefix = "deployment.kubernetes.io/"

/** `revision`, `desired-replicas`, … of any object. */
export const note = (object: KubeObject, name: string) => object.metadata.annotations?.[prefix + name]

export const revisionOf = (object: KubeObject) => note(object, "revision")

/** Writes a ReplicaSet's status as its controller would: this many pods exist and are available. */
export const setReplicaSetStatus = (set: ReplicaSet, replicas: number, available = replicas, more: object = {}) =>
  Effect.flatMap(get(ReplicaSet, set.metadata.name), ({ metadata }) =>
    patch(
      ReplicaSet,
      set.metadata.name,
      {
        status: {
          replicas,
          readyReplicas: available,
          availableReplicas: available,
          observedGeneration: metadata.generation,
          terminatingReplicas: 0,
          ...more
        }
      },
      "status"
    )
  )

/** Writes the status of a ReplicaSet that has all its pods. */
export const completeReplicaSet = (image: string) =>
  Effect.flatMap(setOf(image), (set) => setReplicaSetStatus(set, set.spec?.replicas ?? 0))

/** `web:1 3/2` for each ReplicaSet: image, desired and available pods. */
export const shape = Effect.map(sets, (all) =>
  all.map(
    ({ spec, status }) =>
      `${spec?.template?.spec?.containers[0]?.image} ${spec?.replicas}/${status?.availableReplicas ?? 0}`
  )
)

export const conditions = Effect.map(get(Deployment), ({ status }) => status?.conditions ?? [])

export const condition = (type: string) => Effect.map(conditions, (all) => all.find((one) => one.type === type))

/** `Progressing=True NewReplicaSetCreated: Created …` */
export const conditionTexts = Effect.map(conditions, (all) =>
  all.map(({ message, reason, status, type }) => `${type}=${status} ${reason}: ${message}`)
)

/** Events about the Deployment. */
export const events = Cluster.events("involvedObject.kind=Deployment")

/** Records writes from now on, except events; `rules` inject faults. */
export const recording = (rules: ReadonlyArray<Rule> = []) =>
  Cluster.recording(({ context }) => context.resource !== "events", rules)

/** The body of a write. */
export const body = (call: Request | undefined): Deployment | undefined => call?.body as Deployment | undefined

/** Runs the controller without nodes: the test writes what ReplicaSets report, so that every step is exact. */
export const scenario = <E>(title: string, body: Effect.Effect<void, E, Provides | Scope.Scope>) =>
  it.effect(title, () => body.pipe(Effect.scoped, Effect.provide(ClusterTest.layer())))

/** Runs the controller with a completed Deployment of this image. */
export const running = (spec: object = {}) =>
  Effect.gen(function* () {
    yield* start
    yield* create(Deployment, deployment(spec))
    yield* completeReplicaSet("web:1")
    yield* advance("1 minute")
  })

export const start = Effect.flatMap(ClusterTest, (cluster) => cluster.run(DeploymentController.make()))

export { Deployment, Pod, ReplicaSet }
export type Set = ReplicaSet
