/** Custom resources with several versions, and the webhooks that convert them. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { applyPatch, done, events, invalid, merge, refused, table } from "../assertions.ts"
import type { Cause } from "../assertions.ts"
import type { Case, Subject } from "../Case.ts"
import { converted, converting, conversion, rename, v1, v2 } from "../conversions.ts"
import { definition, definitions, groupOf, nameOf, rule } from "../definitions.ts"
import { eventually } from "../roles.ts"
import { allowed, configure, hook, patching, start } from "../webhooks.ts"

const one = (subject: Subject, version: "v1" | "v2", name: string, spec: object, metadata: object = {}) => ({
  apiVersion: `${groupOf(subject)}/${version}`,
  kind: "Widget",
  metadata: { name, ...metadata },
  spec
})

const old = (subject: Subject, name: string, spec: object = { size: 1 }, metadata: object = {}) =>
  one(subject, "v1", name, spec, metadata)

/** Invalid responses: the response, and the error after the name of the webhook. */
const wrong: ReadonlyArray<readonly [what: string, respond: (request: any) => object, why: string]> = [
  ["fails with a message", () => ({ result: { status: "Failed", message: "not today" } }), "failed: not today"],
  [
    "fails without a message",
    () => ({ result: { status: "Failed" } }),
    "failed: response.result.status was 'Failed', not 'Success'"
  ],
  [
    "responds with another uid",
    (request) => ({ ...converted(request), uid: "other" }),
    'failed: expected response.uid="'
  ],
  [
    "returns too few objects",
    () => ({ result: { status: "Success" }, convertedObjects: [] }),
    "returned 0 objects, expected 1"
  ],
  [
    "returns objects in their old version",
    (request) => ({ result: { status: "Success" }, convertedObjects: request.objects }),
    "returned invalid object at index 0: invalid groupVersion (expected "
  ],
  [
    "changes the name of an object",
    (request) =>
      converted(request, (object, apiVersion) => {
        const made: any = rename(object, apiVersion)
        return { ...made, metadata: { ...made.metadata, name: "other" } }
      }),
    "returned invalid object: must have the same name: a != other"
  ],
  [
    "sets an invalid label",
    (request) =>
      converted(request, (object, apiVersion) => {
        const made: any = rename(object, apiVersion)
        return { ...made, metadata: { ...made.metadata, labels: { a: "not a label" } } }
      }),
    'returned invalid metadata: metadata.labels: Invalid value: "not a label"'
  ]
]

export const conversions: ReadonlyArray<Case> = [
  {
    ...rule,
    title: "an object is read in the requested version, whatever its stored version",
    run: Effect.fnUntraced(function* (subject) {
      const hooked = yield* converting(subject)
      const made = done(yield* subject.ask("POST", hooked.old, old(subject, "a", { size: 2, color: "red" })), 201)
      assert.deepStrictEqual([made.apiVersion, made.spec], [`${groupOf(subject)}/v1`, { size: 2, color: "red" }])
      const read = done(yield* subject.ask("GET", `${hooked.new}/a`))
      assert.deepStrictEqual(
        [read.apiVersion, read.spec, read.metadata.annotations],
        [`${groupOf(subject)}/v2`, { replicas: 2, port: 80 }, { "example.com/color": "red" }]
      )
      const { resourceVersion, uid } = made.metadata
      assert.deepStrictEqual([read.metadata.uid, read.metadata.resourceVersion], [uid, resourceVersion])
      assert.deepStrictEqual(done(yield* subject.ask("GET", `${hooked.old}/a`)).spec, made.spec)
    })
  },
  {
    ...rule,
    title: "a conversion webhook receives whole objects without resourceVersion",
    run: Effect.fnUntraced(function* (subject) {
      const hooked = yield* converting(subject)
      done(yield* subject.ask("POST", hooked.old, old(subject, "a")), 201)
      const request = hooked.asked.find(({ objects }) => objects[0].metadata.name === "a")
      assert.match(request.uid, /^[\da-f-]{36}$/)
      assert.strictEqual(request.desiredAPIVersion, `${groupOf(subject)}/v2`)
      const [object] = request.objects
      assert.deepStrictEqual(
        [object.apiVersion, object.kind, object.spec, object.metadata.namespace, object.metadata.resourceVersion],
        [`${groupOf(subject)}/v1`, "Widget", { size: 1 }, subject.namespace, undefined]
      )
      assert.match(object.metadata.uid, /^[\da-f-]{36}$/)
    })
  },
  {
    ...rule,
    title: "all objects of a list or table are in the requested version",
    run: Effect.fnUntraced(function* (subject) {
      const hooked = yield* converting(subject)
      const { ask } = subject
      done(yield* ask("POST", hooked.old, old(subject, "a", { size: 1 })), 201)
      done(yield* ask("POST", hooked.new, one(subject, "v2", "b", { replicas: 2, port: 1 })), 201)
      const list = done(yield* ask("GET", hooked.old))
      assert.strictEqual(list.apiVersion, `${groupOf(subject)}/v1`)
      assert.deepStrictEqual(
        list.items.map(({ spec }: any) => spec),
        [{ size: 1 }, { size: 2 }]
      )
      const rows = done(yield* ask("GET", hooked.old, undefined, table)).rows
      assert.deepStrictEqual(
        rows.map(({ cells }: any) => cells),
        [
          ["a", 1],
          ["b", 2]
        ]
      )
    })
  },
  {
    ...rule,
    title: "all events of a watch are in the requested version, whatever the version of the writes",
    run: Effect.fnUntraced(function* (subject) {
      const hooked = yield* converting(subject)
      const { ask } = subject
      const since = done(yield* ask("GET", hooked.old)).metadata.resourceVersion
      done(yield* ask("POST", hooked.new, one(subject, "v2", "a", { replicas: 1 })), 201)
      done(yield* ask("PATCH", `${hooked.old}/a`, { spec: { size: 2 } }, merge))
      done(yield* ask("DELETE", `${hooked.new}/a`))
      const seen = (path: string) =>
        Effect.map(ask("GET", `${path}?watch=1&timeoutSeconds=2&resourceVersion=${since}`), (reply) =>
          events(reply).map(({ object, type }) => [type, object.apiVersion.split("/")[1], object.spec])
        )
      const [first, second] = yield* Effect.all([seen(hooked.old), seen(hooked.new)], { concurrency: 2 })
      assert.deepStrictEqual(first, [
        ["ADDED", "v1", { size: 1 }],
        ["MODIFIED", "v1", { size: 2 }],
        ["DELETED", "v1", { size: 2 }]
      ])
      assert.deepStrictEqual(second, [
        ["ADDED", "v2", { replicas: 1, port: 80 }],
        ["MODIFIED", "v2", { replicas: 2, port: 80 }],
        ["DELETED", "v2", { replicas: 2, port: 80 }]
      ])
    })
  },
  {
    ...rule,
    title: "updates, patches and applies use the version of their path",
    run: Effect.fnUntraced(function* (subject) {
      const hooked = yield* converting(subject)
      const { ask } = subject
      const made = done(yield* ask("POST", hooked.new, one(subject, "v2", "a", { replicas: 1, port: 5 })), 201)
      const read = done(yield* ask("GET", `${hooked.old}/a`))
      const put = done(yield* ask("PUT", `${hooked.old}/a`, { ...read, spec: { size: 2 } }))
      assert.deepStrictEqual([put.spec, put.metadata.generation], [{ size: 2 }, 2])
      refused(yield* ask("PUT", `${hooked.new}/a`, made), { code: 409, reason: "Conflict" })
      const patched = done(yield* ask("PATCH", `${hooked.new}/a`, { spec: { name: "x" } }, merge))
      assert.deepStrictEqual(patched.spec, { replicas: 2, port: 80, name: "x" })
      const applied = done(
        yield* ask("PATCH", `${hooked.old}/b?fieldManager=me`, old(subject, "b", { size: 3 }), applyPatch),
        201
      )
      assert.deepStrictEqual(applied.spec, { size: 3 })
      assert.deepStrictEqual(done(yield* ask("GET", `${hooked.new}/b`)).spec, { replicas: 3, port: 80 })
    })
  },
  {
    ...rule,
    title: "an object is validated by the schema of the version that it is sent in",
    run: Effect.fnUntraced(function* (subject) {
      const hooked = yield* converting(subject)
      const reply = yield* subject.ask("POST", hooked.old, old(subject, "a", { size: 5 }))
      const phrase = "spec.size in body should be less than or equal to 3"
      invalid(reply, `Widget.${groupOf(subject)} "a"`, ["spec.size", "FieldValueInvalid", phrase])
    })
  },
  {
    ...rule,
    title: "the status of an object can be written in any version",
    run: Effect.fnUntraced(function* (subject) {
      const hooked = yield* converting(subject)
      const { ask } = subject
      done(yield* ask("POST", hooked.old, old(subject, "a", { size: 2 })), 201)
      const status = done(yield* ask("PATCH", `${hooked.old}/a/status`, { status: { ready: 1 } }, merge))
      assert.deepStrictEqual([status.spec, status.status], [{ size: 2 }, { ready: 1 }])
      const read = done(yield* ask("GET", `${hooked.new}/a`))
      assert.deepStrictEqual([read.spec.replicas, read.status], [2, { ready: 1 }])
    })
  },
  {
    ...rule,
    title: "objects can be deleted in any version, with delete and deletecollection",
    run: Effect.fnUntraced(function* (subject) {
      const hooked = yield* converting(subject)
      const { ask } = subject
      for (const name of ["a", "b", "c"])
        done(yield* ask("POST", hooked.new, one(subject, "v2", name, { replicas: 2 })), 201)
      const held = { metadata: { finalizers: ["example.com/held"] } }
      for (const name of ["a", "b"]) done(yield* ask("PATCH", `${hooked.new}/${name}`, held, merge))
      const marked = done(yield* ask("DELETE", `${hooked.old}/a`))
      assert.deepStrictEqual([marked.apiVersion, marked.spec], [`${groupOf(subject)}/v1`, { size: 2 }])
      assert.isString(marked.metadata.deletionTimestamp)
      done(yield* ask("DELETE", hooked.old))
      const left = done(yield* ask("GET", hooked.old)).items
      assert.deepStrictEqual(
        left.map(({ metadata, spec }: any) => [metadata.name, spec.size, metadata.deletionTimestamp !== undefined]),
        [
          ["a", 2, true],
          ["b", 2, true]
        ]
      )
      for (const name of ["a", "b"]) {
        done(yield* ask("PATCH", `${hooked.old}/${name}`, { metadata: { finalizers: null } }, merge))
      }
      assert.deepStrictEqual(done(yield* ask("GET", hooked.new)).items, [])
    })
  },
  {
    ...rule,
    title: "of the metadata, a conversion can change labels and annotations only",
    run: Effect.fnUntraced(function* (subject) {
      const hooked = yield* converting(subject)
      hooked.respond((request) =>
        converted(request, (object, apiVersion) => {
          const made: any = rename(object, apiVersion)
          const { name, namespace, uid } = made.metadata
          const labels = { is: apiVersion.split("/")[1] ?? "" }
          return {
            ...made,
            metadata: { name, namespace, uid, labels, finalizers: ["example.com/mine"], generation: 9 }
          }
        })
      )
      const { ask } = subject
      const metadata = { finalizers: ["example.com/held"], labels: { own: "1" } }
      done(yield* ask("POST", hooked.old, old(subject, "a", { size: 1 }, metadata)), 201)
      const read = done(yield* ask("GET", `${hooked.new}/a`)).metadata
      assert.deepStrictEqual([read.labels, read.finalizers, read.generation], [{ is: "v2" }, ["example.com/held"], 1])
      assert.deepStrictEqual(done(yield* ask("GET", `${hooked.old}/a`)).metadata.labels, { is: "v1" })
      done(yield* ask("PATCH", `${hooked.new}/a`, { metadata: { finalizers: null } }, merge))
    })
  },
  ...wrong.map(([what, respond, why]): Case => ({
    since: rule.since,
    needs: rule.needs,
    alone: rule.alone,
    title: `a request fails if the conversion webhook ${what}`,
    run: Effect.fnUntraced(function* (subject) {
      const hooked = yield* converting(subject)
      hooked.respond(respond)
      const reply = yield* subject.ask("POST", hooked.old, old(subject, "a"))
      assert.deepStrictEqual([reply.status, reply.body.kind], [500, "Status"], reply.text)
      const expected = `conversion webhook for ${groupOf(subject)}/v1, Kind=Widget ${why}`
      assert.strictEqual(reply.body.message.slice(0, expected.length), expected)
      assert.strictEqual((yield* subject.ask("GET", `${hooked.new}/a`)).status, 404)
    })
  })),
  {
    ...rule,
    title: "requests fail in a version to which the webhook does not convert",
    run: Effect.fnUntraced(function* (subject) {
      const hooked = yield* converting(subject)
      const { ask } = subject
      done(yield* ask("POST", hooked.new, one(subject, "v2", "a", { replicas: 2 })), 201)
      hooked.respond(() => ({ result: { status: "Failed", message: "broken" } }))
      const path = `${hooked.old}/b`
      done(yield* ask("POST", hooked.new, one(subject, "v2", "b", { replicas: 2 })), 201)
      const replies = yield* Effect.all([
        ask("GET", path),
        ask("PATCH", path, { spec: { size: 1 } }, merge),
        ask("DELETE", path)
      ])
      for (const reply of replies) {
        assert.strictEqual(reply.status, 500, reply.text)
        assert.include(reply.body.message, "broken")
      }
      assert.deepStrictEqual(done(yield* ask("GET", `${hooked.new}/b`)).spec, { replicas: 2, port: 80 })
    })
  },
  {
    ...rule,
    title: "an admission webhook receives and patches objects in the version of its rule",
    run: Effect.fnUntraced(function* (subject) {
      const converter = yield* converting(subject)
      const { ask } = subject
      done(yield* ask("POST", converter.new, one(subject, "v2", "a", { replicas: 1, port: 5 })), 201)
      const hooked = yield* start(subject, {
        m: () => patching({ op: "replace", path: "/spec/size", value: 3 }),
        v: () => allowed,
        exact: () => allowed
      })
      const rules = [
        { apiGroups: [groupOf(subject)], apiVersions: ["v1"], resources: ["widgets"], operations: ["CREATE", "UPDATE"] }
      ]
      yield* configure(subject, hooked, "validating", [
        hook("v", { rules }),
        hook("exact", { rules, matchPolicy: "Exact" })
      ])
      yield* configure(subject, hooked, "mutating", [hook("m", { rules })])
      const patched = done(yield* ask("PATCH", `${converter.new}/a`, { spec: { port: 6, name: "x" } }, merge))
      assert.deepStrictEqual(patched.spec, { replicas: 3, port: 6, name: "x" })
      const made = done(yield* ask("POST", converter.new, one(subject, "v2", "b", { replicas: 1 })), 201)
      assert.deepStrictEqual(made.spec, { replicas: 3, port: 80 })
      const [first] = hooked.asked("m")
      assert.deepStrictEqual(
        [first.kind.version, first.requestKind.version, first.object.apiVersion],
        ["v1", "v2", `${groupOf(subject)}/v1`]
      )
      // The request to the webhook has fields that v1 does not have.
      assert.deepStrictEqual(
        [first.object.spec, first.oldObject.spec],
        [
          { size: 1, port: 6, name: "x" },
          { size: 1, port: 5 }
        ]
      )
      assert.deepStrictEqual(
        hooked.asked("v").map(({ object }) => object.spec.size),
        [3, 3]
      )
      assert.strictEqual(hooked.asked("exact").length, 0)
    })
  },
  {
    ...rule,
    title: "objects are written in the current storage version, and keep it when that changes",
    run: Effect.fnUntraced(function* (subject) {
      const hooked = yield* converting(subject, { versions: [v1({ storage: true }), v2({ storage: false })] })
      const { ask } = subject
      const path = `${definitions}/${nameOf(subject)}`
      done(
        yield* ask("PATCH", path, { spec: { conversion: conversion(`${hooked.url}/convert`, hooked.caBundle) } }, merge)
      )
      done(yield* ask("POST", hooked.old, old(subject, "a", { size: 2 })), 201)
      done(yield* ask("PATCH", path, { spec: { versions: [v1({ storage: false }), v2({ storage: true })] } }, merge))
      yield* eventually(ask("GET", path), ({ body }) => body.status.storedVersions.length === 2)
      // A server that reads the CRD from a cache writes the old version for a while.
      yield* eventually(
        Effect.gen(function* () {
          const before = hooked.asked.length
          done(yield* ask("POST", `${hooked.old}?dryRun=All`, old(subject, "probe")), 201)
          return hooked.asked.length > before
        }),
        (isNew) => isNew
      )
      assert.deepStrictEqual(done(yield* ask("GET", path)).status.storedVersions, ["v1", "v2"])
      const before = done(yield* ask("GET", `${hooked.new}/a`))
      // Defaults are those of the storage version.
      assert.deepStrictEqual(before.spec, { replicas: 2 })
      const after = done(yield* ask("PUT", `${hooked.new}/a`, before))
      assert.notStrictEqual(after.metadata.resourceVersion, before.metadata.resourceVersion)
      const again = done(yield* ask("PUT", `${hooked.new}/a`, after))
      assert.strictEqual(again.metadata.resourceVersion, after.metadata.resourceVersion)
    })
  },
  {
    ...rule,
    title: "spec.conversion of a CRD is validated",
    run: Effect.fnUntraced(function* (subject) {
      const url = "https://hooks.example/convert"
      const at = (clientConfig: object, conversionReviewVersions: ReadonlyArray<string> = ["v1"]) => ({
        strategy: "Webhook",
        webhook: { clientConfig, conversionReviewVersions }
      })
      const spec = "spec.conversion"
      const client = `${spec}.webhookClientConfig`
      const reviews = `${spec}.conversionReviewVersions`
      const wrongs: ReadonlyArray<readonly [conversion: object, ...causes: ReadonlyArray<Cause>]> = [
        [{ strategy: "Magic" }, [`${spec}.strategy`, "FieldValueNotSupported", 'supported values: "None", "Webhook"']],
        [
          { strategy: "Webhook" },
          [client, "FieldValueRequired", "required when strategy is set to Webhook"],
          [reviews, "FieldValueRequired", "Required value"]
        ],
        [at({}), [client, "FieldValueRequired", "exactly one of url or service is required"]],
        [
          at({ url: "http://a.example" }),
          [`${client}.url`, "FieldValueInvalid", "'https' is the only allowed URL scheme"]
        ],
        [at({ url }, []), [reviews, "FieldValueRequired", "Required value"]],
        [at({ url }, ["v7"]), [reviews, "FieldValueInvalid", "must include at least one of v1, v1beta1"]],
        [at({ url }, ["v1", "v1"]), [`${reviews}[1]`, "FieldValueInvalid", "duplicate version"]]
      ]
      for (const [conversion, ...causes] of wrongs) {
        const reply = yield* subject.ask("POST", definitions, definition(subject, { conversion }))
        invalid(reply, `CustomResourceDefinition.apiextensions.k8s.io "${nameOf(subject)}"`, ...causes)
      }
    })
  }
]
