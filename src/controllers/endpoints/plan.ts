/**
 * Whether and how the Endpoints of a Service are written. Pure and idempotent. A pending trigger time alone is no
 * reason to write. Source: pkg/controller/endpoint: syncService.
 */
import * as Equality from "../../kube/equality.ts"
import type { Draft } from "../../kube/Meta.ts"
import type { Endpoints, Pod, Service } from "../../kube/resources.ts"
import * as TriggerTime from "../shared/services/triggerTime.ts"
import * as Subsets from "./subsets.ts"

const managedBy = "endpoints.kubernetes.io/managed-by"
const headless = "service.kubernetes.io/headless"
export const overCapacity = "endpoints.kubernetes.io/over-capacity"
/** Endpoints with this annotation are a leader election lock. */
export const leader = "control-plane.alpha.kubernetes.io/leader"

export type Plan =
  | { readonly _tag: "None" }
  | { readonly _tag: "Create"; readonly draft: Draft<Endpoints> }
  | { readonly _tag: "Update"; readonly endpoints: Endpoints }

const none: Plan = { _tag: "None" }

export interface Snapshot {
  readonly service: Service
  /** The pods that the Service selects. */
  readonly pods: ReadonlyArray<Pod>
  readonly current: Endpoints | undefined
  /** The trigger time annotation. */
  readonly time: string | undefined
}

export const plan = ({ current, pods, service, time }: Snapshot): Plan => {
  const { isTruncated, subsets } = Subsets.truncate(Subsets.of(service, pods))
  const labels = labelsOf(service)
  const metadata = {
    labels,
    annotations: annotate(TriggerTime.annotate(current?.metadata.annotations, time), isTruncated)
  }
  if (current === undefined) {
    const { name, namespace } = service.metadata
    const draft = { metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...metadata }, subsets }
    return { _tag: "Create", draft }
  }
  const isSame =
    Equality.isSameMap(current.metadata.labels, labels) &&
    current.metadata.annotations?.[overCapacity] === metadata.annotations[overCapacity] &&
    Subsets.isSame(current.subsets ?? [], subsets)
  if (isSame) return none
  return { _tag: "Update", endpoints: { ...current, metadata: { ...current.metadata, ...metadata }, subsets } }
}

/** The Service's labels and the controller's own. */
const labelsOf = ({ metadata, spec }: Service): Record<string, string> => {
  const { [headless]: _, ...own } = metadata.labels ?? {}
  const ip = spec?.clusterIP ?? ""
  return {
    ...own,
    ...(ip === "" || ip === "None" ? { [headless]: "" } : {}),
    [managedBy]: "endpoint-controller"
  }
}

const annotate = (annotations: Record<string, string>, isTruncated: boolean): Record<string, string> => {
  const { [overCapacity]: _, ...others } = annotations
  return isTruncated ? { ...others, [overCapacity]: "truncated" } : others
}
