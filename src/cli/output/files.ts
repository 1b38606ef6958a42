/** Writes objects as YAML: to standard output, or into files of a directory, whose paths are printed. Other texts are written in the same way. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { mkdir, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { File } from "../../manager/manifests/objects.ts"
import type { Host } from "../../manager/process/Host.ts"

/** A file could not be written; the message names it and the reason. */
export class WriteFailed extends Data.TaggedError("WriteFailed")<{ readonly message: string }> {}

export interface Output {
  readonly documents: ReadonlyArray<object>
  /** The files, if the output is a directory. */
  readonly files: ReadonlyArray<File>
}

export const write = Effect.fnUntraced(function* (
  host: Host,
  out: Option.Option<string>,
  { documents, files }: Output
) {
  const { stringify } = yield* Effect.promise(() => import("yaml"))
  const text = (all: ReadonlyArray<object>): string =>
    all.map((one) => stringify(one, { aliasDuplicateObjects: false })).join("---\n")
  if (Option.isNone(out)) return void host.stdout.write(text(documents))
  yield* writeTexts(
    host,
    out.value,
    files.map(({ documents: all, name }) => ({ name, text: text(all) }))
  )
})

/** Replaces each file as a whole: an interrupted command leaves no half of one. */
export const writeTexts = Effect.fnUntraced(function* (
  host: Host,
  directory: string,
  texts: ReadonlyArray<{ readonly name: string; readonly text: string }>
) {
  yield* attempt(directory, () => mkdir(directory, { recursive: true }))
  for (const { name, text } of texts) {
    const path = join(directory, name)
    yield* attempt(path, () => replace(path, text))
    host.stdout.write(`${path}\n`)
  }
})

const replace = async (path: string, text: string): Promise<void> => {
  const partial = `${path}.partial`
  await writeFile(partial, text)
  await rename(partial, path)
}

const attempt = (path: string, write: () => Promise<unknown>) =>
  Effect.tryPromise({
    try: write,
    catch: (cause) =>
      new WriteFailed({ message: `cannot write ${path}: ${cause instanceof Error ? cause.message : String(cause)}` })
  })
