import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type { Entry } from "../../../src/apiserver/audit/AuditLog.ts"
import { askAs, layer, master, person } from "../users.ts"

const same = assert.deepStrictEqual
const maps = "/api/v1/namespaces/default/configmaps"
const log = Effect.flatMap(ApiServer, ({ audit }) => audit)

describe("the audit log", () => {
  it.effect("has user, verb, object, result and revision of each request", () =>
    Effect.gen(function* () {
      const { revision } = yield* ApiServer
      yield* TestClock.adjust("5 seconds")
      yield* askAs(master, "POST", maps, { metadata: { generateName: "a-" } }, { "user-agent": "test/1" })
      yield* askAs(person("bob"), "DELETE", `${maps}/x`)
      const entries = yield* log
      const created = (yield* askAs(master, "GET", maps)).body.items[0]
      const about = { path: maps, group: "", resource: "configmaps", subresource: "", namespace: "default" }
      const expected: ReadonlyArray<Entry> = [
        {
          ...about,
          verb: "create",
          name: created.metadata.name,
          at: 5000,
          user: "system:admin",
          groups: ["system:masters", "system:authenticated"],
          caller: "system:admin",
          userAgent: "test/1",
          allowed: true,
          code: 201,
          reason: "",
          revision: Number(created.metadata.resourceVersion),
          changed: true,
          annotations: undefined
        },
        {
          ...about,
          path: `${maps}/x`,
          verb: "delete",
          name: "x",
          at: 5000,
          user: "bob",
          groups: ["system:authenticated"],
          caller: "bob",
          userAgent: "",
          allowed: false,
          code: 403,
          reason: "Forbidden",
          revision: yield* revision,
          changed: false,
          annotations: undefined
        }
      ]
      same(entries, expected)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("distinguishes caller and impersonated user, and writes from dry runs", () =>
    Effect.gen(function* () {
      yield* askAs(master, "GET", "/api", undefined, { "impersonate-user": "amy" })
      yield* askAs(master, "POST", `${maps}?dryRun=All`, { metadata: { name: "a" } })
      yield* askAs(master, "GET", `${maps}?watch=1`)
      const [first, second, third] = yield* log
      same([first?.user, first?.caller, first?.verb, first?.path], ["amy", "system:admin", "get", "/api"])
      same([second?.code, second?.changed], [201, false])
      same([third?.verb, third?.code], ["watch", 200])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("retains the latest entries, and calls onEntry with each", () => {
    const told: Array<string> = []
    return Effect.gen(function* () {
      for (const name of ["a", "b", "c", "d", "e"]) yield* askAs(master, "GET", `${maps}/${name}`)
      same(
        (yield* log).map(({ name }) => name),
        ["c", "d", "e"]
      )
      same(told, ["a", "b", "c", "d", "e"])
    }).pipe(Effect.provide(layer({ audit: { capacity: 3, onEntry: ({ name }) => told.push(name) } })))
  })

  it.effect("has one entry for a request that was retried", () =>
    Effect.gen(function* () {
      const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "a", image: "b" }] } }
      const fiber = yield* Effect.forkChild(askAs(master, "POST", "/api/v1/namespaces/default/pods", pod))
      yield* TestClock.adjust("3 seconds")
      same((yield* Fiber.join(fiber)).status, 403)
      same(
        (yield* log).map(({ code, verb }) => [verb, code]),
        [["create", 403]]
      )
    }).pipe(Effect.provide(layer({ admission: { serviceAccount: true } })))
  )
})
