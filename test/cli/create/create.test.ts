import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { create } from "../../../src/cli/create/run.ts"
import { version } from "../../../src/version.ts"
import { templatesUrl } from "./drafts.ts"

const template = templatesUrl

const kind = { group: "apps.example.org", kind: "BlogPost", version: "v1alpha1", plural: undefined }

const wish = { kind, library: `^${version}`, isClusterScoped: false, force: false, dryRun: false }

/** A folder of the test's own. */
const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "create-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name).slice(folder.length + 1)] : []
  )

describe("create", () => {
  it.effect("writes a project in which nothing is left of the template's names", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const path = join(folder, "blog-operator")
      const written = (yield* create({ ...wish, path }, template)).map((file) => file.path)
      assert.sameMembers([...filesIn(path)], [...written])
      assert.deepStrictEqual(readdirSync(folder), ["blog-operator"])
      assert.includeMembers(
        [...written],
        [
          ".gitignore",
          ".dockerignore",
          "Dockerfile",
          "README.md",
          "package.json",
          "src/BlogPost.ts",
          "src/main.ts",
          ".github/workflows/ci.yaml"
        ]
      )
      const text = (file: string) => readFileSync(join(path, file), "utf8")
      for (const file of written) assert.notMatch(`${file}\n${text(file)}`, /widget|example\.com/i, file)
      const { dependencies, name } = JSON.parse(text("package.json"))
      assert.deepStrictEqual([name, dependencies["effect-controller-manager"]], ["blog-operator", `^${version}`])
      assert.include(text("src/BlogPost.ts"), 'plural: "blogposts"')
      assert.include(text("src/main.ts"), 'name: "blog-operator"')
    }).pipe(Effect.scoped)
  )

  it.effect("reads the templates of an installed package", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const installed = join(folder, "node_modules", "effect-controller-manager", "templates")
      cpSync(template, installed, { recursive: true })
      const from = pathToFileURL(`${installed}/`)
      const options = { ...wish, path: join(folder, "blog-operator"), dryRun: true }
      assert.deepStrictEqual(yield* create(options, from), yield* create(options, template))
    }).pipe(Effect.scoped)
  )

  it.effect("refuses a folder that is not empty, unless --force is set", () =>
    Effect.gen(function* () {
      const path = join(yield* temporary, "blog-operator")
      mkdirSync(path)
      writeFileSync(join(path, "README.md"), "mine")
      writeFileSync(join(path, "notes.txt"), "mine")
      const error = yield* Effect.flip(create({ ...wish, path }, template))
      assert.strictEqual(
        error.message,
        `the folder ${path} is not empty; --force writes into it all the same, and \`create api\` adds a kind to a project`
      )
      assert.deepStrictEqual([...filesIn(path)].sort(), ["README.md", "notes.txt"])
      yield* create({ ...wish, path, force: true }, template)
      assert.include(readFileSync(join(path, "README.md"), "utf8"), "# blog-operator")
      assert.strictEqual(readFileSync(join(path, "notes.txt"), "utf8"), "mine")
    }).pipe(Effect.scoped)
  )

  it.effect("rejects invalid names in one sentence, and writes nothing", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const path = join(folder, "blog-operator")
      writeFileSync(join(folder, "a-file"), "")
      const refusal = (changes: Partial<Parameters<typeof create>[0]>, from = template) =>
        Effect.map(Effect.flip(create({ ...wish, path, ...changes }, from)), ({ message }) => message)
      assert.match(yield* refusal({ kind: { ...kind, group: "batch" } }), /^--group does not take "batch": /)
      // src/main.ts is the program.
      assert.match(
        yield* refusal({ kind: { ...kind, kind: "Main" } }),
        /^--kind does not take "Main": .* differ only in case$/
      )
      // Names that the template's files import.
      for (const word of ["Effect", "Schema", "Access", "ConfigMap", "Resource", "Webhook", "Event"]) {
        assert.match(yield* refusal({ kind: { ...kind, kind: word } }), /mean something else by it$/)
      }
      assert.match(yield* refusal({ path: join(folder, "a-file") }), /^cannot use .*a-file: /)
      const missing = pathToFileURL(join(folder, "none"))
      assert.strictEqual(yield* refusal({}, missing), `cannot use ${fileURLToPath(missing)}: there is no such folder`)
      assert.deepStrictEqual(filesIn(folder), ["a-file"])
    }).pipe(Effect.scoped)
  )

  it("uses the versions of dependencies that this package is tested with", () => {
    const manifest = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"))
    const made = JSON.parse(readFileSync(new URL("operator/package.json", template), "utf8"))
    for (const [name, wanted] of Object.entries(made.devDependencies)) {
      assert.strictEqual(wanted, manifest.devDependencies[name], name)
    }
    assert.strictEqual(made.dependencies.effect, manifest.devDependencies.effect)
    assert.deepStrictEqual(made.overrides, manifest.overrides)
  })
})
