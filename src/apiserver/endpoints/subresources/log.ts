/**
 * pods/log: chooses the container, asks the kubelet of the pod's node, and returns its text as a stream. Source: pkg/registry/core/pod:
 * LogLocation, and apiserver/pkg/registry/generic/rest: LocationStreamer.
 */
import * as Effect from "effect/Effect"
import type { Pod } from "../../../kube/resources.ts"
import * as Time from "../../../kube/time.ts"
import type { LogOptions } from "../../../layers/NodeConnection.ts"
import { NodeUnreachable } from "../../../layers/NodeConnection.ts"
import type { Answer, TextAnswer } from "../../Api.ts"
import { arrayAt, numberAt, textAt } from "../../json.ts"
import type { JsonObject } from "../../json.ts"
import * as StatusError from "../../StatusError.ts"
import type { FieldError } from "../../StatusError.ts"
import type { Target } from "../../routing.ts"
import type { RequestScope } from "../../admission/Admission.ts"
import * as Version from "../../storage/Version.ts"
import { invalidValue } from "../../validation/validate.ts"
import { integer } from "../listOptions.ts"
import * as read from "../read.ts"

/** A pod without a node has no log: no content. */
const nothing: Answer = { _tag: "Answer", status: 204, contentType: "text/plain", body: "" }

export const log = (
  context: RequestScope,
  target: Target
): Effect.Effect<Answer | TextAnswer, StatusError.StatusError> => {
  const { method, query } = context.request
  if (method !== "GET" && method !== "HEAD") return StatusError.methodNotAllowed()
  const options = parse(query, target.name, context.now)
  if (StatusError.isRefusal(options)) return options
  const found = read.find(context, target)
  if (StatusError.isRefusal(found)) return found
  const pod = Version.parse(found)
  const container = containerOf(pod, options.container)
  if (StatusError.isRefusal(container)) return container
  const name = textAt(pod, "spec", "nodeName")
  if (name === "") return Effect.succeed(nothing)
  const node = nodeNamed(context, name)
  if (StatusError.isRefusal(node)) return node
  const { connection } = context.state.nodes
  // The object is one of the kind that was stored.
  const asked =
    connection?.logs(pod as unknown as Pod, { ...options, container }) ?? new NodeUnreachable({ node: name })
  return Effect.matchEffect(asked, {
    onFailure: (error) =>
      error._tag === "LogUnavailable"
        ? StatusError.badRequest(error.message)
        : unreachable(node, target, container, query),
    onSuccess: (text) => Effect.succeed({ _tag: "Text" as const, contentType: "text/plain", text })
  })
}

/** Whether a parameter is set. Source: apimachinery conversion: Convert_Slice_string_To_bool. */
const flag = (query: URLSearchParams, name: string): boolean => {
  const text = query.get(name)
  return text !== null && text !== "0" && text.toLowerCase() !== "false"
}

/** Source: ValidatePodLogOptions. */
const parse = (query: URLSearchParams, pod: string, now: number): LogOptions | StatusError.StatusError => {
  const tailLines = integer(query, "tailLines")
  const sinceSeconds = integer(query, "sinceSeconds")
  const limitBytes = integer(query, "limitBytes")
  for (const one of [tailLines, sinceSeconds, limitBytes]) if (StatusError.isRefusal(one)) return one
  const time = query.get("sinceTime") ?? ""
  const sinceTime = time === "" ? undefined : Time.parse(time)
  if (time !== "" && sinceTime === undefined) {
    return StatusError.badRequest(`parsing time ${JSON.stringify(time)}: it is not a time of RFC 3339`)
  }
  const errors: Array<FieldError> = []
  const [tail, seconds, bytes] = [tailLines, sinceSeconds, limitBytes] as ReadonlyArray<number | undefined>
  if (tail !== undefined && tail < 0) {
    errors.push(invalidValue("tailLines", tail, "must be greater than or equal to 0"))
  }
  if (bytes !== undefined && bytes < 1) errors.push(invalidValue("limitBytes", bytes, "must be greater than 0"))
  if (seconds !== undefined && sinceTime !== undefined) {
    errors.push(forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
  } else if (seconds !== undefined && seconds < 1) {
    errors.push(invalidValue("sinceSeconds", seconds, "must be greater than 0"))
  }
  // The feature PodLogsQuerySplitStreams is off by default.
  if (query.has("stream")) errors.push(forbidden("stream", "may not be specified"))
  if (errors.length > 0) return StatusError.invalid({ group: "", kind: "PodLogOptions" }, pod, errors)
  return {
    container: query.get("container") ?? "",
    follow: flag(query, "follow"),
    previous: flag(query, "previous"),
    timestamps: flag(query, "timestamps"),
    tailLines: tail,
    since: sinceTime ?? (seconds === undefined ? undefined : now - seconds * 1_000),
    limitBytes: bytes
  }
}

const forbidden = (field: string, why: string): FieldError => ({
  field,
  reason: "FieldValueForbidden",
  message: `Forbidden: ${why}`
})

/** The container of the request, or the only one. */
const containerOf = (pod: JsonObject, asked: string): string | StatusError.StatusError => {
  const namesOf = (list: string) => arrayAt(pod, "spec", list).map((one) => textAt(one, "name"))
  const name = textAt(pod, "metadata", "name")
  const regular = namesOf("containers")
  const all = [...namesOf("initContainers"), ...regular, ...namesOf("ephemeralContainers")]
  if (asked !== "") {
    return all.includes(asked) ? asked : StatusError.badRequest(`container ${asked} is not valid for pod ${name}`)
  }
  return regular.length === 1
    ? (regular[0] ?? "")
    : StatusError.badRequest(`a container name must be specified for pod ${name}, choose one of: [${all.join(" ")}]`)
}

const nodeNamed = (context: RequestScope, name: string): JsonObject | StatusError.StatusError => {
  const found = context.state.collection("nodes").get(Version.keyOf("", name))
  return found === undefined ? StatusError.notFound({ group: "", plural: "nodes" }, name) : Version.parse(found)
}

/** As if nothing listened at the kubelet's port. Source: pkg/kubelet/client: GetConnectionInfo. */
const unreachable = (
  node: JsonObject,
  { name, namespace }: Target,
  container: string,
  query: URLSearchParams
): StatusError.StatusError => {
  const addresses = arrayAt(node, "status", "addresses")
  const addressOf = (type: string) =>
    textAt(
      addresses.find((one) => textAt(one, "type") === type),
      "address"
    )
  const port = numberAt(node, "status", "daemonEndpoints", "kubeletEndpoint", "Port") || 10_250
  const host = addressOf("Hostname") || addressOf("InternalDNS") || addressOf("InternalIP")
  if (host === "") return StatusError.unclassified("no preferred addresses found; known addresses: []")
  const asked = new URLSearchParams(query)
  asked.delete("container")
  asked.sort()
  const search = asked.size === 0 ? "" : `?${asked.toString()}`
  const url = `https://${host}:${port}/containerLogs/${namespace}/${name}/${container}${search}`
  return StatusError.unclassified(
    `Get ${JSON.stringify(url)}: dial tcp ${addressOf("InternalIP") || host}:${port}: connect: connection refused`
  )
}
