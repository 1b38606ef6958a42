/** Facts about the model's objects, computed without the controller's code. */
import * as Schema from "effect/Schema"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import type { DaemonSet, Node, Pod } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"

/** Pods of this image never become ready. */
export const bad = "bad"

/** The properties of a node. */
export const Facts = Schema.Struct({
  fast: Schema.Boolean,
  taint: Schema.Literals(["none", "none", "NoSchedule", "NoExecute", "PreferNoSchedule"])
})

export const Setup = Schema.Struct({
  strategy: Schema.Literals(["OnDelete", "one", "two", "surge"]),
  historyLimit: Schema.Literals([0, 1, 10]),
  picky: Schema.Boolean,
  nodes: Schema.Array(Facts).check(Schema.isMaxLength(4))
})

export type Setup = typeof Setup.Type

const strategies = {
  OnDelete: { type: "OnDelete" },
  one: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
  two: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 2, maxSurge: 0 } },
  surge: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
} as const

const labels = { app: "log" }

export const templateOf = (image: string, picky: boolean) => ({
  metadata: { labels },
  spec: { containers: [{ name: "main", image }], ...(picky ? { nodeSelector: { disk: "fast" } } : {}) }
})

export const setOf = ({ historyLimit, picky, strategy }: Setup): DaemonSet => ({
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "log", namespace: "ns", uid: "uid-log", generation: 1 },
  spec: {
    selector: { matchLabels: labels },
    revisionHistoryLimit: historyLimit,
    updateStrategy: strategies[strategy],
    template: templateOf("v1", picky)
  }
})

export const nodeOf = (name: string, { fast, taint }: typeof Facts.Type): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: `uid-${name}`, labels: fast ? { disk: "fast" } : {} },
  spec: taint === "none" ? {} : { taints: [{ key: "own", effect: taint }] }
})

const isChosen = ({ spec }: DaemonSet, { metadata }: Node): boolean =>
  spec?.template.spec?.nodeSelector === undefined || metadata.labels?.["disk"] === "fast"

const hasTaint = ({ spec }: Node, ...effects: ReadonlyArray<string>): boolean =>
  (spec?.taints ?? []).some(({ effect }) => effects.includes(effect))

/** Whether a scheduler binds a pod there. */
export const isOpen = (node: Node): boolean => !hasTaint(node, "NoSchedule", "NoExecute")

export const shouldRun = (set: DaemonSet, node: Node): boolean =>
  isChosen(set, node) && !hasTaint(node, "NoSchedule", "NoExecute")

export const mayRun = (set: DaemonSet | undefined, node: Node): boolean =>
  set !== undefined && isChosen(set, node) && !hasTaint(node, "NoExecute")

export const surges = ({ spec }: DaemonSet): boolean => spec?.updateStrategy?.rollingUpdate?.maxSurge === 1

export const maxUnavailable = ({ spec }: DaemonSet): number =>
  Number(spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 0)

export const hash = ({ metadata }: KubeObject): string => metadata.labels?.["controller-revision-hash"] ?? ""

export const image = ({ spec }: Pick<Pod, "spec">): string => spec?.containers[0]?.image ?? ""

export const time = (millis: number): string => Time.format(millis)

export const ready = (pod: Pod, nodeName: string, now: number): Pod => ({
  ...pod,
  spec: { ...(pod.spec as NonNullable<Pod["spec"]>), nodeName },
  status:
    image(pod) === bad
      ? { phase: "Pending" }
      : { phase: "Running", conditions: [{ type: "Ready", status: "True", lastTransitionTime: time(now) }] }
})
