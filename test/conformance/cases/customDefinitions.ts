/** CustomResourceDefinitions: validation, the resources they serve, and their deletion. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { done, invalid, jsonPatch, merge, refused } from "../assertions.ts"
import type { Case } from "../Case.ts"
import {
  collectionOf,
  defined,
  definition,
  definitions,
  groupOf,
  nameOf,
  rule,
  schema,
  version,
  widget
} from "../definitions.ts"
import { eventually } from "../roles.ts"

const subjectOf = (name: string) => `CustomResourceDefinition.apiextensions.k8s.io "${name}"`

const state = (crd: any) => Object.fromEntries((crd.status?.conditions ?? []).map((one: any) => [one.type, one.status]))

const withSchema = (openAPIV3Schema: object) => ({ versions: [version("v1", { schema: { openAPIV3Schema } })] })

export const customDefinitions: ReadonlyArray<Case> = [
  {
    ...rule,
    title: "a CRD becomes Established, and its spec is stored as sent",
    run: Effect.fnUntraced(function* (subject) {
      yield* defined(subject)
      const path = `${definitions}/${nameOf(subject)}`
      const { body } = yield* eventually(subject.ask("GET", path), ({ body }) => state(body)["Established"] === "True")
      assert.deepStrictEqual(state(body), { NamesAccepted: "True", Established: "True" })
      assert.deepStrictEqual(body.status.storedVersions, ["v1"])
      assert.deepStrictEqual(body.spec.names, {
        kind: "Widget",
        listKind: "WidgetList",
        plural: "widgets",
        singular: "widget",
        shortNames: ["wd"]
      })
      assert.deepStrictEqual(body.status.acceptedNames, body.spec.names)
      assert.deepStrictEqual(body.spec.conversion, { strategy: "None" })
    })
  },
  {
    ...rule,
    title: "the group, version and resources of a CRD are in discovery",
    run: Effect.fnUntraced(function* (subject) {
      yield* defined(subject)
      const group = groupOf(subject)
      const ofGroup = yield* eventually(subject.ask("GET", `/apis/${group}`), ({ status }) => status === 200)
      assert.deepStrictEqual(ofGroup.body.preferredVersion, { groupVersion: `${group}/v1`, version: "v1" })
      const { body } = yield* eventually(subject.ask("GET", `/apis/${group}/v1`), ({ status }) => status === 200)
      assert.deepStrictEqual(
        body.resources.map((one: any) => [one.name, one.kind, one.namespaced]),
        [
          ["widgets", "Widget", true],
          ["widgets/status", "Widget", true],
          ["widgets/scale", "Scale", true]
        ]
      )
      assert.deepStrictEqual([body.resources[0].singularName, body.resources[0].shortNames], ["widget", ["wd"]])
    })
  },
  {
    ...rule,
    title: "the schema of a CRD is in the OpenAPI documents",
    run: Effect.fnUntraced(function* (subject) {
      yield* defined(subject)
      const name = [...groupOf(subject).split(".").toReversed(), "v1", "Widget"].join(".")
      const { body } = yield* eventually(
        subject.ask("GET", "/openapi/v2"),
        ({ body }) => body?.definitions?.[name] !== undefined
      )
      const widget = body.definitions[name]
      assert.deepStrictEqual(widget["x-kubernetes-group-version-kind"], [
        { group: groupOf(subject), kind: "Widget", version: "v1" }
      ])
      assert.strictEqual(widget.properties.spec.properties.size.type, "integer")
      assert.deepStrictEqual(widget.properties.spec.required, ["size"])
    })
  },
  {
    ...rule,
    title: "the name of a CRD must be its plural and group",
    run: Effect.fnUntraced(function* (subject) {
      const metadata = { name: `other.${groupOf(subject)}` }
      const reply = yield* subject.ask("POST", definitions, { ...definition(subject), metadata })
      invalid(reply, subjectOf(metadata.name), ["metadata.name", "FieldValueInvalid", "must be spec.names.plural"])
    })
  },
  {
    ...rule,
    title: "a CRD must have exactly one storage version",
    run: Effect.fnUntraced(function* (subject) {
      for (const stored of [false, true]) {
        const versions = [version("v1", { storage: stored }), version("v2", { storage: stored })]
        const reply = yield* subject.ask("POST", definitions, definition(subject, { versions }))
        refused(reply, {
          code: 422,
          reason: "Invalid",
          message: /must have exactly one version marked as storage version/
        })
      }
    })
  },
  {
    ...rule,
    title: "a CRD must have a schema for every version",
    run: Effect.fnUntraced(function* (subject) {
      const reply = yield* subject.ask(
        "POST",
        definitions,
        definition(subject, { versions: [version("v1", { schema: undefined })] })
      )
      refused(reply, { code: 422, reason: "Invalid", message: /schemas are required/ })
    })
  },
  {
    ...rule,
    title: "a schema must be structural: every field has a type, and lists have items",
    run: Effect.fnUntraced(function* (subject) {
      const untyped = { type: "object", properties: { spec: {}, list: { type: "array" } } }
      const reply = yield* subject.ask("POST", definitions, definition(subject, withSchema(untyped)))
      refused(reply, {
        code: 422,
        reason: "Invalid",
        message: /properties\[spec\]\.type: Required value: must not be empty for specified object fields/
      })
      assert.match(reply.body.message, /properties\[list\]\.items: Required value: must be specified/)
    })
  },
  {
    ...rule,
    title: "a schema cannot set types inside allOf, anyOf, oneOf and not",
    run: Effect.fnUntraced(function* (subject) {
      const narrowed = { type: "object", properties: { a: { type: "string", anyOf: [{ type: "string" }] } } }
      const reply = yield* subject.ask("POST", definitions, definition(subject, withSchema(narrowed)))
      refused(reply, {
        code: 422,
        reason: "Invalid",
        message: /anyOf\[0\]\.type: Forbidden: must be empty to be structural/
      })
    })
  },
  {
    ...rule,
    title: "a default must be valid by its schema",
    run: Effect.fnUntraced(function* (subject) {
      const wrong = { type: "object", properties: { a: { type: "integer", default: "x" } } }
      const reply = yield* subject.ask("POST", definitions, definition(subject, withSchema(wrong)))
      refused(reply, { code: 422, reason: "Invalid", message: /properties\[a\]\.default: .*must be of type integer/ })
    })
  },
  {
    ...rule,
    title: "group, plural, scope and kind of an established CRD are immutable",
    run: Effect.fnUntraced(function* (subject) {
      yield* defined(subject)
      const path = `${definitions}/${nameOf(subject)}`
      yield* eventually(subject.ask("GET", path), ({ body }) => state(body)["Established"] === "True")
      const reply = yield* subject.ask("PATCH", path, { spec: { scope: "Cluster" } }, merge)
      refused(reply, {
        code: 422,
        reason: "Invalid",
        message: /spec\.scope: Invalid value: "Cluster": field is immutable/
      })
    })
  },
  {
    ...rule,
    title: "custom resources are validated by the updated schema of a CRD",
    run: Effect.fnUntraced(function* (subject) {
      const collection = yield* defined(subject)
      const wider = structuredClone(schema)
      wider.properties.spec.properties.size.maximum = 9
      const change = [{ op: "replace", path: "/spec/versions/0/schema/openAPIV3Schema", value: wider }]
      done(yield* subject.ask("PATCH", `${definitions}/${nameOf(subject)}`, change, jsonPatch))
      yield* eventually(
        subject.ask("POST", `${collection}?dryRun=All`, widget(subject, "a", { size: 7 })),
        ({ status }) => status === 201
      )
    })
  },
  {
    ...rule,
    title: "every served version has the same objects",
    run: Effect.fnUntraced(function* (subject) {
      const collection = yield* defined(subject, { versions: [version("v1"), version("v2", { storage: false })] })
      done(yield* subject.ask("POST", collection, widget(subject, "a")), 201)
      const path = `${collectionOf(subject, "v2")}/a`
      const { body } = yield* eventually(subject.ask("GET", path), ({ status }) => status === 200)
      assert.deepStrictEqual([body.apiVersion, body.kind, body.spec.size], [`${groupOf(subject)}/v2`, "Widget", 1])
    })
  },
  {
    ...rule,
    title: "deleting a CRD deletes its objects and endpoints",
    run: Effect.fnUntraced(function* (subject) {
      const collection = yield* defined(subject)
      done(yield* subject.ask("POST", collection, widget(subject, "a")), 201)
      const path = `${definitions}/${nameOf(subject)}`
      done(yield* subject.ask("DELETE", path))
      yield* eventually(subject.ask("GET", path), ({ status }) => status === 404)
      const reply = yield* eventually(subject.ask("GET", collection), ({ status }) => status === 404)
      assert.strictEqual(reply.status, 404)
    })
  },
  {
    ...rule,
    title: "a deleted CRD exists until the finalizers of its objects are removed",
    run: Effect.fnUntraced(function* (subject) {
      const collection = yield* defined(subject)
      const held = { ...widget(subject, "a"), metadata: { name: "a", finalizers: ["example.com/hold"] } }
      done(yield* subject.ask("POST", collection, held), 201)
      const path = `${definitions}/${nameOf(subject)}`
      done(yield* subject.ask("DELETE", path))
      const { body } = yield* eventually(subject.ask("GET", path), ({ body }) => state(body)["Terminating"] === "True")
      assert.deepStrictEqual(body.metadata.finalizers, ["customresourcecleanup.apiextensions.k8s.io"])
      yield* eventually(
        subject.ask("GET", `${collection}/a`),
        ({ body }) => body?.metadata?.deletionTimestamp !== undefined
      )
      done(yield* subject.ask("PATCH", `${collection}/a`, { metadata: { finalizers: null } }, merge))
      yield* eventually(subject.ask("GET", path), ({ status }) => status === 404)
    })
  }
]
