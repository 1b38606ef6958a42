import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import { format, parse } from "../../../../src/layers/manager/http/address.ts"

describe("an address to listen on", () => {
  for (const [text, host, port] of [
    [":8080", undefined, 8080],
    [":0", undefined, 0],
    ["127.0.0.1:8081", "127.0.0.1", 8081],
    ["localhost:80", "localhost", 80],
    ["[::1]:65535", "::1", 65_535]
  ] as const) {
    it(`${text} is read, and written as it was`, () => {
      assert.deepStrictEqual(parse(text), Option.some({ host, port }))
      assert.strictEqual(format({ host, port }), text)
    })
  }

  for (const text of ["0", ""]) {
    it(`"${text}" means off`, () => assert.deepStrictEqual(parse(text), Option.some(undefined)))
  }

  for (const text of ["8080", ":65536", "a b:1", "::1:80", "[::1]", ":x", "http://a:1"]) {
    it(`"${text}" is none`, () => assert.deepStrictEqual(parse(text), Option.none()))
  }
})
