/** Writes: create and update. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as ApiError from "../../../src/kube/ApiError.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Pod } from "../../../src/kube/resources.ts"
import * as ResourceVersion from "../../../src/kube/ResourceVersion.ts"
import { type Case, configMap, pod } from "../Case.ts"

const reason = <A>(call: Effect.Effect<A, ApiError.ApiError>) => Effect.map(Effect.flip(call), (e) => e.reason._tag)

export const writes: ReadonlyArray<Case> = [
  {
    title: "create fills in uid, version and time; get returns the same object",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const made = yield* client.create(ConfigMap, configMap("a", { k: "v" }), { namespace })
      assert.match(made.metadata.uid ?? "", /^[0-9a-f-]{36}$/)
      assert.match(made.metadata.resourceVersion ?? "", /^\d+$/)
      assert.match(made.metadata.creationTimestamp ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      assert.strictEqual(made.metadata.namespace, namespace)
      assert.deepStrictEqual([made.apiVersion, made.kind], ["v1", "ConfigMap"])
      assert.deepStrictEqual(yield* client.get(ConfigMap, { namespace, name: "a" }), made)
    })
  },
  {
    title: "generateName makes distinct names with the prefix",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const make = client.create(ConfigMap, { metadata: { generateName: "gen-" } }, { namespace })
      const [one, two] = [yield* make, yield* make]
      assert.match(one.metadata.name, /^gen-[a-z0-9]{5}$/)
      assert.notStrictEqual(one.metadata.name, two.metadata.name)
      assert.strictEqual(one.metadata.generateName, "gen-")
    })
  },
  {
    title: "a second create of one name is AlreadyExists",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const make = client.create(ConfigMap, configMap("a"), { namespace })
      yield* make
      const error = yield* Effect.flip(make)
      assert.strictEqual(error.reason._tag, "AlreadyExists")
      assert.include(error.detail, 'configmaps "a" already exists')
    })
  },
  {
    title: "an invalid name is Invalid and says which field",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const error = yield* Effect.flip(client.create(ConfigMap, configMap("Not_Valid"), { namespace }))
      assert.strictEqual(error.reason._tag, "Invalid")
      assert.deepStrictEqual(error.reason._tag === "Invalid" ? error.reason.causes.map((cause) => cause.field) : [], [
        "metadata.name"
      ])
      const nameless = yield* Effect.flip(client.create(ConfigMap, { metadata: {} }, { namespace }))
      assert.strictEqual(nameless.reason._tag, "Invalid")
    })
  },
  {
    title: "the object's namespace and name must be those of the path",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace, transport }) {
      const elsewhere = { metadata: { name: "a", namespace: "default" } }
      assert.strictEqual(yield* reason(client.create(ConfigMap, elsewhere, { namespace })), "BadRequest")
      const made = yield* client.create(ConfigMap, configMap("a"), { namespace })
      const path = Resource.path(ConfigMap, { namespace, name: "b" })
      const put = transport.send({ method: "PUT", path, body: made, context: { verb: "update", path } })
      assert.strictEqual(yield* reason(put), "BadRequest")
    })
  },
  {
    title: "an update moves the version; one that changes nothing does not",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const first = yield* client.create(ConfigMap, configMap("a", { k: "1" }), { namespace })
      const second = yield* client.update(ConfigMap, { ...first, data: { k: "2" } })
      const [before, after] = [first.metadata.resourceVersion ?? "", second.metadata.resourceVersion ?? ""]
      assert.isAbove(ResourceVersion.compare(after, before), 0)
      assert.strictEqual(second.metadata.uid, first.metadata.uid)
      assert.deepStrictEqual(second.data, { k: "2" })
      assert.strictEqual((yield* client.update(ConfigMap, second)).metadata.resourceVersion, after)
    })
  },
  {
    title: "a stale version is a Conflict; no version at all overwrites",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const first = yield* client.create(ConfigMap, configMap("a", { k: "1" }), { namespace })
      yield* client.update(ConfigMap, { ...first, data: { k: "2" } })
      const error = yield* Effect.flip(client.update(ConfigMap, { ...first, data: { k: "3" } }))
      assert.strictEqual(error.reason._tag, "Conflict")
      const { resourceVersion: _, ...metadata } = first.metadata
      const third = yield* client.update(ConfigMap, { ...first, metadata, data: { k: "3" } })
      assert.deepStrictEqual(third.data, { k: "3" })
    })
  },
  {
    title: "an update of a missing object is NotFound; a wrong uid is a Conflict",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const missing = { metadata: { name: "none", namespace, resourceVersion: "1" } }
      assert.strictEqual(yield* reason(client.update(ConfigMap, missing)), "NotFound")
      const made = yield* client.create(ConfigMap, configMap("a"), { namespace })
      const other = { ...made, metadata: { ...made.metadata, uid: "00000000-0000-0000-0000-000000000000" } }
      assert.strictEqual(yield* reason(client.update(ConfigMap, other)), "Conflict")
    })
  },
  {
    title: "a dry run answers like the real thing and changes nothing",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const target = { namespace, name: "a" }
      const dry = yield* client.create(ConfigMap, configMap("a", { k: "1" }), { namespace, dryRun: true })
      assert.deepStrictEqual(dry.data, { k: "1" })
      assert.strictEqual(yield* reason(client.get(ConfigMap, target)), "NotFound")
      const made = yield* client.create(ConfigMap, configMap("a", { k: "1" }), { namespace })
      const changed = yield* client.update(ConfigMap, { ...made, data: { k: "2" } }, { dryRun: true })
      assert.deepStrictEqual(changed.data, { k: "2" })
      yield* client.delete(ConfigMap, target, { dryRun: true })
      assert.deepStrictEqual(yield* client.get(ConfigMap, target), made)
    })
  },
  {
    title: "the status of a pod is written through its subresource only",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const made = yield* client.create(Pod, pod("a"), { namespace })
      const status = { ...made.status, phase: "Running" as const, message: "by status" }
      const labels = { sneaky: "yes" }
      const written = yield* client.update(
        Pod,
        { ...made, metadata: { ...made.metadata, labels }, status },
        { subresource: "status" }
      )
      assert.strictEqual(written.status?.message, "by status")
      const ignored = yield* client.update(Pod, { ...written, status: { ...status, message: "by the main resource" } })
      assert.strictEqual(ignored.status?.message, "by status")
    })
  },
  {
    needs: "managedFields",
    title: "field managers are recorded with their writes",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const made = yield* client.create(ConfigMap, configMap("a", { k: "v" }), { namespace, fieldManager: "tester" })
      const entry = made.metadata.managedFields?.find((one) => one.manager === "tester")
      assert.strictEqual(entry?.operation, "Update")
      assert.deepStrictEqual(Object.keys((entry?.fieldsV1 as Record<string, object> | undefined)?.["f:data"] ?? {}), [
        ".",
        "f:k"
      ])
    })
  },
  {
    needs: "fieldValidation",
    title: "strict field validation refuses a field nobody knows",
    since: 25,
    rule: "KEP-2885: fieldValidation is on from 1.25 (beta)",
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const object = { ...configMap("a"), nonsense: 1 }
      const strict = client.create(ConfigMap, object, { namespace, fieldValidation: "Strict" })
      assert.strictEqual(yield* reason(strict), "BadRequest")
      yield* client.create(ConfigMap, object, { namespace, fieldValidation: "Ignore" })
    })
  }
]
