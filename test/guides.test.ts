/**
 * The pages docs/from-*.md against the package. The blocks of a page are one module, and the code of its tables runs inside a reconcile; both are compiled
 * with the public entries and executed on the embedded cluster. A `text` block is what the last effect of the block before it succeeds with, and what an
 * effect `onEnvtest` succeeds with on a real API server. Flags and commands exist.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type * as Controller from "../src/layers/Controller.ts"
import { ClusterTest } from "../src/testing/ClusterTest.ts"
import { Envtest } from "../src/testing/envtest/Envtest.ts"
import { compile, execute } from "./support/userModules.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const read = (path: string) => readFileSync(join(root, path), "utf8")

const spans = (text: string): ReadonlyArray<string> => [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code)

/** The name of a constant that a block exports, and the lines that follow the block as `text`. */
interface Shown {
  readonly name: string
  readonly lines: string
}

/** The name of the effect that needs a real API server. */
const onEnvtest = "onEnvtest"

interface Guide {
  readonly name: string
  /** Its `ts` blocks. */
  readonly blocks: ReadonlyArray<string>
  readonly shown: ReadonlyArray<Shown>
  /** The code of each right cell that begins with an expression, and not with a flag or a command. */
  readonly expressions: ReadonlyArray<string>
  readonly flags: ReadonlyArray<string>
  readonly commands: ReadonlyArray<string>
  /** Such as `crds types` and `create api`. */
  readonly subcommands: ReadonlyArray<string>
}

const guide = (name: string): Guide => {
  const page = read(`docs/${name}.md`)
  const fences = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = "", body = ""]) => ({
    language,
    body
  }))
  const ours = fences.filter(({ language }) => language === "ts")
  const shown = fences.flatMap(({ language, body }, index) => {
    const before = fences[index - 1]
    if (language !== "text" || before?.language !== "ts") return []
    const names = [...before.body.matchAll(/^export const (\w+)/gm)].map(([, exported = ""]) => exported)
    return [...names.filter((exported) => exported === onEnvtest), names.at(-1) ?? ""].map((exported) => ({
      name: exported,
      lines: body
    }))
  })
  // The code of the peer on the left is not checked.
  const cells = [...page.matchAll(/^\|(.+)\| (.+) \|$/gm)].map(([, , right = ""]) => right)
  const codes = cells.flatMap(spans)
  const expressions = cells.flatMap((cell) => {
    const [code] = cell.startsWith("`") ? spans(cell) : []
    return code === undefined || /^(--|node |npx |npm |kubectl )/.test(code) ? [] : [code]
  })
  return {
    name,
    blocks: ours.map(({ body }) => body),
    shown,
    expressions,
    flags: [
      ...new Set(
        [
          ...codes.filter((code) => code.startsWith("--")),
          ...page.matchAll(/(?<=node dist\/main\.js .*)--[\w-]+/g),
          ...page.matchAll(/(?<=npx effect-controller-manager [^`]*)--[\w-]+/g)
        ].map(String)
      )
    ],
    commands: [...page.matchAll(/(?:node dist\/main\.js|npx effect-controller-manager) (\w+)/g)].map(
      ([, command = ""]) => command
    ),
    subcommands: [...page.matchAll(/\b(create (?=\w+ --)\w+|crds \w+(?=[` ]))/g)].map(([command]) => command)
  }
}

const guides = readdirSync(join(root, "docs"))
  .flatMap((file) => /^(from-.+)\.md$/.exec(file)?.[1] ?? [])
  .map(guide)

/** A controller whose access grants everything that a cell does. The names of its imports are none that a page has. */
const program = (codes: ReadonlyArray<string>) => `
import * as Tables from "effect-controller-manager"
import * as TablesEffect from "effect/Effect"
import * as TablesResult from "effect/Result"
export const definition = TablesResult.getOrThrow(Tables.Crd.make(Team))
export let values: ReadonlyArray<unknown> = []
export const cells = Tables.Controller.make({
  name: "cells",
  for: Team,
  owns: [Tables.Pod, Tables.Secret],
  access: [
    Tables.Access.get(Team), Tables.Access.update(Team), Tables.Access.patch(Team), Tables.Access.patch(Team, "status"),
    Tables.Access.get(Tables.Secret), Tables.Access.list(Tables.Secret), Tables.Access.create(Tables.Secret), Tables.Access.update(Tables.Secret),
    Tables.Access.patch(Tables.Secret), Tables.Access.remove(Tables.Secret), Tables.Access.removeCollection(Tables.Secret), Tables.Access.record
  ],
  reconcileObject: (team, { cache, client, events }) => {
    const key = Tables.Key.of(team)
    values = [
${codes.map((code) => `      ${code}`).join(",\n")},
      cache, client, events, key
    ]
    return TablesEffect.void
  }
})
`

const moduleOf = ({ blocks }: Guide, codes: ReadonlyArray<string>) => [...blocks, program(codes)].join("\n")

/** The exports of a page: those of `program`, and its own. */
interface Page extends Readonly<Record<string, unknown>> {
  readonly cells: Controller.Descriptor
  readonly definition: object
  readonly values: ReadonlyArray<unknown>
}

const blue = "{ apiVersion: example.com/v1alpha1, kind: Team, metadata: { name: blue }, spec: { members: [ann] } }"

describe("docs/from-*.md", () => {
  it("have blocks, tables, flags and output to check", () => {
    for (const { blocks, expressions, flags, name, shown } of guides) {
      assert.isAtLeast(blocks.length, 2, name)
      assert.isAtLeast(expressions.length, 2, name)
      assert.isAtLeast(flags.length, 2, name)
      assert.isAtLeast(shown.length, 1, name)
    }
  })

  it("compile, and would not if a cell were wrong", () => {
    const mistakes = ["Tables.Predicate.generationsChanged", "client.delete(Tables.Pod, { name: 'b' })"]
    const modules = guides.map((page) => [page.name, moduleOf(page, page.expressions)] as const)
    const wrong = guides.slice(0, 1).map((page) => ["wrong", moduleOf(page, mistakes)] as const)
    const { wrong: found = [], ...right } = compile(Object.fromEntries([...modules, ...wrong]))
    assert.deepStrictEqual(right, Object.fromEntries(guides.map(({ name }) => [name, []])))
    assert.lengthOf(found, 2)
    assert.match(found.join("\n"), /'generationsChanged' does not exist[^]*not assignable to parameter/)
  })

  for (const page of guides) {
    it.effect(`${page.name} has a value for every cell of its tables`, () =>
      Effect.gen(function* () {
        const exported = yield* Effect.promise(() => execute<Page>(moduleOf(page, page.expressions)))
        const cluster = yield* ClusterTest
        yield* cluster.apply([exported.definition])
        yield* cluster.run(exported.cells)
        yield* cluster.apply(blue)
        yield* cluster.settle
        assert.lengthOf(exported.values, page.expressions.length + 4)
        assert.notInclude(exported.values, undefined)
      }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
    )

    for (const { lines, name } of page.shown) {
      it.effect.skipIf(name === onEnvtest && !Envtest.available())(
        `${page.name} shows what ${name} returns`,
        () =>
          Effect.gen(function* () {
            const exported = yield* Effect.promise(() => execute<Page>(page.blocks.join("\n")))
            const shown = yield* exported[name] as Effect.Effect<ReadonlyArray<string>, unknown>
            assert.strictEqual(shown.map((line) => `${line}\n`).join(""), lines)
          }),
        { timeout: 120_000 }
      )
    }
  }

  it("name flags and commands that exist", () => {
    const documented = ["operations", "create", "crds-types"].map((name) => read(`docs/${name}.md`)).join("\n")
    const folders = ["src/cli", "src/cli/commands", "src/cli/create"]
    const exists = (command: string) =>
      ["apiserver", "help"].includes(command) ||
      folders.some((folder) => [command, `${command}.ts`].some((path) => existsSync(join(root, folder, path))))
    for (const { commands, flags, name, subcommands } of guides) {
      const missing = [
        ...flags.filter((flag) => !documented.includes(flag)),
        ...commands.filter((command) => !exists(command)),
        ...subcommands.filter((command) => !documented.includes(`\`${command}`))
      ]
      assert.deepStrictEqual(missing, [], name)
    }
  })
})
