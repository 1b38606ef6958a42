/**
 * `create`: writes a new operator into a folder, from the template that is part of the package. All input is validated before the first file is
 * written. It does not install dependencies and does not prompt.
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"
import type { Host } from "../../manager/process/Host.ts"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import * as Progress from "../../manager/progress/Progress.ts"
import type { State } from "../../manager/progress/render.ts"
import * as Flags from "../../manager/setting/flags.ts"
import * as Sources from "../../manager/setting/sources.ts"
import { version } from "../../version.ts"
import * as Names from "./names.ts"
import * as Template from "./template.ts"

/** The folder cannot be written to, or the template cannot be read; the message names it and the reason. */
export class CreateFailed extends Data.TaggedError("CreateFailed")<{ readonly message: string }> {}

const declared = { env: false, group: "command" } as const

export const settings = {
  group: Setting.optional(Codecs.text("domain"), {
    ...declared,
    name: "group",
    description: "API group of the kind, a domain that you own: apps.example.com"
  }),
  kind: Setting.optional(Codecs.text("word"), {
    ...declared,
    name: "kind",
    description: "The kind that the operator is for: BlogPost"
  }),
  plural: Setting.optional(Codecs.text("word"), {
    ...declared,
    name: "plural",
    description: "Its plural in lower case; default is the English plural"
  }),
  library: Setting.make(Codecs.text("specifier"), {
    ...declared,
    name: "library",
    description: "Version of this package that the project depends on, or a file:…tgz",
    default: `^${version}`
  }),
  force: Setting.make(Codecs.boolean, {
    ...declared,
    name: "force",
    description: "Write into the folder even if it is not empty; files of the same names are replaced",
    default: "false"
  })
}

/** `template`: the folder of the template. */
export const command = (host: Host, template: URL) =>
  Command.make(
    "create",
    { path: Argument.String("folder"), flags: Flags.of(settings) },
    Effect.fnUntraced(function* ({ flags, path }) {
      const sources = { flags: Flags.given(flags), env: {} }
      const { values } = yield* Effect.fromResult(Sources.resolve(settings, sources))
      const files = yield* create({ ...values, path }, template)
      const said = files.map((file) => join(path, file))
      host.stdout.write(`${said.join("\n")}\n\nNext: cd ${path} && npm install && npm test && npm run build\n`)
    })
  ).pipe(Command.withDescription("Writes a new operator into a folder: a kind, its controller, a test, a Dockerfile"))

interface CreateOptions extends Setting.Values<typeof settings> {
  readonly path: string
}

/** Returns the paths of the written files, relative to the folder. */
export const create = Effect.fnUntraced(function* ({ force, library, path, ...wanted }: CreateOptions, template: URL) {
  const files = yield* read(fileURLToPath(template))
  const group = yield* needed(wanted.group, "--group", "the API group of the kind, a domain like apps.example.com")
  const kind = yield* needed(wanted.kind, "--kind", "the kind that the operator is for, a word like BlogPost")
  const plural = Option.getOrUndefined(wanted.plural)
  const names = yield* Effect.fromResult(Names.make({ path, group, kind, plural }, Template.taken(files)))
  const there = yield* attempt(path, () => readdir(path).catch(ifMissing))
  if (there.length > 0 && !force) {
    return yield* new CreateFailed({ message: `the folder ${path} is not empty; --force writes into it all the same` })
  }
  const filled = Template.fill(files, names, library)
  let state: State = { verb: "Wrote", done: 0, total: filled.length, unit: "files", detail: "" }
  const writing = Effect.forEach(
    filled,
    (file, done) => {
      const target = join(path, file.path)
      state = { ...state, done, detail: target }
      return attempt(target, async () => {
        await mkdir(dirname(target), { recursive: true })
        await writeFile(target, file.text)
      })
    },
    { discard: true }
  )
  yield* Progress.during(
    Effect.sync(() => state),
    writing
  )
  return filled.map((file) => file.path)
})

const needed = (value: Option.Option<string>, flag: string, what: string) =>
  Option.isSome(value)
    ? Effect.succeed(value.value)
    : Effect.fail(new Sources.SettingError({ message: `${flag} is missing: ${what}` }))

const read = Effect.fnUntraced(function* (folder: string) {
  const entries = yield* attempt(folder, () => readdir(folder, { recursive: true, withFileTypes: true }))
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return yield* Effect.forEach(paths.sort(), (path) =>
    Effect.map(
      attempt(path, () => readFile(path, "utf8")),
      (text): Template.File => ({ path: relative(folder, path).split(sep).join("/"), text })
    )
  )
})

/** A missing folder counts as empty. */
const ifMissing = (cause: unknown): ReadonlyArray<string> => {
  if ((cause as { readonly code?: unknown }).code === "ENOENT") return []
  throw cause
}

const attempt = <A>(path: string, work: () => Promise<A>) =>
  Effect.tryPromise({
    try: work,
    catch: (cause) =>
      new CreateFailed({ message: `cannot use ${path}: ${cause instanceof Error ? cause.message : String(cause)}` })
  })
