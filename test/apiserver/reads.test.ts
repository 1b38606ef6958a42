/** get and list: resource versions, pages, selectors, representations. */
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import {
  born,
  configMap,
  configMaps,
  get,
  layer,
  names,
  nth,
  patch,
  pod,
  pods,
  post,
  put,
  refused,
  remove,
  same
} from "./client.ts"

const five = Effect.forEach(["a", "b", "c", "d", "e"], (name) => post(configMaps, configMap(name)))

describe("list", () => {
  it.effect("is sorted by namespace and name, with the revision of the log", () =>
    Effect.gen(function* () {
      yield* post("/api/v1/namespaces", { metadata: { name: "a-first" } })
      yield* post("/api/v1/namespaces/kube-system/configmaps", configMap("z"))
      yield* post(configMaps, configMap("b"))
      yield* post(configMaps, configMap("a"))
      yield* post("/api/v1/namespaces/a-first/configmaps", configMap("z"))
      const list = yield* get("/api/v1/configmaps")
      same(
        list.items.map((item: any) => `${item.metadata.namespace}/${item.metadata.name}`),
        ["a-first/z", "default/a", "default/b", "kube-system/z"]
      )
      same([list.kind, list.apiVersion, list.metadata], ["ConfigMapList", "v1", { resourceVersion: nth(5) }])
      same(list.items[0].kind, undefined)
      same(names(yield* get(configMaps)), ["a", "b"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("pages over one snapshot during concurrent writes", () =>
    Effect.gen(function* () {
      yield* five
      const first = yield* get(configMaps, { limit: 2 })
      same([names(first), first.metadata.remainingItemCount], [["a", "b"], 3])
      yield* remove(`${configMaps}/c`)
      yield* post(configMaps, configMap("bb"))
      yield* put(`${configMaps}/d`, configMap("d", { changed: "yes" }))
      const second = yield* get(configMaps, { limit: 2, continue: first.metadata.continue })
      same([names(second), second.metadata.remainingItemCount], [["c", "d"], 1])
      same(second.items[1].data, undefined)
      same(second.metadata.resourceVersion, first.metadata.resourceVersion)
      const third = yield* get(configMaps, { limit: 2, continue: second.metadata.continue })
      same([names(third), third.metadata.continue], [["e"], undefined])
      same(names(yield* get(configMaps)), ["a", "b", "bb", "d", "e"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a page whose snapshot is compacted fails with 410 and a token for the present revision", () =>
    Effect.gen(function* () {
      yield* five
      const first = yield* get(configMaps, { limit: 2 })
      yield* remove(`${configMaps}/c`)
      yield* (yield* ApiServer).compact()
      const server = yield* ApiServer
      const answer = yield* server.handle({
        method: "GET",
        path: configMaps,
        query: new URLSearchParams({ limit: "2", continue: first.metadata.continue }),
        headers: {},
        body: "",
        user: { name: "x", groups: [] }
      })
      if (answer._tag !== "Answer") throw new Error("not an answer")
      const status = JSON.parse(answer.body)
      same([answer.status, status.reason], [410, "Expired"])
      same(names(yield* get(configMaps, { continue: status.metadata.continue })), ["d", "e"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a page continues after a compaction that keeps its snapshot", () =>
    Effect.gen(function* () {
      yield* five
      const first = yield* get(configMaps, { limit: 2 })
      yield* (yield* ApiServer).compact()
      same(names(yield* get(configMaps, { continue: first.metadata.continue })), ["c", "d", "e"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("reads an older revision only with resourceVersionMatch Exact", () =>
    Effect.gen(function* () {
      yield* five
      const then = (yield* get(configMaps)).metadata.resourceVersion
      yield* remove(`${configMaps}/a`)
      const exact = { resourceVersion: then, resourceVersionMatch: "Exact" }
      same(names(yield* get(configMaps, exact)), ["a", "b", "c", "d", "e"])
      same((yield* get(configMaps, exact)).metadata.resourceVersion, then)
      same(names(yield* get(configMaps, { resourceVersion: then })), ["b", "c", "d", "e"])
      same(names(yield* get(configMaps, { resourceVersion: "0" })), ["b", "c", "d", "e"])
      same(names(yield* get(configMaps, { resourceVersion: then, resourceVersionMatch: "NotOlderThan" })), [
        "b",
        "c",
        "d",
        "e"
      ])
      yield* (yield* ApiServer).compact()
      const gone = yield* refused(get(configMaps, exact))
      same([gone.status, gone.message], [410, "The resourceVersion for the provided list is too old."])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("rejects future revisions, invalid values and contradictory parameters", () =>
    Effect.gen(function* () {
      const future = yield* refused(get(pods, { resourceVersion: "99" }))
      same([future.status, future.message], [504, `Timeout: Too large resource version: 99, current: ${born}`])
      same(future.error.details?.causes?.[0]?.reason, "ResourceVersionTooLarge")
      same((yield* refused(get(pods, { resourceVersion: "x" }))).status, 422)
      same((yield* refused(get(pods, { resourceVersionMatch: "Exact" }))).status, 422)
      same((yield* refused(get(pods, { resourceVersion: "1", resourceVersionMatch: "Odd" }))).status, 422)
      same((yield* refused(get(pods, { limit: "many" }))).status, 400)
      same((yield* refused(get(pods, { continue: "nonsense" }))).status, 400)
    }).pipe(Effect.provide(layer()))
  )
})

describe("selectors", () => {
  it.effect("select by labels and fields; an unknown field is an error that names it", () =>
    Effect.gen(function* () {
      yield* post(pods, pod("a", { labels: { app: "web", tier: "front" } }, { nodeName: "n1" }))
      yield* post(pods, pod("b", { labels: { app: "web" } }))
      yield* post(pods, pod("c"))
      const by = (query: object) => Effect.map(get(pods, { ...query }), names)
      same(yield* by({ labelSelector: "app=web" }), ["a", "b"])
      same(yield* by({ labelSelector: "app=web,tier notin (front)" }), ["b"])
      same(yield* by({ labelSelector: "!app" }), ["c"])
      same(yield* by({ fieldSelector: "spec.nodeName=n1" }), ["a"])
      same(yield* by({ fieldSelector: "spec.nodeName=" }), ["b", "c"])
      same(yield* by({ fieldSelector: "metadata.name!=a,status.phase=Pending" }), ["b", "c"])
      same(yield* by({ fieldSelector: "status.phase=Running" }), [])
      const unknown = yield* refused(by({ fieldSelector: "spec.image=x" }))
      same([unknown.status, unknown.message], [400, "field label not supported: spec.image"])
      same((yield* refused(by({ labelSelector: "a in" }))).status, 400)
      same((yield* get(pods, { labelSelector: "app=web", limit: 1 })).metadata.remainingItemCount, undefined)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a field selector follows a change of the field", () =>
    Effect.gen(function* () {
      yield* post(pods, pod("a"))
      yield* patch(`${pods}/a/status`, "merge", { status: { phase: "Running" } })
      same(names(yield* get(pods, { fieldSelector: "status.phase=Running" })), ["a"])
    }).pipe(Effect.provide(layer()))
  )
})

describe("paths", () => {
  it.effect("errors for unknown paths, missing objects and wrong methods", () =>
    Effect.gen(function* () {
      for (const path of [
        "/api/v1/frogs",
        "/apis/apps/v1/frogs",
        "/apis/nope/v1",
        "/nothing",
        "/api/v1/pods/x",
        "/api/v1/namespaces/default/pods/x/frog",
        "/api/v1/%zz"
      ]) {
        const error = yield* refused(get(path))
        same([path, error.status, error.message], [path, 404, "the server could not find the requested resource"])
      }
      const missing = yield* refused(get(`${pods}/x`))
      same([missing.status, missing.message], [404, 'pods "x" not found'])
      same(missing.error.details, { name: "x", kind: "pods" })
      const lease = yield* refused(get("/apis/coordination.k8s.io/v1/namespaces/default/leases/x"))
      same(
        [lease.message, lease.error.details],
        ['leases.coordination.k8s.io "x" not found', { name: "x", group: "coordination.k8s.io", kind: "leases" }]
      )
      same((yield* refused(post("/api/v1/pods", pod("a")))).status, 405)
      same((yield* refused(post(`${pods}/x`, pod("x")))).status, 405)
      same((yield* refused(remove("/api/v1/namespaces"))).status, 405)
    }).pipe(Effect.provide(layer()))
  )
})

describe("representations", () => {
  it.effect("PartialObjectMetadata, on get and list", () =>
    Effect.gen(function* () {
      yield* post(pods, pod("a", { labels: { x: "y" } }))
      const accept = (as: string) =>
        `application/vnd.kubernetes.protobuf;as=${as};g=meta.k8s.io;v=v1,application/json;as=${as};g=meta.k8s.io;v=v1,application/json`
      const one = yield* get(`${pods}/a`, {}, accept("PartialObjectMetadata"))
      same(
        [one.kind, one.apiVersion, one.spec, one.metadata.labels],
        ["PartialObjectMetadata", "meta.k8s.io/v1", undefined, { x: "y" }]
      )
      const list = yield* get(pods, {}, accept("PartialObjectMetadataList"))
      same(
        [list.kind, list.items[0].kind, list.items[0].spec],
        ["PartialObjectMetadataList", "PartialObjectMetadata", undefined]
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("Table, as kubectl requests it", () =>
    Effect.gen(function* () {
      yield* post(pods, pod("a", {}, { nodeName: "n1" }))
      const accept =
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
      const table = yield* get(pods, {}, accept)
      same([table.kind, table.apiVersion], ["Table", "meta.k8s.io/v1"])
      same(
        table.columnDefinitions.filter((one: any) => one.priority === 0).map((one: any) => one.name),
        ["Name", "Ready", "Status", "Restarts", "Age"]
      )
      same(table.rows[0].cells.slice(0, 7), ["a", "0/1", "Pending", "0", "0s", "<none>", "n1"])
      same(table.rows[0].object.kind, "PartialObjectMetadata")
      same((yield* get(pods, { includeObject: "Object" }, accept)).rows[0].object.spec.nodeName, "n1")
      same((yield* get(pods, { includeObject: "None" }, accept)).rows[0].object, null)
      same(
        (yield* get("/apis/apps/v1/controllerrevisions", {}, accept)).columnDefinitions.map((one: any) => one.name),
        ["Name", "Controller", "Revision", "Age"]
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("JSON when protobuf is preferred and JSON is accepted; 406 when nothing is", () =>
    Effect.gen(function* () {
      same((yield* get(pods, {}, "application/vnd.kubernetes.protobuf, */*")).kind, "PodList")
      same((yield* get(pods, {}, "application/vnd.kubernetes.protobuf,application/json")).kind, "PodList")
      same((yield* refused(get(pods, {}, "application/vnd.kubernetes.protobuf"))).status, 406)
    }).pipe(Effect.provide(layer()))
  )
})
