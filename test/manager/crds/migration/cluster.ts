/** A custom kind with two versions on the embedded API server: which one is stored can be changed, and which one each object is stored in can be read. */
import * as Effect from "effect/Effect"
import { ApiServer } from "../../../../src/apiserver/ApiServer.ts"
import type { KubeObject } from "../../../../src/kube/Meta.ts"
import * as Patch from "../../../../src/kube/Patch.ts"
import * as Resource from "../../../../src/kube/Resource.ts"
import { KubeClient } from "../../../../src/layers/KubeClient.ts"
import { CustomResourceDefinition, type Stored } from "../../../../src/manager/crds/Definitions.ts"

export const name = "widgets.example.com"

export interface Widget extends KubeObject {
  readonly spec?: { readonly size?: number }
}

export const widgets = (version: string) =>
  Resource.make<Widget>()({ group: "example.com", version, kind: "Widget", plural: "widgets" })

export const v1 = widgets("v1")

type Versions = ReadonlyArray<string>

export const schemaUpTo = (maximum: number) =>
  ({
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", properties: { size: { type: "integer", maximum } } } }
    }
  }) as const

const schema = schemaUpTo(100)

const versionsOf = (storage: string, all: Versions) =>
  all.map((version) => ({ name: version, served: true, storage: version === storage, schema }))

export const definition = (storage: string, all: Versions = ["v1", "v2"]) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name },
  spec: {
    group: "example.com",
    scope: "Namespaced" as const,
    names: { kind: "Widget", listKind: "WidgetList", plural: "widgets", singular: "widget" },
    versions: versionsOf(storage, all)
  }
})

export const install = Effect.flatMap(KubeClient, (client) => client.create(CustomResourceDefinition, definition("v1")))

/** Makes another version the storage version. */
export const store = (storage: string, all: Versions = ["v1", "v2"]) =>
  Effect.flatMap(KubeClient, (client) =>
    client.patch(CustomResourceDefinition, { name }, Patch.merge({ spec: { versions: versionsOf(storage, all) } }))
  )

export const put = (names: ReadonlyArray<string>, size = 1) =>
  Effect.flatMap(KubeClient, (client) =>
    Effect.forEach(names, (one) => client.create(v1, { metadata: { namespace: "default", name: one }, spec: { size } }))
  )

/** The version in which each object is stored, by its name. */
export const storedIn = Effect.map(
  Effect.flatMap(ApiServer, (server) => server.snapshot(v1)),
  (objects) =>
    Object.fromEntries(
      objects.map((object) => {
        const { apiVersion, metadata } = object as unknown as KubeObject
        return [metadata.name, (apiVersion ?? "").split("/")[1] ?? ""]
      })
    )
)

const definitions = Effect.map(
  Effect.flatMap(ApiServer, (server) => server.snapshot(CustomResourceDefinition)),
  (objects) => objects as unknown as ReadonlyArray<Stored>
)

/** `status.storedVersions`, read without a request. */
export const storedVersions = Effect.map(definitions, ([one]) => one?.status?.storedVersions ?? [])

export const storageVersion = Effect.map(
  definitions,
  ([one]) => one?.spec.versions.find(({ storage }) => storage)?.name ?? ""
)
