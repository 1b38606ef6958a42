/** A CustomResourceDefinition that several tests use. */
import * as conformance from "../../conformance/definitions.ts"

export const schema = {
  type: "object",
  properties: {
    spec: conformance.withSize({
      port: { type: "integer", default: 11_211 },
      image: { type: "string" },
      tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
      options: conformance.listByName({ "x-kubernetes-int-or-string": true }),
      extra: { type: "object", "x-kubernetes-preserve-unknown-fields": true }
    }),
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

/** A version as in the conformance cases, with another schema. */
export const version = (name: string, more: object = {}) =>
  conformance.version(name, {
    schema: { openAPIV3Schema: schema },
    subresources: conformance.statusAndScale(".status.replicas"),
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
