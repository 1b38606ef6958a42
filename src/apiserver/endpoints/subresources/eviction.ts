/**
 * pods/eviction: deletes a pod if its PodDisruptionBudgets allow it. The server only decrements what the disruption controller has
 * allowed; it never computes a budget. Source: pkg/registry/core/pod/storage: EvictionREST.
 */
import * as Result from "effect/Result"
import * as Selector from "../../../kube/Selector.ts"
import { arrayAt, at, ensureObject, isObject, numberAt, objectAt, set, textAt } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import * as body from "../../body.ts"
import * as Status from "../../../kube/Status.ts"
import * as StatusError from "../../StatusError.ts"
import type { Target } from "../../routing.ts"
import * as fieldValidation from "../../validation/fieldValidation.ts"
import * as lifecycle from "../../validation/lifecycle.ts"
import * as resources from "../../scheme/resources.ts"
import * as RequestContext from "../../RequestContext.ts"
import type { RequestScope } from "../../admission/Admission.ts"
import { select } from "../../storage/Collection.ts"
import * as Version from "../../storage/Version.ts"
import { setCondition } from "./binding.ts"
import { action } from "./subresource.ts"
import * as read from "../read.ts"
import * as remove from "../remove.ts"
import { overwrite } from "../../storage/commit.ts"

const budgetKind = resources.all.find((resource) => resource.kind === "PodDisruptionBudget")

/** Maximum number of disruptedPods of a budget. */
const maxDisrupted = 2000

const decode = (context: RequestScope, target: Target): JsonObject | StatusError.StatusError => {
  const sent = body.optional(context.request, "Eviction", fieldValidation.ofBodyAs(context, "policy.Eviction")) ?? {}
  return StatusError.isRefusal(sent) ? sent : (refuseObject(target, sent) ?? sent)
}

/** One synchronous section: no disruption is counted twice. */
const act = (
  context: RequestScope,
  target: Target,
  sent: JsonObject,
  dryRun: boolean
): StatusError.StatusError | undefined => {
  const asked = remove.optionsOf(context, objectAt(sent, "deleteOptions") ?? {})
  if (StatusError.isRefusal(asked)) return asked
  const options = { ...asked, dryRun: asked.dryRun || dryRun }
  const found = read.find(context, target)
  if (StatusError.isRefusal(found)) return found
  const pod = Version.parse(found)
  const refusal =
    lifecycle.refusePreconditions(target.resource, pod, options) ??
    (isExempt(pod) ? undefined : chargeBudget(context, target, found, pod, options.dryRun))
  if (refusal !== undefined) return refusal
  const current = options.dryRun ? found : setDisruptionTarget(context, target, pod)
  // The precondition on the resourceVersion held for the pod before its condition was set.
  const removed = remove.removeOne(context, target.resource, current, { ...options, resourceVersion: undefined })
  return StatusError.isRefusal(removed) ? removed : undefined
}

export const evict = action({ as: { group: "policy", version: "v1", kind: "Eviction" }, decode, act })

/** Set with or without a budget, so that controllers recognise an evicted pod. */
const setDisruptionTarget = (context: RequestScope, target: Target, pod: JsonObject): Version.Version => {
  const generation = numberAt(pod, "metadata", "generation")
  setCondition(context, pod, {
    type: "DisruptionTarget",
    status: "True",
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
    ...(generation === 0 ? {} : { observedGeneration: generation })
  })
  return overwrite(context, target.resource, pod, false)
}

const refuseObject = (target: Target, sent: JsonObject): StatusError.StatusError | undefined => {
  const apiVersion = textAt(sent, "apiVersion")
  if (apiVersion !== "" && apiVersion !== "policy/v1" && apiVersion !== "policy/v1beta1") {
    return StatusError.badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (policy/v1)`
    )
  }
  return textAt(sent, "metadata", "name") === target.name
    ? undefined
    : StatusError.badRequest("name in URL does not match name in Eviction object")
}

/** Pods that are pending, finished or being deleted need no budget. */
const isExempt = (pod: JsonObject): boolean =>
  ["Pending", "Succeeded", "Failed"].includes(textAt(pod, "status", "phase")) ||
  textAt(pod, "metadata", "deletionTimestamp") !== ""

/** Counts the eviction against the budget of the pod, or refuses it. */
const chargeBudget = (
  context: RequestScope,
  target: Target,
  found: Version.Version,
  pod: JsonObject,
  dryRun: boolean
): StatusError.StatusError | undefined => {
  const budgets = budgetsOf(context, found)
  const budget = budgets[0]
  if (budget === undefined) return undefined
  if (budgets.length > 1) return tooManyBudgets()
  if (!isReady(pod) && toleratesUnready(budget)) return undefined
  return decrementBudget(context, budget, target.name, dryRun)
}

/** kube-apiserver sets no reason in this error. */
const tooManyBudgets = (): StatusError.StatusError =>
  new StatusError.StatusError({
    status: {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
      code: 500
    }
  })

/** The budgets of the namespace that select the pod. A missing selector selects nothing, an empty one everything. */
const budgetsOf = (context: RequestScope, pod: Version.Version): ReadonlyArray<JsonObject> => {
  if (budgetKind === undefined) return []
  const chosen = { namespace: pod.namespace, labels: [], fields: [] }
  const all = select(context.state.collection(budgetKind.storage), chosen, context.state.log.revision())
  return all
    .map((version) => Version.parse(version))
    .filter((budget) => {
      const spec = objectAt(budget, "spec", "selector")
      const selector = spec === undefined ? undefined : Selector.fromSpec(spec)
      return (
        selector !== undefined && Result.isSuccess(selector) && Selector.matchesLabels(selector.success, pod.labels)
      )
    })
}

const isReady = (pod: JsonObject): boolean =>
  arrayAt(pod, "status", "conditions").some(
    (one) => textAt(one, "type") === "Ready" && textAt(one, "status") === "True"
  )

/** Whether the budget allows the eviction of an unready pod without counting it. */
const toleratesUnready = (budget: JsonObject): boolean => {
  if (textAt(budget, "spec", "unhealthyPodEvictionPolicy") === "AlwaysAllow") return true
  const desired = numberAt(budget, "status", "desiredHealthy")
  return desired > 0 && numberAt(budget, "status", "currentHealthy") >= desired
}

/** Takes one disruption from the budget, and records the pod for the disruption controller. */
const decrementBudget = (
  context: RequestScope,
  budget: JsonObject,
  pod: string,
  dryRun: boolean
): StatusError.StatusError | undefined => {
  if (budgetKind === undefined) return undefined
  const name = textAt(budget, "metadata", "name")
  const status = ensureObject(budget, "status")
  if (numberAt(status, "observedGeneration") < numberAt(budget, "metadata", "generation")) {
    return refused(`The disruption budget ${name} is still being processed by the server.`, budgetRetrySeconds)
  }
  const allowed = numberAt(status, "disruptionsAllowed")
  // kube-apiserver names the kind in this error, not the resource.
  const named = { ...budgetKind, plural: "poddisruptionbudget" }
  if (allowed < 0) return StatusError.forbidden(named, name, "pdb disruptions allowed is negative")
  const disrupted = at(status, "disruptedPods")
  if (isObject(disrupted) && Object.keys(disrupted).length > maxDisrupted) {
    return StatusError.forbidden(
      named,
      name,
      "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
    )
  }
  if (allowed === 0) {
    const healthy = `${numberAt(status, "desiredHealthy")} healthy pods and has ${numberAt(status, "currentHealthy")} currently`
    return refused(`The disruption budget ${name} needs ${healthy}`)
  }
  status["disruptionsAllowed"] = allowed - 1
  if (allowed === 1) setDisruptionNotAllowed(context, status)
  set(ensureObject(status, "disruptedPods"), pod, RequestContext.timestamp(context.now))
  overwrite(context, budgetKind, budget, dryRun)
  return undefined
}

/** Sets the condition of an exhausted budget as its controller would. */
const setDisruptionNotAllowed = (context: RequestScope, status: JsonObject): void => {
  const type = "DisruptionAllowed"
  const before = arrayAt(status, "conditions")
  const index = before.findIndex((one) => textAt(one, "type") === type)
  const isFalse = textAt(before[index], "status") === "False"
  const observed = numberAt(status, "observedGeneration")
  const next = {
    type,
    status: "False",
    ...(observed === 0 ? {} : { observedGeneration: observed }),
    lastTransitionTime: isFalse ? textAt(before[index], "lastTransitionTime") : RequestContext.timestamp(context.now),
    reason: "InsufficientPods",
    message: ""
  }
  status["conditions"] = index === -1 ? [...before, next] : before.with(index, next)
}

/** Seconds after which a client may retry: the disruption controller needs about that long to process a changed budget. */
const budgetRetrySeconds = 10

/** Without Retry-After unless one is given: the server cannot predict when the budget allows a disruption. */
const refused = (why: string, retryAfterSeconds?: number): StatusError.StatusError =>
  new StatusError.StatusError({
    status: Status.failure({
      code: 429,
      reason: "TooManyRequests",
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {
        causes: [{ reason: "DisruptionBudget", message: why }],
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds })
      }
    })
  })
