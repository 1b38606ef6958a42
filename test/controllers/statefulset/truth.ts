/** Facts about the model's objects, computed without the controller's code. */
import * as Schema from "effect/Schema"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import type { PersistentVolumeClaim, Pod, StatefulSet } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"

/** Pods of this image never become ready. */
export const bad = "bad"

export const Policy = Schema.Struct({ whenDeleted: Schema.Boolean, whenScaled: Schema.Boolean })

/** The fields of the spec that a user may change at any time. */
export const Wish = Schema.Struct({
  replicas: Schema.Literals([0, 1, 2, 3]),
  start: Schema.Literals([0, 0, 0, 2]),
  partition: Schema.Literals([0, 0, 1, 2, "OnDelete"]),
  minReady: Schema.Literals([0, 0, 10]),
  historyLimit: Schema.Literals([0, 1, 10]),
  policy: Policy
})

export type Wish = typeof Wish.Type

export const Setup = Schema.Struct({ isOrdered: Schema.Boolean, claims: Schema.Boolean, wish: Wish })

const labels = { app: "web" }

export const templateOf = (image: string) => ({
  metadata: { labels },
  spec: { containers: [{ name: "main", image }] }
})

const keeps = (isDeleted: boolean): string => (isDeleted ? "Delete" : "Retain")

export const asked = ({ historyLimit, minReady, partition, policy, replicas, start }: Wish): object => ({
  replicas,
  ordinals: { start },
  minReadySeconds: minReady,
  revisionHistoryLimit: historyLimit,
  updateStrategy:
    partition === "OnDelete" ? { type: "OnDelete" } : { type: "RollingUpdate", rollingUpdate: { partition } },
  persistentVolumeClaimRetentionPolicy: {
    whenDeleted: keeps(policy.whenDeleted),
    whenScaled: keeps(policy.whenScaled)
  }
})

export const setOf = ({ claims, isOrdered, wish }: typeof Setup.Type): StatefulSet => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "web", namespace: "ns", uid: "uid-web", generation: 1 },
  spec: {
    selector: { matchLabels: labels },
    serviceName: "web",
    podManagementPolicy: isOrdered ? "OrderedReady" : "Parallel",
    template: templateOf("v1"),
    volumeClaimTemplates: claims ? [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } }] : [],
    ...asked(wish)
  }
})

export const isOrdered = ({ spec }: StatefulSet): boolean => spec?.podManagementPolicy === "OrderedReady"

export const goesWithPods = ({ spec }: StatefulSet): boolean =>
  spec?.persistentVolumeClaimRetentionPolicy?.whenScaled === "Delete"

export const isRolling = ({ spec }: StatefulSet): boolean => spec?.updateStrategy?.type === "RollingUpdate"

export const partition = ({ spec }: StatefulSet): number => spec?.updateStrategy?.rollingUpdate?.partition ?? 0

export const first = ({ spec }: StatefulSet): number => spec?.ordinals?.start ?? 0

/** The desired ordinals. */
export const range = (set: StatefulSet): ReadonlyArray<number> =>
  Array.from({ length: set.spec?.replicas ?? 1 }, (_, i) => first(set) + i)

export const ordinal = ({ metadata }: KubeObject): number =>
  Number(metadata.name.slice(metadata.name.lastIndexOf("-") + 1))

export const revision = ({ metadata }: KubeObject): string => metadata.labels?.["controller-revision-hash"] ?? ""

export const image = ({ spec }: Pick<Pod, "spec">): string => spec?.containers[0]?.image ?? ""

export const time = (millis: number): string => Time.format(millis)

export const isTerminating = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

export const hasEnded = ({ status }: Pod): boolean => status?.phase === "Failed" || status?.phase === "Succeeded"

const readyCondition = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === "Ready")

export const isReady = (pod: Pod): boolean => pod.status?.phase === "Running" && readyCondition(pod)?.status === "True"

/** Whether the pod exists and has been ready for minReadySeconds. */
export const isAvailable = (set: StatefulSet, pod: Pod | undefined, now: number): boolean => {
  if (pod === undefined || isTerminating(pod) || !isReady(pod)) return false
  const since = Date.parse(String(readyCondition(pod)?.lastTransitionTime))
  return since + (set.spec?.minReadySeconds ?? 0) * 1000 <= now
}

export const ready = (pod: Pod, isIt: boolean, now: number): Pod => ({
  ...pod,
  status: {
    phase: "Running",
    conditions: [{ type: "Ready", status: isIt ? "True" : "False", lastTransitionTime: time(now) }]
  }
})

/** `StatefulSet web`; empty without an owner. */
export const owner = (claim: PersistentVolumeClaim | undefined): string =>
  (claim?.metadata.ownerReferences ?? []).map(({ kind, name }) => `${kind} ${name}`).join(", ")
