/** Objects of custom kinds: schema, status, scale, patches, apply, tables. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { applyPatch, done, invalid, merge, refused, strategic, table } from "../assertions.ts"
import type { Case } from "../Case.ts"
import { type Cause } from "../assertions.ts"
import { defined, groupOf, rule, version, widget } from "../definitions.ts"

/** Schema validation errors of invalid specs. */
const refusals: ReadonlyArray<readonly [what: string, spec: object, cause: Cause, since?: number]> = [
  [
    "a number that is too great",
    { size: 5 },
    ["spec.size", "FieldValueInvalid", "spec.size in body should be less than or equal to 3"]
  ],
  [
    "a number that is too small",
    { size: 0 },
    ["spec.size", "FieldValueInvalid", "spec.size in body should be greater than or equal to 1"]
  ],
  ["a field that is missing", {}, ["spec.size", "FieldValueRequired", "Required value"]],
  [
    "a value outside of an enum",
    { size: 1, color: "blue" },
    ["spec.color", "FieldValueNotSupported", 'supported values: "red", "green"']
  ],
  [
    "a text that its pattern does not match",
    { size: 1, name: "A" },
    ["spec.name", "FieldValueInvalid", "spec.name in body should match '^[a-z]*$'"]
  ],
  ["a text that is too long", { size: 1, name: "abcdef" }, ["spec.name", "FieldValueTooLong", "Too long"], 25],
  [
    "a value twice in a set",
    { size: 1, tags: ["a", "b", "a"] },
    ["spec.tags[2]", "FieldValueDuplicate", 'Duplicate value: "a"']
  ],
  [
    "a key twice in a map",
    { size: 1, options: [{ name: "a" }, { name: "a" }] },
    ["spec.options[1]", "FieldValueDuplicate", "Duplicate value"]
  ]
]

const refusal = ([what, spec, cause, since]: (typeof refusals)[number]): Case => ({
  ...rule,
  ...(since === undefined ? { since: rule.since } : { since, rule: "apiextensions.k8s.io/v1: maxLength" }),
  title: `a custom resource is invalid with ${what}`,
  run: Effect.fnUntraced(function* (subject) {
    const collection = yield* defined(subject)
    const reply = yield* subject.ask("POST", collection, widget(subject, "a", spec))
    invalid(reply, `Widget.${groupOf(subject)} "a"`, cause)
  })
})

export const customResources: ReadonlyArray<Case> = [
  ...refusals.map(refusal),
  {
    ...rule,
    title: "a custom resource with a value of a wrong type is invalid",
    run: Effect.fnUntraced(function* (subject) {
      const collection = yield* defined(subject)
      const reply = yield* subject.ask("POST", collection, widget(subject, "a", { size: "1" }))
      refused(reply, {
        code: 422,
        reason: "Invalid",
        message: /spec\.size: Invalid value: "string": spec\.size in body must be of type integer: "string"/
      })
    })
  },
  {
    ...rule,
    title: "a custom resource is defaulted and pruned, except for preserved fields",
    run: Effect.fnUntraced(function* (subject) {
      const collection = yield* defined(subject)
      const spec = { size: 2, typo: 1, free: { a: { b: [1] } }, target: "50%" }
      const body = done(yield* subject.ask("POST", collection, widget(subject, "a", spec)), 201)
      assert.deepStrictEqual(body.spec, { size: 2, free: { a: { b: [1] } }, target: "50%", port: 80 })
      assert.strictEqual(body.metadata.generation, 1)
    })
  },
  {
    ...rule,
    title: "null is kept in a nullable field, and dropped elsewhere",
    run: Effect.fnUntraced(function* (subject) {
      const collection = yield* defined(subject)
      const body = done(
        yield* subject.ask("POST", collection, widget(subject, "a", { size: 1, note: null, port: null, color: null })),
        201
      )
      assert.deepStrictEqual(body.spec, { size: 1, note: null, port: 80 })
    })
  },
  {
    title: "an unknown field of a custom resource is an error with fieldValidation Strict",
    alone: true,
    since: 25,
    rule: "KEP-2885: fieldValidation",
    run: Effect.fnUntraced(function* (subject) {
      const collection = yield* defined(subject)
      const reply = yield* subject.ask(
        "POST",
        `${collection}?fieldValidation=Strict`,
        widget(subject, "a", { size: 1, typo: 1 })
      )
      refused(reply, { code: 400, reason: "BadRequest", message: /strict decoding error: unknown field "spec\.typo"/ })
    })
  },
  {
    ...rule,
    title: "the status subresource changes only the status",
    run: Effect.fnUntraced(function* (subject) {
      const collection = yield* defined(subject)
      const made = done(yield* subject.ask("POST", collection, { ...widget(subject, "a"), status: { ready: 9 } }), 201)
      assert.isUndefined(made.status)
      const path = `${collection}/a`
      const status = done(
        yield* subject.ask("PATCH", `${path}/status`, { spec: { size: 3 }, status: { ready: 1 } }, merge)
      )
      assert.deepStrictEqual([status.spec.size, status.status, status.metadata.generation], [1, { ready: 1 }, 1])
      const next = done(yield* subject.ask("PATCH", path, { spec: { size: 3 }, status: { ready: 7 } }, merge))
      assert.deepStrictEqual([next.spec.size, next.status, next.metadata.generation], [3, { ready: 1 }, 2])
      const labelled = done(yield* subject.ask("PATCH", path, { metadata: { labels: { a: "b" } } }, merge))
      assert.strictEqual(labelled.metadata.generation, 2)
    })
  },
  {
    ...rule,
    title: "without a status subresource, status is a plain field",
    run: Effect.fnUntraced(function* (subject) {
      const collection = yield* defined(subject, { versions: [version("v1", { subresources: undefined })] })
      const made = done(yield* subject.ask("POST", collection, { ...widget(subject, "a"), status: { ready: 9 } }), 201)
      assert.deepStrictEqual(made.status, { ready: 9 })
      const next = done(yield* subject.ask("PATCH", `${collection}/a`, { status: { ready: 1 } }, merge))
      assert.strictEqual(next.metadata.generation, 2)
      refused(yield* subject.ask("GET", `${collection}/a/status`), { code: 404, reason: "NotFound" })
    })
  },
  {
    ...rule,
    title: "the scale subresource of a custom resource uses the paths of its CRD",
    run: Effect.fnUntraced(function* (subject) {
      const collection = yield* defined(subject)
      done(yield* subject.ask("POST", collection, widget(subject, "a")), 201)
      done(yield* subject.ask("PATCH", `${collection}/a/status`, { status: { ready: 1, selector: "app=a" } }, merge))
      const scale = done(yield* subject.ask("GET", `${collection}/a/scale`))
      assert.deepStrictEqual(
        [scale.kind, scale.spec, scale.status],
        ["Scale", { replicas: 1 }, { replicas: 1, selector: "app=a" }]
      )
      done(yield* subject.ask("PUT", `${collection}/a/scale`, { ...scale, spec: { replicas: 3 } }))
      assert.strictEqual(done(yield* subject.ask("GET", `${collection}/a`)).spec.size, 3)
    })
  },
  {
    ...rule,
    title: "an update of a custom resource requires resourceVersion",
    run: Effect.fnUntraced(function* (subject) {
      const collection = yield* defined(subject)
      const made = done(yield* subject.ask("POST", collection, widget(subject, "a")), 201)
      const blind = yield* subject.ask("PUT", `${collection}/a`, widget(subject, "a", { size: 2 }))
      refused(blind, {
        code: 422,
        reason: "Invalid",
        message: /metadata\.resourceVersion: .*must be specified for an update/
      })
      done(yield* subject.ask("PUT", `${collection}/a`, { ...made, spec: { size: 2 } }))
    })
  },
  {
    ...rule,
    title: "a custom resource does not support strategic merge patch",
    run: Effect.fnUntraced(function* (subject) {
      const collection = yield* defined(subject)
      done(yield* subject.ask("POST", collection, widget(subject, "a")), 201)
      const reply = yield* subject.ask("PATCH", `${collection}/a`, { spec: { size: 2 } }, strategic)
      refused(reply, { code: 415, reason: "UnsupportedMediaType" })
    })
  },
  {
    ...rule,
    since: 22,
    rule: "apiextensions.k8s.io/v1: x-kubernetes-list-type",
    title: "server-side apply merges lists by the list types of the schema",
    run: Effect.fnUntraced(function* (subject) {
      const collection = yield* defined(subject)
      const apply = (manager: string, spec: object) =>
        subject.ask("PATCH", `${collection}/a?fieldManager=${manager}`, widget(subject, "a", spec), applyPatch)
      done(yield* apply("one", { size: 1, tags: ["a"], options: [{ name: "x", value: "1" }] }), 201)
      const both = done(yield* apply("two", { size: 1, tags: ["b"], options: [{ name: "y", value: "2" }] }), 200)
      assert.deepStrictEqual(
        [both.spec.tags, both.spec.options.map((one: any) => one.name)],
        [
          ["a", "b"],
          ["x", "y"]
        ]
      )
      const less = done(yield* apply("one", { size: 1 }))
      assert.deepStrictEqual([less.spec.tags, less.spec.options.length], [["b"], 1])
      refused(yield* apply("two", { size: 2 }), {
        code: 409,
        reason: "Conflict",
        message: /conflict with "one".*\.spec\.size/
      })
    })
  },
  {
    ...rule,
    title: "tables of custom resources have the columns of their CRD",
    run: Effect.fnUntraced(function* (subject) {
      const collection = yield* defined(subject)
      done(yield* subject.ask("POST", collection, widget(subject, "a", { size: 2 })), 201)
      const body = done(yield* subject.ask("GET", collection, undefined, table))
      assert.deepStrictEqual(
        body.columnDefinitions.map((one: any) => [one.name, one.type, one.priority]),
        [
          ["Name", "string", 0],
          ["Size", "integer", 0],
          ["Color", "string", 1]
        ]
      )
      assert.deepStrictEqual(body.rows[0].cells, ["a", 2, null])
    })
  }
]
