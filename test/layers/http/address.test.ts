import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import { format, isLoopback, isOwnName, parse } from "../../../src/layers/http/address.ts"

describe("an address to listen on", () => {
  for (const [text, host, port] of [
    [":8080", undefined, 8080],
    [":0", undefined, 0],
    ["127.0.0.1:8081", "127.0.0.1", 8081],
    ["localhost:80", "localhost", 80],
    ["[::1]:65535", "::1", 65_535]
  ] as const) {
    it(`${text} is parsed, and formatted as before`, () => {
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

describe("loopback", () => {
  for (const address of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]) {
    it(`is ${address}`, () => assert.isTrue(isLoopback(address)))
  }
  for (const address of [
    "10.0.0.1",
    "::",
    "0.0.0.0",
    "::ffff:10.0.0.1",
    "128.0.0.1",
    "",
    "127.example.com",
    "127.0.0.1.example.com"
  ]) {
    it(`is not ${address}`, () => assert.isFalse(isLoopback(address)))
  }
})

describe("the Host of a request over loopback", () => {
  for (const host of [
    "localhost",
    "localhost:6060",
    "LOCALHOST.:6060",
    "a.localhost:6060",
    "127.0.0.1:6060",
    "127.1.2.3",
    "[::1]:6060",
    "10.0.0.1:6060",
    "[fe80::1]",
    "debug.internal:6060"
  ]) {
    it(`may be ${host}`, () => assert.isTrue(isOwnName(host, "debug.internal")))
  }
  for (const host of [
    "evil.example",
    "evil.example:6060",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil-localhost",

    "127.0.0.1@evil.example",
    "1.2.3",
    "[::1].evil.example",
    "[evil]",
    "",
    ":6060",
    "localhost:x",
    "7f000001.evil.example"
  ]) {
    it(`may not be ${JSON.stringify(host)}`, () => assert.isFalse(isOwnName(host, "debug.internal")))
  }
})
