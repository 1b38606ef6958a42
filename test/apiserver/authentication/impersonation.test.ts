import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { askAs, grant, layer, master, person, rule } from "../users.ts"
import type { User } from "../../../src/apiserver/Api.ts"

const same = assert.deepStrictEqual

const whoAmI = (user: User, headers: Record<string, string>) =>
  Effect.map(
    askAs(user, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, headers),
    ({ body, status }) => (status === 201 ? body.status.userInfo : body.message)
  )

describe("impersonation", () => {
  it.effect("the administrator may impersonate any user, with groups", () =>
    Effect.gen(function* () {
      const be = (headers: Record<string, string>) => whoAmI(master, headers)
      same(yield* be({ "impersonate-user": "amy" }), { username: "amy", groups: ["system:authenticated"] })
      same(yield* be({ "impersonate-user": "amy", "impersonate-group": "a, b" }), {
        username: "amy",
        groups: ["a", "b", "system:authenticated"]
      })
      same(yield* be({ "impersonate-user": "system:serviceaccount:default:robot" }), {
        username: "system:serviceaccount:default:robot",
        groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]
      })
      same(yield* be({ "impersonate-user": "amy", "impersonate-uid": "7", "impersonate-extra-scope": "x" }), {
        username: "amy",
        groups: ["system:authenticated"],
        uid: "7",
        extra: { scope: ["x"] }
      })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("each user, group, uid and extra value must be authorized", () =>
    Effect.gen(function* () {
      const bob = person("bob")
      yield* grant(
        "bob",
        "",
        "imp",
        rule("", "users", "impersonate", "amy"),
        rule("", "groups", "impersonate", "team"),
        rule("authentication.k8s.io", "userextras/scope", "impersonate", "x")
      )
      same((yield* whoAmI(bob, { "impersonate-user": "amy", "impersonate-group": "team" })).username, "amy")
      same((yield* whoAmI(bob, { "impersonate-user": "amy", "impersonate-extra-scope": "x" })).extra, { scope: ["x"] })
      const cannot = (resource: string, group = "") =>
        `User "bob" cannot impersonate resource "${resource}" in API group "${group}" at the cluster scope`
      same(yield* whoAmI(bob, { "impersonate-user": "joe" }), `users "joe" is forbidden: ${cannot("users")}`)
      same(
        yield* whoAmI(bob, { "impersonate-user": "amy", "impersonate-group": "system:masters" }),
        `groups "system:masters" is forbidden: ${cannot("groups")}`
      )
      same(
        yield* whoAmI(bob, { "impersonate-user": "amy", "impersonate-extra-scope": "y" }),
        `userextras.authentication.k8s.io "y" is forbidden: ${cannot("userextras/scope", "authentication.k8s.io")}`
      )
      same(
        yield* whoAmI(bob, { "impersonate-user": "system:serviceaccount:default:robot" }),
        'serviceaccounts "robot" is forbidden: User "bob" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "default"'
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("Impersonate-Group without Impersonate-User is an error", () =>
    Effect.gen(function* () {
      const { status } = yield* askAs(master, "GET", "/api/v1/pods", undefined, { "impersonate-group": "x" })
      same(status, 500)
    }).pipe(Effect.provide(layer()))
  )
})
