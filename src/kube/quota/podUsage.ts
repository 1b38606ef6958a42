/**
 * What quotas ask of a pod besides what it takes: until when it takes that, whether it asks for nothing, and what it does not say.
 * Source: pkg/quota/v1/evaluator/core: podEvaluator, QuotaV1Pod; core/v1 qos.
 */
import * as PodResources from "../podResources.ts"
import * as Quantity from "../quantity.ts"
import type { Pod } from "../resources.ts"
import * as Time from "../time.ts"

type Container = NonNullable<Pod["spec"]>["containers"][number]

/**
 * Milliseconds since 1970 until which the pod takes room: for ever, unless it has ended or is being deleted. Then it is until its grace
 * is over once more, so that a pod on a lost machine does not keep its namespace from replacing it. Source: QuotaV1Pod.
 */
export const until = ({ metadata, status }: Pod): number => {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return -Infinity
  const deletion = Time.parse(metadata.deletionTimestamp)
  if (deletion === undefined || metadata.deletionGracePeriodSeconds === undefined) return Infinity
  return deletion + metadata.deletionGracePeriodSeconds * 1000
}

/** Whether resources are said for the whole pod: then its containers need not say any. */
export const speaksForAll = (pod: Pod): boolean =>
  PodResources.speaksForAll(pod, "requests") || PodResources.speaksForAll(pod, "limits")

const asks = (resources: Container["resources"]): boolean =>
  (["requests", "limits"] as const).some((list) =>
    ["cpu", "memory"].some((name) => (Quantity.parse(resources?.[list]?.[name])?.nanos ?? 0n) > 0n)
  )

/** Asks for no processor time and no memory. The server says so in the status; before that it is computed from the spec. */
export const isBestEffort = (pod: Pod): boolean => {
  const said = pod.status?.qosClass ?? ""
  if (said !== "") return said === "BestEffort"
  if (speaksForAll(pod)) return !asks(pod.spec?.resources)
  return ![...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].some(({ resources }) =>
    asks(resources)
  )
}

/** Names that a container does not say, although a quota that names them asks it of every container; sorted, and who does not. */
export const unsaid = (pod: Pod, names: ReadonlyArray<string>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const missing = new Map<string, Array<string>>()
  if (speaksForAll(pod)) return missing
  for (const name of [...names].sort()) {
    const path = demanded.get(name)
    if (path === undefined) continue
    const [list, resource] = path
    const silent = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].filter(
      ({ resources }) => resources?.[list]?.[resource] === undefined
    )
    if (silent.length > 0) missing.set(name, [...new Set(silent.map((one) => one.name))].sort())
  }
  return missing
}

/** Source: the validationSet of the pod evaluator, which is not to grow. */
const demanded: ReadonlyMap<string, readonly [PodResources.List, string]> = new Map<
  string,
  readonly [PodResources.List, string]
>(
  ["cpu", "memory"].flatMap((name) => [
    [name, ["requests", name]],
    [`requests.${name}`, ["requests", name]],
    [`limits.${name}`, ["limits", name]]
  ])
)
