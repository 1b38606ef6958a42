/** Writes: details of the four kinds of patch, such as strategic directives, managed fields, and errors. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { applyPatch, done, jsonPatch, merge, refused, strategic } from "../assertions.ts"
import { type Case, configMap, type Subject } from "../Case.ts"
import { at, deployment, matching, service } from "../objects.ts"

const list = [
  { name: "a", image: "registry.example/a:1" },
  { name: "b", image: "registry.example/b:1" }
]

const two = deployment("d", { ...matching, template: { ...matching.template, spec: { containers: list } } })

/** A strategic patch of the containers of `two`. */
const patchContainers = Effect.fnUntraced(function* ({ ask, namespace }: Subject, spec: object) {
  const { deployments } = at(namespace)
  done(yield* ask("POST", deployments, two))
  const body = { spec: { template: { spec } } }
  const after = done(yield* ask("PATCH", `${deployments}/d`, body, strategic))
  return after.spec.template.spec.containers.map(({ image, name }: { image: string; name: string }) => [name, image])
})

const cm = (data: object, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", ...metadata },
  data
})

/** Server-side apply of a config map `a`. */
const applied = ({ ask, namespace }: Subject, manager: string, body: object, query = "") =>
  ask("PATCH", `${at(namespace).configMaps}/a?fieldManager=${manager}${query}`, body, applyPatch)

const managersOf = (object: any): ReadonlyArray<readonly [string, string, string | undefined]> =>
  object.metadata.managedFields.map((one: any) => [one.manager, one.operation, one.subresource])

export const patchDetails: ReadonlyArray<Case> = [
  {
    title: "strategic: elements are merged by name, and new elements are added",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const after = yield* patchContainers(subject, {
        containers: [
          { name: "b", image: "registry.example/b:2" },
          { name: "c", image: "registry.example/c:1" }
        ]
      })
      assert.sameDeepMembers(after, [
        ["a", "registry.example/a:1"],
        ["b", "registry.example/b:2"],
        ["c", "registry.example/c:1"]
      ])
    })
  },
  {
    title: "strategic: $patch delete removes one element",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const after = yield* patchContainers(subject, { containers: [{ name: "a", $patch: "delete" }] })
      assert.deepStrictEqual(after, [["b", "registry.example/b:1"]])
    })
  },
  {
    title: "strategic: $patch replace replaces the list",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const after = yield* patchContainers(subject, {
        containers: [{ $patch: "replace" }, { name: "z", image: "registry.example/z:1" }]
      })
      assert.deepStrictEqual(after, [["z", "registry.example/z:1"]])
    })
  },
  {
    title: "strategic: $setElementOrder orders existing and added elements",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const after = yield* patchContainers(subject, {
        "$setElementOrder/containers": [{ name: "c" }, { name: "b" }, { name: "a" }],
        containers: [{ name: "c", image: "registry.example/c:1" }]
      })
      assert.deepStrictEqual(
        after.map(([name]: [string]) => name),
        ["c", "b", "a"]
      )
    })
  },
  {
    title: "strategic: $retainKeys drops other members, so that a Deployment can change its strategy",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments } = at(namespace)
      done(yield* ask("POST", deployments, two))
      const strategy = { $retainKeys: ["type"], type: "Recreate" }
      const after = done(yield* ask("PATCH", `${deployments}/d`, { spec: { strategy } }, strategic))
      assert.deepStrictEqual(after.spec.strategy, { type: "Recreate" })
    })
  },
  {
    title: "strategic: null deletes a field, $patch replace replaces a map",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      done(yield* ask("POST", configMaps, configMap("a", { k: "1", l: "1" }, { x: "1" })))
      const after = done(
        yield* ask(
          "PATCH",
          `${configMaps}/a`,
          { data: { $patch: "replace", m: "1" }, metadata: { labels: { x: null, y: "1" } } },
          strategic
        )
      )
      assert.deepStrictEqual([after.data, after.metadata.labels], [{ m: "1" }, { y: "1" }])
    })
  },
  {
    title: "strategic: ports of a service are merged by port",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { services } = at(namespace)
      const ports = [
        { name: "a", port: 80 },
        { name: "b", port: 81 }
      ]
      done(yield* ask("POST", services, service("s", { ports })))
      const body = { spec: { ports: [{ port: 81, targetPort: 9 }] } }
      const after = done(yield* ask("PATCH", `${services}/s`, body, strategic))
      assert.sameDeepMembers(
        after.spec.ports.map(({ name, port, targetPort }: any) => [name, port, targetPort]),
        [
          ["a", 80, 80],
          ["b", 81, 9]
        ]
      )
    })
  },
  {
    title: "merge: lists are replaced, a nested null deletes a member, and a null for a missing member changes nothing",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments } = at(namespace)
      done(yield* ask("POST", deployments, two))
      const spec = {
        progressDeadlineSeconds: null,
        paused: null,
        template: { spec: { containers: [{ name: "z", image: "registry.example/z:1" }] } }
      }
      const after = done(yield* ask("PATCH", `${deployments}/d`, { spec }, merge))
      assert.deepStrictEqual(
        [after.spec.template.spec.containers.length, after.spec.progressDeadlineSeconds, after.spec.paused],
        [1, 600, undefined]
      )
    })
  },
  {
    title: "JSON patch: add into and at the end of a list, replace, move, copy, remove",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const finalizers = ["test.example/a", "test.example/c"]
      const metadata = { name: "a", finalizers, annotations: { from: "1", gone: "1" } }
      done(yield* ask("POST", configMaps, { metadata, data: { k: "1" } }))
      const after = done(
        yield* ask(
          "PATCH",
          `${configMaps}/a`,
          [
            { op: "add", path: "/metadata/finalizers/1", value: "test.example/b" },
            { op: "add", path: "/metadata/finalizers/-", value: "test.example/d" },
            { op: "move", from: "/metadata/annotations/from", path: "/metadata/annotations/to" },
            { op: "remove", path: "/metadata/annotations/gone" },
            { op: "replace", path: "/data/k", value: "2" }
          ],
          jsonPatch
        )
      )
      assert.deepStrictEqual(
        [after.metadata.finalizers, after.metadata.annotations, after.data],
        [["test.example/a", "test.example/b", "test.example/c", "test.example/d"], { to: "1" }, { k: "2" }]
      )
    })
  },
  {
    title: "JSON patch: a failed test and a missing path are 422, a patch that is not a list is 400",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const made = done(yield* ask("POST", configMaps, configMap("a", { k: "1" })))
      for (const operation of [
        { op: "test", path: "/data/k", value: "2" },
        { op: "remove", path: "/data/none" },
        { op: "add", path: "/none/deep", value: "x" }
      ]) {
        refused(yield* ask("PATCH", `${configMaps}/a`, [operation], jsonPatch), {
          code: 422,
          reason: "Invalid",
          message: "the server rejected our request due to an error in our request"
        })
      }
      refused(yield* ask("PATCH", `${configMaps}/a`, {}, jsonPatch), { code: 400, reason: "BadRequest" })
      assert.deepStrictEqual(done(yield* ask("GET", `${configMaps}/a`)), made)
    })
  },
  {
    title: "apply: 201 for a new object, 200 for an existing one, no new resourceVersion when nothing changes",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const first = done(yield* applied(subject, "one", cm({ k: "1" })), 201)
      const again = done(yield* applied(subject, "one", cm({ k: "1" })), 200)
      assert.strictEqual(again.metadata.resourceVersion, first.metadata.resourceVersion)
      assert.deepStrictEqual(managersOf(first), [["one", "Apply", undefined]])
      assert.deepStrictEqual(first.metadata.managedFields[0].fieldsV1, { "f:data": { "f:k": {} } })
    })
  },
  {
    title: "apply: a conflict names manager and field; force takes the field over",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      done(yield* applied(subject, "one", cm({ k: "1" })))
      refused(yield* applied(subject, "two", cm({ k: "2" })), {
        code: 409,
        reason: "Conflict",
        message: 'Apply failed with 1 conflict: conflict with "one": .data.k',
        details: { causes: [{ reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.k" }] }
      })
      const taken = done(yield* applied(subject, "two", cm({ k: "2" }), "&force=true"))
      assert.deepStrictEqual([taken.data, managersOf(taken)], [{ k: "2" }, [["two", "Apply", undefined]]])
    })
  },
  {
    title: "apply: the same value from two managers is shared, without conflict",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      done(yield* applied(subject, "one", cm({ k: "1" })))
      const both = done(yield* applied(subject, "two", cm({ k: "1" })))
      assert.deepStrictEqual(
        managersOf(both)
          .map(([manager]) => manager)
          .sort(),
        ["one", "two"]
      )
    })
  },
  {
    title: "apply: an update takes over the fields it changes; the next apply of another value conflicts",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      done(yield* applied(subject, "one", cm({ k: "1", l: "1" })))
      const path = `${at(namespace).configMaps}/a?fieldManager=editor`
      const edited = done(yield* ask("PATCH", path, { data: { k: "2" } }, merge))
      assert.sameDeepMembers(
        [...managersOf(edited)],
        [
          ["one", "Apply", undefined],
          ["editor", "Update", undefined]
        ]
      )
      const reply = yield* applied(subject, "one", cm({ k: "3", l: "1" }))
      refused(reply, { code: 409, reason: "Conflict", message: /conflict with "editor".*: \.data\.k$/ })
    })
  },
  {
    title: "apply: elements that a manager no longer applies are removed, those of other managers are kept",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments } = at(namespace)
      const apply = (manager: string, containers: ReadonlyArray<object>, query = "") =>
        ask(
          "PATCH",
          `${deployments}/d?fieldManager=${manager}${query}`,
          deployment("d", { ...matching, template: { ...matching.template, spec: { containers } } }),
          applyPatch
        )
      done(yield* apply("one", list))
      const sidecar = { name: "side", image: "registry.example/side:1" }
      const partial = {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "d" },
        spec: { template: { spec: { containers: [sidecar] } } }
      }
      done(yield* ask("PATCH", `${deployments}/d?fieldManager=two`, partial, applyPatch))
      const after = done(yield* apply("one", [list[0] as object]))
      assert.sameMembers(
        after.spec.template.spec.containers.map((one: any) => one.name),
        ["a", "side"]
      )
    })
  },
  {
    title: "apply: required and forbidden fields of the body",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const path = `${at(namespace).configMaps}/a?fieldManager=one`
      const bad = { code: 400, reason: "BadRequest" } as const
      const managed = cm({}, { managedFields: [{ manager: "x", operation: "Apply" }] })
      refused(yield* applied(subject, "one", managed), { ...bad, message: "metadata.managedFields must be nil" })
      refused(yield* applied(subject, "one", { kind: "ConfigMap", metadata: { name: "a" } }), bad)
      refused(yield* ask("PATCH", path, "a: [", applyPatch), { ...bad, message: /^error decoding YAML: / })
      refused(yield* applied(subject, "one", cm({}, { name: "b" })), {
        ...bad,
        message: "the name of the object (b) does not match the name on the URL (a)"
      })
    })
  },
  {
    title: "apply: a merge patch with managedFields [{}] removes all managers",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      done(yield* applied(subject, "one", cm({ k: "1" })))
      const reset = { metadata: { managedFields: [{}] } }
      const after = done(yield* ask("PATCH", `${at(namespace).configMaps}/a`, reset, merge))
      assert.isUndefined(after.metadata.managedFields)
    })
  },
  {
    title:
      "apply: fields of a manager that a JSON patch removes from managedFields have the other manager only, and go with its next apply",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const { configMaps } = at(namespace)
      done(yield* ask("POST", `${configMaps}?fieldManager=old`, cm({ k: "1", left: "2" })))
      const both = done(yield* applied(subject, "one", cm({ k: "1" }), "&force=true"))
      const names = (object: any) => managersOf(object).map(([manager]) => manager)
      assert.sameMembers(names(both), ["old", "one"])
      const managedFields = both.metadata.managedFields.filter((one: any) => one.manager !== "old")
      const takeOver = [
        { op: "test", path: "/metadata/resourceVersion", value: both.metadata.resourceVersion },
        { op: "replace", path: "/metadata/managedFields", value: managedFields }
      ]
      assert.deepStrictEqual(names(done(yield* ask("PATCH", `${configMaps}/a`, takeOver, jsonPatch))), ["one"])
      assert.deepStrictEqual(done(yield* applied(subject, "one", cm({}), "&force=true")).data, { left: "2" })
    })
  }
]
