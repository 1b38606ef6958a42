/** Built-in kinds: KubeClient lists each through its descriptor. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Resource from "../../../src/kube/Resource.ts"
import * as resources from "../../../src/kube/resources.ts"
import type { Case, Subject } from "../Case.ts"

/** The minor version of Kubernetes from which on a kind is served in the version of its descriptor; the others are from before 1.20. */
const since: Readonly<Record<string, number>> = {
  CronJob: 21,
  EndpointSlice: 21,
  PodDisruptionBudget: 21,
  HorizontalPodAutoscaler: 23,
  CSIStorageCapacity: 24,
  FlowSchema: 29,
  PriorityLevelConfiguration: 29,
  ValidatingAdmissionPolicy: 30,
  ValidatingAdmissionPolicyBinding: 30,
  IPAddress: 33,
  ServiceCIDR: 33,
  DeviceClass: 34,
  ResourceClaim: 34,
  ResourceClaimTemplate: 34,
  ResourceSlice: 34,
  VolumeAttributesClass: 34,
  MutatingAdmissionPolicy: 36,
  MutatingAdmissionPolicyBinding: 36
}

const all: ReadonlyArray<Resource.AnyCreatable> = Object.values(resources)

const listed = all.flatMap((one) => (one.projection === "none" ? [] : [one]))

const versionOf = ({ kind }: Resource.Any): number => since[kind] ?? 20

const minors = [...new Set(listed.map(versionOf))]

export const kinds: ReadonlyArray<Case> = minors.map((minor): Case => {
  const found = listed.filter((one) => versionOf(one) === minor)
  const run: Case["run"] = ({ client, namespace }) =>
    Effect.forEach(found, (one) => lists(client, one, namespace), { discard: true })
  const title = `KubeClient lists the ${found.length} kinds that are stable in 1.${minor}${minor === 20 ? " or before" : ""}`
  return minor === 20
    ? { title, since: 20, run }
    : { title, since: minor, rule: `these kinds are stable from 1.${minor}`, run }
})

const lists = Effect.fnUntraced(function* (client: Subject["client"], resource: Resource.Any, namespace: string) {
  const { items } = yield* client.list(resource, resource.scope === "Cluster" ? {} : { namespace })
  for (const { apiVersion, kind } of items) {
    assert.deepStrictEqual([apiVersion, kind], [Resource.apiVersion(resource), resource.kind])
  }
})
