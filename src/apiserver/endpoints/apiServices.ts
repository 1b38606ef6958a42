/**
 * apiregistration.k8s.io: get and list of the APIServices, one for each group and version that is served. All are Local, because this process
 * serves all groups, and none can be written. Source: pkg/controlplane/apiserver/aggregator.go, cmd/kube-apiserver/app/aggregator.go.
 */
import * as Effect from "effect/Effect"
import type { RequestScope } from "../admission/Admission.ts"
import * as stored from "../admission/stored.ts"
import { textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import type { Encoder } from "../printers/Encoder.ts"
import type { Target } from "../routing.ts"
import { apiVersion } from "../scheme/ResourceDefinition.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import * as StatusError from "../StatusError.ts"
import * as Version from "../storage/Version.ts"
import * as listOptions from "./listOptions.ts"

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
  const all = versionsOf(context)
  if (target.name === "") {
    const selected = all.filter((one) => Version.matches(chosen, one))
    return Effect.succeed(encoder.encodeList(selected, listOptions.listMeta(chosen, context.state.log.revision())))
  }
  const found = all.find(({ name }) => name === target.name)
  return found === undefined
    ? StatusError.notFound(target.resource, target.name)
    : Effect.succeed(encoder.encode(found))
}

/** Sorted by name, as lists are. */
const versionsOf = (context: RequestScope): ReadonlyArray<Version.Version> => {
  const byApiVersion = new Map<string, ResourceDefinition>()
  for (const one of context.state.registry.all) {
    if (!byApiVersion.has(apiVersion(one))) byApiVersion.set(apiVersion(one), one)
  }
  return [...byApiVersion.values()]
    .map((one) => Version.make([], objectOf(context, one), 0))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

const objectOf = (
  context: RequestScope,
  { customResource: custom, group, version }: ResourceDefinition
): JsonObject => {
  const maker =
    custom === undefined
      ? stored.object(context, "namespaces", "", "kube-system")
      : stored.object(context, "apiextensions.k8s.io/customresourcedefinitions", "", custom.definition)
  const since = textAt(maker, "metadata", "creationTimestamp")
  const [groupPriorityMinimum, versionPriority] = priorityOf(group, version)
  return {
    metadata: {
      name: `${version}.${group}`,
      ...(since === "" ? {} : { creationTimestamp: since }),
      labels: { "kube-aggregator.kubernetes.io/automanaged": custom === undefined ? "onstart" : "true" }
    },
    spec: { ...(group === "" ? {} : { group }), groupPriorityMinimum, version, versionPriority },
    status: {
      conditions: [
        {
          ...(since === "" ? {} : { lastTransitionTime: since }),
          message: "Local APIServices are always available",
          reason: "Local",
          status: "True",
          type: "Available"
        }
      ]
    }
  }
}

/** Of the group, and of the version in it. Custom resources have the last pair of kube-apiserver, and measurements that of a metrics server. */
const priorityOf = (group: string, version: string): readonly [group: number, version: number] => {
  if (group === "") return [18_000, 1]
  if (group === "metrics.k8s.io") return [100, 100]
  const known = Object.hasOwn(priorities, group) ? priorities[group] : undefined
  return known === undefined ? [1_000, 100] : [known, version === "v2" ? 30 : 15]
}

const priorities: Readonly<Record<string, number>> = {
  apps: 17_800,
  "events.k8s.io": 17_750,
  "authentication.k8s.io": 17_700,
  "authorization.k8s.io": 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  "networking.k8s.io": 17_200,
  policy: 17_100,
  "rbac.authorization.k8s.io": 17_000,
  "storage.k8s.io": 16_800,
  "admissionregistration.k8s.io": 16_700,
  "apiextensions.k8s.io": 16_700,
  "scheduling.k8s.io": 16_600,
  "coordination.k8s.io": 16_500,
  "discovery.k8s.io": 16_200
}
