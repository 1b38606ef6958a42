/** pods/log in process, with simulated nodes in virtual time. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import type { User } from "../../../src/apiserver/Api.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { Pod } from "../../../src/kube/resources.ts"
import * as Nodes from "../../../src/simulation/Nodes.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"

const administrator: User = { name: "admin", groups: ["system:masters", "system:authenticated"] }

const request = (path: string, query: Record<string, string> = {}, method = "GET", user = administrator) =>
  Effect.flatMap(ApiServer, (server) =>
    server.handle({
      method,
      path: `/api/v1/namespaces/default/pods/${path}`,
      query: new URLSearchParams(query),
      headers: {},
      body: "",
      user
    })
  )

/** The stream of a log. */
const open = (name: string, query?: Record<string, string>) =>
  Effect.map(request(`${name}/log`, query), (answer) => {
    assert(answer._tag === "Text", JSON.stringify(answer))
    assert.strictEqual(answer.contentType, "text/plain")
    return answer.text
  })

const log = (name: string, query?: Record<string, string>) =>
  Effect.map(Effect.flatMap(open(name, query), Stream.runCollect), (parts) => parts.join(""))

const refused = (name: string, query?: Record<string, string>) =>
  Effect.map(request(`${name}/log`, query), (answer) => {
    assert(answer._tag === "Answer", "it was not refused")
    return { status: answer.status, message: answer.body === "" ? "" : String(JSON.parse(answer.body).message) }
  })

const pod = (name: string, annotations: object = {}, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", annotations },
  spec: { containers: [{ name: "main", image: "example.test/main:1" }], ...spec }
})

/** Collects a followed log in the background. */
const follow = Effect.fnUntraced(function* (name: string, query: Record<string, string> = {}) {
  const texts: Array<string> = []
  const stream = yield* open(name, { follow: "true", ...query })
  const fiber = yield* Effect.forkChild(
    Stream.runForEach(stream, (text) => Effect.sync(() => void texts.push(text))),
    { startImmediately: true }
  )
  return { text: () => texts.join(""), fiber }
})

const inCluster = Effect.provide(ClusterTest.layer({ nodes: 2 }))

const periodic = { "simulation/logs": "main=request {n}@2s" }

it.effect("a log has the lines that the container has written by now, and options select from them", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.apply([pod("web", periodic)])
    yield* cluster.advance("1 second")
    yield* cluster.advance("7 seconds")
    assert.strictEqual(yield* log("web"), "request 1\nrequest 2\nrequest 3\nrequest 4\n")
    assert.strictEqual(yield* log("web", { tailLines: "2" }), "request 3\nrequest 4\n")
    assert.strictEqual(yield* log("web", { tailLines: "0" }), "")
    assert.strictEqual(yield* log("web", { sinceSeconds: "2" }), "request 4\n")
    assert.strictEqual(yield* log("web", { limitBytes: "14" }), "request 1\nrequ")
    const stamped = (yield* log("web", { timestamps: "true", tailLines: "1" })).trim()
    assert.match(stamped, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z request 4$/)
    const [sinceTime = ""] = stamped.split(" ")
    assert.strictEqual(yield* log("web", { sinceTime }), "request 4\n")
  }).pipe(inCluster)
)

it.effect("a followed log continues while the container runs, and ends with it", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.apply([pod("web", { ...periodic, "simulation/exit": "main=0@5" }, { restartPolicy: "Never" })])
    yield* cluster.advance("1 second")
    const { fiber, text } = yield* follow("web")
    yield* cluster.settle
    assert.strictEqual(text(), "request 1\n")
    yield* cluster.advance("3 seconds")
    assert.strictEqual(text(), "request 1\nrequest 2\n")
    yield* cluster.advance("1 minute")
    yield* Fiber.join(fiber)
    assert.strictEqual(text(), "request 1\nrequest 2\nrequest 3\n")
    assert.strictEqual(yield* log("web"), text())
  }).pipe(inCluster)
)

it.effect("a followed log ends when its pod is deleted", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.apply([pod("web")])
    yield* cluster.advance("1 second")
    const { fiber } = yield* follow("web")
    yield* (yield* KubeClient).delete(Pod, { namespace: "default", name: "web" })
    yield* cluster.advance("1 minute")
    yield* Fiber.join(fiber)
  }).pipe(inCluster)
)

it.effect("a reader that pauses receives what was written meanwhile, and nothing is produced before it reads", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.apply([pod("web", { "simulation/logs": "line {n}@100ms" })])
    yield* cluster.advance("1 second")
    const stream = yield* open("web", { follow: "true", tailLines: "1" })
    let lines = 0
    const counted = Stream.runForEach(stream, (text) =>
      Effect.sync(() => void (lines += text.split("\n").length - 1)).pipe(Effect.andThen(Effect.sleep("1 hour")))
    )
    yield* Effect.forkChild(counted, { startImmediately: true })
    yield* cluster.settle
    assert.strictEqual(lines, 1)
    for (const most of [501, 1_001]) {
      yield* TestClock.adjust("1 hour")
      yield* cluster.settle
      assert.isAbove(lines, 1)
      assert.isAtMost(lines, most)
    }
  }).pipe(inCluster)
)

it.effect("a log retains its last ten thousand lines", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.apply([pod("web", { "simulation/logs": "{n}@100ms" })])
    yield* cluster.advance("1 second")
    yield* cluster.advance("1 hour")
    const lines = (yield* log("web")).trim().split("\n")
    assert.strictEqual(lines.length, 10_000)
    assert.strictEqual(Number(lines.at(-1)) - Number(lines[0]), 9_999)
  }).pipe(inCluster)
)

it.effect("the log of the previous run is that of the run before a restart", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const nodes = yield* Nodes.Nodes
    yield* cluster.apply([pod("web", { "simulation/logs": "request {n}@2s" })])
    yield* cluster.advance("1 second")
    assert.deepStrictEqual(yield* refused("web", { previous: "true" }), {
      status: 400,
      message: 'previous terminated container "main" in pod "web" not found'
    })
    yield* cluster.advance("3 seconds")
    yield* nodes.crash({ name: "web" })
    yield* cluster.advance("2 seconds")
    assert.strictEqual(yield* log("web", { previous: "true" }), "request 1\nrequest 2\n")
    assert.strictEqual(yield* log("web"), "request 1\n")
  }).pipe(inCluster)
)

it.effect("a container has to be named where a pod has several, and has to be one of the pod", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const containers = ["main", "side"].map((name) => ({ name, image: "example.test/a:1" }))
    yield* cluster.apply([pod("web", { "simulation/logs": "side=only here" }, { containers })])
    yield* cluster.advance("2 seconds")
    assert.deepStrictEqual(yield* refused("web"), {
      status: 400,
      message: "a container name must be specified for pod web, choose one of: [main side]"
    })
    assert.deepStrictEqual(yield* refused("web", { container: "x" }), {
      status: 400,
      message: "container x is not valid for pod web"
    })
    assert.strictEqual(yield* log("web", { container: "side" }), "only here\n")
    assert.include(yield* log("web", { container: "main" }), "main")
  }).pipe(inCluster)
)

it.effect("a container that has not started has no log, and the reason is that of the kubelet", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const waiting = (name: string) => `container "main" in pod "${name}" is waiting to start: `
    yield* cluster.apply([
      pod("bad", {}, { containers: [{ name: "main", image: "a:404" }] }),
      pod("unbound", {}, { nodeSelector: { no: "where" } }),
      pod("late")
    ])
    yield* cluster.settle
    assert.deepStrictEqual(yield* refused("late"), { status: 400, message: `${waiting("late")}ContainerCreating` })
    yield* cluster.advance("1 second")
    assert.deepStrictEqual(yield* refused("bad"), { status: 400, message: `${waiting("bad")}image can't be pulled` })
    yield* cluster.advance("5 seconds")
    const failing = `${waiting("bad")}trying and failing to pull image`
    assert.deepStrictEqual(yield* refused("bad"), { status: 400, message: failing })
    assert.deepStrictEqual(yield* refused("unbound"), { status: 204, message: "" })
    assert.deepStrictEqual(yield* refused("missing"), { status: 404, message: 'pods "missing" not found' })
  }).pipe(inCluster)
)

it.effect("options that contradict themselves are refused with the messages of kube-apiserver", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.apply([pod("web")])
    yield* cluster.advance("2 seconds")
    const cases: ReadonlyArray<readonly [Record<string, string>, number, string]> = [
      [{ tailLines: "-1" }, 422, "tailLines: Invalid value: -1: must be greater than or equal to 0"],
      [{ limitBytes: "0" }, 422, "limitBytes: Invalid value: 0: must be greater than 0"],
      [{ sinceSeconds: "0" }, 422, "sinceSeconds: Invalid value: 0: must be greater than 0"],
      [{ sinceSeconds: "1", sinceTime: "2026-01-01T00:00:00Z" }, 422, "at most one of `sinceTime` or `sinceSeconds`"],
      [{ stream: "Stdout" }, 422, "stream: Forbidden: may not be specified"],
      [{ tailLines: "x" }, 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
      [{ sinceTime: "yesterday" }, 400, "yesterday"]
    ]
    for (const [query, status, message] of cases) {
      const answer = yield* refused("web", query)
      assert.strictEqual(answer.status, status)
      assert.include(answer.message, message)
    }
    const posted = yield* request("web/log", {}, "POST")
    assert.strictEqual(posted._tag === "Answer" && posted.status, 405)
  }).pipe(inCluster)
)

it.effect("a kubelet that is stopped or that nothing simulates cannot be reached", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const nodes = yield* Nodes.Nodes
    yield* cluster.apply([pod("web")])
    yield* cluster.advance("2 seconds")
    yield* nodes.stop("worker-1")
    const { message, status } = yield* refused("web", { follow: "true" })
    assert.strictEqual(status, 500)
    assert.strictEqual(
      message,
      'Get "https://worker-1:10250/containerLogs/default/web/main?follow=true": dial tcp 10.0.0.2:10250: connect: connection refused'
    )
    // A pod that is bound to a node that does not exist.
    yield* cluster.apply([pod("lost", {}, { nodeName: "nowhere" })])
    assert.deepStrictEqual(yield* refused("lost"), { status: 404, message: 'nodes "nowhere" not found' })
  }).pipe(inCluster)
)

it.effect("reading a log needs the right to get pods/log, and is in the audit log", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    yield* cluster.apply([pod("web")])
    yield* cluster.advance("2 seconds")
    const amy: User = { name: "amy", groups: ["system:authenticated"] }
    const denied = yield* request("web/log", {}, "GET", amy)
    assert.strictEqual(denied._tag === "Answer" && denied.status, 403)
    yield* cluster.apply([
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: { name: "amy", namespace: "default" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
        subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "amy" }]
      }
    ])
    assert.strictEqual((yield* request("web/log", {}, "GET", amy))._tag, "Text")
    const entries = (yield* server.audit).filter(({ subresource }) => subresource === "log")
    assert.deepStrictEqual(
      entries.map(({ code, name, user, verb }) => [user, verb, name, code]),
      [
        ["amy", "get", "web", 403],
        ["amy", "get", "web", 200]
      ]
    )
  }).pipe(Effect.provide(ClusterTest.layer({ nodes: 2, authorization: "RBAC" })))
)

it.effect("control characters of an annotation do not reach the log", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.apply([pod("web", { "simulation/logs": "main=\u001b]0;title\u0007 clear \u202e" })])
    yield* cluster.advance("2 seconds")
    assert.strictEqual(yield* log("web"), "\\u001b]0;title\\u0007 clear \\u202e\n")
    // A long one, and one that changes while the container runs.
    const entries = `${"x".repeat(200_000)}\n`
    const merge = Patch.merge({ metadata: { annotations: { "simulation/logs": entries } } })
    yield* (yield* KubeClient).patch(Pod, { namespace: "default", name: "web" }, merge)
    assert.isAtMost((yield* log("web")).length, 1_100)
  }).pipe(inCluster)
)
