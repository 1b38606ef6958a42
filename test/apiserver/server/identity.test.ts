import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Agent, request } from "node:https"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { EmbeddedCluster } from "../../../src/apiserver/server/EmbeddedCluster.ts"
import { authority } from "../../support/tls.ts"

const same = assert.deepStrictEqual

interface Credentials {
  readonly token?: string
  readonly cert?: string
  readonly key?: string
}

const ask = (method: string, path: string, { cert, key, token }: Credentials, body?: object) =>
  Effect.flatMap(EmbeddedCluster, ({ endpoint: { ca, server } }) =>
    Effect.promise(async () => {
      const text = body === undefined ? undefined : JSON.stringify(body)
      const agent = new Agent({ ca, cert, key })
      const headers = {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(text === undefined ? {} : { "content-type": "application/json" })
      }
      const call = request(server + path, { method, agent, headers })
      call.end(text)
      const [response] = (await once(call, "response")) as [IncomingMessage]
      let answer = ""
      for await (const part of response.setEncoding("utf8")) answer += part
      agent.destroy()
      return { status: response.statusCode, body: JSON.parse(answer) }
    })
  )

const whoAmI = (credentials: Credentials) =>
  Effect.map(ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", credentials, {}), ({ body, status }) =>
    status === 201 ? body.status.userInfo : status
  )

const administrator = Effect.map(EmbeddedCluster, ({ endpoint }) => ({ token: Redacted.value(endpoint.token) }))

const issued = (name: string, ...groups: ReadonlyArray<string>) =>
  Effect.flatMap(EmbeddedCluster, ({ issue }) =>
    Effect.map(issue(name, groups), ({ certificate, key }) => ({ cert: certificate, key: Redacted.value(key) }))
  )

const cluster = Layer.orDie(EmbeddedCluster.layer({ authorization: "RBAC" }))

describe("authentication over HTTPS", () => {
  it.live("a service account token authenticates the account until the account is deleted", () =>
    Effect.gen(function* () {
      const admin = yield* administrator
      const accounts = "/api/v1/namespaces/default/serviceaccounts"
      yield* ask("POST", accounts, admin, { metadata: { name: "robot" } })
      const { body } = yield* ask("POST", `${accounts}/robot/token`, admin, { spec: {} })
      const token: string = body.status.token
      assert.strictEqual((yield* whoAmI({ token })).username, "system:serviceaccount:default:robot")
      const [head = ""] = token.split(".")
      assert.strictEqual(JSON.parse(Buffer.from(head, "base64url").toString()).alg, "ES256")
      const last = token.at(-10) === "A" ? "B" : "A"
      same(yield* whoAmI({ token: `${token.slice(0, -10)}${last}${token.slice(-9)}` }), 401)
      same((yield* ask("GET", "/api/v1/pods", { token })).status, 403)
      yield* ask("DELETE", `${accounts}/robot`, admin)
      same(yield* whoAmI({ token }), 401)
    }).pipe(Effect.provide(cluster))
  )

  it.live("a client certificate of the cluster authority has user and groups, and precedes tokens", () =>
    Effect.gen(function* () {
      const amy = yield* issued("amy", "team", "other")
      const expected = { username: "amy", groups: ["team", "other", "system:authenticated"] }
      same(yield* whoAmI(amy), expected)
      same(yield* whoAmI({ ...amy, token: "wrong" }), expected)
      same((yield* ask("GET", "/api/v1/pods", amy)).status, 403)
      same((yield* ask("GET", "/api/v1/pods", yield* issued("root", "system:masters"))).status, 200)
    }).pipe(Effect.provide(cluster))
  )

  it.live("a certificate of another authority counts as none", () =>
    Effect.gen(function* () {
      const { issue } = yield* Effect.promise(() => authority("somebody else"))
      const { cert, key } = yield* Effect.promise(() => issue("admin"))
      same(yield* whoAmI({ cert, key }), 401)
      same(yield* whoAmI({}), 401)
      assert.strictEqual((yield* whoAmI({ cert, key, ...(yield* administrator) })).username, "admin")
    }).pipe(Effect.provide(cluster))
  )

  it.live("TokenReviews accept the token of the administrator", () =>
    Effect.gen(function* () {
      const admin = yield* administrator
      const path = "/apis/authentication.k8s.io/v1/tokenreviews"
      const { body } = yield* ask("POST", path, admin, { spec: { token: admin.token } })
      same([body.status.authenticated, body.status.user.username], [true, "admin"])
    }).pipe(Effect.provide(cluster))
  )
})
