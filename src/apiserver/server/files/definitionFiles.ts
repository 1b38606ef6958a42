/**
 * Reads CustomResourceDefinitions from the files of a folder: YAML and JSON, several documents per file, in the order of file names.
 * Other manifests are rejected, because they would not be applied. Platform edge.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { parseAllDocuments } from "yaml"

/** The files cannot be read, or contain other objects; the message names the file and the cause. */
export class DefinitionFileError extends Data.TaggedError("DefinitionFileError")<{ readonly message: string }> {}

const error = (message: string) => new DefinitionFileError({ message })

const reason = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

export const read = (folder: string): Effect.Effect<ReadonlyArray<object>, DefinitionFileError> =>
  Effect.gen(function* () {
    const names = yield* Effect.tryPromise({
      try: () => readdir(folder),
      catch: (cause) => error(`cannot read the definitions in ${folder}: ${reason(cause)}`)
    })
    const files = names.filter((name) => /\.(ya?ml|json)$/.test(name)).sort()
    const found = yield* Effect.forEach(files, (name) => readOne(join(folder, name)))
    return found.flat()
  })

const readOne = Effect.fnUntraced(function* (path: string) {
  const text = yield* Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) => error(`cannot read ${path}: ${reason(cause)}`)
  })
  const parsed = parseAllDocuments(text, { logLevel: "silent", prettyErrors: false })
  const documents = Array.isArray(parsed) ? parsed : []
  const definitions: Array<object> = []
  for (const [index, document] of documents.entries()) {
    const [wrong] = document.errors
    if (wrong !== undefined) return yield* error(`document ${index + 1} of ${path} cannot be read: ${wrong.message}`)
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    if (value === null) continue
    if (typeof value !== "object" || !("kind" in value) || value.kind !== "CustomResourceDefinition") {
      return yield* error(`document ${index + 1} of ${path} is no CustomResourceDefinition`)
    }
    definitions.push(value)
  }
  return definitions
})
