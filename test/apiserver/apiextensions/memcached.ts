/** The CustomResourceDefinition that tests share. */
import * as conformance from "../../conformance/definitions.ts"

export const schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 1, maximum: 3 },
        port: { type: "integer", default: 11_211 },
        image: { type: "string" },
        tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
        options: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, value: { "x-kubernetes-int-or-string": true } }
          }
        },
        extra: { type: "object", "x-kubernetes-preserve-unknown-fields": true }
      }
    },
    status: {
      type: "object",
      properties: {
        replicas: { type: "integer" },
        selector: { type: "string" },
        nodes: { type: "array", items: { type: "string" } }
      }
    }
  }
}

/** Shaped as those of conformance cases, with another schema. */
export const version = (name: string, more: object = {}) =>
  conformance.version(name, {
    schema: { openAPIV3Schema: schema },
    subresources: {
      status: {},
      scale: {
        specReplicasPath: ".spec.size",
        statusReplicasPath: ".status.replicas",
        labelSelectorPath: ".status.selector"
      }
    },
    additionalPrinterColumns: [
      { name: "Size", type: "integer", jsonPath: ".spec.size", description: "How many" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }
    ],
    ...more
  })

export const definition = (spec: object = {}, plural = "memcacheds") => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.cache.example.com` },
  spec: {
    group: "cache.example.com",
    scope: "Namespaced",
    names: { kind: "Memcached", plural, shortNames: ["mc"], categories: ["all"] },
    versions: [version("v1alpha1")],
    ...spec
  }
})

export const memcached = (name: string, spec: object = { size: 3 }) => ({
  apiVersion: "cache.example.com/v1alpha1",
  kind: "Memcached",
  metadata: { name },
  spec
})

export const { definitions } = conformance
export const group = "/apis/cache.example.com/v1alpha1"
export const memcacheds = `${group}/namespaces/default/memcacheds`
