import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { askAs, layer, master } from "../users.ts"

const same = assert.deepStrictEqual
const accounts = "/api/v1/namespaces/default/serviceaccounts"

const tokenOf = (name: string, spec: object = {}) =>
  Effect.map(askAs(master, "POST", `${accounts}/${name}/token`, { spec }), ({ body }): string => body.status.token)

const account = (name: string) => askAs(master, "POST", accounts, { metadata: { name } })

const holder = (token: string) => Effect.flatMap(ApiServer, ({ authenticate }) => authenticate(token))

const review = (token: string) =>
  Effect.map(
    askAs(master, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token } }),
    ({ body }) => body.status
  )

describe("service account tokens", () => {
  it.effect("authenticate the account with its groups", () =>
    Effect.gen(function* () {
      const { body } = yield* account("robot")
      const user = {
        name: "system:serviceaccount:default:robot",
        uid: body.metadata.uid,
        groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]
      }
      const token = yield* tokenOf("robot")
      same(yield* holder(token), user)
      const { groups, name: username, uid } = user
      same(yield* review(token), {
        authenticated: true,
        user: { username, uid, groups },
        audiences: ["https://kubernetes.default.svc"]
      })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are valid until they expire", () =>
    Effect.gen(function* () {
      yield* account("robot")
      const token = yield* tokenOf("robot", { expirationSeconds: 600 })
      yield* TestClock.adjust("599 seconds")
      assert.isDefined(yield* holder(token))
      yield* TestClock.adjust("1 second")
      assert.isUndefined(yield* holder(token))
      same((yield* review(token)).error, "[invalid bearer token, service account token has expired]")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are valid for the requested audience", () =>
    Effect.gen(function* () {
      yield* account("robot")
      assert.isUndefined(yield* holder(yield* tokenOf("robot", { audiences: ["vault"] })))
      assert.isDefined(
        yield* holder(yield* tokenOf("robot", { audiences: ["vault", "https://kubernetes.default.svc"] }))
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are invalid when the account is deleted, or created again with another uid", () =>
    Effect.gen(function* () {
      yield* account("robot")
      const token = yield* tokenOf("robot")
      yield* askAs(master, "DELETE", `${accounts}/robot`)
      assert.isUndefined(yield* holder(token))
      same((yield* review(token)).error, '[invalid bearer token, serviceaccounts "robot" not found]')
      yield* account("robot")
      assert.isUndefined(yield* holder(token))
      assert.isDefined(yield* holder(yield* tokenOf("robot")))
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are invalid when the object they are bound to is deleted", () =>
    Effect.gen(function* () {
      yield* account("robot")
      const secrets = "/api/v1/namespaces/default/secrets"
      yield* askAs(master, "POST", secrets, { metadata: { name: "s" } })
      const token = yield* tokenOf("robot", { boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "s" } })
      assert.isDefined(yield* holder(token))
      yield* askAs(master, "DELETE", `${secrets}/s`)
      assert.isUndefined(yield* holder(token))
      yield* askAs(master, "POST", secrets, { metadata: { name: "s" } })
      assert.isUndefined(yield* holder(token))
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are invalid with any character changed, or a part missing", () =>
    Effect.gen(function* () {
      yield* account("robot")
      const token = yield* tokenOf("robot")
      const [head = "", claims = "", signature = ""] = token.split(".")
      const forged = btoa(atob(claims.replaceAll("-", "+").replaceAll("_", "/")).replace(":robot", ":admin"))
      for (const bad of [
        `${head}.${claims}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`,
        `${head}.${forged.replaceAll("=", "")}.${signature}`,
        `${head}.${claims}.`,
        `${head}.${claims}`,
        `${token}.x`,
        "..",
        ""
      ]) {
        assert.isUndefined(yield* holder(bad), bad)
      }
    }).pipe(Effect.provide(layer()))
  )

  it.effect("TokenReviews accept known tokens of the transport too", () =>
    Effect.gen(function* () {
      same(yield* review("secret"), {
        authenticated: true,
        user: { username: "amy", groups: ["team", "system:authenticated"] },
        audiences: ["https://kubernetes.default.svc"]
      })
      same(yield* review("other"), { user: {}, error: "invalid bearer token" })
    }).pipe(
      Effect.provide(
        layer({
          authentication: {
            known: (token) =>
              token === "secret" ? { name: "amy", groups: ["team", "system:authenticated"] } : undefined
          }
        })
      )
    )
  )
})
