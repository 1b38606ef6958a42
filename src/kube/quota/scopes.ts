/**
 * Which objects a quota with scopes counts: those that match every scope. Only pods and claims match any.
 * Source: podMatchesScopeFunc and pvcMatchesScopeFunc of the reference server.
 */
import type { KubeObject } from "../Meta.ts"
import type { PersistentVolumeClaim, Pod, ResourceQuota } from "../resources.ts"
import * as Names from "./names.ts"
import * as PodUsage from "./podUsage.ts"

/** One condition on an object. */
export interface Scope {
  readonly scopeName: string
  readonly operator: string
  readonly values: ReadonlyArray<string>
}

/** The scopes of a quota, from both of its fields. */
export const of = ({ spec }: Pick<ResourceQuota, "spec">): ReadonlyArray<Scope> => [
  ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: "Exists", values: [] })),
  ...(spec?.scopeSelector?.matchExpressions ?? []).map(({ operator, scopeName, values = [] }) => ({
    scopeName,
    operator,
    values
  }))
]

/** Whether a quota with these scopes counts the object. */
export const match = (scopes: ReadonlyArray<Scope>, kind: Names.Counted, object: KubeObject): boolean => {
  if (scopes.length === 0) return true
  const id = Names.idOf(kind)
  if (id === "pods") return scopes.every((scope) => podMatches(scope, object as Pod))
  if (id === "persistentvolumeclaims")
    return scopes.every((scope) => claimMatches(scope, object as PersistentVolumeClaim))
  return false
}

/** The pod has a deadline. It has nothing to do with being deleted. */
export const isTerminating = ({ spec }: Pod): boolean => (spec?.activeDeadlineSeconds ?? -1) >= 0

const podMatches = (scope: Scope, pod: Pod): boolean => {
  switch (scope.scopeName) {
    case "Terminating":
      return isTerminating(pod)
    case "NotTerminating":
      return !isTerminating(pod)
    case "BestEffort":
      return PodUsage.isBestEffort(pod)
    case "NotBestEffort":
      return !PodUsage.isBestEffort(pod)
    case "PriorityClass":
      return selects(scope, pod.spec?.priorityClassName ?? "")
    case "CrossNamespacePodAffinity":
      return looksElsewhere(pod)
    default:
      return false
  }
}

/** As a label selector on one label, which is absent where the name is empty. */
const selects = ({ operator, values }: Scope, name: string): boolean => {
  switch (operator) {
    case "In":
      return name !== "" && values.includes(name)
    case "NotIn":
      return name === "" || !values.includes(name)
    case "Exists":
      return name !== ""
    case "DoesNotExist":
      return name === ""
    default:
      return false
  }
}

type Affinity = NonNullable<NonNullable<Pod["spec"]>["affinity"]>
type Terms = Affinity["podAffinity"] | Affinity["podAntiAffinity"]

/** Whether a term of the pod's affinity or anti-affinity names other namespaces. */
const looksElsewhere = ({ spec }: Pod): boolean =>
  hasForeign(spec?.affinity?.podAffinity) || hasForeign(spec?.affinity?.podAntiAffinity)

const hasForeign = (terms: Terms): boolean =>
  [
    ...(terms?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(terms?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm)
  ].some((term) => (term?.namespaces ?? []).length > 0 || term?.namespaceSelector !== undefined)

const claimMatches = (scope: Scope, claim: PersistentVolumeClaim): boolean => {
  if (scope.scopeName !== "VolumeAttributesClass") return false
  const names = attributesClasses(claim)
  return names.length === 0 ? selects(scope, "") : names.some((name) => selects(scope, name))
}

/** The requested class, the one in force and the target of a change: while they differ, the claim counts for each. */
const attributesClasses = ({ spec, status }: PersistentVolumeClaim): ReadonlyArray<string> =>
  [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName
  ].flatMap((name) => (name === undefined || name === "" ? [] : [name]))
