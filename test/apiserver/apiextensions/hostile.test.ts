/** Arbitrary definitions and objects: invalid ones are rejected, and the server never fails. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import type { Answer } from "../../../src/apiserver/Api.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { int } from "../../support/property.ts"
import { runs, seed } from "../../support/runs.ts"
import { definition, definitions, memcached, memcacheds } from "./memcached.ts"

const junk: ReadonlyArray<unknown> = [
  null,
  "",
  "__proto__",
  "object",
  "(",
  ".spec.size",
  -1,
  1.5,
  1e300,
  true,
  [],
  {},
  [null],
  [[]],
  { __proto__: null, type: "array" },
  JSON.parse('{"__proto__": {"type": "object"}, "constructor": 1}'),
  { type: "object", properties: { a: { type: "string", pattern: "(?<" } } },
  { type: "array", items: { type: "array", items: {} } }
]

type Path = ReadonlyArray<string>

const pathsOf = (value: unknown, path: Path = []): ReadonlyArray<Path> => [
  path,
  ...(typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, one]) => pathsOf(one, [...path, key]))
    : [])
]

const replaced = (value: any, [key, ...rest]: Path, by: unknown): unknown => {
  if (key === undefined) return by
  const copy = Array.isArray(value) ? [...value] : { ...value }
  copy[key] = replaced(value[key], rest, by)
  return copy
}

const spoilt = (object: object, at: number, what: number): unknown => {
  const paths = pathsOf(object)
  return replaced(object, paths[at % paths.length]!, junk[what % junk.length])
}

const send = (method: string, path: string, body?: unknown, contentType = "application/json") =>
  Effect.flatMap(ApiServer, (server) =>
    server.handle({
      method,
      path,
      query: new URLSearchParams(contentType.includes("apply") ? { fieldManager: "x" } : {}),
      headers: { "content-type": contentType },
      body: body === undefined ? "" : (JSON.stringify(body) ?? "null"),
      user: { name: "x", groups: [] }
    })
  ).pipe(Effect.map((answer) => answer as Answer))

const full = {
  size: 1,
  port: 1,
  image: "i",
  tags: ["a"],
  options: [{ name: "a", value: "1" }],
  extra: { any: [1, { thing: null }] }
}

/** Everything that can be done, with one thing spoilt in the definition and another in the object. */
const story = (numbers: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const [a = 0, b = 0, c = 0, d = 0] = numbers
    const answers: Array<Answer> = [yield* send("POST", definitions, spoilt(definition(), a, b))]
    answers.push(yield* send("POST", definitions, definition()))
    const object = spoilt({ ...memcached("a", full), status: { replicas: 1 } }, c, d)
    answers.push(yield* send("POST", memcacheds, object))
    answers.push(yield* send("POST", memcacheds, memcached("b", full)))
    answers.push(yield* send("PATCH", `${memcacheds}/b`, object, "application/merge-patch+json"))
    answers.push(yield* send("PATCH", `${memcacheds}/b`, object, "application/apply-patch+yaml"))
    answers.push(yield* send("PATCH", `${memcacheds}/b/status`, object, "application/merge-patch+json"))
    answers.push(yield* send("PUT", `${memcacheds}/b/scale`, object))
    for (const path of ["/apis", "/openapi/v2", "/openapi/v3", memcacheds]) answers.push(yield* send("GET", path))
    answers.push(yield* send("DELETE", `${definitions}/memcacheds.cache.example.com`))
    answers.push(yield* send("GET", memcacheds))
    const failed = answers.find(({ status }) => status >= 500)
    return failed === undefined ? undefined : failed.body
  }).pipe(Effect.provide(ApiServer.layer()))

describe("hostile definitions and objects", () => {
  it.effect("are rejected, and the server stays available", () =>
    Effect.gen(function* () {
      const numbers = Arbitrary.array(int(0, 9_999), { minLength: 4, maxLength: 4 })
      const result = yield* Arbitrary.checkEffect(
        numbers,
        (value) =>
          Effect.map(story(value), (failure) => {
            assert.isUndefined(failure)
            return true
          }),
        { runs: runs(150), seed }
      )
      assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
    })
  )
})
