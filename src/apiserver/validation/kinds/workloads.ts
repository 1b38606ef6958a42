/**
 * Deployment, ReplicaSet, StatefulSet, DaemonSet, ReplicationController; selectors are immutable. Source:
 * pkg/apis/apps/validation, pkg/apis/core/validation, and the update strategies of pkg/registry.
 */
import { at, equal, get, isObject, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { forbidden, intOrString, invalid, labelSelector, notSupported, Printed, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import { specOf } from "./spec.ts"
import { mismatch, running, selected, template, templateMetadata } from "./template.ts"

const nonNegative = (errors: Errors, spec: JsonObject, ...keys: ReadonlyArray<string>): void => {
  for (const key of keys) formats.nonNegative(errors, `spec.${key}`, get(spec, key))
}

/** The selector of a workload is immutable. */
export const sameSelector = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const selector = at(object, "spec", "selector")
  if (!equal(selector, at(before, "spec", "selector"))) {
    errors.push(invalid("spec.selector", labelSelector(selector), "field is immutable"))
  }
}

export const deployment = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  nonNegative(errors, spec, "replicas")
  formats.selectorOf(errors, "spec.selector", get(spec, "selector"), "deployment")
  selected(errors, spec)
  deploymentStrategy(errors, "spec.strategy", get(spec, "strategy"))
  nonNegative(errors, spec, "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
  const deadline = get(spec, "progressDeadlineSeconds")
  const ready = get(spec, "minReadySeconds") ?? 0
  if (typeof deadline === "number" && typeof ready === "number" && deadline <= ready) {
    errors.push(invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"))
  }
}

const deploymentStrategy = (errors: Errors, field: string, value: Json | undefined): void => {
  const type = textAt(value, "type")
  const rolling = at(value, "rollingUpdate")
  if (type === "Recreate") {
    if (rolling !== undefined) {
      const detail = "may not be specified when strategy `type` is 'Recreate'"
      errors.push(forbidden(`${field}.rollingUpdate`, detail))
    }
  } else if (type === "RollingUpdate") rollingDeployment(errors, `${field}.rollingUpdate`, rolling)
  else
    errors.push(
      notSupported(field, printedStrategy("DeploymentStrategy", "RollingUpdateDeployment", value), [
        "Recreate",
        "RollingUpdate"
      ])
    )
}

/** A strategy of unknown type as Go prints it, with no other field set. */
const printedStrategy = (what: string, rolling: string, value: Json | undefined): Printed =>
  new Printed(`apps.${what}{Type:${JSON.stringify(textAt(value, "type"))}, RollingUpdate:(*apps.${rolling})(nil)}`)

const rollingDeployment = (errors: Errors, field: string, value: Json | undefined): void => {
  const unavailable = at(value, "maxUnavailable")
  const surge = at(value, "maxSurge")
  formats.intOrPercent(errors, `${field}.maxUnavailable`, unavailable)
  formats.intOrPercent(errors, `${field}.maxSurge`, surge)
  if (formats.isNothing(unavailable) && formats.isNothing(surge)) {
    const detail = "may not be 0 when `maxSurge` is 0"
    errors.push(invalid(`${field}.maxUnavailable`, intOrString(unavailable), detail))
  }
  formats.atMost100Percent(errors, `${field}.maxUnavailable`, unavailable)
}

export const replicaSet = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  nonNegative(errors, spec, "replicas", "minReadySeconds")
  formats.selectorOf(errors, "spec.selector", get(spec, "selector"), "deployment")
  selected(errors, spec)
}

const printedStatefulStrategy = (value: Json | undefined): Printed =>
  printedStrategy("StatefulSetUpdateStrategy", "RollingUpdateStatefulSetStrategy", value)

export const statefulSet = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  const management = textAt(spec, "podManagementPolicy")
  if (management !== "OrderedReady" && management !== "Parallel") {
    errors.push(invalid("spec.podManagementPolicy", management, "must be 'OrderedReady' or 'Parallel'"))
  }
  const strategy = get(spec, "updateStrategy")
  const rolling = at(strategy, "rollingUpdate")
  const type = textAt(strategy, "type")
  if (type === "RollingUpdate") {
    formats.nonNegative(errors, "spec.updateStrategy.rollingUpdate.partition", at(rolling, "partition"))
    formats.intOrPercent(errors, "spec.updateStrategy.rollingUpdate.maxUnavailable", at(rolling, "maxUnavailable"))
  } else if (type !== "OnDelete") {
    const detail = "must be 'RollingUpdate' or 'OnDelete'"
    errors.push(invalid("spec.updateStrategy", printedStatefulStrategy(strategy), detail))
  } else if (rolling !== undefined) {
    const detail = "only allowed for updateStrategy 'RollingUpdate'"
    errors.push(invalid("spec.updateStrategy.rollingUpdate", printedStatefulStrategy(strategy), detail))
  }
  nonNegative(errors, spec, "replicas", "minReadySeconds", "revisionHistoryLimit")
  const selector = get(spec, "selector")
  formats.selectorOf(errors, "spec.selector", selector, "statefulset")
  const pods = get(spec, "template")
  const matches = formats.selects(selector, at(pods, "metadata", "labels"))
  if (matches === undefined) errors.push(invalid("spec.selector", labelSelector(selector), ""))
  if (matches === false) mismatch(errors, "spec.template", pods)
  // The pod spec is not validated: its mounts refer to volumes of claims that do not exist yet.
  templateMetadata(errors, "spec.template", pods)
  running(errors, "spec.template", pods, "StatefulSet")
}

const statefulMutable = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds"
] as const

/** Only some fields of a StatefulSet's spec can change. Both objects have been defaulted, so equal values are equal in form. */
export const statefulSetUpdate = (errors: Errors, object: JsonObject, before: JsonObject): void => {
  const kept = (spec: JsonObject | undefined): JsonObject => {
    const rest: JsonObject = { ...spec }
    for (const key of statefulMutable) delete rest[key]
    return rest
  }
  if (!equal(kept(objectAt(object, "spec")), kept(objectAt(before, "spec")))) {
    errors.push(
      forbidden(
        "spec",
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
      )
    )
  }
}

export const daemonSet = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  const selector = get(spec, "selector")
  const pods = get(spec, "template")
  formats.labelSelector(errors, "spec.selector", selector)
  if (formats.selects(selector, at(pods, "metadata", "labels")) === false) mismatch(errors, "spec.template", pods)
  if (isObject(selector) && formats.isEmptySelector(selector)) {
    errors.push(invalid("spec.selector", labelSelector(selector), "empty selector is invalid for daemonset"))
  }
  template(errors, "spec.template", pods)
  running(errors, "spec.template", pods, "DaemonSet")
  nonNegative(errors, spec, "minReadySeconds")
  daemonStrategy(errors, "spec.updateStrategy", get(spec, "updateStrategy"))
  nonNegative(errors, spec, "revisionHistoryLimit")
}

const daemonStrategy = (errors: Errors, field: string, value: Json | undefined): void => {
  const type = textAt(value, "type")
  if (type === "OnDelete") return
  if (type !== "RollingUpdate") {
    const printed = printedStrategy("DaemonSetUpdateStrategy", "RollingUpdateDaemonSet", value)
    errors.push(notSupported(field, printed, ["RollingUpdate", "OnDelete"]))
    return
  }
  const own = `${field}.rollingUpdate`
  const unavailable = at(value, "rollingUpdate", "maxUnavailable")
  const surge = at(value, "rollingUpdate", "maxSurge")
  formats.intOrPercent(errors, `${own}.maxUnavailable`, unavailable)
  formats.atMost100Percent(errors, `${own}.maxUnavailable`, unavailable)
  formats.intOrPercent(errors, `${own}.maxSurge`, surge)
  formats.atMost100Percent(errors, `${own}.maxSurge`, surge)
  if (!formats.isNothing(unavailable) && !formats.isNothing(surge)) {
    const detail = "may not be set when maxUnavailable is non-zero"
    errors.push(invalid(`${own}.maxSurge`, intOrString(surge), detail))
  }
  if (formats.isNothing(unavailable) && formats.isNothing(surge)) {
    errors.push(required(`${own}.maxUnavailable`, "cannot be 0 when maxSurge is 0"))
  }
}

export const replicationController = (errors: Errors, object: JsonObject): void => {
  const spec = specOf(object)
  nonNegative(errors, spec, "minReadySeconds")
  const selector = objectAt(spec, "selector") ?? {}
  if (Object.keys(selector).length === 0) errors.push(required("spec.selector"))
  nonNegative(errors, spec, "replicas")
  const pods = get(spec, "template")
  if (pods === undefined) {
    errors.push(required("spec.template"))
    return
  }
  const labels = objectAt(pods, "metadata", "labels") ?? {}
  if (Object.keys(selector).some((key) => get(labels, key) !== selector[key])) mismatch(errors, "spec.template", pods)
  template(errors, "spec.template", pods)
  running(errors, "spec.template", pods, "ReplicationController")
}
