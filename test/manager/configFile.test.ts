/** The file of `--config`, from its bytes to the entries. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as ConfigFile from "../../src/manager/configFile.ts"
import { settings } from "../support/controllers.ts"
import * as Process from "../support/process.ts"

const load = (...args: Parameters<typeof ConfigFile.load>) =>
  Effect.provide(ConfigFile.load(...args), NodeFileSystem.layer)

const entriesOf = (content: string) =>
  Effect.gen(function* () {
    const path = join(yield* Process.folder, "manager.yaml")
    yield* Effect.promise(() => writeFile(path, content))
    return yield* load(settings.config, { flags: new Map([["config", path]]), env: {} }).pipe(
      Effect.map((sources) => ("file" in sources ? Object.fromEntries(sources.file.entries) : "no file")),
      Effect.catch((error) => Effect.succeed(error.message.replace(path, "FILE")))
    )
  }).pipe(Effect.scoped)

describe("the configuration file", () => {
  for (const [title, content, expected] of [
    [
      "YAML",
      "leader-elect: true\nv: 4\nsync-period: 1m30s\n",
      { "leader-elect": "true", v: "4", "sync-period": "1m30s" }
    ],
    ["JSON", '{ "leader-elect": false, "master": "https://x:1" }', { "leader-elect": "false", master: "https://x:1" }],
    ["a list", "controllers: ['*', -pod-count]", { controllers: "*,-pod-count" }],
    ["a mapping", "feature-gates: { A: true, B: false }", { "feature-gates": "A=true,B=false" }],
    ["nothing", "# later\n", {}],
    [
      "something else",
      "hello",
      "configuration file FILE: it must be a mapping from settings to values, like leader-elect: true"
    ],
    ["a sequence", "- a", /: it must be a mapping/],
    [
      "a key without a value",
      "context:\n",
      'configuration file FILE: "context" must have a text, a number, true or false, or a list or mapping of these'
    ],
    ["something too deep", "a: { b: { c: 1 } }", /"a" must have a text/],
    ["a key twice", "v: 1\nv: 2\n", /: a key is there twice \(line \d\)$/],
    ["no YAML", "token: s3cr3t\n  x: [\n", /^configuration file FILE: it is not valid YAML \(line \d\)$/],
    ["another file", "config: other.yaml\n", 'configuration file FILE: "config" cannot name another file from here']
  ] as const) {
    it.live(`of ${title}`, () =>
      Effect.map(entriesOf(content), (found) => {
        if (expected instanceof RegExp) assert.match(typeof found === "string" ? found : "", expected)
        else assert.deepStrictEqual(found, expected)
      })
    )
  }

  it.live("may be named by the environment variable, and a missing file is an error", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(load(settings.config, { flags: new Map(), env: { CM_CONFIG: "/none/m.yaml" } }))
      assert.strictEqual(error.message, "configuration file /none/m.yaml: there is no such file")
      const folder = yield* Process.folder
      const other = yield* Effect.flip(load(settings.config, { flags: new Map([["config", folder]]), env: {} }))
      assert.strictEqual(
        other.message,
        `configuration file ${folder}: it cannot be read (EISDIR): check its permissions`
      )
    }).pipe(Effect.scoped)
  )

  it.effect("is not read if none is named", () =>
    Effect.map(load(settings.config, { flags: new Map(), env: {} }), (sources) => assert.isFalse("file" in sources))
  )
})
