/** Kinds of the quota tests. */
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { definitionOf } from "../../support/definitions.ts"

export const PriorityClass = Resource.make<KubeObject>()({
  group: "scheduling.k8s.io",
  version: "v1",
  kind: "PriorityClass",
  plural: "priorityclasses",
  scope: "Cluster"
})

export const Definition = Resource.make<KubeObject>()({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster"
})

/** A custom kind; a server that does not serve device claims gets their kind in this way too. */
export const custom = (group: string, plural: string, kind: string, scope: Resource.Scope = "Namespaced") => {
  const resource = Resource.make<KubeObject>()({ group, version: "v1", kind, plural, scope })
  return { resource, definition: definitionOf(resource, { scope }) }
}
