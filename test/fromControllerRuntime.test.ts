/**
 * docs/from-controller-runtime.md against the package: all its blocks as one module, and the code of its tables inside a reconcile, are compiled with the
 * three public entries. Its flags and commands exist.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Namespace } from "../src/kube/resources.ts"
import { ClusterTest } from "../src/testing/ClusterTest.ts"
import type * as Controller from "../src/layers/Controller.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const page = readFileSync(join(root, "docs/from-controller-runtime.md"), "utf8")

const blocks = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, body = ""]) => body)

/** The right cells of all tables; the Go code on the left is not checked. */
const cells = [...page.matchAll(/^\|(.+)\| (.+) \|$/gm)].map(([, , right = ""]) => right)

const spans = (text: string): ReadonlyArray<string> => [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code)

const flags = cells.flatMap(spans).filter((code) => code.startsWith("--"))

const commands = cells
  .flatMap(spans)
  .flatMap((code) => /^(?:node dist\/main\.js|npx [\w-]+) (\w+)/.exec(code)?.[1] ?? [])

/** The code of a cell that begins with an expression, and not with a flag or a command. */
const expressions = cells.flatMap((cell) => {
  const [code] = cell.startsWith("`") ? spans(cell) : []
  return code === undefined || /^(--|node |npx )/.test(code) ? [] : [code]
})

/** A controller whose access grants everything that a cell does. */
const program = (codes: ReadonlyArray<string>) => `
export const definition = Result.getOrThrow(Crd.make(Team))
export let values: ReadonlyArray<unknown> = []
export const cells = Controller.make({
  name: "cells",
  for: Team,
  owns: [Pod, Secret],
  access: [
    Access.get(Team), Access.update(Team), Access.patch(Team), Access.patch(Team, "status"), Access.create(Secret), Access.update(Secret),
    Access.patch(Secret), Access.remove(Secret), Access.removeCollection(Secret), Access.record
  ],
  reconcileObject: (team, { cache, client, events }) => {
    const key = Key.of(team)
    values = [
${codes.map((code) => `      ${code}`).join(",\n")},
      key
    ]
    return Effect.void
  }
})
`

const ambient = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".d.ts"))
  .map((name) => join(root, "src", name))

const entries: Readonly<Record<string, string>> = {
  "": join(root, "src/index.ts"),
  "/node": join(root, "src/node.ts"),
  "/testing": join(root, "src/testing.ts")
}

const folderOf = (title: string): string => {
  const folder = join(root, "node_modules", ".documents", `${title}-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  return folder
}

interface Page {
  readonly givesNamespaces: Effect.Effect<Namespace, unknown>
  readonly cells: Controller.Descriptor
  readonly definition: object
  readonly values: ReadonlyArray<unknown>
}

/** The page as a loaded module. */
const load = (source: string): Promise<Page> => {
  const file = join(folderOf("run"), "page.ts")
  writeFileSync(
    file,
    source.replace(/"effect-controller-manager(\/\w+)?"/g, (_, entry = "") => JSON.stringify(entries[entry]))
  )
  return import(/* @vite-ignore */ file) as Promise<Page>
}

/** The errors of the compiler about these modules, and about anything that they import. */
const compile = (modules: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  const folder = folderOf("compiled")
  for (const [name, source] of Object.entries(modules)) writeFileSync(join(folder, `${name}.ts`), source)
  const paths = Object.entries(entries).map(([name, file]) => [`effect-controller-manager${name}`, [file]])
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: { noUnusedLocals: false, noUnusedParameters: false, paths: Object.fromEntries(paths) },
      // The declarations for modules without types, which the platform module imports.
      files: [...Object.keys(modules).map((name) => `${name}.ts`), ...ambient],
      include: []
    })
  )
  const { stderr, stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" })
  return `${stdout}${stderr}`.split("\n").filter((line) => line !== "")
}

describe("docs/from-controller-runtime.md", () => {
  it("has blocks, tables and flags to check", () => {
    assert.isAbove(blocks.length, 6)
    assert.isAbove(expressions.length, 60)
    assert.isAbove(flags.length, 20)
  })

  it("compiles, and would not if a cell were wrong", () => {
    const wrong = [...expressions, "Predicate.generationsChanged", "client.delete(Pod, { name: 'b' })"]
    const module = (codes: ReadonlyArray<string>) => [...blocks, program(codes)].join("\n")
    const said = compile({ page: module(expressions), wrong: module(wrong) })
    const mistakes = said.filter((line) => /\bwrong\.ts\(/.test(line))
    assert.deepStrictEqual(
      said.filter((line) => !mistakes.includes(line) && !line.startsWith(" ")),
      []
    )
    assert.lengthOf(mistakes, 2)
    assert.match(mistakes.join("\n"), /'generationsChanged' does not exist[^]*not assignable to parameter/)
  }, 180_000)

  it.effect("works as described: its controller gives a team a namespace, and every table cell has a value", () =>
    Effect.gen(function* () {
      const page = yield* Effect.promise(() => load([...blocks, program(expressions)].join("\n")))
      assert.strictEqual((yield* page.givesNamespaces).metadata.name, "team-blue")
      const cluster = yield* ClusterTest
      yield* cluster.apply([page.definition])
      yield* cluster.run(page.cells)
      yield* cluster.apply(
        "{ apiVersion: example.com/v1alpha1, kind: Team, metadata: { name: blue }, spec: { members: [ann] } }"
      )
      yield* cluster.settle
      assert.lengthOf(page.values, expressions.length + 1)
      assert.notInclude(page.values, undefined)
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it("names flags and commands that exist", () => {
    const operations = readFileSync(join(root, "docs/operations.md"), "utf8")
    assert.deepStrictEqual(
      flags.filter((flag) => !operations.includes(`\`${flag}\``)),
      []
    )
    assert.deepStrictEqual(
      commands.filter(
        (command) => ![command, `commands/${command}.ts`].some((path) => existsSync(join(root, "src/cli", path)))
      ),
      []
    )
  })
})
