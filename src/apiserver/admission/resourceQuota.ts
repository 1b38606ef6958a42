/**
 * ResourceQuotas: charges created objects, and the increase by an update, to `status.used`, which must not exceed `status.hard`. The
 * resourcequota controller finds what is freed, and what was charged for a write that failed afterwards. Source:
 * apiserver/pkg/admission/plugin/resourcequota.
 */
import { ensureObject, get, objectAt, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import * as StatusError from "../StatusError.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Quantity from "../../kube/quantity.ts"
import * as Devices from "../../kube/quota/devices.ts"
import * as Names from "../../kube/quota/names.ts"
import * as PodUsage from "../../kube/quota/podUsage.ts"
import * as Scopes from "../../kube/quota/scopes.ts"
import * as Usage from "../../kube/quota/usage.ts"
import type { Pod, ResourceQuota } from "../../kube/resources.ts"
import { overwrite } from "../storage/commit.ts"
import type { Plugin, Write } from "./Admission.ts"
import * as stored from "./stored.ts"

/** A decoded object has the type of its kind. */
const typed = <A extends KubeObject>(object: JsonObject): A => object as unknown as A

const list = (names: ReadonlyArray<string>, of: (name: string) => Quantity.Quantity | undefined): string =>
  names.map((name) => `${name}=${Quantity.canonical(of(name) ?? Quantity.whole(0))}`).join(",")

/** The usage of the object after and before a write. */
interface Usages {
  readonly whole: Usage.Usage
  /** Undefined when the object is created. */
  readonly before: Usage.Usage | undefined
}

const recorded = (amounts: JsonObject, name: string): Quantity.Quantity | undefined =>
  Quantity.parse(get(amounts, name))

/** Refuses what cannot be charged: a request that the quota requires is missing, or the controller has not computed the usage yet. */
const checkChargeable = (
  quota: JsonObject,
  names: ReadonlyArray<string>,
  { object, target }: Write
): StatusError.StatusError | undefined => {
  const refuse = (why: string) => StatusError.forbidden(target.resource, textAt(object, "metadata", "name"), why)
  const name = textAt(quota, "metadata", "name")
  const unspecifiedResources =
    target.resource.storage === "pods" ? PodUsage.unspecifiedResources(typed<Pod>(object), names) : new Map()
  const wanted = Array.from(unspecifiedResources, ([resource, who]) => `${resource} for: ${who.join(",")}`)
  if (wanted.length > 0) return refuse(`failed quota: ${name}: must specify ${wanted.join("; ")}`)
  const used = objectAt(quota, "status", "used") ?? {}
  if (names.some((one) => get(used, one) === undefined))
    return refuse(`status unknown for quota: ${name}, resources: ${names.join(",")}`)
  return undefined
}

/** The quota after a charge; undefined when it does not change. */
const chargeTo = (
  write: Write,
  quota: JsonObject,
  { before, whole }: Usages
): JsonObject | StatusError.StatusError | undefined => {
  const { object, target } = write
  const { resource } = target
  const hard = objectAt(quota, "status", "hard") ?? {}
  const names = Object.keys(hard)
    .filter((name) => Names.isOf(name, resource))
    .sort()
  const scopes = Scopes.of(typed<ResourceQuota>(quota))
  if (names.length === 0 || !Scopes.match(scopes, resource, typed(object))) return undefined
  const refusal = checkChargeable(quota, names, write)
  if (refusal !== undefined) return refusal
  const wasCharged = write.before !== undefined && Scopes.match(scopes, resource, typed(write.before))
  const added = Usage.more(whole, wasCharged && before !== undefined ? before : new Map())
  const grown = names.filter((key) => added.has(key))
  if (grown.length === 0) return undefined
  const used = objectAt(quota, "status", "used") ?? {}
  const next: JsonObject = { ...used }
  for (const key of grown)
    next[key] = Quantity.canonical(Quantity.plus(recorded(used, key), added.get(key) ?? Quantity.whole(0)))
  const exceeded = grown.filter((key) => Quantity.compare(next[key], hard[key]) === 1)
  if (exceeded.length > 0) {
    const requested = list(exceeded, (key) => added.get(key))
    const [taken, limit] = [used, hard].map((amounts) => list(exceeded, (key) => recorded(amounts, key)))
    const name = textAt(quota, "metadata", "name")
    const why = `exceeded quota: ${name}, requested: ${requested}, used: ${taken}, limited: ${limit}`
    return StatusError.forbidden(resource, textAt(object, "metadata", "name"), why)
  }
  ensureObject(quota, "status")["used"] = next
  return quota
}

const quotas = "resourcequotas"

/** Kinds whose usage an update may increase. */
const kindsThatGrow = new Set(["persistentvolumeclaims", "resourceclaims.resource.k8s.io", "services"])

/** Whether the write may increase the usage. That of a pod increases by a resize, or when it enters another scope. */
const mayIncreaseUsage = ({ before, object, target }: Write): boolean => {
  const id = Names.idOf(target.resource)
  if (target.subresource === "status") return id === "persistentvolumeclaims"
  if (target.subresource !== "") return id === "pods" && target.subresource === "resize"
  if (before === undefined || kindsThatGrow.has(id)) return true
  return id === "pods" && Scopes.isTerminating(typed(object)) !== Scopes.isTerminating(typed(before))
}

/** The usage of an object at the time of the write, given the stored objects. */
const usageInContext = ({ target, context }: Write) => {
  const { namespace } = target
  const served = (kind: Names.Counted) => context.state.registry.all.find((one) => Names.isSame(one, kind))
  const usageOf = (kind: Names.Counted, object: KubeObject): Usage.Usage =>
    Usage.of(kind, object, context.now <= Usage.until(kind, object), {
      extendedResource: (className) => {
        const classes = served(Names.deviceClasses)
        const found = classes === undefined ? undefined : stored.object(context, classes.storage, "", className)
        return textAt(found, "spec", "extendedResourceName") || undefined
      },
      pod: (name) => {
        const found = stored.object(context, "pods", namespace, name)
        if (found === undefined) return undefined
        const pod = typed<Pod>(found)
        return { pod, usage: usageOf(Names.pods, pod) }
      },
      claimsOf: (uid) => {
        const claims = served(Names.resourceClaims)
        const all = claims === undefined ? [] : stored.objects(context, claims.storage, namespace)
        return all.map((claim) => typed(claim)).filter((claim) => Devices.podOf(claim)?.uid === uid)
      }
    })
  return usageOf
}

export const resourceQuota: Plugin = {
  name: "ResourceQuota",
  subresources: true,
  atCommit: (write) => {
    const { before, dryRun, object, target, context } = write
    const { resource } = target
    if (!resource.namespaced || Names.ignored.includes(Names.idOf(resource)) || !mayIncreaseUsage(write))
      return undefined
    const found = stored.objects(context, quotas, target.namespace)
    if (found.length === 0) return undefined
    const usageAt = usageInContext(write)
    const usageOf = (one: JsonObject) => usageAt(resource, typed(one))
    const usage = { whole: usageOf(object), before: before === undefined ? undefined : usageOf(before) }
    const changed: Array<JsonObject> = []
    for (const quota of found) {
      const charged = chargeTo(write, quota, usage)
      if (charged instanceof StatusError.StatusError) return charged
      if (charged !== undefined) changed.push(charged)
    }
    const quotaResource = stored.kindOf(quotas)
    return quotaResource === undefined || changed.length === 0
      ? undefined
      : () => changed.forEach((quota) => overwrite(context, quotaResource, quota, dryRun))
  }
}
