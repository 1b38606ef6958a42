/** Single objects: create, get, update, delete, dry run, subresources, and how each fails. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ApiError from "../../../src/kube/ApiError.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as ResourceVersion from "../../../src/kube/ResourceVersion.ts"
import { ConfigMap, Lease, Namespace, Node, Pod } from "../../../src/kube/resources.ts"
import { type Case, configMap, pod } from "../Case.ts"

const reason = <A>(call: Effect.Effect<A, ApiError.ApiError>) => Effect.map(Effect.flip(call), (e) => e.reason._tag)

export const objects: ReadonlyArray<Case> = [
  {
    title: "create fills in uid, version and time; get returns the same object",
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
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const make = client.create(ConfigMap, configMap("a"), { namespace })
      yield* make
      const error = yield* Effect.flip(make)
      assert.strictEqual(error.reason._tag, "AlreadyExists")
      assert.include(error.detail, 'configmaps "a" already exists')
    })
  },
  {
    title: "a missing object and a missing resource are different NotFounds",
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const object = yield* Effect.flip(client.get(ConfigMap, { namespace, name: "none" }))
      assert.strictEqual(object.reason._tag, "NotFound")
      assert.isFalse(ApiError.isMissingResource(object))
      const Widget = Resource.make()({ group: "none.example", version: "v1", kind: "Widget", plural: "widgets" })
      const resource = yield* Effect.flip(client.get(Widget, { namespace, name: "a" }))
      assert.strictEqual(resource.reason._tag, "NotFound")
      assert.isTrue(ApiError.isMissingResource(resource))
    })
  },
  {
    title: "create in a namespace that does not exist is NotFound and names the namespace",
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const error = yield* Effect.flip(client.create(ConfigMap, configMap("a"), { namespace: `${namespace}-none` }))
      assert.strictEqual(error.reason._tag, "NotFound")
      assert.include(error.detail, `namespaces "${namespace}-none" not found`)
    })
  },
  {
    title: "an invalid name is Invalid and says which field",
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
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const missing = { metadata: { name: "none", namespace, resourceVersion: "1" } }
      assert.strictEqual(yield* reason(client.update(ConfigMap, missing)), "NotFound")
      const made = yield* client.create(ConfigMap, configMap("a"), { namespace })
      const other = { ...made, metadata: { ...made.metadata, uid: "00000000-0000-0000-0000-000000000000" } }
      assert.strictEqual(yield* reason(client.update(ConfigMap, other)), "Conflict")
    })
  },
  {
    title: "delete removes; a second delete is NotFound",
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      yield* client.create(ConfigMap, configMap("a"), { namespace })
      const answer = yield* client.delete(ConfigMap, { namespace, name: "a" })
      assert.strictEqual(answer.kind, "Status")
      assert.strictEqual(yield* reason(client.get(ConfigMap, { namespace, name: "a" })), "NotFound")
      assert.strictEqual(yield* reason(client.delete(ConfigMap, { namespace, name: "a" })), "NotFound")
    })
  },
  {
    title: "delete preconditions on uid and version are a Conflict when they do not hold",
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const target = { namespace, name: "a" }
      const { metadata } = yield* client.create(ConfigMap, configMap("a"), { namespace })
      const uid = "00000000-0000-0000-0000-000000000000"
      assert.strictEqual(yield* reason(client.delete(ConfigMap, target, { preconditions: { uid } })), "Conflict")
      const stale = { preconditions: { resourceVersion: "1" } }
      assert.strictEqual(yield* reason(client.delete(ConfigMap, target, stale)), "Conflict")
      yield* client.delete(ConfigMap, target, {
        preconditions: { uid: metadata.uid, resourceVersion: metadata.resourceVersion }
      })
    })
  },
  {
    title: "finalizers keep a deleted object until the last one is gone",
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const target = { namespace, name: "a" }
      yield* client.create(ConfigMap, { metadata: { name: "a", finalizers: ["test.example/hold"] } }, { namespace })
      const marked = yield* client.delete(ConfigMap, target)
      assert.strictEqual(marked.kind, "ConfigMap")
      const held = yield* client.get(ConfigMap, target)
      assert.isDefined(held.metadata.deletionTimestamp)
      yield* client.update(ConfigMap, { ...held, metadata: { ...held.metadata, finalizers: [] } })
      assert.strictEqual(yield* reason(client.get(ConfigMap, target)), "NotFound")
    })
  },
  {
    title: "a dry run answers like the real thing and changes nothing",
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
    title: "cluster-scoped objects have no namespace, and their status is a subresource",
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const name = `node-${namespace}`
      const made = yield* client.create(Node, { metadata: { name, labels: { zone: "a" } } })
      assert.isUndefined(made.metadata.namespace)
      const conditions = [{ type: "Ready", status: "True" }]
      const patched = yield* client.patch(
        Node,
        { name, subresource: "status" },
        { type: "merge", body: { status: { conditions } } }
      )
      assert.strictEqual(patched.status?.conditions?.[0]?.status, "True")
      yield* client.delete(Node, { name })
    })
  },
  {
    title: "a lease keeps its microseconds and refuses a stale holder",
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const spec = {
        holderIdentity: "one",
        leaseDurationSeconds: 15,
        acquireTime: "2026-01-02T03:04:05.123456Z",
        renewTime: "2026-01-02T03:04:05.100000Z"
      }
      const made = yield* client.create(Lease, { metadata: { name: "l" }, spec }, { namespace })
      assert.deepStrictEqual(made.spec, spec)
      yield* client.update(Lease, { ...made, spec: { ...spec, holderIdentity: "two" } })
      const late = client.update(Lease, { ...made, spec: { ...spec, holderIdentity: "three" } })
      assert.strictEqual(yield* reason(late), "Conflict")
      assert.strictEqual((yield* client.get(Lease, { namespace, name: "l" })).spec?.holderIdentity, "two")
    })
  },
  {
    title: "a namespace starts out active",
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      assert.strictEqual((yield* client.get(Namespace, { name: namespace })).status?.phase, "Active")
    })
  },
  {
    needs: "managedFields",
    title: "field managers are recorded with their writes",
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
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const object = { ...configMap("a"), nonsense: 1 }
      const strict = client.create(ConfigMap, object, { namespace, fieldValidation: "Strict" })
      assert.strictEqual(yield* reason(strict), "BadRequest")
      yield* client.create(ConfigMap, object, { namespace, fieldValidation: "Ignore" })
    })
  }
]
