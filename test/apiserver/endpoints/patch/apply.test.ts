/** Server-side apply through the server: managers, conflicts, force, removal of fields. */
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { ApiServer } from "../../../../src/apiserver/ApiServer.ts"
import { born, configMap, configMaps, get, layer, patch, pod, pods, post, put, refused, same } from "../../client.ts"

const at = `${configMaps}/a`
const config = (data: object, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", ...metadata },
  data
})
const apply = (manager: string, body: object, query: object = {}, path = at) =>
  patch(path, "apply", body, { fieldManager: manager, ...query })
const owners = (object: any) =>
  Object.fromEntries(
    (object.metadata.managedFields ?? []).map((one: any) => [`${one.manager} ${one.operation}`, one.fieldsV1])
  )

describe("apply", () => {
  it.effect("creates a missing object, and manages exactly the sent fields", () =>
    Effect.gen(function* () {
      const made = yield* apply("one", config({ x: "1" }, { labels: { l: "1" } }))
      same(
        [made.data, owners(made)],
        [{ x: "1" }, { "one Apply": { "f:metadata": { "f:labels": { "f:l": {} } }, "f:data": { "f:x": {} } } }]
      )
      same(yield* apply("one", config({ x: "1" }, { labels: { l: "1" } })), made)
      same(yield* (yield* ApiServer).revision, born + 1)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("removes fields that the manager no longer sends, unless another manager has them", () =>
    Effect.gen(function* () {
      yield* apply("one", config({ x: "1", y: "1", z: "1" }))
      yield* apply("two", config({ y: "1" }))
      const less = yield* apply("one", config({ x: "1" }))
      same(less.data, { x: "1", y: "1" })
      same(owners(less), { "one Apply": { "f:data": { "f:x": {} } }, "two Apply": { "f:data": { "f:y": {} } } })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("conflicts with other managers of a changed value; force takes the fields over", () =>
    Effect.gen(function* () {
      yield* apply("one", config({ x: "1", y: "1" }))
      const single = yield* refused(apply("two", config({ x: "2" })))
      same(
        [single.status, single.error.reason._tag, single.message],
        [409, "Conflict", 'Apply failed with 1 conflict: conflict with "one": .data.x']
      )
      same(single.error.details?.causes, [
        { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.x" }
      ])
      const both = yield* refused(apply("two", config({ x: "2", y: "2" })))
      same(both.message, 'Apply failed with 2 conflicts: conflicts with "one":\n- .data.x\n- .data.y')
      const forced = yield* apply("two", config({ x: "2" }), { force: true })
      same(
        [forced.data, owners(forced)],
        [
          { x: "2", y: "1" },
          { "one Apply": { "f:data": { "f:y": {} } }, "two Apply": { "f:data": { "f:x": {} } } }
        ]
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("fields from before the first apply have a manager too", () =>
    Effect.gen(function* () {
      yield* post(configMaps, configMap("a", { x: "1" }), { fieldManager: "kubectl" })
      const error = yield* refused(apply("one", config({ x: "2" })))
      same(error.message, 'Apply failed with 1 conflict: conflict with "kubectl" using v1: .data.x')
      same((yield* apply("one", config({ x: "1" }))).data, { x: "1" })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("an update takes over the fields it changes", () =>
    Effect.gen(function* () {
      yield* apply("one", config({ x: "1", y: "1" }))
      yield* TestClock.adjust("5 seconds")
      const updated = yield* put(at, { ...(yield* get(at)), data: { x: "2" } }, { fieldManager: "editor" })
      same(owners(updated), { "editor Update": { "f:data": { "f:x": {} } } })
      same(updated.metadata.managedFields[0].time, "1970-01-01T00:00:05Z")
      same((yield* refused(apply("one", config({ x: "1" })))).status, 409)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("merges lists by key and removes elements", () =>
    Effect.gen(function* () {
      const path = "/apis/apps/v1/namespaces/default/deployments/d"
      const labels = { app: "d" }
      const deployment = (...containers: ReadonlyArray<object>) => ({
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "d" },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } }
      })
      yield* apply("one", deployment({ name: "a", image: "1", args: ["x"] }, { name: "b", image: "1" }), {}, path)
      yield* apply("two", deployment({ name: "a", image: "1", env: [{ name: "X", value: "1" }] }), {}, path)
      const less = yield* apply("one", deployment({ name: "b", image: "2" }), {}, path)
      same(
        less.spec.template.spec.containers.map(({ name, image, args, env }: any) => ({ name, image, args, env })),
        [
          { name: "a", image: "1", args: undefined, env: [{ name: "X", value: "1" }] },
          { name: "b", image: "2", args: undefined, env: undefined }
        ]
      )
      const error = yield* refused(apply("two", deployment({ name: "b", image: "3" }), {}, path))
      same(
        error.message,
        'Apply failed with 1 conflict: conflict with "one": .spec.template.spec.containers[name="b"].image'
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("to the status manages and changes the status only", () =>
    Effect.gen(function* () {
      const path = `${pods}/p`
      yield* post(pods, pod("p"))
      const body = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "p" },
        spec: { nodeName: "x" },
        status: { phase: "Running" }
      }
      const status = yield* apply("kubelet", body, { force: true }, `${path}/status`)
      same([status.status.phase, status.spec.nodeName], ["Running", undefined])
      const entry = status.metadata.managedFields.find((one: any) => one.manager === "kubelet")
      same([entry.subresource, entry.fieldsV1], ["status", { "f:status": { "f:phase": {} } }])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("requires a field manager, a kind and no managedFields", () =>
    Effect.gen(function* () {
      same(
        (yield* refused(patch(at, "apply", config({})))).message,
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'
      )
      same((yield* refused(apply("one", { metadata: { name: "a" } }))).status, 400)
      same(
        (yield* refused(apply("one", config({}, { managedFields: [{}] })))).message,
        "metadata.managedFields must be nil"
      )
    }).pipe(Effect.provide(layer()))
  )
})
