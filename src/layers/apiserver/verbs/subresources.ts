/** Subresources that are not parts of their object: binding and scale. `status` and `finalize` are ordinary updates. */
import { arrayAt, at, ensureObject, objectAt, put, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as body from "../body.ts"
import * as mergePatch from "../patch/mergePatch.ts"
import * as Refusal from "../Refusal.ts"
import type { Target } from "../routing.ts"
import * as Turn from "../Turn.ts"
import * as Version from "../mvcc/Version.ts"
import type { View } from "../views/View.ts"
import * as read from "./read.ts"
import * as write from "./write.ts"

export const has = (subresource: string): boolean => subresource === "binding" || subresource === "scale"

/** Status and body of the answer. */
export const handle = (turn: Turn.Turn, target: Target, _view: View): readonly [number, string] =>
  target.subresource === "binding" ? bind(turn, target) : scale(turn, target)

const success: Json = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 }

/** Assigns a pod to a node, once. Source: the pod binding storage of the reference server. */
const bind = (turn: Turn.Turn, target: Target): readonly [number, string] => {
  if (turn.request.method !== "POST") throw Refusal.methodNotAllowed()
  const sent = body.optional(turn.request, "Binding") ?? {}
  const node = textAt(sent, "target", "name")
  const pod = Version.parse(read.find(turn, target))
  const spec = ensureObject(pod, "spec")
  const assigned = textAt(spec, "nodeName")
  const refuse = (why: string) => Refusal.conflict(target.kind, target.name, why)
  if (textAt(pod, "metadata", "deletionTimestamp") !== "")
    throw refuse(`pod ${target.name} is being deleted, cannot be assigned to a host`)
  if (assigned !== "") throw refuse(`pod ${target.name} is already assigned to node ${JSON.stringify(assigned)}`)
  if (node === "") {
    throw Refusal.invalid({ group: "", kind: "Binding" }, target.name, [
      { field: "target.name", reason: "FieldValueRequired", message: "Required value" }
    ])
  }
  spec["nodeName"] = node
  const status = ensureObject(pod, "status")
  status["conditions"] = [
    ...arrayAt(status, "conditions").filter((one) => textAt(one, "type") !== "PodScheduled"),
    { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: Turn.timestamp(turn.now) }
  ]
  write.overwrite(turn, target.kind, pod, write.optionsOf(turn).dryRun)
  return [201, JSON.stringify(success)]
}

const scaleOf = (object: JsonObject): JsonObject => {
  const metadata = objectAt(object, "metadata") ?? {}
  const labels = objectAt(object, "spec", "selector", "matchLabels") ?? {}
  const kept = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"]
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: Object.fromEntries(kept.flatMap((key) => (metadata[key] === undefined ? [] : [[key, metadata[key]]]))),
    spec: { replicas: at(object, "spec", "replicas") ?? 0 },
    status: {
      replicas: at(object, "status", "replicas") ?? 0,
      selector: Object.keys(labels)
        .sort()
        .map((key) => `${key}=${textAt(labels, key)}`)
        .join(",")
    }
  }
}

/** Reads and writes `spec.replicas` and nothing else. */
const scale = (turn: Turn.Turn, target: Target): readonly [number, string] => {
  const existing = read.find(turn, target)
  const object = Version.parse(existing)
  const method = turn.request.method
  if (method === "GET") return [200, JSON.stringify(scaleOf(object))]
  if (method !== "PUT" && method !== "PATCH") throw Refusal.methodNotAllowed()
  const sent = body.parseJson(turn.request.body)
  const wanted = method === "PUT" ? sent : mergePatch.apply(scaleOf(object), sent ?? {})
  const replicas = at(wanted, "spec", "replicas") ?? 0
  if (typeof replicas !== "number" || !Number.isInteger(replicas) || replicas < 0) {
    throw Refusal.invalid({ group: "autoscaling", kind: "Scale" }, target.name, [
      {
        field: "spec.replicas",
        reason: "FieldValueInvalid",
        message: `Invalid value: ${JSON.stringify(replicas)}: must be greater than or equal to 0`
      }
    ])
  }
  put(ensureObject(object, "metadata"), "resourceVersion", textAt(wanted, "metadata", "resourceVersion") || undefined)
  put(ensureObject(object, "metadata"), "uid", textAt(wanted, "metadata", "uid") || undefined)
  ensureObject(object, "spec")["replicas"] = replicas
  const options = write.optionsOf(turn)
  const updated = write.update(turn, { ...target, subresource: "" }, object, existing, options)
  return [200, JSON.stringify(scaleOf(Version.parse(updated)))]
}
