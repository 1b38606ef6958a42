/**
 * pod-count: each run writes the number of pods in the cluster as a label on the control-plane nodes and records that number as an event on each
 * pod. It reads only the cache; a node that has the right label already is not written.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Access from "../kube/Access.ts"
import type { PartialObjectMetadata } from "../kube/Meta.ts"
import * as Patch from "../kube/Patch.ts"
import * as Resource from "../kube/Resource.ts"
import { Node, Pod } from "../kube/resources.ts"
import * as Selector from "../kube/Selector.ts"
import * as Controller from "../layers/Controller.ts"
import { nonSliding, type Run } from "../layers/Schedules.ts"
import * as Setting from "../layers/Setting.ts"
import * as Codecs from "../layers/setting/codecs.ts"

export const label = "hopegi/pod-count"

const Pods = Resource.metadataOnly(Pod)
const Nodes = Resource.metadataOnly(Node)

export const settings = {
  interval: Setting.make(Codecs.interval, {
    name: "pod-count-interval",
    group: "tuning",
    description: "Time between two counts",
    default: "10s"
  }),
  schedule: Setting.make(Codecs.choice(["spaced", "nonsliding"]), {
    name: "pod-count-schedule",
    group: "tuning",
    description: "Count the interval from the end of a run, or from its start",
    default: "spaced"
  }),
  nodes: Setting.optional(Codecs.labels, {
    name: "pod-count-node-selector",
    group: "tuning",
    description: "Nodes to label; without it those with the control-plane or master role label"
  })
}

/** With the values of the settings. */
export const configured = ({ interval, nodes, schedule }: Setting.Values<typeof settings>) =>
  make({
    schedule: schedule === "spaced" ? Schedule.spaced(interval) : nonSliding(interval),
    nodeSelector: Option.getOrUndefined(nodes)
  })

export interface Options {
  /** When pods are counted. */
  readonly schedule: Schedule.Schedule<unknown, Run>
  /** The nodes to label. Default: nodes with a control-plane role label. */
  readonly nodeSelector?: Selector.LabelSelector | undefined
}

const access = [Access.read(Pods), Access.read(Nodes), Access.patch(Node), Access.record] as const

export const make = (options: Options) =>
  Controller.scheduled({
    name: "pod-count",
    component: "pod_controller",
    access,
    schedule: options.schedule,
    run: ({ cache, client, events }) =>
      Effect.gen(function* () {
        const pods = yield* cache.list(Pods)
        const nodes = yield* cache.list(Nodes)
        const count = String(pods.length)
        yield* Effect.annotateLogs(Effect.logDebug("Counted pods"), { count, pods: pods.map(nameOf).join(" ") })
        yield* Effect.forEach(
          nodes.filter((node) => isLabelled(node, options.nodeSelector) && node.metadata.labels?.[label] !== count),
          (node) =>
            client
              .patch(Node, { name: node.metadata.name }, Patch.merge({ metadata: { labels: { [label]: count } } }))
              .pipe(Effect.catch((error) => Effect.logWarning(`Could not label the node: ${error.message}`))),
          { discard: true }
        )
        yield* Effect.forEach(pods, (pod) => events.normal(pod, "SuccessCalculatePod", `pod count is ${count}`), {
          discard: true
        })
      })
  })

const isLabelled = (node: PartialObjectMetadata, selector: Selector.LabelSelector | undefined): boolean =>
  selector === undefined
    ? Selector.matchesLabels(controlPlane, node.metadata.labels) || Selector.matchesLabels(master, node.metadata.labels)
    : Selector.matchesLabels(selector, node.metadata.labels)

const controlPlane: Selector.LabelSelector = [
  { key: "node-role.kubernetes.io/control-plane", operator: "Exists", values: [] }
]

/** The role label of clusters made before Kubernetes 1.20. */
const master: Selector.LabelSelector = [{ key: "node-role.kubernetes.io/master", operator: "Exists", values: [] }]

const nameOf = (pod: PartialObjectMetadata): string => `${pod.metadata.namespace ?? ""}/${pod.metadata.name}`
