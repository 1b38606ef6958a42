/**
 * Random requests, built from known words and hostile values, always get a document or a Status. A 5xx other than the documented 504 for
 * a future revision is a failure.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { get, layer, post, same } from "./client.ts"

const Word = Schema.Literals([
  "api",
  "apis",
  "v1",
  "apps",
  "namespaces",
  "default",
  "pods",
  "deployments",
  "events",
  "leases",
  "a",
  "b",
  "status",
  "scale",
  "binding",
  "finalize",
  "__proto__",
  "constructor",
  "..",
  "%2e",
  "%",
  ""
])
const collections = [
  "/api/v1/namespaces/default/pods",
  "/apis/apps/v1/namespaces/default/deployments",
  "/api/v1/namespaces",
  "/api/v1/namespaces/default/events",
  "/apis/events.k8s.io/v1/namespaces/default/events",
  "/apis/coordination.k8s.io/v1/namespaces/default/leases",
  "/api/v1/nodes"
] as const
/** Mostly an existing object; sometimes any path. */
const Path = Schema.Union([
  Schema.Tuple([Schema.Literals(collections)]),
  Schema.Tuple([Schema.Literals(collections), Schema.Literals(["a", "b"])]),
  Schema.Tuple([
    Schema.Literals(collections),
    Schema.Literals(["a"]),
    Schema.Literals(["status", "scale", "binding", "finalize"])
  ]),
  Schema.Array(Word).check(Schema.isMaxLength(8))
])

const Key = Schema.Literals([
  "metadata",
  "name",
  "namespace",
  "labels",
  "annotations",
  "finalizers",
  "ownerReferences",
  "managedFields",
  "resourceVersion",
  "uid",
  "spec",
  "status",
  "replicas",
  "containers",
  "selector",
  "op",
  "path",
  "value",
  "$patch",
  "$setElementOrder/containers",
  "$retainKeys",
  "$deleteFromPrimitiveList/finalizers",
  "__proto__",
  "constructor",
  "kind",
  "apiVersion",
  "deletionTimestamp",
  "generateName",
  "fieldsV1",
  "dryRun",
  "preconditions",
  "source",
  "regarding"
])
const Leaf = Schema.Union([
  Schema.Null,
  Schema.Boolean,
  Schema.Int,
  Schema.Literals([
    "",
    "a",
    "b",
    "v1",
    "apps/v1",
    "Pod",
    "Deployment",
    "replace",
    "delete",
    "/metadata/labels/x",
    "add",
    "remove",
    "1",
    "All",
    "k:{",
    "\u0000"
  ])
])
const Level1 = Schema.Union([Leaf, Schema.Array(Leaf), Schema.Record(Key, Leaf)])
const Level2 = Schema.Union([Level1, Schema.Array(Level1), Schema.Record(Key, Level1)])
const Level3 = Schema.Union([Schema.Record(Key, Level2), Schema.Record(Key, Level2), Schema.Array(Level2), Leaf])
/** Mostly a plausible object with one odd value. */
const Odd = Schema.Struct({ plausible: Schema.Boolean, json: Level3 })

const names = [
  "labelSelector",
  "fieldSelector",
  "shardSelector",
  "resourceVersion",
  "resourceVersionMatch",
  "limit",
  "continue",
  "watch",
  "sendInitialEvents",
  "allowWatchBookmarks",
  "timeoutSeconds",
  "dryRun",
  "fieldManager",
  "force",
  "gracePeriodSeconds",
  "propagationPolicy",
  "orphanDependents"
] as const
const values = [
  "",
  "a",
  "a=b",
  "metadata.name=a",
  "!x",
  "a in (b",
  "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
  "0",
  "1",
  "-1",
  "99999999999999999999",
  "true",
  "All",
  "Exact",
  "NotOlderThan",
  "Foreground",
  "eyJ2Ijoi",
  "%00"
] as const
const Query = Schema.Array(Schema.Tuple([Schema.Literals(names), Schema.Literals(values)])).check(Schema.isMaxLength(2))

/** Chooses an odd value from a list, or none in four of five cases. */
const Pick = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 29 }))
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "PATCH", "PUT", "PATCH", "HEAD", "OPTIONS"]
const accepts = [
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "application/vnd.kubernetes.protobuf,*/*",
  "text/html",
  ";;=,"
]
const types = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml"
]

const Call = Schema.Struct({ method: Pick, path: Path, query: Query, accept: Pick, type: Pick, body: Odd })

const typeOf = (method: string, pick: number): string => {
  if (pick > 27) return ["x", ""][pick - 28]!
  return method === "PATCH" ? types[pick % types.length]! : "application/json"
}

const bodyOf = ({ json, plausible }: typeof Odd.Type): string => {
  const value = JSON.parse(JSON.stringify(json))
  if (!plausible || typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value)
  const { metadata, ...rest } = value
  const { kind: _kind, apiVersion: _apiVersion, ...content } = rest
  return JSON.stringify({ ...content, metadata: { ...(typeof metadata === "object" ? metadata : {}), name: "a" } })
}

describe("hostile requests", () => {
  it.effect.prop(
    "get a response, and the server keeps working",
    { calls: Arbitrary.schema(Schema.Array(Call).check(Schema.isMaxLength(30))) },
    ({ calls }) =>
      Effect.gen(function* () {
        const server = yield* ApiServer
        for (const path of collections) yield* Effect.ignore(post(path, { metadata: { name: "a" } }))
        for (const call of calls) {
          const joined = call.path.join("/")
          const method = methods[call.method % methods.length]!
          const answer = yield* server.handle({
            method,
            path: joined.startsWith("/") ? joined : `/${joined}`,
            query: new URLSearchParams(
              [["fieldManager", "m"], ...call.query].map(([name = "", value = ""]) => [name, value])
            ),
            headers: { accept: accepts[call.accept] ?? "", "content-type": typeOf(method, call.type) },
            body: bodyOf(call.body),
            user: { name: "x", groups: [] }
          })
          if (answer._tag !== "Answer" || answer.status === 501) continue
          // A binding without a node gets a 500 without a reason, as from kube-apiserver; a defect has a reason.
          if (answer.status >= 500 && answer.status !== 504 && JSON.parse(answer.body).reason !== undefined)
            assert.fail(`${answer.status} ${answer.body}\n${JSON.stringify(call)}`)
          if (answer.status >= 400) same(JSON.parse(answer.body).kind, "Status")
          else if (answer.contentType.startsWith("application/json")) JSON.parse(answer.body)
        }
        // Every stored object can be listed in every representation.
        for (const path of collections) {
          same(typeof (yield* get(path)).metadata.resourceVersion, "string")
          yield* get(path, {}, "application/json;as=Table;v=v1;g=meta.k8s.io")
        }
      }).pipe(Effect.provide(layer())),
    { arbitrary: { runs: 300 } }
  )
})

describe("deeply nested bodies", () => {
  const nested = (depth: number) =>
    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"x":${"[".repeat(depth)}"]}\\"["${"]".repeat(depth)}}`
  it.effect("are rejected; those of a plausible depth are not", () =>
    Effect.gen(function* () {
      const server = yield* ApiServer
      const send = (method: string, type: string, body: string) =>
        Effect.map(
          server.handle({
            method,
            path: `/api/v1/namespaces/default/configmaps${method === "POST" ? "" : "/a"}`,
            query: new URLSearchParams("fieldManager=m&fieldValidation=Ignore"),
            headers: { "content-type": type },
            body,
            user: { name: "x", groups: [] }
          }),
          (answer) => (answer._tag === "Answer" ? answer.status : undefined)
        )
      same(yield* send("POST", "application/json", nested(400)), 201)
      for (const depth of [600, 5_000, 300_000]) {
        same(yield* send("POST", "application/json", nested(depth)), 400)
        for (const type of types) same(yield* send("PATCH", type, nested(depth)), 400, `${depth} ${type}`)
      }
      same(yield* send("PATCH", "application/merge-patch+json", nested(400)), 200)
    }).pipe(Effect.provide(layer()))
  )
})
