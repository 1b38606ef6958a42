/**
 * What quotas need to know of a pod besides its amounts: until when they count, whether it is best effort, and what it leaves out.
 * Source: pkg/quota/v1/evaluator/core: podEvaluator, QuotaV1Pod; core/v1 qos.
 */
import * as PodResources from "../podResources.ts"
import * as Quantity from "../quantity.ts"
import type { Pod } from "../resources.ts"
import * as Time from "../time.ts"

type Container = NonNullable<Pod["spec"]>["containers"][number]

/**
 * Until when the pod counts, in milliseconds since 1970: for ever, unless it has ended or is being deleted. A pod that is being deleted
 * counts until its grace period has passed a second time, so that one on a lost node does not keep its namespace from replacing it. Source:
 * QuotaV1Pod.
 */
export const until = ({ metadata, status }: Pod): number => {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return -Infinity
  const deletion = Time.parse(metadata.deletionTimestamp)
  if (deletion === undefined || metadata.deletionGracePeriodSeconds === undefined) return Infinity
  return deletion + metadata.deletionGracePeriodSeconds * 1000
}

/** Whether resources are set for the whole pod, so that its containers need not set any. */
export const hasPodLevelResources = (pod: Pod): boolean =>
  PodResources.hasPodLevelResources(pod, "requests") || PodResources.hasPodLevelResources(pod, "limits")

const requestsCpuOrMemory = (resources: Container["resources"]): boolean =>
  (["requests", "limits"] as const).some((list) =>
    ["cpu", "memory"].some((name) => (Quantity.parse(resources?.[list]?.[name])?.nanos ?? 0n) > 0n)
  )

/** Requests no CPU and no memory. The status says so; before it does, this is computed from the spec. */
export const isBestEffort = (pod: Pod): boolean => {
  const reported = pod.status?.qosClass ?? ""
  if (reported !== "") return reported === "BestEffort"
  if (hasPodLevelResources(pod)) return !requestsCpuOrMemory(pod.spec?.resources)
  return ![...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].some(({ resources }) =>
    requestsCpuOrMemory(resources)
  )
}

/** The names that some container does not set, although a quota with such a name requires it of every container; sorted, with those containers. */
export const unspecifiedResources = (
  pod: Pod,
  names: ReadonlyArray<string>
): ReadonlyMap<string, ReadonlyArray<string>> => {
  const missing = new Map<string, Array<string>>()
  if (hasPodLevelResources(pod)) return missing
  for (const name of [...names].sort()) {
    const path = requiredResources.get(name)
    if (path === undefined) continue
    const [list, resource] = path
    const lacking = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].filter(
      ({ resources }) => resources?.[list]?.[resource] === undefined
    )
    if (lacking.length > 0) missing.set(name, [...new Set(lacking.map((one) => one.name))].sort())
  }
  return missing
}

/** The names that a quota requires of every container. Source: the validationSet of the pod evaluator. */
const requiredResources: ReadonlyMap<string, readonly [PodResources.List, string]> = new Map<
  string,
  readonly [PodResources.List, string]
>(
  ["cpu", "memory"].flatMap((name) => [
    [name, ["requests", name]],
    [`requests.${name}`, ["requests", name]],
    [`limits.${name}`, ["limits", name]]
  ])
)
