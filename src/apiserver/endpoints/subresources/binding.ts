/** pods/binding: assigns a pod to a node, once. Source: pkg/registry/core/pod/storage: BindingREST. */
import { arrayAt, ensureObject, objectAt, set, textAt } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import * as body from "../../body.ts"
import * as StatusError from "../../StatusError.ts"
import type { Target } from "../../routing.ts"
import * as fieldValidation from "../../validation/fieldValidation.ts"
import { notSupported, required } from "../../validation/kinds/field.ts"
import type { Errors } from "../../validation/kinds/field.ts"
import * as RequestContext from "../../RequestContext.ts"
import type { RequestScope } from "../../admission/Admission.ts"
import * as Version from "../../storage/Version.ts"
import * as read from "../read.ts"
import { overwrite } from "../../storage/commit.ts"
import { refuseNamespace } from "../change.ts"
import { action } from "./subresource.ts"

const decode = (context: RequestScope, target: Target): JsonObject | StatusError.StatusError => {
  const sent = body.optional(context.request, "Binding", fieldValidation.ofBodyAs(context, "core.Binding")) ?? {}
  if (StatusError.isRefusal(sent)) return sent
  return textAt(sent, "metadata", "name") === target.name
    ? (refuseNamespace(target, sent) ?? sent)
    : StatusError.badRequest("name in URL does not match name in Binding object")
}

const act = (
  context: RequestScope,
  target: Target,
  sent: JsonObject,
  dryRun: boolean
): StatusError.StatusError | undefined => {
  const invalid = refuseTarget(sent)
  if (invalid !== undefined) return invalid
  const found = read.find(context, target)
  if (StatusError.isRefusal(found)) return found
  const pod = Version.parse(found)
  const refusal = refuseUnassignable(target, pod, textAt(sent, "metadata", "uid"))
  if (refusal !== undefined) return refusal
  ensureObject(pod, "spec")["nodeName"] = textAt(sent, "target", "name")
  const annotations = objectAt(sent, "metadata", "annotations") ?? {}
  for (const [key, value] of Object.entries(annotations)) {
    set(ensureObject(ensureObject(pod, "metadata"), "annotations"), key, value)
  }
  setCondition(context, pod, { type: "PodScheduled", status: "True" })
  overwrite(context, target.resource, pod, dryRun)
  return undefined
}

export const bind = action({ as: { group: "", version: "v1", kind: "Binding" }, decode, act })

/** kube-apiserver reports these errors without a reason: the field messages are the whole message of a 500. */
const refuseTarget = (sent: JsonObject): StatusError.StatusError | undefined => {
  const kind = textAt(sent, "target", "kind")
  const errors: Errors = []
  if (kind !== "" && kind !== "Node") errors.push(notSupported("target.kind", kind, ["Node", "<empty>"]))
  if (textAt(sent, "target", "name") === "") errors.push(required("target.name"))
  const texts = errors.map(({ field, message }) => `${field}: ${message}`)
  if (texts.length === 0) return undefined
  return StatusError.unclassified(texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`)
}

const refuseUnassignable = (
  { resource, name }: Target,
  pod: JsonObject,
  uid: string
): StatusError.StatusError | undefined => {
  const refuse = (why: string) => StatusError.conflict({ ...resource, plural: `${resource.plural}/binding` }, name, why)
  const own = textAt(pod, "metadata", "uid")
  if (uid !== "" && uid !== own) {
    return refuse(`Precondition failed: UID in precondition: ${uid}, UID in object meta: ${own}`)
  }
  if (textAt(pod, "metadata", "deletionTimestamp") !== "") {
    return refuse(`pod ${name} is being deleted, cannot be assigned to a host`)
  }
  const assigned = textAt(pod, "spec", "nodeName")
  return assigned === "" ? undefined : refuse(`pod ${name} is already assigned to node ${JSON.stringify(assigned)}`)
}

/** Replaces the condition of this type; lastTransitionTime changes only with the status. */
export const setCondition = (
  context: RequestScope,
  pod: JsonObject,
  condition: {
    readonly type: string
    readonly status: string
    readonly reason?: string
    readonly message?: string
    readonly observedGeneration?: number
  }
): void => {
  const status = ensureObject(pod, "status")
  const before = arrayAt(status, "conditions")
  const index = before.findIndex((one) => textAt(one, "type") === condition.type)
  const same = textAt(before[index], "status") === condition.status
  const since = same ? textAt(before[index], "lastTransitionTime") : RequestContext.timestamp(context.now)
  const next = { ...condition, lastProbeTime: null, lastTransitionTime: since }
  status["conditions"] = index === -1 ? [...before, next] : before.with(index, next)
}
