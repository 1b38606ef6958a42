/** The texts that `kubectl explain` prints: each is on a field that exists, and every field of the kinds that users look up has one. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ofField, ofType, tables } from "../../../src/apiserver/openapi/descriptions.ts"
import { jsonSchemaProps } from "../../../src/apiserver/openapi/descriptions/extensions.ts"
import * as types from "../../../src/apiserver/scheme/types.ts"
import { get, layer } from "../client.ts"

const ids = (table: string, names: string): ReadonlyArray<string> =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => `${table}.${name}`)

/** The kinds whose fields are described, through all types that they use. */
const kinds = [
  ...ids("admissionregistration", "MutatingWebhookConfiguration ValidatingWebhookConfiguration"),
  ...ids("apiextensions", "CustomResourceDefinition"),
  ...ids("apiregistration", "APIService"),
  ...ids("apps", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet"),
  ...ids("autoscaling", "HorizontalPodAutoscaler"),
  ...ids("autoscaling2", "HorizontalPodAutoscaler"),
  ...ids("batch", "CronJob Job"),
  ...ids("coordination", "Lease"),
  ...ids(
    "core",
    `ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate
    ReplicationController ResourceQuota Secret Service ServiceAccount`
  ),
  ...ids("discovery", "EndpointSlice"),
  ...ids("events", "Event"),
  ...ids("metrics", "NodeMetrics PodMetrics"),
  ...ids("networking", "Ingress NetworkPolicy"),
  ...ids("policy", "PodDisruptionBudget"),
  ...ids("rbac", "ClusterRole ClusterRoleBinding Role RoleBinding"),
  ...ids("scheduling", "PriorityClass"),
  ...ids("storage", "StorageClass")
]

/** Types without texts on purpose: storage of single vendors, most of it deprecated, and settings of kubelets that are no longer used. */
const leftOut = new Set(
  ids(
    "core",
    `AWSElasticBlockStoreVolumeSource AzureDiskVolumeSource AzureFilePersistentVolumeSource AzureFileVolumeSource
    CephFSPersistentVolumeSource CephFSVolumeSource CinderPersistentVolumeSource CinderVolumeSource FCVolumeSource
    FlexPersistentVolumeSource FlexVolumeSource FlockerVolumeSource GCEPersistentDiskVolumeSource GitRepoVolumeSource
    GlusterfsPersistentVolumeSource GlusterfsVolumeSource ISCSIPersistentVolumeSource ISCSIVolumeSource
    PhotonPersistentDiskVolumeSource PortworxVolumeSource QuobyteVolumeSource RBDPersistentVolumeSource RBDVolumeSource
    ScaleIOPersistentVolumeSource ScaleIOVolumeSource StorageOSPersistentVolumeSource StorageOSVolumeSource
    VsphereVirtualDiskVolumeSource ConfigMapNodeConfigSource NodeConfigSource NodeConfigStatus`
  )
)

const referred = (fieldType: types.FieldType): string | undefined => {
  if (fieldType._tag === "Ref") return fieldType.type
  return fieldType._tag === "Scalar" ? undefined : referred(fieldType.element)
}

/** These types and all that their fields refer to. */
const reachable = (ids: Iterable<string>): ReadonlySet<string> => {
  const found = new Set(ids)
  for (const id of found) {
    for (const { fieldType } of types.get(id).fields.values()) {
      const next = referred(fieldType)
      if (next !== undefined) found.add(next)
    }
  }
  return found
}

describe("descriptions", () => {
  it("are on types and fields that exist", () => {
    const unknown = Object.entries(tables).flatMap(([table, texts]) =>
      Object.entries(texts).flatMap(([name, fields]) => {
        const type = types.find(`${table}.${name}`)
        if (type === undefined) return [`${table}.${name}`]
        return Object.keys(fields)
          .filter((field) => field !== "" && !type.fields.has(field))
          .map((field) => `${type.id}.${field}`)
      })
    )
    assert.deepStrictEqual(unknown, [])
  })

  it("cover every type and field of the kinds that users look up, except those left out by name", () => {
    const all = [...reachable(kinds)]
    assert.deepStrictEqual(
      [...leftOut].filter((id) => !all.includes(id)),
      []
    )
    const covered = all.filter((id) => !leftOut.has(id)).map(types.get)
    assert.deepStrictEqual(
      covered.flatMap((type) => [
        ...(ofType(type.id) === undefined ? [type.id] : []),
        ...[...type.fields.keys()]
          .filter((name) => ofField(type, name) === undefined)
          .map((name) => `${type.id}.${name}`)
      ]),
      []
    )
    const count = (some: ReadonlyArray<types.Type>) => some.reduce((sum, { fields }) => sum + fields.size, 0)
    const share = count(covered) / count(all.map(types.get))
    assert.isAbove(share, 0.85, "the share of fields with a text, those left out included")
  })

  it("are sentences that fit on a few lines", () => {
    const texts = [
      ...Object.values(tables).flatMap((table) => Object.values(table).flatMap((fields) => Object.entries(fields))),
      ...Object.entries(jsonSchemaProps)
    ]
    assert.deepStrictEqual(
      texts.filter(([, text]) => !/^[\w"'*<].*\.$/su.test(text) || text.length > 400 || /\s\s/u.test(text)),
      []
    )
  })

  it("name a list by its kind, and its fields as those of every list", () => {
    const list = types.get("apps.DeploymentList")
    assert.include(ofType(list.id), "Deployment")
    assert.deepStrictEqual(
      [...list.fields.keys()].filter((name) => ofField(list, name) === undefined),
      []
    )
  })

  it("are not taken from the prototype of the tables", () => {
    assert.deepStrictEqual(
      [ofType("core.constructor"), ofType("constructor.Pod"), ofType("core.toString")],
      [undefined, undefined, undefined]
    )
    assert.deepStrictEqual(ofField(types.get("core.Pod"), "constructor"), undefined)
  })

  it.effect("are in the documents of both versions, next to references too", () =>
    Effect.gen(function* () {
      const v2 = yield* get("/openapi/v2")
      const v3 = yield* get("/openapi/v3/apis/apps/v1")
      const name = "io.k8s.api.apps.v1.Deployment"
      for (const schemas of [v2.definitions, v3.components.schemas]) {
        const spec = schemas[`${name}Spec`]
        for (const one of [schemas[name], spec, spec.properties.replicas, spec.properties.strategy]) {
          assert.isString(one.description)
        }
        assert.deepStrictEqual(
          spec.properties.strategy.description,
          ofField(types.get("apps.DeploymentSpec"), "strategy")
        )
      }
      const crd = yield* get("/openapi/v3/apis/apiextensions.k8s.io/v1")
      const schema = crd.components.schemas["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"]
      const fields = Object.keys(schema.properties)
      assert.deepStrictEqual(
        Object.keys(jsonSchemaProps).filter((field) => !fields.includes(field)),
        []
      )
      assert.deepStrictEqual(schema.properties.items.description, jsonSchemaProps["items"])
    }).pipe(Effect.provide(layer()))
  )
})
