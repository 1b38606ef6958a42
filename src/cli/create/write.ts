/**
 * Writes changes of several files so that a project is never half changed. In a project, the new and the old texts are first stored in a journal
 * beside the sources; then each file is replaced by a rename. After a failure the old texts are restored at once; after a kill, by the next `create`.
 * A new project is written into a folder beside its own, which gets its name at the end.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as NodeFiles from "node:fs/promises"
import { basename, dirname, join, sep } from "node:path"
import type { Change } from "./diff.ts"

/** A folder or file cannot be read or written; the message names it and the reason. */
export class CreateFailed extends Data.TaggedError("CreateFailed")<{ readonly message: string }> {}

/** The functions of `node:fs/promises` that change files, so that a test can stop at each of them. */
export interface Files {
  readonly mkdir: (path: string) => Promise<unknown>
  readonly writeFile: (path: string, text: string) => Promise<void>
  readonly rename: (from: string, to: string) => Promise<void>
  readonly remove: (path: string) => Promise<void>
  readonly removeEmpty: (path: string) => Promise<void>
}

/** Texts are on the disk before the next step begins. */
export const files: Files = {
  mkdir: (path) => NodeFiles.mkdir(path, { recursive: true }),
  writeFile: (path, text) => NodeFiles.writeFile(path, text, { flush: true }),
  rename: NodeFiles.rename,
  remove: (path) => NodeFiles.rm(path, { recursive: true, force: true }),
  removeEmpty: NodeFiles.rmdir
}

export const attempt = <A>(path: string, work: () => Promise<A>) =>
  Effect.tryPromise({
    try: work,
    catch: (cause) =>
      new CreateFailed({ message: `cannot use ${path}: ${cause instanceof Error ? cause.message : String(cause)}` })
  })

/** The text of a file; undefined if there is none. */
export const textOf = (path: string) =>
  attempt(path, () => NodeFiles.readFile(path, "utf8").catch((cause: unknown) => ifMissing(cause, undefined)))

const isMissing = (path: string) =>
  attempt(path, () =>
    NodeFiles.stat(path).then(
      () => false,
      (cause: unknown) => ifMissing(cause, true)
    )
  )

/** What stands for a missing file or folder. */
export const ifMissing = <A>(cause: unknown, value: A): A => {
  if ((cause as { readonly code?: unknown }).code === "ENOENT") return value
  throw cause
}

/** The journal of an unfinished `create`, its beginning, and its end. */
const journal = ".create-journal"
const [beginning, ending] = [`${journal}.new`, `${journal}.done`]

/** A file of the journal by its index: the old or new text. */
const entry = (index: number, which: "old" | "new" | "next"): string => `${index}.${which}`

interface Listed {
  readonly files: ReadonlyArray<{ readonly path: string; readonly isNew: boolean }>
  /** Those that did not exist, the innermost first. */
  readonly folders: ReadonlyArray<string>
}

/** Whether an unfinished `create` has left a journal. */
export const isUnfinished = (folder: string) =>
  Effect.map(textOf(join(folder, journal, "changes.json")), (text) => text !== undefined)

/** Undoes an unfinished `create`. A file that was changed since then stays as it is. Returns whether there was one. */
export const recover = Effect.fnUntraced(function* (folder: string, fs = files) {
  for (const rest of [beginning, ending]) yield* attempt(join(folder, rest), () => fs.remove(join(folder, rest)))
  const list = yield* textOf(join(folder, journal, "changes.json"))
  if (list === undefined) return false
  yield* undo(folder, yield* listed(folder, list), fs)
  return true
})

const listed = Effect.fnUntraced(function* (folder: string, text: string) {
  const all: Listed = yield* attempt(join(folder, journal), async () => JSON.parse(text))
  const isInside = (path: unknown) => typeof path === "string" && !/^\/|(^|\/)\.\.(\/|$)/.test(path)
  const isWhole = Array.isArray(all.files) && Array.isArray(all.folders)
  return isWhole && [...all.folders, ...all.files.map(({ path }) => path)].every(isInside)
    ? all
    : yield* new CreateFailed({
        message: `cannot use ${join(folder, journal)}: it is damaged; remove it, and compare the project with what it has`
      })
})

const undo = Effect.fnUntraced(function* (folder: string, all: Listed, fs: Files) {
  for (const [index, { isNew, path }] of all.files.entries()) {
    const target = pathOf(folder, path)
    const now = yield* textOf(target)
    if (now === undefined || now !== (yield* textOf(join(folder, journal, entry(index, "new"))))) continue
    if (isNew) yield* attempt(target, () => fs.remove(target))
    else yield* attempt(target, () => fs.rename(join(folder, journal, entry(index, "old")), target))
  }
  for (const path of all.folders) {
    // One that has other files stays.
    yield* Effect.ignore(attempt(path, () => fs.removeEmpty(pathOf(folder, path))))
  }
  yield* finish(folder, fs)
})

/** From here on the journal does not count. */
const finish = (folder: string, fs: Files) =>
  attempt(join(folder, journal), async () => {
    await fs.rename(join(folder, journal), join(folder, ending))
    await fs.remove(join(folder, ending))
  })

const pathOf = (folder: string, path: string): string => join(folder, path.split("/").join(sep))

/** The folders of files, the innermost first. */
const foldersOf = (paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(paths.flatMap((path) => path.split("/").map((_, index, parts) => parts.slice(0, index).join("/"))))]
    .filter((path) => path !== "")
    .sort((a, b) => b.length - a.length)

/** Changes a project: all files or none. `onNext` is called before each file. */
export const inProject = Effect.fnUntraced(function* (
  folder: string,
  changes: ReadonlyArray<Change>,
  onNext: (path: string, done: number) => void,
  fs = files
) {
  const [begun, at] = [join(folder, beginning), join(folder, journal)]
  const folders = yield* Effect.filter(foldersOf(changes.map(({ path }) => path)), (path) =>
    isMissing(pathOf(folder, path))
  )
  const all: Listed = { folders, files: changes.map(({ before, path }) => ({ path, isNew: before === undefined })) }
  const begin = Effect.forEach(changes, ({ before, text }, index) =>
    attempt(begun, async () => {
      await fs.writeFile(join(begun, entry(index, "new")), text)
      await fs.writeFile(join(begun, entry(index, "next")), text)
      if (before !== undefined) await fs.writeFile(join(begun, entry(index, "old")), before)
    })
  )
  const put = Effect.forEach(changes, ({ path }, index) => {
    const target = pathOf(folder, path)
    onNext(target, index)
    return attempt(target, async () => {
      await fs.mkdir(dirname(target))
      await fs.rename(join(at, entry(index, "next")), target)
    })
  })
  yield* attempt(begun, () => fs.mkdir(begun)).pipe(
    Effect.andThen(begin),
    Effect.andThen(attempt(begun, () => fs.writeFile(join(begun, "changes.json"), JSON.stringify(all)))),
    Effect.andThen(attempt(at, () => fs.rename(begun, at))),
    Effect.tapError(() => Effect.ignore(attempt(begun, () => fs.remove(begun))))
  )
  yield* put.pipe(Effect.tapError(() => undo(folder, all, fs)))
  yield* finish(folder, fs)
}, Effect.uninterruptible)

/** Writes a new project into a folder that is missing or empty. */
export const asProject = Effect.fnUntraced(function* (
  folder: string,
  changes: ReadonlyArray<Change>,
  onNext: (path: string, done: number) => void,
  fs = files
) {
  const beside = join(dirname(folder), `.${basename(folder)}.create`)
  const all = Effect.forEach(changes, ({ path, text }, index) => {
    const target = pathOf(beside, path)
    onNext(pathOf(folder, path), index)
    return attempt(target, async () => {
      await fs.mkdir(dirname(target))
      await fs.writeFile(target, text)
    })
  })
  yield* attempt(beside, () => fs.remove(beside))
  yield* all.pipe(
    Effect.andThen(
      attempt(folder, async () => {
        // A folder can only get the name of another where that does not exist.
        await fs.removeEmpty(folder).catch((cause: unknown) => ifMissing(cause, undefined))
        await fs.rename(beside, folder)
      })
    ),
    Effect.tapError(() => Effect.ignore(attempt(beside, () => fs.remove(beside))))
  )
}, Effect.uninterruptible)
