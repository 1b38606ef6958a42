/** managedFields: every write records the field sets that kube-apiserver records. */
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import * as managedFields from "../../src/apiserver/storage/managedFields.ts"
import { configMap, configMaps, get, layer, patch, pods, post, put, refused, same } from "./client.ts"

const at = `${configMaps}/a`
const deployments = "/apis/apps/v1/namespaces/default/deployments"

const entries = (object: any): ReadonlyArray<any> => object.metadata.managedFields ?? []
const owners = (object: any) =>
  entries(object).map((one) => [[one.manager, one.operation, one.subresource].filter(Boolean).join(" "), one.fieldsV1])
const managers = (object: any) => owners(object).map(([who]) => who)

const apply = (manager: string, path: string, body: object, query: object = {}) =>
  patch(path, "apply", body, { fieldManager: manager, ...query })
const config = (data: object) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data })

describe("managedFields", () => {
  it.effect("of a new object list its creator, without fields that the server sets", () =>
    Effect.gen(function* () {
      const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } }
      const made = yield* post(
        deployments,
        { metadata: { name: "d" }, spec: { selector: { matchLabels: { a: "b" } }, template } },
        { fieldManager: "tester" }
      )
      // Exactly what kube-apiserver 1.20 records for this object.
      same(entries(made), [
        {
          manager: "tester",
          operation: "Update",
          apiVersion: "apps/v1",
          time: "1970-01-01T00:00:00Z",
          fieldsType: "FieldsV1",
          fieldsV1: {
            "f:spec": {
              "f:progressDeadlineSeconds": {},
              "f:replicas": {},
              "f:revisionHistoryLimit": {},
              "f:selector": {},
              "f:strategy": {
                "f:rollingUpdate": { ".": {}, "f:maxSurge": {}, "f:maxUnavailable": {} },
                "f:type": {}
              },
              "f:template": {
                "f:metadata": { "f:labels": { ".": {}, "f:a": {} } },
                "f:spec": {
                  "f:containers": {
                    'k:{"name":"c"}': {
                      ".": {},
                      "f:image": {},
                      "f:imagePullPolicy": {},
                      "f:name": {},
                      "f:resources": {},
                      "f:terminationMessagePath": {},
                      "f:terminationMessagePolicy": {}
                    }
                  },
                  "f:dnsPolicy": {},
                  "f:restartPolicy": {},
                  "f:schedulerName": {},
                  "f:securityContext": {},
                  "f:terminationGracePeriodSeconds": {}
                }
              }
            }
          }
        }
      ])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("of an empty atomic struct do not depend on the objects that were created before", () =>
    Effect.gen(function* () {
      const policies = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
      const policyTypes = { "f:policyTypes": {} }
      const expected = [
        { podSelector: {}, owned: policyTypes },
        { podSelector: { matchLabels: { a: "b" } }, owned: { "f:podSelector": {}, ...policyTypes } },
        { podSelector: {}, owned: policyTypes }
      ]
      for (const [index, { owned, podSelector }] of expected.entries()) {
        const spec = { podSelector, policyTypes: ["Ingress"] }
        const created = yield* post(policies, { metadata: { name: `p${index}` }, spec }, { fieldManager: "tester" })
        same(owners(created), [["tester Update", { "f:spec": owned }]])
      }
    }).pipe(Effect.provide(layer()))
  )

  it.effect("distinguish managers, operations and subresources, each with the time of its last write", () =>
    Effect.gen(function* () {
      yield* post(
        pods,
        { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "1" }] } },
        { fieldManager: "one" }
      )
      yield* TestClock.adjust("1 minute")
      yield* patch(`${pods}/p/status`, "merge", { status: { phase: "Running" } }, { fieldManager: "kubelet" })
      yield* TestClock.adjust("1 minute")
      yield* patch(`${pods}/p`, "merge", { metadata: { labels: { x: "y" } } }, { fieldManager: "two" })
      const seen = yield* get(`${pods}/p`)
      same(managers(seen), ["one Update", "kubelet Update status", "two Update"])
      same(owners(seen).slice(1), [
        ["kubelet Update status", { "f:status": { "f:phase": {} } }],
        ["two Update", { "f:metadata": { "f:labels": { ".": {}, "f:x": {} } } }]
      ])
      same(
        entries(seen).map((one) => one.time),
        ["1970-01-01T00:00:00Z", "1970-01-01T00:01:00Z", "1970-01-01T00:02:00Z"]
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("move changed fields to the writer, and drop removed fields", () =>
    Effect.gen(function* () {
      yield* post(configMaps, configMap("a", { x: "1", y: "1", z: "1" }), { fieldManager: "one" })
      const moved = yield* patch(at, "merge", { data: { x: "2", z: null } }, { fieldManager: "two" })
      same(owners(moved), [
        ["one Update", { "f:data": { ".": {}, "f:y": {} } }],
        ["two Update", { "f:data": { "f:x": {} } }]
      ])
      const same2 = yield* patch(at, "merge", { data: { x: "2" } }, { fieldManager: "three" })
      same(same2.metadata.resourceVersion, moved.metadata.resourceVersion)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("can be reset; an apply then assigns unmanaged fields to before-first-apply", () =>
    Effect.gen(function* () {
      yield* post(configMaps, configMap("a", { x: "1" }))
      for (const managedFields of [[], [{}]]) {
        const reset = yield* patch(at, "merge", { metadata: { managedFields } })
        same(owners(reset), [])
      }
      same(owners(yield* patch(at, "merge", { data: { x: "2" } })), [])
      const error = yield* refused(apply("app", at, config({ x: "3" })))
      same(error.message, 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.x')
      same(owners(yield* apply("app", at, config({ y: "1" }))), [
        ["app Apply", { "f:data": { "f:y": {} } }],
        ["before-first-apply Update", { "f:data": { ".": {}, "f:x": {} } }]
      ])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are kept when a client sends them back, omits them or sends invalid ones", () =>
    Effect.gen(function* () {
      const made = yield* post(configMaps, configMap("a", { x: "1" }), { fieldManager: "one" })
      same((yield* put(at, made)).metadata, made.metadata)
      const { managedFields: _, ...metadata } = made.metadata
      same((yield* put(at, { ...made, metadata })).metadata, made.metadata)
      const garbled = [{ manager: "x", operation: "Steal", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} }]
      same((yield* put(at, { ...made, metadata: { ...metadata, managedFields: garbled } })).metadata, made.metadata)
      const edited = [{ ...made.metadata.managedFields[0], manager: "renamed" }]
      same(managers(yield* put(at, { ...made, metadata: { ...metadata, managedFields: edited } })), ["renamed Update"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are bounded: the oldest updates are merged", () =>
    Effect.gen(function* () {
      yield* post(configMaps, configMap("a", { k0: "1" }), { fieldManager: "m0" })
      for (let i = 1; i <= 14; i++) {
        yield* TestClock.adjust("1 second")
        yield* patch(at, "merge", { data: { [`k${i}`]: "1" } }, { fieldManager: `m${i}` })
      }
      const seen = yield* get(at)
      same(managers(seen).length, 10)
      same(managers(seen)[0], "ancient-changes Update")
      same(Object.keys(owners(seen)[0]?.[1]["f:data"]).sort(), [".", "f:k0", "f:k1", "f:k2", "f:k3", "f:k4", "f:k5"])
    }).pipe(Effect.provide(layer()))
  )
})

describe("apply", () => {
  it.effect("of the same configuration makes no revision; of an empty one gives up all fields", () =>
    Effect.gen(function* () {
      yield* apply("one", at, config({ x: "1", y: "1" }))
      yield* apply("two", at, config({ y: "1" }))
      const { revision } = yield* ApiServer
      const before = yield* revision
      yield* TestClock.adjust("1 hour")
      yield* apply("two", at, config({ y: "1" }))
      same(yield* revision, before)
      const less = yield* apply("one", at, config({}))
      same([less.data, managers(less)], [{ y: "1" }, ["two Apply", "one Apply"]])
      const gone = yield* apply("two", at, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } })
      same([gone.data, owners(gone)], [undefined, [["one Apply", { "f:data": {} }]]])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("of the same configuration with its members in another order makes no revision", () =>
    Effect.gen(function* () {
      const { revision } = yield* ApiServer
      yield* apply("one", at, config({ x: "1", y: "1" }))
      const before = yield* revision
      yield* TestClock.adjust("1 hour")
      yield* apply("one", at, config({ y: "1", x: "1" }))
      same(yield* revision, before)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("of the same configuration makes no revision, however many field sets the server has seen since", () =>
    Effect.gen(function* () {
      const { revision } = yield* ApiServer
      yield* apply("one", at, config({ x: "1" }))
      const before = yield* revision
      const manager = { manager: "other", operation: "Update", apiVersion: "v1", subresource: "" } as const
      for (let i = 0; i < 5000; i++) managedFields.entry(manager, "", { [`f:m${i}`]: {} })
      yield* TestClock.adjust("1 hour")
      yield* apply("one", at, config({ x: "1" }))
      same(yield* revision, before)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("conflict errors have manager, version, path and subresource", () =>
    Effect.gen(function* () {
      const body = (replicas: number) => ({
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "d" },
        spec: { replicas }
      })
      const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } }
      yield* post(
        deployments,
        { metadata: { name: "d" }, spec: { replicas: 1, selector: { matchLabels: { a: "b" } }, template } },
        { fieldManager: "kubectl" }
      )
      const first = yield* refused(apply("app", `${deployments}/d`, body(2)))
      same(
        [first.status, first.message],
        [409, 'Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas']
      )
      yield* patch(`${deployments}/d/scale`, "merge", { spec: { replicas: 5 } }, { fieldManager: "scaler" })
      same(
        (yield* refused(apply("app", `${deployments}/d`, body(2)))).message,
        'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale" using apps/v1: .spec.replicas'
      )
      same((yield* apply("app", `${deployments}/d`, body(2), { force: true })).spec.replicas, 2)
    }).pipe(Effect.provide(layer()))
  )
})
