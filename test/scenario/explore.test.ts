/** The command `explore` on a project of its own, with a controller that fails after a lost response, and its repaired twin. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import * as Process from "../support/process.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

const ticket = `
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Access, ConfigMap, Controller, Owner, Patch, Resource } from "effect-controller-manager"
import { explore } from "effect-controller-manager/testing"

const Ticket = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Ticket",
  plural: "tickets",
  subresources: { status: true },
  spec: Schema.Struct({}),
  status: Schema.Struct({ child: Schema.optionalKey(Schema.String) })
})

const controller = (isRepaired) =>
  Controller.make({
    name: "ticket",
    for: Ticket,
    owns: [ConfigMap],
    access: [Access.create(ConfigMap), Access.get(ConfigMap), Access.patch(Ticket, "status")],
    reconcileObject: (ticket, { client }) =>
      Effect.gen(function* () {
        if (ticket.status?.child !== undefined) return
        const { name, namespace = "" } = ticket.metadata
        const wanted = isRepaired ? { name: name + "-child" } : { generateName: name + "-" }
        const child = yield* client
          .create(ConfigMap, { metadata: { namespace, ...wanted, ownerReferences: [Owner.reference(Ticket, ticket)] } })
          .pipe(
            Effect.catchReason("ApiError", "AlreadyExists", () =>
              client.get(ConfigMap, { namespace, name: name + "-child" })
            )
          )
        yield* client
          .subresource("status")
          .patch(Ticket, { namespace, name }, Patch.merge({ status: { child: child.metadata.name } }))
      })
  })

export const make = (name, isRepaired, scenario) =>
  explore(name, {
    controllers: [controller(isRepaired)],
    without: { handoff: "it runs alone", "travel-1": "this test is short" },
    // Null: that of the Schemas.
    scenario:
      scenario === null
        ? undefined
        : scenario ??
      ((cluster) =>
        cluster.apply([
          { apiVersion: "bugs.example.com/v1", kind: "Ticket", metadata: { namespace: "default", name: "a" }, spec: {} }
        ]))
  })
`

const buggy = `
import { make } from "../ticket.js"
console.log("the file prints this")
export const buggy = make("buggy", false)
export default buggy
`

const repaired = `
import { make } from "../ticket.js"
export const repaired = make("repaired", true)
`

const standard = { "src/buggy.explore.mjs": buggy, "repaired.explore.js": repaired.replace("../", "./") }

/** A folder in which the package and Effect are installed, with these files. */
const project = (files: Readonly<Record<string, string>> = standard) =>
  Effect.map(Process.folder, (folder) => {
    mkdirSync(join(folder, "node_modules"))
    symlinkSync(root, join(folder, "node_modules/effect-controller-manager"))
    symlinkSync(join(root, "node_modules/effect"), join(folder, "node_modules/effect"))
    const all = { "package.json": `{ "type": "module" }`, "ticket.js": ticket, ...files }
    for (const [path, text] of Object.entries(all)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    return folder
  })

const explore = (folder: string, ...args: ReadonlyArray<string>) =>
  Process.run(["explore", "--project", folder, ...args])

/** One line on standard error beside what the files print. */
const complaint = ({ code, stderr, stdout }: Process.Exited): string => {
  assert.deepStrictEqual([code, stdout], [2, ""], stderr)
  const lines = stderr.split("\n").filter((line) => line !== "" && line !== "the file prints this")
  assert.lengthOf(lines, 1, stderr)
  return lines[0] ?? ""
}

const doesNodeLoadTypeScript =
  "typescript" in process.features && process.features.typescript !== false && process.features.typescript !== undefined

const limit = 180_000

describe.concurrent("explore", () => {
  it.live(
    "finds the failure of one exploration and none of the other, equally for any number of threads, and writes reports",
    () =>
      Effect.gen(function* () {
        const folder = yield* project()
        const written = ["json", "junit", "html"].flatMap((kind) => [`--${kind}`, join(folder, `out.${kind}`)])
        const first = yield* explore(folder, "--jobs=1", ...written)
        const json = readFileSync(join(folder, "out.json"), "utf8")
        const second = yield* explore(folder, "--jobs=3", ...written)
        assert.strictEqual(first.stdout, second.stdout)
        const timeless = (text: string) => text.replaceAll(/"milliseconds": \d+/g, "")
        assert.strictEqual(timeless(json), timeless(readFileSync(join(folder, "out.json"), "utf8")))
        for (const { code, stderr, stdout } of [first, second]) {
          assert.strictEqual(code, 1)
          assert.match(stderr, /^effect-controller-manager: 1 failure was found$/m)
          assert.match(stderr, /^the file prints this$/m)
          assert.match(stdout, /^repaired: 0 failures in \d+ runs/)
          assert.match(stdout, /^buggy: 1 failure in \d+ runs/m)
          assert.match(stdout, /^ {2}left out: handoff, because it runs alone$/m)
          assert.match(stdout, /^ {3}at write #1: create configmaps default\/a-\*: the process ends after the write/m)
          assert.match(stdout, /^ {3}> +0\.000 s +#1 +write +write #1: create configmaps/m)
          assert.include(stdout, "--replay 'buggy:crash@write#1'")
        }
        const { explorations } = JSON.parse(json) as {
          readonly explorations: ReadonlyArray<{
            readonly file: string
            readonly coverage: ReadonlyArray<{ readonly kind: string; readonly points: number; readonly tried: number }>
          }>
        }
        assert.deepStrictEqual(
          explorations.map(({ file }) => file),
          ["repaired.explore.js", "src/buggy.explore.mjs"]
        )
        for (const { coverage } of explorations) {
          assert.isTrue(coverage.every(({ points, tried }) => tried === points))
          assert.isTrue(coverage.every(({ kind }) => kind !== "handoff" && kind !== "travel-1"))
        }
        assert.include(readFileSync(join(folder, "out.junit"), "utf8"), '<failure type="not converged"')
        assert.include(readFileSync(join(folder, "out.html"), "utf8"), '"id":"crash@write#1"')
      }).pipe(Effect.scoped),
    limit
  )

  it.live(
    "--replay prints the whole timeline of one run, and fails only if that run does",
    () =>
      Effect.gen(function* () {
        const folder = yield* project()
        const failing = yield* explore(folder, "--replay", "buggy:crash@write#1")
        assert.strictEqual(failing.code, 1)
        assert.match(failing.stdout, /^ +0\.000 s +#1 +process +process 1 starts/)
        assert.match(failing.stdout, /^>.*write #1: create configmaps default\/a-\* -> 201/m)
        assert.match(failing.stdout, /^buggy: 1 failure in 2 runs/m)
        const passing = yield* explore(folder, "--replay", "repaired:crash@write#1")
        assert.strictEqual(passing.code, 0, passing.stderr)
        assert.match(passing.stdout, /^>.*write #1: create configmaps default\/a-child -> 201/m)
        assert.match(passing.stdout, /^repaired: 0 failures in 2 runs/m)
      }).pipe(Effect.scoped),
    limit
  )

  it.live(
    "names and files choose explorations, and no run begins after the budget",
    () =>
      Effect.gen(function* () {
        const folder = yield* project()
        const byName = yield* explore(folder, "repaired")
        assert.strictEqual(byName.code, 0, byName.stderr)
        assert.notInclude(byName.stdout, "buggy")
        const byFile = yield* explore(folder, "--budget=1ms", "repaired.explore.js")
        assert.strictEqual(byFile.code, 0, byFile.stderr)
        assert.match(byFile.stdout, /^repaired: 0 failures in 1 run,/)
        assert.match(byFile.stdout, /^ {2}tried: crash 0 of 2, /m)
        // A file that is not chosen is not loaded.
        assert.notInclude(byFile.stderr, "the file prints this")
      }).pipe(Effect.scoped),
    limit
  )

  it.live("a project that does not exist is a usage error", () =>
    Effect.gen(function* () {
      assert.match(complaint(yield* explore("/does/not/exist")), /cannot read \/does\/not\/exist/)
    }).pipe(Effect.scoped)
  )

  const failing = `throw new Error("broken on purpose")`
  for (const [title, files, args, expected] of [
    ["a project without such files", {}, [], /has no files \*\.explore\.ts/],
    [
      "a file without explorations",
      { "a.explore.js": "export const a = {}" },
      [],
      /a\.explore\.js exports no exploration/
    ],
    ["a file that throws", { "a.explore.js": failing }, [], /cannot load a\.explore\.js: broken on purpose/],
    ["a file that does not parse", { "a.explore.js": "const = 1" }, [], /cannot load a\.explore\.js: /],
    ["a file that ends its thread", { "a.explore.js": "process.exit(7)" }, [], /cannot load a\.explore\.js: .*code 7/],
    [
      "two explorations with the same name",
      { "a.explore.js": repaired.replace("../", "./"), "b.explore.js": repaired.replace("../", "./") },
      [],
      /"repaired" is declared in a\.explore\.js and b\.explore\.js/
    ],
    ["an unknown name", standard, ["bugy"], /no exploration or file "bugy": the explorations are repaired, buggy/],
    ["--replay of an unknown exploration", standard, ["--replay=bugy:crash@write#1"], /no exploration or file "bugy"/],
    ["--replay without a name", standard, ["--replay=crash@write#1"], /takes the name of an exploration and/],
    ["an unknown perturbation", standard, ["--replay=buggy:crush@write#1"], /"crush@write#1" is no perturbation/],
    ["a point that the run does not have", standard, ["--replay=buggy:crash@write#99"], /no crash@write#99/],
    ["an invalid budget", standard, ["--budget=soon"], /--budget does not take "soon"/]
  ] as const) {
    it.live(
      `${title} is a usage error`,
      () =>
        Effect.gen(function* () {
          const folder = yield* project(files)
          assert.match(complaint(yield* explore(folder, ...args)), expected)
        }).pipe(Effect.scoped),
      limit
    )
  }

  it.live(
    "a scenario that ends its thread is an error that names the exploration",
    () =>
      Effect.gen(function* () {
        const scenario = `
import { make } from "./ticket.js"
export const ending = make("ending", true, () => process.exit(3))
`
        const { code, stderr, stdout } = yield* explore(yield* project({ "a.explore.js": scenario }))
        assert.deepStrictEqual([code, stdout], [1, ""])
        assert.match(stderr, /a\.explore\.js: ending: its thread ended with exit code 3/)
      }).pipe(Effect.scoped),
    limit
  )

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it.live(
      `${signal} ends a scenario that never pauses, without a report`,
      () =>
        Effect.gen(function* () {
          const scenario = `
import { make } from "./ticket.js"
export const endless = make("endless", true, () => {
  console.log("it runs")
  for (;;);
})
`
          const folder = yield* project({ "a.explore.js": scenario })
          const running = yield* Process.start(["explore", "--project", folder, "--jobs=2"])
          yield* running.says(/^it runs$/m)
          yield* running.kill(signal)
          const { code, stdout } = yield* running.exit
          assert.deepStrictEqual([code, stdout], [0, ""])
        }).pipe(Effect.scoped),
      limit
    )
  }

  it.live.skipIf(doesNodeLoadTypeScript)(
    "TypeScript on a Node that does not load it needs tsx in the project, which is used if it is there",
    () =>
      Effect.gen(function* () {
        const typed = repaired.replace("../", "./").replace('"repaired"', '"repaired" as string')
        const folder = yield* project({ "a.explore.ts": typed })
        assert.match(complaint(yield* explore(folder)), /cannot load a\.explore\.ts: .*npm install --save-dev tsx/)
        symlinkSync(join(root, "node_modules/tsx"), join(folder, "node_modules/tsx"))
        const { code, stderr, stdout } = yield* explore(folder)
        assert.strictEqual(code, 0, stderr)
        assert.match(stdout, /^repaired: 0 failures/)
      }).pipe(Effect.scoped),
    limit
  )

  it.live(
    "explores the scenarios that Schemas suggest, and repeats one of them",
    () =>
      Effect.gen(function* () {
        const generated = `import { make } from "./ticket.js"\nexport default make("generated", false, null)\n`
        const folder = yield* project({ "a.explore.mjs": generated })
        const found = yield* explore(folder)
        assert.strictEqual(found.code, 1, found.stderr)
        const [, id = ""] = /repeat it with: .*--replay '([^']+)'/.exec(found.stdout) ?? []
        assert.match(id, /^generated\/lifecycle\[1\]:/)
        const again = yield* explore(folder, `--replay=${id}`)
        assert.strictEqual(again.code, 1, again.stderr)
        assert.include(again.stdout, "create configmaps")
        const unknown = yield* explore(folder, "--replay=generated/none:crash@write#1")
        assert.match(complaint(unknown), /generated has no generated scenario "none"/)
      }).pipe(Effect.scoped),
    limit
  )

  it.live.skipIf(!doesNodeLoadTypeScript)(
    "TypeScript is loaded by Node",
    () =>
      Effect.gen(function* () {
        const typed = repaired.replace("../", "./").replace('"repaired"', '"repaired" as string')
        const { code, stderr, stdout } = yield* explore(yield* project({ "a.explore.ts": typed }))
        assert.strictEqual(code, 0, stderr)
        assert.match(stdout, /^repaired: 0 failures/)
      }).pipe(Effect.scoped),
    limit
  )
})
