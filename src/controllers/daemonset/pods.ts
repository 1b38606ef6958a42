/**
 * Facts about a daemon pod: its target node, whether its template is current, and which of several pods of a node is
 * preferred. Source: pkg/controller/daemon/util: GetTargetNodeName, IsPodUpdated.
 */
import type { KubeObject } from "../../kube/Meta.ts"
import * as Owner from "../../kube/Owner.ts"
import type { DaemonSet, Pod } from "../../kube/resources.ts"
import type { Index } from "../../layers/Cache.ts"
import * as History from "../shared/revisions/history.ts"
import * as Spec from "./spec.ts"

export type PodSpec = NonNullable<Pod["spec"]>

/** The node that the pod is bound to, or the only one that its node affinity allows; undefined if there is none. */
export const target = ({ spec }: Pick<Pod, "spec">): string | undefined => {
  if (spec?.nodeName !== undefined && spec.nodeName !== "") return spec.nodeName
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? [])
    for (const { key, operator, values = [] } of matchFields)
      if (key === "metadata.name" && operator === "In") return values.length === 1 ? values[0] : undefined
  return undefined
}

export const isBound = ({ spec }: Pod): boolean => spec?.nodeName !== undefined && spec.nodeName !== ""

/** By the revision hash label, or by the template generation label of older clients. */
export const isUpdated = (set: DaemonSet, hash: string, pod: Pod): boolean => {
  const generation = Spec.templateGeneration(set)
  const isOfGeneration = generation !== undefined && pod.metadata.labels?.[Spec.generationLabel] === generation
  return isOfGeneration || (hash !== "" && History.hashOf(pod) === hash)
}

/** Bound pods first, then the oldest, then by name. */
export const first = (a: Pod, b: Pod): number =>
  Number(isBound(b)) - Number(isBound(a)) ||
  compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
  compare(a.metadata.name, b.metadata.name)

const compare = (a = "", b = ""): number => (a < b ? -1 : a > b ? 1 : 0)

/** Index value: owner uid and node, joined by {@link placeOf}. */
export const byPlace: Index<Pod> = {
  name: "daemonset/place",
  of: (pod) => {
    const owner = Owner.controllerOf(pod)
    if (owner?.kind !== "DaemonSet") return none
    const node = target(pod)
    return node === undefined ? none : [placeOf(owner, node)]
  }
}

/** A uid contains no `@`. */
export const placeOf = ({ uid = "" }: Pick<KubeObject["metadata"], "uid">, node: string): string => `${uid}@${node}`

const none: ReadonlyArray<string> = []
