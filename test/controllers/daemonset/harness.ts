/** The harness of the DaemonSet tests: objects, simulated nodes, and recorded requests. */
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as DaemonSetController from "../../../src/controllers/DaemonSet.ts"
import { ControllerRevision, DaemonSet, Node, Pod } from "../../../src/kube/resources.ts"
import type { Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest, type Provides } from "../../../src/testing/ClusterTest.ts"
import type * as Nodes from "../../../src/simulation/Nodes.ts"
import * as Cluster from "../../support/cluster.ts"
import { advance, create, line, patch, remove, settle, withClient } from "../../support/cluster.ts"
import { revisions } from "../shared/workload/harness.ts"

export const labels = { app: "log" }

export const podSpec = (image = "log:1") => ({ containers: [{ name: "main", image }] })

/** A DaemonSet of pods with the label `app=log`, as a manifest. */
export const daemonSet = (spec: object = {}, metadata: object = {}) => ({
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "log", namespace: "default", ...metadata },
  spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec() }, ...spec }
})

export { advance, create, line, patch, remove, revisions, settle }

export const get = withClient((client) => client.get(DaemonSet, { namespace: "default", name: "log" }))

export const status = Effect.map(get, (set) => set.status)

export const change = (spec: object) => patch(DaemonSet, "log", { spec })

export const useImage = (image: string) => change({ template: { spec: podSpec(image) } })

export const pods = withClient((client) => Effect.map(client.list(Pod, { namespace: "default" }), ({ items }) => items))

/** Pods that are not terminating. */
export const living = Effect.map(pods, (all) => all.filter(({ metadata }) => metadata.deletionTimestamp === undefined))

export const nodeOf = ({ spec }: Pod): string =>
  spec?.nodeName ??
  spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0]?.matchFields?.[0]
    ?.values?.[0] ??
  ""

export const imageOf = ({ spec }: Pod): string => spec?.containers[0]?.image ?? ""

/** `worker-1 log:1` for each such pod, sorted. */
export const shape = Effect.map(living, (all) => all.map((pod) => `${nodeOf(pod)} ${imageOf(pod)}`).sort())

/** Names of the nodes with such a pod, sorted. */
export const places = Effect.map(living, (all) => all.map(nodeOf).sort())

export const podOn = (node: string) =>
  Effect.flatMap(living, (all) => {
    const found = all.find((pod) => nodeOf(pod) === node)
    return found === undefined ? Effect.die(`no pod on ${node}`) : Effect.succeed(found)
  })

/** Events about the DaemonSet. */
export const events = Cluster.events("involvedObject.kind=DaemonSet")

/** Records writes of DaemonSets, pods and revisions from now on; `rules` inject faults. */
export const recording = (rules: ReadonlyArray<Rule> = []) =>
  Cluster.recording(
    ({ context: { resource } }) =>
      resource === "pods" || resource === "controllerrevisions" || resource?.startsWith("daemonsets") === true,
    rules
  )

/** Runs the controller with this many simulated nodes besides the control plane. */
export const scenario = <E>(
  title: string,
  workers: number,
  body: Effect.Effect<void, E, Provides | Nodes.Nodes | Scope.Scope>
) =>
  it.effect(title, () =>
    Effect.andThen(start, body).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: workers + 1 })))
  )

export const start = Effect.flatMap(ClusterTest, (cluster) => cluster.run(DaemonSetController.make()))

export { ControllerRevision, DaemonSet, Node, Pod }
