/** The harness of the StatefulSet tests: manifests, simulated nodes, faults of pods, and recorded API calls. */
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as StatefulSetController from "../../../src/controllers/StatefulSet.ts"
import { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from "../../../src/kube/resources.ts"
import type { Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest, type Provides } from "../../../src/testing/ClusterTest.ts"
import * as Nodes from "../../../src/simulation/Nodes.ts"
import * as Cluster from "../../support/cluster.ts"
import { advance, create, line, patch, remove, settle, withClient } from "../../support/cluster.ts"
import { revisions } from "../shared/workload/harness.ts"

export { advance, create, line, patch, remove, revisions, settle }

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

/** Creates a set and waits until its replicas are ready. */
export const running = (manifest: object = statefulSet()) =>
  Effect.andThen(create(StatefulSet, manifest), advance("1 minute"))

export const get = withClient((client) => client.get(StatefulSet, { namespace: "default", name: "web" }))

/** The status; counts that the server omits are zero. */
export const status = Effect.map(get, (set) => ({
  readyReplicas: 0,
  currentReplicas: 0,
  updatedReplicas: 0,
  currentRevision: "",
  updateRevision: "",
  ...(set.status as NonNullable<StatefulSet["status"]>)
}))

export const change = (spec: object) => patch(StatefulSet, "web", { spec })

export const useImage = (image: string) => change({ template: { spec: podSpec(image) } })

export const scale = (replicas: number) => change({ replicas })

/** All pods, lowest ordinal first. */
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

/** Makes a pod not ready, or ready again. */
export const unready = (name: string, isUnready = true) =>
  Effect.andThen(
    patch(Pod, name, { metadata: { annotations: { [annotation]: isUnready ? "main" : null } } }),
    advance("1 second")
  )

const annotation = "simulation/unready"

/** The kubelet evicts a pod. */
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

/** Events about the StatefulSet. */
export const events = Cluster.events("involvedObject.kind=StatefulSet")

const kinds = ["pods", "controllerrevisions.apps", "persistentvolumeclaims", "statefulsets.apps"]

/** Records writes of StatefulSets, pods, revisions and claims from now on; `rules` inject faults. */
export const recording = (rules: ReadonlyArray<Rule> = []) =>
  Cluster.recording(({ context: { resource = "" } }) => kinds.some((kind) => resource.startsWith(kind)), rules)

/** The server refuses this many calls with the code. */
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

export const start = Effect.flatMap(ClusterTest, (cluster) => cluster.run(StatefulSetController.make()))

type Body<E> = Effect.Effect<void, E, Provides | Nodes.Nodes | Scope.Scope>

/** Runs the controller with two simulated nodes besides the control plane. */
export const scenario = <E>(title: string, body: Body<E>) => without(title, Effect.andThen(start, body))

/** The same, but the test starts the controller. */
export const without = <E>(title: string, body: Body<E>) =>
  it.effect(title, () => body.pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 3 }))))

export { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet }
