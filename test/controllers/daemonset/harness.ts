/** The harness of the DaemonSet tests: objects, simulated nodes, and recorded requests. */
import { it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as DaemonSetController from "../../../src/controllers/DaemonSet.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { ControllerRevision, DaemonSet, Event, Node, Pod } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { isWatch, type Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest, type Provides } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import type * as Nodes from "../../../src/simulation/Nodes.ts"
import { Recorder } from "../../../src/layers/Recorder.ts"
import type { Request } from "../../../src/layers/Transport.ts"

export const labels = { app: "log" }

export const podSpec = (image = "log:1") => ({ containers: [{ name: "main", image }] })

/** A DaemonSet of pods with the label `app=log`, as a manifest. */
export const daemonSet = (spec: object = {}, metadata: object = {}) => ({
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "log", namespace: "default", ...metadata },
  spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec() }, ...spec }
})

const withClient = <A, E, R>(use: (client: KubeClient["Service"]) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(KubeClient, use)

export const settle = Effect.flatMap(ClusterTest, (cluster) => cluster.settle)

export const advance = (time: Duration.Input) => Effect.flatMap(ClusterTest, (cluster) => cluster.advance(time))

export const create = <A extends KubeObject>(resource: Resource.Resource<A>, object: object) =>
  withClient((client) => Effect.tap(client.create(resource, object as never), () => settle))

export const get = withClient((client) => client.get(DaemonSet, { namespace: "default", name: "log" }))

export const status = Effect.map(get, (set) => set.status)

/** Sends a merge patch, then settles. */
export const patch = (resource: Resource.Any, name: string, body: object, subresource?: string) =>
  withClient((client) => {
    const target = resource === Node ? { name, subresource } : { namespace: "default", name, subresource }
    return Effect.tap(client.patch(resource, target, Patch.merge(body)), () => settle)
  })

export const change = (spec: object) => patch(DaemonSet, "log", { spec })

export const useImage = (image: string) => change({ template: { spec: podSpec(image) } })

export const remove = (resource: Resource.Any, name: string, options: object = {}) =>
  withClient((client) =>
    Effect.tap(
      client.delete(resource, resource === Node ? { name } : { namespace: "default", name }, options),
      () => settle
    )
  )

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

/** All revisions, lowest number first. */
export const revisions = withClient((client) =>
  Effect.map(client.list(ControllerRevision, { namespace: "default" }), ({ items }) =>
    [...items].sort((a, b) => a.revision - b.revision)
  )
)

/** Events about the DaemonSet, sorted by event name: `Normal SuccessfulCreate Created pod: …`. */
export const events = Effect.gen(function* () {
  yield* (yield* Recorder).drained
  const { items } = yield* (yield* KubeClient).list(Event, { fieldSelector: "involvedObject.kind=DaemonSet" })
  return items.map(({ message, reason, type }) => `${type} ${reason} ${message}`)
})

/** Records writes from now on, except events; `rules` inject faults. */
export const recording = (rules: ReadonlyArray<Rule> = []) =>
  Effect.gen(function* () {
    const calls: Array<Request> = []
    yield* (yield* ApiServer).setFaults([
      {
        match: (request) => {
          const { resource } = request.context
          const isOurs = resource === "pods" || resource === "controllerrevisions" || resource?.startsWith("daemonsets")
          if (isOurs === true && request.method !== "GET" && !isWatch(request)) calls.push(request)
          return false
        },
        fault: { _tag: "Drop" }
      },
      ...rules
    ])
    return calls
  })

/** `update daemonsets/status log`. */
export const line = ({ context }: Request): string =>
  [context.verb, context.resource, context.name].filter((part) => part !== undefined).join(" ")

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
