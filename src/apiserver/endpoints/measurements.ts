/**
 * metrics.k8s.io: get and list of the measurements that the connected nodes report, for the nodes and pods that are stored. An object that was
 * not measured is missing, as one is whose containers have just started. Source: metrics-server pkg/api.
 */
import * as Effect from "effect/Effect"
import * as Quantity from "../../kube/quantity.ts"
import * as Time from "../../kube/time.ts"
import type { Amounts, Measurement, Usage } from "../../layers/NodeConnection.ts"
import { at, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import type { Encoder } from "../printers/Encoder.ts"
import type { Target } from "../routing.ts"
import * as StatusError from "../StatusError.ts"
import { select } from "../storage/Collection.ts"
import * as Version from "../storage/Version.ts"
import type { RequestScope } from "../admission/Admission.ts"
import * as listOptions from "./listOptions.ts"

const nothing: Usage = { nodes: new Map(), pods: new Map() }

export const read = (
  context: RequestScope,
  target: Target,
  encoder: Encoder
): Effect.Effect<string, StatusError.StatusError> => {
  const { method, query } = context.request
  if ((method !== "GET" && method !== "HEAD") || listOptions.isTrue(query.get("watch"))) {
    return StatusError.methodNotAllowed()
  }
  const chosen = listOptions.parse(target, query)
  if (StatusError.isRefusal(chosen)) return chosen
  const usage = context.state.nodes.connection?.usage ?? Effect.succeed(nothing)
  return Effect.flatMap(usage, (usage): Effect.Effect<string, StatusError.StatusError> => {
    const collection = context.state.collection(target.resource.plural)
    const measured = (version: Version.Version) => measurementOf(context, target, version, usage) ?? []
    if (target.name === "") {
      // A metrics server does not know shards.
      const versions = select(collection, { ...chosen, shards: undefined }, context.state.log.revision())
      return Effect.succeed(encoder.encodeList(versions.flatMap(measured), { resourceVersion: "" }))
    }
    const key = Version.keyOf(target.namespace, target.name)
    const found = collection.get(key)
    const [version] = found === undefined ? [] : [measured(found)].flat()
    const kind = { group: target.resource.group, plural: target.resource.kind.toLowerCase() }
    return version === undefined ? StatusError.notFound(kind, key) : Effect.succeed(encoder.encode(version))
  })
}

const measurementOf = (
  { now }: RequestScope,
  { resource }: Target,
  { labels, metadata, name, namespace }: Version.Version,
  usage: Usage
): Version.Version | undefined => {
  const about: JsonObject = { name }
  if (namespace !== "") about["namespace"] = namespace
  about["creationTimestamp"] = Time.format(now)
  if (labels !== undefined) about["labels"] = { ...labels }
  const make = ({ time, window }: Measurement, rest: JsonObject) =>
    Version.make([], { metadata: about, timestamp: Time.format(time), window: `${window / 1_000}s`, ...rest }, 0)
  if (!resource.namespaced) {
    const node = usage.nodes.get(name)
    return node === undefined ? undefined : make(node, { usage: quantities(node) })
  }
  const parsed = JSON.parse(metadata) as Json
  const pod = usage.pods.get(textAt(parsed, "uid"))
  if (pod === undefined || at(parsed, "deletionTimestamp") !== undefined) return undefined
  return make(pod, { containers: pod.containers.map((one) => ({ name: one.name, usage: quantities(one) })) })
}

const quantities = ({ cpu, memory }: Amounts): JsonObject => ({
  cpu: Quantity.canonical({ nanos: BigInt(cpu), form: "decimal" }),
  memory: Quantity.canonical({ nanos: BigInt(Math.floor(memory / 1_024) * 1_024) * 1_000_000_000n, form: "binary" })
})
