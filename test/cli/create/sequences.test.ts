/**
 * Any sequence of commands leaves a project in which everything fits together: each import finds its file and its export, no name is imported twice, and
 * `src/main.ts` lists each controller and webhook once. A command that is refused changes nothing. `generated.test.ts` type-checks and runs such projects.
 */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { posix } from "node:path"
import * as Add from "../../../src/cli/create/additions.ts"
import * as Project from "../../../src/cli/create/project/Project.ts"
import * as Source from "../../../src/cli/create/project/source.ts"
import * as Versions from "../../../src/cli/create/versions.ts"
import { runs } from "../../support/runs.ts"
import { checkProperty } from "../../support/property.ts"
import { api, draft, templates } from "./drafts.ts"

/** Few names, so that commands meet; some are invalid. */
const kind = Schema.Literals([
  "BlogPost",
  "Order",
  "Policy",
  "OrderV1",
  "Class",
  "Target",
  "Object",
  "Main",
  "Deployment",
  "order",
  "Effect"
])
const version = Schema.Literals(["v1", "v2", "v1alpha1", "v1beta1", "2"])

const command = Schema.Union([
  Schema.Struct({
    _tag: Schema.tag("api"),
    kind,
    version,
    group: Schema.Literals(["a.example.org", "b.example.org", "b"]),
    isClusterScoped: Schema.Boolean,
    hasController: Schema.Boolean
  }),
  Schema.Struct({ _tag: Schema.tag("version"), kind, version, isStored: Schema.Boolean }),
  Schema.Struct({
    _tag: Schema.tag("webhook"),
    kind,
    type: Schema.Literals(["defaulting", "validating", "conversion"])
  }),
  Schema.Struct({
    _tag: Schema.tag("controller"),
    name: Schema.Literals(["janitor", "order", "a-b", "ab", "Bad"]),
    for: Schema.Union([kind, Schema.Literals(["Pod", "Node"])])
  })
])

type Command = typeof command.Type

const run = (from: Add.Draft, one: Command): Result.Result<Add.Draft, Add.Refusal> => {
  switch (one._tag) {
    case "api":
      return api(from, one.kind, one)
    case "version":
      return Versions.version(from, templates, one)
    case "webhook":
      return one.type === "conversion"
        ? Versions.conversion(from, templates, one.kind)
        : Add.webhook(from, templates, { kind: one.kind, type: one.type })
    case "controller":
      return Add.controller(from, templates, one)
  }
}

/** The exports of a file, by its text. */
const exportsOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^export const (\w+)/gm)].map(([, name = ""]) => name)

const flaws = ({ files }: Add.Draft): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (const [path, text] of files) {
    if (!path.endsWith(".ts")) continue
    const source = Source.read(path, text)
    if (Result.isFailure(source)) return [source.failure.message]
    const imports = Source.imports(source.success)
    const names = imports.flatMap((one) => one.names)
    const declared = [...names, ...[...text.matchAll(/^(?:export )?const (\w+)/gm)].map(([, name = ""]) => name)]
    if (new Set(declared).size < declared.length) found.push(`${path}: a name twice: ${declared.join(", ")}`)
    for (const one of imports.filter(({ specifier }) => specifier.startsWith("."))) {
      const target = files.get(posix.join(posix.dirname(path), one.specifier))
      for (const name of one.names)
        if (target === undefined || !exportsOf(target).includes(name))
          found.push(`${path}: no ${name} in ${one.specifier}`)
    }
    for (const name of names)
      if (text.split(new RegExp(`\\b${name}\\b(?!\\.ts)`)).length < 3) found.push(`${path}: ${name} is not used`)
  }
  const project = Project.read(Array.from(files, ([path, text]) => ({ path, text })))
  if (Result.isFailure(project)) return [project.failure.message]
  const main = files.get("src/main.ts") ?? ""
  const listed = [...files.keys()].flatMap(
    (path) => /^src\/(\w+(?:Controller|Validation|Defaulting|Conversion))\.ts$/.exec(path)?.[1] ?? []
  )
  for (const name of listed)
    if (main.split(new RegExp(`\\b${name}\\b(?!\\.ts)`)).length !== 3)
      found.push(`src/main.ts: ${name} is not imported and listed once`)
  const crds = project.success.kinds.map(({ group, plural }) => `${plural}.${group}`)
  if (new Set(crds).size < crds.length) found.push(`two definitions of one name: ${crds.join(", ")}`)
  return found
}

describe("create", () => {
  checkProperty(
    "any sequence of commands leaves a project that fits together, and a refused one changes nothing",
    Arbitrary.schema(Schema.Array(command).check(Schema.isMinLength(1), Schema.isMaxLength(8))),
    (commands) => {
      let now = draft()
      for (const one of commands) {
        const before = new Map(now.files)
        const made = run(now, one)
        const isSame =
          before.size === now.files.size && [...before].every(([path, text]) => now.files.get(path) === text)
        if (!isSame) throw new Error("a draft was changed in place")
        if (Result.isFailure(made)) {
          const { message } = made.failure
          if (message.includes("\n")) throw new Error(`more than one line: ${message}`)
          continue
        }
        now = made.success
        const wrong = flaws(now)
        if (wrong.length > 0) throw new Error(`${JSON.stringify(one)}: ${wrong.join("; ")}`)
      }
      return true
    },
    { runs: runs(60) }
  )
})
