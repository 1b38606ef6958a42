/**
 * CRDs of conformance cases: each case has its own group, and deletes its CRD at the end. Waits for a server that serves a resource only
 * some time after its CRD.
 */
import * as Effect from "effect/Effect"
import { done } from "./assertions.ts"
import type { Subject } from "./Case.ts"
import { eventually } from "./roles.ts"

export const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

/** Requirements of all cases of custom resources. */
export const rule = { since: 20, needs: "custom objects", alone: true } as const

/** The schema of a spec with a required size from 1 to 3, and other members. */
export const withSize = (others: object) => ({
  type: "object",
  required: ["size"],
  properties: { size: { type: "integer", minimum: 1, maximum: 3 }, ...others }
})

/** The schema of a list that merges by `name`, and whose elements have a value. */
export const listByName = (value: object) => ({
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
  items: { type: "object", required: ["name"], properties: { name: { type: "string" }, value } }
})

export const statusAndScale = (statusReplicasPath: string) => ({
  status: {},
  scale: { specReplicasPath: ".spec.size", statusReplicasPath, labelSelectorPath: ".status.selector" }
})

export const schema = {
  type: "object",
  properties: {
    spec: withSize({
      port: { type: "integer", default: 80 },
      color: { type: "string", enum: ["red", "green"] },
      name: { type: "string", pattern: "^[a-z]*$", maxLength: 5 },
      target: { "x-kubernetes-int-or-string": true },
      note: { type: "string", nullable: true },
      tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
      options: listByName({ type: "string" }),
      free: { type: "object", "x-kubernetes-preserve-unknown-fields": true }
    }),
    status: { type: "object", properties: { ready: { type: "integer" }, selector: { type: "string" } } }
  }
}

export const version = (name: string, more: object = {}) => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: schema },
  subresources: statusAndScale(".status.ready"),
  additionalPrinterColumns: [
    { name: "Size", type: "integer", jsonPath: ".spec.size" },
    { name: "Color", type: "string", jsonPath: ".spec.color", priority: 1 }
  ],
  ...more
})

export const groupOf = ({ namespace }: Pick<Subject, "namespace">): string => `${namespace}.example.com`

export const nameOf = (subject: Pick<Subject, "namespace">): string => `widgets.${groupOf(subject)}`

export const definition = (subject: Pick<Subject, "namespace">, spec: object = {}) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: nameOf(subject) },
  spec: {
    group: groupOf(subject),
    scope: "Namespaced",
    names: { kind: "Widget", plural: "widgets", shortNames: ["wd"] },
    versions: [version("v1")],
    ...spec
  }
})

/** The path of the collection in the namespace of the case. */
export const collectionOf = (subject: Subject, version = "v1"): string =>
  `/apis/${groupOf(subject)}/${version}/namespaces/${subject.namespace}/widgets`

export const widget = (subject: Pick<Subject, "namespace">, name: string, spec: object = { size: 1 }) => ({
  apiVersion: `${groupOf(subject)}/v1`,
  kind: "Widget",
  metadata: { name },
  spec
})

/** Creates the CRD, waits until its resource is served, and returns the path of the collection. */
export const defined = Effect.fnUntraced(function* (subject: Subject, spec: object = {}) {
  const { ask } = subject
  const path = `${definitions}/${nameOf(subject)}`
  yield* Effect.acquireRelease(
    Effect.map(ask("POST", definitions, definition(subject, spec)), (reply) => done(reply, 201)),
    () => ask("DELETE", path)
  )
  const collection = collectionOf(subject)
  yield* eventually(ask("GET", collection), ({ status }) => status === 200)
  return collection
})
