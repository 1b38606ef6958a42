/** The command `crds types`: what it prints, writes and refuses, and that it reads a cluster. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { settings, types } from "../../../src/cli/commands/crdTypes.ts"
import type { Host } from "../../../src/manager/process/Host.ts"
import * as Program from "../../../src/manager/Program.ts"
import * as SettingSources from "../../../src/manager/setting/sources.ts"
import { Memcached } from "../../kube/crd/fixtures.ts"
import { compile } from "../../support/userModules.ts"
import * as Process from "../../support/process.ts"
import * as Access from "../../../src/kube/Access.ts"
import * as Controller from "../../../src/layers/Controller.ts"

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../kube/crd/types/fixtures/${name}.yaml`, import.meta.url))

const controller = Controller.make({
  name: "memcached",
  for: Memcached,
  access: [Access.read(Memcached)],
  reconcile: () => Effect.void
})

const program = Result.getOrThrow(
  Program.make({
    name: "typist",
    version: "1.0.0",
    description: "",
    controllers: [{ controller, byDefault: "on", summary: "nothing" }]
  })
)

/** Runs the command; the failure is a value. */
const run = Effect.fnUntraced(function* (inputs: ReadonlyArray<string>, flags: Readonly<Record<string, string>> = {}) {
  const out: Array<string> = []
  const err: Array<string> = []
  const host = {
    env: {},
    stdout: { write: (text: string) => out.push(text) },
    stderr: { write: (text: string) => err.push(text) }
  } as unknown as Host
  const all = { ...program.settings, ...settings }
  const resolved = Result.getOrThrow(SettingSources.resolve(all, { flags: new Map(Object.entries(flags)), env: {} }))
  const exit = yield* Effect.result(Effect.provideService(types(host, resolved, inputs), Program.Program, program))
  return { out: out.join(""), err: err.join(""), failure: Result.isFailure(exit) ? exit.failure.message : undefined }
})

describe("crds types", () => {
  it.effect("prints one module for all definitions, in the order of their names", () =>
    Effect.gen(function* () {
      const { err, failure, out } = yield* run([fixture("podmonitor"), fixture("issuer")])
      assert.isUndefined(failure)
      assert.strictEqual(err, "")
      assert.strictEqual(out.match(/^import .* from "effect-controller-manager"$/gm)?.length, 1)
      assert.isAbove(out.indexOf("export const PodMonitor ="), out.indexOf("export const Issuer ="))
      assert.notInclude(out, fixture("issuer"))
      assert.strictEqual((yield* run([fixture("issuer"), fixture("podmonitor")])).out, out)
    })
  )

  it.effect("writes a file for each kind, and leaves an equal one as it is", () =>
    Effect.gen(function* () {
      const directory = join(yield* Process.folder, "deep/types")
      const file = join(directory, "issuers.pki.example.com.ts")
      const first = yield* run([fixture("issuer")], { out: directory })
      assert.strictEqual(first.out, `${file}\n`)
      assert.deepStrictEqual(readdirSync(directory), ["issuers.pki.example.com.ts"])
      const { mtimeNs } = statSync(file, { bigint: true })
      assert.isUndefined((yield* run([fixture("issuer")], { out: directory })).failure)
      assert.strictEqual(statSync(file, { bigint: true }).mtimeNs, mtimeNs)
    })
  )

  it.effect("replaces what it has generated, and anything else only if that is forced", () =>
    Effect.gen(function* () {
      const directory = yield* Process.folder
      const file = join(directory, "issuers.pki.example.com.ts")
      yield* run([fixture("issuer")], { out: directory })
      const text = readFileSync(file, "utf8")
      writeFileSync(file, text.replaceAll("Issuer", "Changed"))
      assert.isUndefined((yield* run([fixture("issuer")], { out: directory })).failure)
      assert.strictEqual(readFileSync(file, "utf8"), text)
      writeFileSync(file, "export const mine = 1\n")
      const refused = yield* run([fixture("issuer"), fixture("backup")], { out: directory })
      assert.match(refused.failure ?? "", /issuers\.pki\.example\.com\.ts was not generated.*--force/)
      assert.deepStrictEqual(readdirSync(directory), ["issuers.pki.example.com.ts"])
      assert.isUndefined((yield* run([fixture("issuer")], { out: directory, force: "true" })).failure)
      assert.strictEqual(readFileSync(file, "utf8"), text)
    })
  )

  it.effect("writes nothing if one definition is wrong, and names every fault", () =>
    Effect.gen(function* () {
      const directory = yield* Process.folder
      const bad = join(directory, "bad.yaml")
      writeFileSync(bad, readFileSync(fixture("issuer"), "utf8").replaceAll("type: array", "type: list"))
      const out = join(directory, "out")
      const { err, failure } = yield* run([fixture("backup"), bad], { out })
      assert.match(failure ?? "", /nothing was generated: \d faults/)
      assert.match(err, /^typist: .*bad\.yaml:\d+: issuers\.pki\.example\.com: spec\.versions\[0\]/)
      assert.deepStrictEqual(readdirSync(directory), ["bad.yaml"])
      const twice = yield* run([fixture("backup"), fixture("backup")], { out })
      assert.match(twice.err, /backup\.yaml:\d+: backups\.backup\.example\.com: is also at .*backup\.yaml/)
    })
  )

  it.effect("warns of a type that is unknown, with file and line", () =>
    Effect.gen(function* () {
      const { err, failure } = yield* run([fixture("hostile")])
      assert.isUndefined(failure)
      assert.match(err, /^typist: warning: .*hostile\.yaml:\d+: schemas\.hostile\.example\.com: .*\[constructor\]: /)
    })
  )

  it.effect("leaves no temporary folder behind if a file cannot be written", () =>
    Effect.gen(function* () {
      const directory = yield* Process.folder
      mkdirSync(join(directory, "issuers.pki.example.com.ts"))
      assert.match((yield* run([fixture("issuer")], { out: directory })).failure ?? "", /cannot write/)
      assert.deepStrictEqual(readdirSync(directory), ["issuers.pki.example.com.ts"])
    })
  )

  it.live("reads the definitions of a cluster, all or those that are named", () =>
    Effect.gen(function* () {
      const flags = { "from-cluster": "true", cluster: "embedded" }
      const all = yield* run([], flags)
      assert.include(all.out, "export const Memcached = Resource.make({")
      assert.strictEqual((yield* run(["memcacheds.cache.example.com"], flags)).out, all.out)
      assert.match((yield* run(["none.example.com"], flags)).failure ?? "", /"none\.example\.com" not found/)
    })
  )

  it.effect("prints what its page shows, and the controller of the page compiles with it", () =>
    Effect.gen(function* () {
      const page = readFileSync(new URL("../../../docs/crds-types.md", import.meta.url), "utf8")
      const blocks = (language: string) =>
        page
          .split(`\n\`\`\`${language}\n`)
          .slice(1)
          .map((one) => one.split("```")[0]!)
      const file = join(yield* Process.folder, "databases.yaml")
      const [text = ""] = blocks("yaml")
      writeFileSync(file, text)
      const [shown, controller = ""] = blocks("ts")
      const { out } = yield* run([file])
      assert.strictEqual(out, shown)
      const messages = compile({ "databases.db.example.org": out, controller })
      assert.deepStrictEqual(messages, { "databases.db.example.org": [], controller: [] })
    })
  )

  it.effect("asks for a source", () =>
    Effect.gen(function* () {
      assert.match((yield* run([])).failure ?? "", /--from-cluster/)
    })
  )
})
