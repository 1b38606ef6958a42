/** Writes: create and update. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as ApiError from "../../../src/kube/ApiError.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Pod } from "../../../src/kube/resources.ts"
import * as ResourceVersion from "../../../src/kube/ResourceVersion.ts"
import { applyPatch, done, invalid, merge, refused } from "../assertions.ts"
import { type Case, configMap, pod } from "../Case.ts"
import { at, deployment, matching, podOf } from "../objects.ts"

const reason = <A>(call: Effect.Effect<A, ApiError.ApiError>) => Effect.map(Effect.flip(call), (e) => e.reason._tag)

export const writes: ReadonlyArray<Case> = [
  {
    title: "create sets uid, resourceVersion and creationTimestamp; get returns the same object",
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
    title: "generateName generates distinct names with the prefix",
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
    title: "an invalid name is Invalid, with the field as the cause",
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
    title: "an update increments the resourceVersion; one that changes nothing does not",
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
    title: "an update with a stale resourceVersion is a Conflict; one without overwrites",
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
    title: "a dry run returns the response of the write and changes nothing",
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
    title: "fieldValidation Strict rejects an unknown field",
    since: 25,
    rule: "KEP-2885: fieldValidation is on from 1.25 (beta)",
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const object = { ...configMap("a"), nonsense: 1 }
      const strict = client.create(ConfigMap, object, { namespace, fieldValidation: "Strict" })
      assert.strictEqual(yield* reason(strict), "BadRequest")
      yield* client.create(ConfigMap, object, { namespace, fieldValidation: "Ignore" })
    })
  },
  {
    title: "clients cannot write the metadata that the server sets",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments } = at(namespace)
      const sent = {
        ...deployment("a"),
        metadata: {
          name: "a",
          uid: "11111111-1111-1111-1111-111111111111",
          creationTimestamp: "2001-01-01T00:00:00Z",
          generation: 9,
          deletionTimestamp: "2001-01-01T00:00:00Z",
          selfLink: "/nowhere"
        }
      }
      const { metadata } = done(yield* ask("POST", deployments, sent))
      assert.notStrictEqual(metadata.uid, sent.metadata.uid)
      assert.isAbove(Date.parse(metadata.creationTimestamp), Date.parse("2020-01-01"))
      assert.deepStrictEqual(
        [metadata.generation, metadata.deletionTimestamp, metadata.selfLink],
        [1, undefined, undefined]
      )
      const changed = { metadata: { creationTimestamp: "2001-01-01T00:00:00Z", generation: 9 } }
      const after = done(yield* ask("PATCH", `${deployments}/a`, changed, merge))
      assert.deepStrictEqual(
        [after.metadata.creationTimestamp, after.metadata.generation, after.metadata.uid],
        [metadata.creationTimestamp, 1, metadata.uid]
      )
    })
  },
  {
    title: "the generation of a ReplicaSet is incremented by changes of the spec only",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { replicaSets } = at(namespace)
      done(yield* ask("POST", replicaSets, { metadata: { name: "a" }, spec: matching }))
      const path = `${replicaSets}/a`
      const generation = (body: object, to = path) =>
        Effect.map(ask("PATCH", to, body, merge), (reply) => done(reply).metadata.generation)
      assert.strictEqual(yield* generation({ metadata: { labels: { l: "1" } } }), 1)
      assert.strictEqual(yield* generation({ metadata: { annotations: { l: "1" } } }), 1)
      assert.strictEqual(yield* generation({ status: { replicas: 1 } }, `${path}/status`), 1)
      assert.strictEqual(yield* generation({ spec: { replicas: 2 } }), 2)
      assert.strictEqual(yield* generation({ spec: { replicas: 2 } }), 2)
    })
  },
  {
    title: "an update does not change the status, and a status update does not change the spec",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments } = at(namespace)
      const path = `${deployments}/a`
      const made = done(yield* ask("POST", deployments, { ...deployment("a"), status: { replicas: 7 } }))
      assert.deepStrictEqual(made.status, {})
      const both = { spec: { replicas: 9 }, status: { replicas: 3, observedGeneration: 7 } }
      const by = done(yield* ask("PATCH", `${path}/status`, both, merge))
      assert.deepStrictEqual([by.spec.replicas, by.status.replicas, by.status.observedGeneration], [1, 3, 7])
      const main = done(yield* ask("PATCH", path, { spec: { replicas: 2 }, status: { replicas: 99 } }, merge))
      assert.deepStrictEqual([main.spec.replicas, main.status.replicas], [2, 3])
      const stale = { ...made, status: { replicas: 5 } }
      refused(yield* ask("PUT", `${path}/status`, stale), { code: 409, reason: "Conflict" })
    })
  },
  {
    title: "labels cannot be changed through the status of a deployment, annotations can",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments } = at(namespace)
      done(yield* ask("POST", deployments, deployment("a")))
      const metadata = { labels: { l: "1" }, annotations: { a: "1" } }
      const body = { metadata, status: { replicas: 1 } }
      const after = done(yield* ask("PATCH", `${deployments}/a/status`, body, merge))
      assert.deepStrictEqual([after.metadata.labels, after.metadata.annotations], [undefined, { a: "1" }])
    })
  },
  {
    title: "a PUT of the status of a Deployment keeps spec, labels and generation, and updates annotations",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const path = `${at(namespace).deployments}/a`
      const made = done(yield* ask("POST", at(namespace).deployments, deployment("a")))
      const metadata = {
        ...made.metadata,
        labels: { l: "1" },
        annotations: { "deployment.kubernetes.io/revision": "1" }
      }
      const sent = { ...made, metadata, spec: { ...made.spec, replicas: 9 }, status: { observedGeneration: 1 } }
      const after = done(yield* ask("PUT", `${path}/status`, sent))
      assert.deepStrictEqual(after.metadata.annotations, metadata.annotations)
      assert.deepStrictEqual(
        [after.metadata.labels, after.metadata.generation, after.spec.replicas, after.status.observedGeneration],
        [undefined, 1, 1, 1]
      )
      assert.deepStrictEqual(done(yield* ask("GET", path)), after)
      // On the main endpoint a change of annotations increments the generation of a Deployment.
      const annotated = done(yield* ask("PATCH", path, { metadata: { annotations: { a: "1" } } }, merge))
      assert.strictEqual(annotated.metadata.generation, 2)
    })
  },
  {
    title: "dryRun stores nothing with any verb, and does not increment the resourceVersion",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments, pods } = at(namespace)
      const path = `${deployments}/a`
      const made = done(yield* ask("POST", deployments, deployment("a")))
      const dry = "?dryRun=All"
      done(yield* ask("POST", deployments + dry, deployment("b")), 201)
      assert.strictEqual(done(yield* ask("PATCH", path + dry, { spec: { replicas: 5 } }, merge)).spec.replicas, 5)
      const put = { ...made, spec: { ...made.spec, replicas: 6 } }
      assert.strictEqual(done(yield* ask("PUT", path + dry, put)).spec.replicas, 6)
      done(yield* ask("PATCH", `${path}/status${dry}`, { status: { replicas: 3 } }, merge))
      const scaled = done(yield* ask("PATCH", `${path}/scale${dry}`, { spec: { replicas: 8 } }, merge))
      assert.strictEqual(scaled.spec.replicas, 8)
      const apply = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, spec: { replicas: 7 } }
      done(yield* ask("PATCH", `${path}${dry}&fieldManager=m&force=true`, apply, applyPatch))
      done(yield* ask("DELETE", path + dry))
      done(yield* ask("DELETE", path, { kind: "DeleteOptions", apiVersion: "v1", dryRun: ["All"] }))
      done(yield* ask("DELETE", deployments + dry))
      const binding = {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name: "p" },
        target: { kind: "Node", name: "n" }
      }
      const pod = done(yield* ask("POST", pods, podOf("p")))
      done(yield* ask("POST", `${pods}/p/binding${dry}`, binding), 201)
      assert.deepStrictEqual(done(yield* ask("GET", `${pods}/p`)), pod)
      assert.deepStrictEqual(done(yield* ask("GET", path)), made)
      refused(yield* ask("GET", `${deployments}/b`), { code: 404, reason: "NotFound" })
    })
  },
  {
    title: "a dry run fails with the error of the write",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const made = done(yield* ask("POST", configMaps, configMap("a")))
      refused(yield* ask("POST", `${configMaps}?dryRun=All`, configMap("a")), { code: 409, reason: "AlreadyExists" })
      const stale = { ...made, metadata: { ...made.metadata, resourceVersion: "1" } }
      refused(yield* ask("PUT", `${configMaps}/a?dryRun=All`, stale), { code: 409, reason: "Conflict" })
      refused(yield* ask("DELETE", `${configMaps}/b?dryRun=All`), { code: 404, reason: "NotFound" })
    })
  },
  {
    title: "PUT creates a missing object only where the kind allows it",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps, leases } = at(namespace)
      const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "l" }, spec: {} }
      done(yield* ask("PUT", `${leases}/l`, lease), 201)
      refused(yield* ask("PUT", `${configMaps}/a`, configMap("a")), { code: 404, reason: "NotFound" })
    })
  },
  {
    title: "a Lease cannot be updated without resourceVersion",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { leases } = at(namespace)
      const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "l" }, spec: {} }
      done(yield* ask("POST", leases, lease), 201)
      const held = { ...lease, spec: { holderIdentity: "me" } }
      invalid(yield* ask("PUT", `${leases}/l`, held), 'leases.coordination.k8s.io "l"', [
        "metadata.resourceVersion",
        "FieldValueInvalid",
        "must be specified for an update"
      ])
    })
  },
  {
    title: "PUT and patch reject the uid of another object",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      done(yield* ask("POST", configMaps, configMap("a")))
      const uid = "00000000-0000-0000-0000-000000000000"
      refused(yield* ask("PUT", `${configMaps}/a`, { metadata: { name: "a", uid } }), { code: 409, reason: "Conflict" })
      const reply = yield* ask("PATCH", `${configMaps}/a`, { metadata: { uid } }, merge)
      assert.include([409, 422], reply.status)
    })
  },
  {
    title: "an unknown field is dropped by every kind of write",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps, deployments } = at(namespace)
      const made = done(yield* ask("POST", configMaps, { ...configMap("a"), nonsense: 1 }))
      assert.notProperty(made, "nonsense")
      assert.notProperty(done(yield* ask("PATCH", `${configMaps}/a`, { nonsense: { k: 1 } }, merge)), "nonsense")
      const deep = { ...matching, template: { ...matching.template, nonsense: 1 }, nonsense: 2 }
      const { spec } = done(yield* ask("POST", deployments, deployment("a", deep)))
      assert.deepStrictEqual([spec.nonsense, spec.template.nonsense], [undefined, undefined])
    })
  },
  {
    title: "fieldValidation: Warn warns about unknown and duplicate fields, Strict rejects them",
    since: 25,
    rule: "KEP-2885: fieldValidation is on from 1.25 (beta)",
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, nonsense: 1 }
      const warned = yield* ask("POST", `${configMaps}?fieldValidation=Warn`, body)
      done(warned, 201)
      assert.match(warned.headers["warning"] ?? "", /299 .* "unknown field \\"nonsense\\""/)
      refused(yield* ask("POST", `${configMaps}?fieldValidation=Strict`, body), {
        code: 400,
        reason: "BadRequest",
        message: /strict decoding error: unknown field "nonsense"/
      })
      const twice = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{},"data":{}}'
      refused(yield* ask("POST", `${configMaps}?fieldValidation=Strict`, twice), {
        code: 400,
        reason: "BadRequest",
        message: /strict decoding error: duplicate field "data"/
      })
    })
  }
]
