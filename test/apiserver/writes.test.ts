/** create, update, status, dry run: fields that the server sets, errors and their messages. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as TestClock from "effect/testing/TestClock"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import {
  born,
  call,
  configMap,
  configMaps,
  get,
  layer,
  nth,
  patch,
  pod,
  pods,
  post,
  put,
  refused,
  same,
  settle,
  watch
} from "./client.ts"

const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
const deployments = "/apis/apps/v1/namespaces/default/deployments"
const deployment = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
    ...spec
  }
})
const { spec: podSpec } = pod("any")

describe("create", () => {
  it.effect("sets uid, creationTimestamp, resourceVersion and namespace, and ignores the status", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("90500 millis")
      const sent = {
        ...pod("a", { uid: "mine", creationTimestamp: null, generation: 7, deletionTimestamp: "2020-01-01T00:00:00Z" }),
        status: { phase: "Running" }
      }
      const made = yield* post(pods, sent)
      assert.match(made.metadata.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      const { uid: _, managedFields: _fields, ...rest } = made.metadata
      same(rest, {
        name: "a",
        namespace: "default",
        resourceVersion: nth(1),
        creationTimestamp: "1970-01-01T00:01:30Z"
      })
      same([made.kind, made.apiVersion, made.status], ["Pod", "v1", { phase: "Pending", qosClass: "BestEffort" }])
      same(yield* get(`${pods}/a`), made)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("generates names, and retries when one is taken", () =>
    Effect.gen(function* () {
      const made = yield* post(pods, { metadata: { generateName: "web-" }, spec: podSpec })
      assert.match(made.metadata.name, /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
      const long = yield* post(pods, { metadata: { generateName: "x".repeat(70) }, spec: podSpec })
      same(long.metadata.name.length, 63)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("is deterministic for a seed and clock", () =>
    Effect.gen(function* () {
      const run = Effect.gen(function* () {
        yield* post(pods, { metadata: { generateName: "web-" }, spec: podSpec })
        return yield* get(pods)
      }).pipe(Effect.provide(layer()), Random.withSeed("seed"))
      same(yield* run, yield* run)
    })
  )

  it.effect("rejects an existing object, a missing namespace, and one that differs from the path", () =>
    Effect.gen(function* () {
      yield* post(pods, pod("a"))
      const exists = yield* refused(post(pods, pod("a")))
      same([exists.status, exists.error.reason._tag, exists.message], [409, "AlreadyExists", 'pods "a" already exists'])
      const nowhere = yield* refused(post("/api/v1/namespaces/nope/pods", pod("a")))
      same([nowhere.status, nowhere.message], [404, 'namespaces "nope" not found'])
      const other = yield* refused(post(pods, pod("b", { namespace: "kube-system" })))
      same(
        [other.status, other.message],
        [400, "the namespace of the provided object does not match the namespace sent on the request"]
      )
      same(
        (yield* refused(post(pods, pod("b", { resourceVersion: "3" })))).message,
        "resourceVersion should not be set on objects to be created"
      )
      same(
        (yield* refused(post(pods, { apiVersion: "apps/v1", kind: "Pod", metadata: { name: "b" } }))).message,
        "the API version in the data (apps/v1) does not match the expected API version (v1)"
      )
      same((yield* refused(post(pods, { kind: "Node", metadata: { name: "b" } }))).status, 400)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("rejects invalid metadata with the path of the field", () =>
    Effect.gen(function* () {
      const unnamed = yield* refused(post(pods, { metadata: {}, spec: podSpec }))
      same(
        [unnamed.status, unnamed.message],
        [422, 'Pod "" is invalid: metadata.name: Required value: name or generateName is required']
      )
      const upper = yield* refused(post(pods, pod("Bad_Name")))
      assert.match(
        upper.message,
        /^Pod "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist/
      )
      same(
        upper.error.reason._tag === "Invalid" && upper.error.reason.causes.map((cause) => [cause.field, cause.reason]),
        [["metadata.name", "FieldValueInvalid"]]
      )
      const label = yield* refused(post(pods, pod("a", { labels: { ok: "not ok" } })))
      assert.match(label.message, /metadata.labels: Invalid value: "not ok": a valid label must be/)
      const two = yield* refused(post(pods, pod("a", { labels: { "a b": "c d" } })))
      assert.match(two.message, /^Pod "a" is invalid: \[metadata.labels: .*, metadata.labels: .*\]$/)
      same(
        (yield* refused(post(leases, { metadata: { name: "A" } }))).message.startsWith(
          'Lease.coordination.k8s.io "A" is invalid: '
        ),
        true
      )
      same((yield* refused(post(pods, pod("a", { finalizers: ["a/b/c"] })))).status, 422)
      same((yield* refused(post(pods, pod("a", { ownerReferences: [{ name: "x" }] })))).status, 422)
      same((yield* refused(post(pods, pod("a", { labels: { a: 1 } })))).status, 400)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("rejects bodies that are not JSON objects of a known type", () =>
    Effect.gen(function* () {
      const server = yield* ApiServer
      const raw = (body: string, contentType?: string) =>
        Effect.map(
          server.handle({
            method: "POST",
            path: pods,
            query: new URLSearchParams(),
            headers: contentType === undefined ? {} : { "content-type": contentType },
            body,
            user: { name: "x", groups: [] }
          }),
          (answer) => (answer._tag === "Answer" ? [answer.status, JSON.parse(answer.body).message] : [])
        )
      const [status, message] = yield* raw("{nope")
      same(status, 400)
      assert.match(
        message,
        /^the object provided is unrecognized \(must be of type Pod\): couldn't get version\/kind; json parse error: /
      )
      for (const body of ["", "[]", "null", "1", '"x"']) same((yield* raw(body))[0], 400)
      same((yield* raw('{"metadata":[]}'))[0], 400)
      same((yield* raw("{}", "text/plain"))[0], 415)
      same((yield* raw(JSON.stringify(pod("ok")), "application/json; charset=utf-8"))[0], 201)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("stores keys such as __proto__ as data", () =>
    Effect.gen(function* () {
      const data = JSON.parse('{"__proto__":"a","constructor":"b"}')
      yield* post(configMaps, configMap("a", data))
      const hostile = JSON.parse('{"data":{"__proto__":"c","toString":"d"},"__proto__":{"x":1}}')
      const merged = yield* patch(`${configMaps}/a`, "merge", hostile)
      same(Object.entries(merged.data), [
        ["__proto__", "c"],
        ["constructor", "b"],
        ["toString", "d"]
      ])
      same(({} as any).x, undefined)
      yield* patch(`${configMaps}/a`, "json", [{ op: "add", path: "/data/__proto__", value: "e" }])
      yield* patch(`${configMaps}/a`, "strategic", JSON.parse('{"data":{"__proto__":"f"}}'))
      same(Object.getOwnPropertyDescriptor((yield* get(`${configMaps}/a`)).data, "__proto__")?.value, "f")
    }).pipe(Effect.provide(layer()))
  )
})

describe("update", () => {
  it.effect("requires the present resourceVersion, if it has one", () =>
    Effect.gen(function* () {
      const first = yield* post(configMaps, configMap("a"))
      const second = yield* put(`${configMaps}/a`, { ...first, data: { k: "1" } })
      const stale = yield* refused(put(`${configMaps}/a`, { ...first, data: { k: "2" } }))
      same(
        [stale.status, stale.error.reason._tag, stale.message],
        [
          409,
          "Conflict",
          'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again'
        ]
      )
      same((yield* put(`${configMaps}/a`, configMap("a", { k: "3" }))).data, { k: "3" })
      same(
        (yield* refused(
          patch(`${configMaps}/a`, "merge", { metadata: { resourceVersion: second.metadata.resourceVersion } })
        )).status,
        409
      )
      const uid = yield* refused(put(`${configMaps}/a`, configMap("a", {}, { uid: "another" })))
      same([uid.status, uid.message.includes("Precondition failed: UID in precondition: another")], [409, true])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("of a Lease requires a resourceVersion, and may create", () =>
    Effect.gen(function* () {
      const lease = { metadata: { name: "l" }, spec: { holderIdentity: "a" } }
      const made = yield* put(`${leases}/l`, lease)
      same(made.spec, { holderIdentity: "a" })
      const error = yield* refused(put(`${leases}/l`, lease))
      same(
        [error.status, error.message],
        [
          422,
          'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update'
        ]
      )
      same((yield* refused(put(`${configMaps}/nope`, configMap("nope")))).status, 404)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("that changes nothing keeps the resourceVersion and sends no event", () =>
    Effect.gen(function* () {
      const made = yield* post(configMaps, configMap("a", { x: "1", y: "2" }))
      const seen = yield* watch(configMaps, { resourceVersion: made.metadata.resourceVersion })
      same(yield* put(`${configMaps}/a`, made), made)
      same(yield* put(`${configMaps}/a`, configMap("a", { y: "2", x: "1" })), made)
      same(yield* patch(`${configMaps}/a`, "merge", { data: { x: "1" } }), made)
      yield* settle
      same([seen.events, yield* (yield* ApiServer).revision], [[], born + 1])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("cannot change fields that the server sets", () =>
    Effect.gen(function* () {
      const made = yield* post(configMaps, configMap("a"))
      const sent = {
        ...made,
        metadata: {
          ...made.metadata,
          creationTimestamp: "2000-01-01T00:00:00Z",
          generation: 9,
          deletionTimestamp: "2000-01-01T00:00:00Z",
          labels: { a: "b" }
        }
      }
      const updated = yield* put(`${configMaps}/a`, sent)
      const { managedFields: _made, ...before } = made.metadata
      const { managedFields: _updated, ...after } = updated.metadata
      same({ ...after, resourceVersion: "" }, { ...before, labels: { a: "b" }, resourceVersion: "" })
      same(
        (yield* refused(put(`${configMaps}/a`, configMap("b")))).message,
        "the name of the object (b) does not match the name on the URL (a)"
      )
      same((yield* refused(put(`${configMaps}/a`, configMap("a", {}, { namespace: "kube-system" })))).status, 400)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("increments the generation for changes of the spec only", () =>
    Effect.gen(function* () {
      same((yield* post(deployments, deployment("a"))).metadata.generation, 1)
      const generation = (body: object, sub = "") =>
        Effect.map(patch(`${deployments}/a${sub}`, "merge", body), (a) => a.metadata.generation)
      same(yield* generation({ metadata: { labels: { a: "b" } } }), 1)
      same(yield* generation({ status: { replicas: 3 } }, "/status"), 1)
      same(yield* generation({ spec: { replicas: 2 } }), 2)
      same(yield* generation({ spec: { replicas: 2 } }), 2)
      same((yield* post(configMaps, configMap("a"))).metadata.generation, undefined)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("changes either status or spec", () =>
    Effect.gen(function* () {
      const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "u" }
      const made = yield* post(pods, pod("a"))
      const main = yield* put(`${pods}/a`, {
        ...made,
        status: { phase: "Failed" },
        metadata: { ...made.metadata, labels: { x: "y" } }
      })
      same([main.status.phase, main.metadata.labels], ["Pending", { x: "y" }])
      const status = yield* put(`${pods}/a/status`, {
        ...main,
        status: { phase: "Running" },
        spec: {},
        metadata: { ...main.metadata, labels: { x: "z" }, ownerReferences: [owner] }
      })
      same([status.status, status.spec], [{ phase: "Running" }, main.spec])
      // kube-apiserver accepts metadata here, except for fields that depend on the kind.
      same([status.metadata.labels, status.metadata.ownerReferences], [{ x: "z" }, undefined])
      same((yield* get(`${pods}/a/status`)).status.phase, "Running")
      same(
        (yield* patch(`${pods}/a`, "merge", { status: { phase: "Failed" } })).metadata.resourceVersion,
        status.metadata.resourceVersion
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("scale reads and writes the replicas only", () =>
    Effect.gen(function* () {
      yield* post(deployments, deployment("a"))
      const scale = yield* get(`${deployments}/a/scale`)
      same([scale.kind, scale.spec, scale.status], ["Scale", { replicas: 1 }, { replicas: 0, selector: "app=a" }])
      same((yield* put(`${deployments}/a/scale`, { ...scale, spec: { replicas: 5 } })).spec.replicas, 5)
      same((yield* patch(`${deployments}/a/scale`, "merge", { spec: { replicas: 0 } })).spec, {})
      same((yield* get(`${deployments}/a`)).spec.replicas, 0)
      same((yield* refused(put(`${deployments}/a/scale`, scale))).status, 409)
      same((yield* refused(patch(`${deployments}/a/scale`, "merge", { spec: { replicas: -1 } }))).status, 422)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("binding assigns a pod once", () =>
    Effect.gen(function* () {
      yield* post(pods, pod("a"))
      const metadata = { name: "a" }
      yield* post(`${pods}/a/binding`, { metadata, target: { kind: "Node", name: "n1" } })
      const bound = yield* get(`${pods}/a`)
      same([bound.spec.nodeName, bound.status.conditions[0].type], ["n1", "PodScheduled"])
      same((yield* refused(post(`${pods}/a/binding`, { metadata, target: { name: "n2" } }))).status, 409)
    }).pipe(Effect.provide(layer()))
  )
})

describe("dry run", () => {
  it.effect("runs defaulting, validation and admission, and stores nothing", () =>
    Effect.gen(function* () {
      const query = { dryRun: "All" }
      const made = yield* post(configMaps, configMap("a"), query)
      same([made.metadata.resourceVersion, made.metadata.name], [undefined, "a"])
      same((yield* refused(get(`${configMaps}/a`))).status, 404)
      yield* post(configMaps, configMap("a"))
      same((yield* refused(post(configMaps, configMap("a"), query))).status, 409)
      same((yield* put(`${configMaps}/a`, configMap("a", { k: "v" }), query)).data, { k: "v" })
      yield* call("DELETE", `${configMaps}/a`, { dryRun: ["All"] })
      same((yield* get(`${configMaps}/a`)).data, undefined)
      same((yield* refused(post(configMaps, configMap("b"), { dryRun: "Some" }))).status, 422)
      same(yield* (yield* ApiServer).revision, born + 1)
    }).pipe(Effect.provide(layer()))
  )
})
