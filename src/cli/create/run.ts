/** Reads templates and projects, has the changes decided, and writes them: all or none. */
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import { readdir, readFile } from "node:fs/promises"
import { join, relative, resolve, sep } from "node:path"
import { fileURLToPath } from "node:url"
import * as Progress from "../../manager/progress/Progress.ts"
import type { State } from "../../manager/progress/render.ts"
import * as Add from "./additions.ts"
import type { Change } from "./diff.ts"
import * as Names from "./names.ts"
import * as Template from "./template.ts"
import * as Write from "./write.ts"

interface CreateOptions extends Omit<Add.Api, "names" | "hasController"> {
  readonly path: string
  readonly kind: Names.Said
  readonly library: string
  readonly force: boolean
  readonly dryRun: boolean
}

/** Writes a new project, and returns its files. */
export const create = Effect.fnUntraced(function* (
  { dryRun, force, kind, path, ...options }: CreateOptions,
  from: URL
) {
  const templates = yield* templatesIn(from)
  const name = yield* Effect.fromResult(Names.project(path))
  const names = yield* Effect.fromResult(Names.make(name, kind, Template.taken(templates)))
  const there = yield* Write.attempt(path, () => readdir(path).catch((cause: unknown) => Write.ifMissing(cause, [])))
  if (there.length > 0 && !force) {
    return yield* new Write.CreateFailed({
      message: `the folder ${path} is not empty; --force writes into it all the same, and \`create api\` adds a kind to a project`
    })
  }
  const files = Template.project(templates, names, options)
  const clash = clashIn(files)
  if (clash !== undefined)
    return yield* new Names.InvalidNames({ message: `--kind does not take "${kind.kind}": ${clash}` })
  if (!dryRun && there.length > 0) yield* Write.recover(path)
  const changes = yield* Effect.forEach(files, (file) =>
    Effect.map(Write.textOf(join(path, file.path)), (before): Change => ({ ...file, before }))
  )
  if (!dryRun) yield* shown(changes, there.length === 0 ? Write.asProject : Write.inProject, path)
  return changes
})

/** File systems that ignore case have one file for two such names. */
const clashIn = (files: ReadonlyArray<Template.File>): string | undefined => {
  const paths = files.map(({ path }) => path)
  const lower = paths.map((path) => path.toLowerCase())
  const index = lower.findIndex((path, at) => lower.indexOf(path) !== at)
  return index === -1
    ? undefined
    : `${paths[index]} and ${paths[lower.indexOf(lower[index] ?? "")]} differ only in case`
}

interface AddOptions {
  readonly project: string
  readonly force: boolean
  readonly dryRun: boolean
}

/** Adds to a project what a plan decides, and returns the changes. */
export const add = Effect.fnUntraced(function* (
  { dryRun, force, project }: AddOptions,
  from: URL,
  plan: (draft: Add.Draft, templates: Template.Templates) => Result.Result<Add.Draft, Add.Refusal>
) {
  if (dryRun && (yield* Write.isUnfinished(project))) {
    return yield* new Write.CreateFailed({
      message: `an earlier create in ${project} did not end, and the next one undoes its changes: run one without --dry-run first`
    })
  }
  const templates = yield* templatesIn(from)
  const isRecovered = dryRun ? false : yield* Write.recover(project)
  const files = yield* projectIn(project)
  const { changes } = yield* Effect.fromResult(plan(new Add.Draft({ files, isForced: force }), templates))
  if (!dryRun) yield* shown(changes, Write.inProject, project)
  return { changes, isRecovered }
})

const shown = (changes: ReadonlyArray<Change>, write: typeof Write.inProject, folder: string) =>
  Effect.suspend(() => {
    let state: State = { verb: "Wrote", done: 0, total: changes.length, unit: "files", detail: "" }
    return Progress.during(
      Effect.sync(() => state),
      write(resolve(folder), changes, (detail, done) => void (state = { ...state, done, detail }))
    )
  })

const templatesIn = Effect.fnUntraced(function* (from: URL) {
  const root = fileURLToPath(from)
  const all = yield* filesIn(root, () => true)
  if (all.length === 0) return yield* new Write.CreateFailed({ message: `cannot use ${root}: there is no such folder` })
  const folders = new Map<string, Array<Template.File>>()
  for (const { path, text } of all) {
    const [folder = "", ...rest] = path.split("/")
    const own = folders.get(folder) ?? []
    own.push({ path: rest.join("/"), text })
    folders.set(folder, own)
  }
  return folders
})

/** More is no project that a person has written. */
const most = 5_000

/** package.json, and the TypeScript of `src` and `test`. */
const projectIn = Effect.fnUntraced(function* (folder: string) {
  const manifest = yield* Write.textOf(join(folder, "package.json"))
  const sources = yield* Effect.forEach(["src", "test"], (name) =>
    Effect.map(
      filesIn(join(folder, name), (path) => path.endsWith(".ts")),
      (all) => all.map(({ path, text }) => [`${name}/${path}`, text] as const)
    )
  )
  return new Map([...(manifest === undefined ? [] : [["package.json", manifest] as const]), ...sources.flat()])
})

/** The files of a folder, without packages installed in it, in the order of their paths; none if it is missing. */
const filesIn = Effect.fnUntraced(function* (folder: string, isWanted: (path: string) => boolean) {
  const entries = yield* Write.attempt(folder, () =>
    readdir(folder, { recursive: true, withFileTypes: true }).catch((cause: unknown) => Write.ifMissing(cause, []))
  )
  const paths = entries
    .filter((entry) => entry.isFile() && !relative(folder, entry.parentPath).split(sep).includes("node_modules"))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(isWanted)
  if (paths.length > most)
    return yield* new Write.CreateFailed({ message: `cannot use ${folder}: it has more than ${most} files` })
  return yield* Effect.forEach(paths.sort(), (path) =>
    Effect.map(
      Write.attempt(path, () => readFile(path, "utf8")),
      (text): Template.File => ({ path: relative(folder, path).split(sep).join("/"), text })
    )
  )
})
