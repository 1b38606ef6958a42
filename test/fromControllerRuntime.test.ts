/**
 * docs/from-controller-runtime.md against the package: all its blocks as one module, and the code of its tables inside a reconcile, are compiled with the
 * three public entries. Its flags and commands exist.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Namespace } from "../src/kube/resources.ts"
import { ClusterTest } from "../src/testing/ClusterTest.ts"
import type * as Controller from "../src/layers/Controller.ts"
import { compile, execute } from "./support/userModules.ts"

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

interface Page {
  readonly givesNamespaces: Effect.Effect<Namespace, unknown>
  readonly cells: Controller.Descriptor
  readonly definition: object
  readonly values: ReadonlyArray<unknown>
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
    const { page = [], wrong: mistakes = [] } = compile({ page: module(expressions), wrong: module(wrong) })
    assert.deepStrictEqual(page, [])
    assert.lengthOf(mistakes, 2)
    assert.match(mistakes.join("\n"), /'generationsChanged' does not exist[^]*not assignable to parameter/)
  })

  it.effect("works as described: its controller gives a team a namespace, and every table cell has a value", () =>
    Effect.gen(function* () {
      const page = yield* Effect.promise(() => execute<Page>([...blocks, program(expressions)].join("\n")))
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
