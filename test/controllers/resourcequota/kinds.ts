/** Kinds that only the scenarios of quotas know. */
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Resource from "../../../src/kube/Resource.ts"

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

/** A kind of one's own; so is the kind of claims for devices, where a server does not have it by itself. */
export const custom = (group: string, plural: string, kind: string, scope: Resource.Scope = "Namespaced") => ({
  resource: Resource.make<KubeObject>()({ group, version: "v1", kind, plural, scope }),
  definition: {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, annotations: { "api-approved.kubernetes.io": "unapproved, test only" } },
    spec: {
      group,
      scope,
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
        }
      ]
    }
  }
})
