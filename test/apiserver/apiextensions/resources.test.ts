/** Custom resources from the creation to the deletion of their definition, through the API. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, get, layer, names, patch, post, put, refused, remove, same, settle, watch } from "../client.ts"
import { definition, definitions, group, memcached, memcacheds, schema, version } from "./memcached.ts"

const name = "memcacheds.cache.example.com"
const conditions = (crd: any) => crd.status.conditions.map((one: any) => [one.type, one.status, one.reason].join(" "))

describe("CustomResourceDefinitions", () => {
  it.effect("are served and listed in discovery once their conditions are True", () =>
    Effect.gen(function* () {
      same((yield* refused(get(memcacheds))).status, 404)
      const created = yield* post(definitions, definition())
      same(
        [created.spec.names.singular, created.spec.names.listKind, created.spec.conversion],
        ["memcached", "MemcachedList", { strategy: "None" }]
      )
      const crd = yield* get(`${definitions}/${name}`)
      same(conditions(crd), ["NamesAccepted True NoConflicts", "Established True InitialNamesAccepted"])
      same([crd.status.storedVersions, crd.status.acceptedNames.plural], [["v1alpha1"], "memcacheds"])
      const list = yield* get(memcacheds)
      same([list.kind, list.apiVersion, list.items], ["MemcachedList", "cache.example.com/v1alpha1", []])
      const found = yield* get(group)
      same(
        found.resources.map((one: any) => [one.name, one.kind]),
        [
          ["memcacheds", "Memcached"],
          ["memcacheds/status", "Memcached"],
          ["memcacheds/scale", "Scale"]
        ]
      )
      same(found.resources[0].shortNames, ["mc"])
      same((yield* get("/apis")).groups.at(-1).name, "cache.example.com")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are rejected with all of their errors", () =>
    Effect.gen(function* () {
      const wrong = definition({
        group: "example",
        versions: [version("v1alpha1", { storage: false, schema: { openAPIV3Schema: { properties: {} } } })]
      })
      const { message, status } = yield* refused(post(definitions, wrong))
      same(status, 422)
      for (const field of ["metadata.name", "spec.group", "spec.versions", "spec.validation.openAPIV3Schema.type"]) {
        assert.include(message, `${field}: `)
      }
      same((yield* refused(get(memcacheds))).status, 404)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("cannot take names of another definition", () =>
    Effect.gen(function* () {
      yield* post(definitions, definition())
      yield* post(definitions, definition({ names: { kind: "Other", plural: "others", shortNames: ["mc"] } }, "others"))
      same(conditions(yield* get(`${definitions}/others.cache.example.com`)), [
        "NamesAccepted False ShortNamesConflict",
        "Established False NotAccepted"
      ])
      same((yield* refused(get(`${group}/others`))).status, 404)
      yield* remove(`${definitions}/${name}`)
      same(conditions(yield* get(`${definitions}/others.cache.example.com`)), [
        "NamesAccepted True NoConflicts",
        "Established True InitialNamesAccepted"
      ])
      same((yield* get(`${group}/others`)).kind, "OtherList")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("update what is served at once; immutable fields are rejected", () =>
    Effect.gen(function* () {
      yield* post(definitions, definition())
      yield* post(memcacheds, memcached("a"))
      same((yield* refused(post(memcacheds, memcached("b", { size: 4 })))).status, 422)
      const wider = structuredClone(schema)
      wider.properties.spec.properties.size.maximum = 9
      const change = [{ op: "replace", path: "/spec/versions/0/schema/openAPIV3Schema", value: wider }]
      yield* patch(`${definitions}/${name}`, "json", change)
      yield* post(memcacheds, memcached("b", { size: 4 }))
      const scope = [{ op: "replace", path: "/spec/scope", value: "Cluster" }]
      same((yield* refused(patch(`${definitions}/${name}`, "json", scope))).status, 422)
      same(names(yield* get(memcacheds)), ["a", "b"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("serve the same objects in every version", () =>
    Effect.gen(function* () {
      const versions = [version("v1alpha1", { storage: false }), version("v1")]
      yield* post(definitions, definition({ versions }))
      yield* post(memcacheds, memcached("a"))
      const other = yield* get(memcacheds.replace("v1alpha1", "v1") + "/a")
      same([other.apiVersion, other.spec.size], ["cache.example.com/v1", 3])
      const found = yield* get("/apis/cache.example.com")
      same([found.versions.map((one: any) => one.version), found.preferredVersion.version], [["v1", "v1alpha1"], "v1"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("delete their objects and end their watches when deleted", () =>
    Effect.gen(function* () {
      yield* post(definitions, definition())
      yield* post(memcacheds, memcached("a"))
      const watching = yield* watch(memcacheds)
      yield* remove(`${definitions}/${name}`)
      yield* watching.done
      same(watching.seen(), ["ADDED a", "DELETED a"])
      same((yield* refused(get(memcacheds))).status, 404)
      same((yield* refused(get(`${definitions}/${name}`))).status, 404)
      same((yield* refused(get(group))).status, 404)
      yield* post(definitions, definition())
      same(names(yield* get(memcacheds)), [])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("cannot replace a built-in resource", () =>
    Effect.gen(function* () {
      const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
      yield* post(leases, { metadata: { name: "a" } })
      const approved = {
        name: "leases.coordination.k8s.io",
        annotations: { "api-approved.kubernetes.io": "unapproved" }
      }
      const names = { kind: "Lease", plural: "leases" }
      const versions = [version("v1")]
      const shadow = definition({ group: "coordination.k8s.io", names, versions })
      yield* post(definitions, { ...shadow, metadata: approved })
      same((yield* get(`${leases}/a`)).spec, {})
      yield* remove(`${definitions}/leases.coordination.k8s.io`)
      same((yield* get(`${leases}/a`)).metadata.name, "a")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("delete their objects even if no version is served", () =>
    Effect.gen(function* () {
      yield* post(definitions, definition())
      yield* post(memcacheds, memcached("a"))
      const hidden = [{ op: "replace", path: "/spec/versions/0/served", value: false }]
      yield* patch(`${definitions}/${name}`, "json", hidden)
      same((yield* refused(get(memcacheds))).status, 404)
      yield* remove(`${definitions}/${name}`)
      yield* post(definitions, definition())
      same(names(yield* get(memcacheds)), [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("stay until objects with finalizers are gone", () =>
    Effect.gen(function* () {
      yield* post(definitions, definition())
      yield* post(memcacheds, { ...memcached("a"), metadata: { name: "a", finalizers: ["example.com/hold"] } })
      yield* remove(`${definitions}/${name}`)
      const crd = yield* get(`${definitions}/${name}`)
      same(conditions(crd).at(-1), "Terminating True InstanceDeletionInProgress")
      const { message, status } = yield* refused(post(memcacheds, memcached("b")))
      same([status, message], [405, "create not allowed while custom resource definition is terminating"])
      const applied = yield* refused(patch(`${memcacheds}/b`, "apply", memcached("b"), { fieldManager: "x" }))
      same(applied.status, 405)
      yield* patch(`${memcacheds}/a`, "merge", { metadata: { finalizers: null } })
      same((yield* refused(get(`${definitions}/${name}`))).status, 404)
      yield* settle
    }).pipe(Effect.provide(layer()))
  )
})

describe("custom resources", () => {
  it.effect("are pruned, defaulted and validated by their schema", () =>
    Effect.gen(function* () {
      yield* post(definitions, definition())
      const made = yield* post(memcacheds, memcached("a", { size: 2, typo: 1, extra: { any: { thing: 1 } } }))
      same(made.spec, { size: 2, extra: { any: { thing: 1 } }, port: 11_211 })
      same([made.kind, made.metadata.generation], ["Memcached", 1])
      const bad = yield* refused(post(memcacheds, memcached("b", { size: 5 })))
      same(
        bad.message,
        'Memcached.cache.example.com "b" is invalid: spec.size: Invalid value: 5: spec.size in body should be less than or equal to 3'
      )
      same(
        (yield* refused(post(memcacheds, memcached("b", {})))).message,
        'Memcached.cache.example.com "b" is invalid: spec.size: Required value'
      )
      const strict = yield* refused(
        post(memcacheds, memcached("b", { size: 1, typo: 1 }), { fieldValidation: "Strict" })
      )
      same(
        [strict.status, strict.message],
        [
          400,
          'Memcached in version "v1alpha1" cannot be handled as a Memcached: strict decoding error: unknown field "spec.typo"'
        ]
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("increment generation for changes outside status and metadata", () =>
    Effect.gen(function* () {
      yield* post(definitions, definition())
      yield* post(memcacheds, { ...memcached("a"), status: { replicas: 9 } })
      const path = `${memcacheds}/a`
      same((yield* get(path)).status, undefined)
      const status = yield* patch(`${path}/status`, "merge", { status: { replicas: 1 }, spec: { size: 1 } })
      same([status.status, status.spec.size, status.metadata.generation], [{ replicas: 1 }, 3, 1])
      same((yield* patch(path, "merge", { metadata: { labels: { a: "b" } } })).metadata.generation, 1)
      const next = yield* patch(path, "merge", { spec: { size: 1 }, status: { replicas: 7 } })
      same([next.status, next.metadata.generation], [{ replicas: 1 }, 2])
      const invalid = yield* refused(patch(`${path}/status`, "merge", { status: { replicas: "many" } }))
      same(invalid.status, 422)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("without a status subresource increment generation for every change outside metadata", () =>
    Effect.gen(function* () {
      yield* post(definitions, definition({ versions: [version("v1alpha1", { subresources: {} })] }))
      same((yield* post(memcacheds, { ...memcached("a"), status: { replicas: 9 } })).status, { replicas: 9 })
      same((yield* patch(`${memcacheds}/a`, "merge", { status: { replicas: 1 } })).metadata.generation, 2)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("require a resourceVersion in updates, and reject strategic merge patches", () =>
    Effect.gen(function* () {
      yield* post(definitions, definition())
      const made = yield* post(memcacheds, memcached("a"))
      same((yield* refused(put(`${memcacheds}/a`, memcached("a", { size: 1 })))).status, 422)
      same((yield* put(`${memcacheds}/a`, { ...made, spec: { size: 1 } })).spec, { size: 1, port: 11_211 })
      const { message, status } = yield* refused(patch(`${memcacheds}/a`, "strategic", { spec: { size: 2 } }))
      same(
        [status, message],
        [
          415,
          "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
        ]
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are applied by the list types of their schema", () =>
    Effect.gen(function* () {
      yield* post(definitions, definition())
      const apply = (manager: string, spec: object) =>
        patch(`${memcacheds}/a`, "apply", memcached("a", spec), { fieldManager: manager })
      yield* apply("one", { size: 1, options: [{ name: "x", value: 1 }], tags: ["a"] })
      const both = yield* apply("two", { options: [{ name: "y", value: "2" }], tags: ["b"] })
      same(both.spec, {
        size: 1,
        options: [
          { name: "x", value: 1 },
          { name: "y", value: "2" }
        ],
        tags: ["a", "b"],
        port: 11_211
      })
      same((yield* apply("one", { size: 1 })).spec, {
        size: 1,
        options: [{ name: "y", value: "2" }],
        tags: ["b"],
        port: 11_211
      })
      same((yield* refused(apply("two", { size: 2 }))).status, 409)
      same((yield* refused(apply("one", { size: 1, typo: 1 }))).status, 400)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are scaled through the paths of the scale subresource", () =>
    Effect.gen(function* () {
      yield* post(definitions, definition())
      yield* post(memcacheds, memcached("a"))
      yield* patch(`${memcacheds}/a/status`, "merge", { status: { replicas: 2, selector: "app=a" } })
      const scale = yield* get(`${memcacheds}/a/scale`)
      same([scale.kind, scale.spec, scale.status], ["Scale", { replicas: 3 }, { replicas: 2, selector: "app=a" }])
      yield* patch(`${memcacheds}/a/scale`, "merge", { spec: { replicas: 1 } })
      same((yield* get(`${memcacheds}/a`)).spec.size, 1)
      same((yield* refused(patch(`${memcacheds}/a/scale`, "merge", { spec: { replicas: 9 } }))).status, 422)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are printed with additionalPrinterColumns", () =>
    Effect.gen(function* () {
      yield* post(definitions, definition())
      yield* post(memcacheds, memcached("a"))
      const table = yield* get(memcacheds, {}, "application/json;as=Table;g=meta.k8s.io;v=v1")
      same(
        table.columnDefinitions.map((one: any) => [one.name, one.type, one.description]),
        [
          ["Name", "string", "Name"],
          ["Size", "integer", "How many"],
          ["Age", "date", "Age"]
        ]
      )
      same(table.rows[0].cells, ["a", 3, "0s"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("that violate a stricter schema may change other fields (ratcheting)", () =>
    Effect.gen(function* () {
      yield* post(definitions, definition())
      yield* post(memcacheds, memcached("a"))
      const change = [
        {
          op: "replace",
          path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/maximum",
          value: 1
        }
      ]
      yield* patch(`${definitions}/${name}`, "json", change)
      same((yield* patch(`${memcacheds}/a`, "merge", { spec: { image: "x" } })).spec.image, "x")
      same((yield* refused(patch(`${memcacheds}/a`, "merge", { spec: { size: 2 } }))).status, 422)
      yield* call("PATCH", `${memcacheds}/a`, { spec: { size: 1 } }, { contentType: "application/merge-patch+json" })
    }).pipe(Effect.provide(layer()))
  )
})
