/**
 * The identity of a replica: its name, and the labels, volumes and revision that belong to it. The name is the whole identity: `web-3` is replica 3
 * of `web`. Source: pkg/controller/statefulset: stateful_set_utils.go.
 */
import * as PodFacts from "../../kube/pod.ts"
import type { Pod, StatefulSet } from "../../kube/resources.ts"
import * as History from "../shared/revisions/history.ts"
import * as Spec from "./spec.ts"

/** Source: apps/v1 StatefulSetPodNameLabel, PodIndexLabel. */
const nameLabel = "statefulset.kubernetes.io/pod-name"
const indexLabel = "apps.kubernetes.io/pod-index"

export interface Parts {
  readonly parent: string
  readonly ordinal: number
}

const largest = 2 ** 31 - 1

/** The parts of a pod's name; undefined if it does not end in a number. The ordinal is -1 if no set can have it. */
export const parse = (name: string): Parts | undefined => {
  const dash = name.lastIndexOf("-")
  const digits = name.slice(dash + 1)
  if (dash === -1 || !/^[0-9]+$/.test(digits)) return undefined
  const ordinal = Number(digits)
  return { parent: name.slice(0, dash), ordinal: ordinal <= largest ? ordinal : -1 }
}

export const podName = ({ metadata }: StatefulSet, ordinal: number): string => `${metadata.name}-${ordinal}`

export const claimName = (template: string, set: StatefulSet, ordinal: number): string =>
  `${template}-${podName(set, ordinal)}`

export const labels = (set: StatefulSet, ordinal: number): Readonly<Record<string, string>> => ({
  [nameLabel]: podName(set, ordinal),
  [indexLabel]: String(ordinal)
})

/** The name of the pod's revision. On pods of other owners the same label has only the hash. */
export const revisionOf = (pod: Pod): string | undefined => History.hashOf(pod)

/** Whether name and name label match the ordinal. `web-01` does not match ordinal 1. */
export const isSelf = (set: StatefulSet, ordinal: number, { metadata }: Pod): boolean =>
  metadata.name === podName(set, ordinal) && metadata.labels?.[nameLabel] === metadata.name

type Volume = NonNullable<NonNullable<Pod["spec"]>["volumes"]>[number]

/** The volumes for the set's claims, in the order of the templates. */
export const volumes = (set: StatefulSet, ordinal: number): ReadonlyArray<Volume> =>
  Spec.claimTemplates(set).map(({ metadata }) => {
    const name = metadata?.name ?? ""
    return { name, persistentVolumeClaim: { claimName: claimName(name, set, ordinal) } }
  })

/** Whether the pod's volumes use its own claims. */
export const hasStorage = (set: StatefulSet, ordinal: number, { spec }: Pod): boolean =>
  volumes(set, ordinal).every(({ name, persistentVolumeClaim }) =>
    spec?.volumes?.some(
      (volume) => volume.name === name && volume.persistentVolumeClaim?.claimName === persistentVolumeClaim?.claimName
    )
  )

export const isTerminating = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined

export const isReady = (pod: Pod): boolean => pod.status?.phase === "Running" && PodFacts.isReady(pod)

export const isAvailable = (set: StatefulSet, pod: Pod, now: number): boolean =>
  isReady(pod) && PodFacts.isAvailable(pod, Spec.minReadySeconds(set), now)
