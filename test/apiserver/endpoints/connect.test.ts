/** exec, attach, portforward and proxy, which simulated containers cannot serve. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { User } from "../../../src/apiserver/Api.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { layer, pod, pods, post } from "../client.ts"
import { master, person } from "../users.ts"

const send = (method: string, path: string, headers: Record<string, string> = {}, user: User = master) =>
  Effect.map(
    Effect.flatMap(ApiServer, (server) =>
      server.handle({ method, path, query: new URLSearchParams("command=ls"), headers, body: "", user })
    ),
    (answer) => {
      assert(answer._tag === "Answer")
      const { message, reason } = JSON.parse(answer.body)
      return { status: answer.status, reason, message: String(message) }
    }
  )

it.effect("a connection to a container is refused with a reason and what there is instead", () =>
  Effect.gen(function* () {
    yield* post(pods, pod("web"))
    const paths = [
      ["POST", `${pods}/web/exec`, "processes"],
      ["GET", `${pods}/web/exec`, "kubectl logs"],
      ["POST", `${pods}/web/attach`, "kubectl logs -f"],
      ["POST", `${pods}/web/portforward`, "port"],
      ["GET", `${pods}/web/proxy`, "HTTP"],
      ["GET", `${pods}/http:web:8080/proxy/index.html`, "HTTP"],
      ["PUT", `${pods}/web/proxy/a/b/c`, "HTTP"],
      ["POST", "/api/v1/namespaces/default/services/kubernetes:https/proxy/x", "HTTP"]
    ] as const
    for (const [method, path, text] of paths) {
      const { message, reason, status } = yield* send(method, path)
      assert.deepStrictEqual([status, reason], [501, "NotImplemented"], path)
      assert.include(message, "simulated")
      assert.include(message, text)
    }
    assert.strictEqual((yield* send("POST", `${pods}/missing/exec`)).status, 404)
    assert.strictEqual((yield* send("DELETE", `${pods}/web/exec`)).status, 405)
    assert.strictEqual((yield* send("GET", "/api/v1/nodes/none/proxy/metrics")).status, 404)
  }).pipe(Effect.provide(layer()))
)

it.effect("a WebSocket to a container needs the right to create, not only to get", () =>
  Effect.gen(function* () {
    yield* post(pods, pod("web"))
    const amy = person("amy")
    const upgrade = { connection: "Upgrade", upgrade: "websocket" }
    assert.strictEqual((yield* send("GET", `${pods}/web/exec`, {}, amy)).status, 403)
    const allow = (verbs: ReadonlyArray<string>) => ({
      metadata: { name: verbs.join("-") },
      rules: [{ apiGroups: [""], resources: ["pods/exec"], verbs }]
    })
    const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    const bind = (role: string) => ({
      metadata: { name: role },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: role },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "amy" }]
    })
    yield* post(`${rbac}/roles`, allow(["get"]))
    yield* post(`${rbac}/rolebindings`, bind("get"))
    assert.strictEqual((yield* send("GET", `${pods}/web/exec`, {}, amy)).status, 501)
    assert.strictEqual((yield* send("GET", `${pods}/web/exec`, upgrade, amy)).status, 403)
    yield* post(`${rbac}/roles`, allow(["create"]))
    yield* post(`${rbac}/rolebindings`, bind("create"))
    assert.strictEqual((yield* send("GET", `${pods}/web/exec`, upgrade, amy)).status, 501)
  }).pipe(Effect.provide(layer({ authorization: "RBAC" })))
)
