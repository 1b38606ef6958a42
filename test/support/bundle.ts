/**
 * Programs made for one test: an entry and all that it leads to as one file that Node runs, with edits made on the way. A copy of the
 * program with one safety device taken out shows what the device is for. As with mutants, a text that is no longer
 * there exactly once is an error, so that a variant can never silently be the original.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import type { Edit } from "./mutant.ts"
import * as Process from "./process.ts"

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..")

/** The path of the program that `entry`, a path below the repository's root, becomes. It is there while the scope is open. */
export const make = (entry: string, edits: ReadonlyArray<Edit> = []): Effect.Effect<string, never, Scope.Scope> =>
  Effect.flatMap(Process.folder, (folder) => Effect.promise(() => write(entry, edits, folder)))

const write = async (entry: string, edits: ReadonlyArray<Edit>, folder: string): Promise<string> => {
  const made = new Set<Edit>()
  const bundle = await rolldown({
    input: { main: join(root, entry) },
    platform: "node",
    logLevel: "silent",
    plugins: [{ name: "edits", transform: (code, id) => edited(code, relative(join(root, "src"), id), edits, made) }]
  })
  await bundle.write({ dir: folder, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" })
  await bundle.close()
  for (const edit of edits) if (!made.has(edit)) throw new Error(`${entry} does not lead to ${edit.path}`)
  return join(folder, "main.mjs")
}

const edited = (code: string, path: string, edits: ReadonlyArray<Edit>, made: Set<Edit>): string => {
  let text = code
  for (const edit of edits) {
    if (edit.path !== path) continue
    const count = text.split(edit.find).length - 1
    if (count !== 1) throw new Error(`expected the text once in ${path}, found it ${count} times: ${edit.find}`)
    text = text.replace(edit.find, () => edit.replace)
    made.add(edit)
  }
  return text
}
