/** Programs built for one test: an entry and everything that it imports, as one file that Node runs. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import * as Process from "./process.ts"

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..")

/** Bundles `entry`, a path below the repository's root, and returns the path of the bundle, which exists until the scope closes. */
export const make = (entry: string): Effect.Effect<string, never, Scope.Scope> =>
  Effect.flatMap(Process.folder, (folder) => Effect.promise(() => write(entry, folder)))

const write = async (entry: string, folder: string): Promise<string> => {
  // With it, examples find the package by its name.
  const tsconfig = join(root, "examples/tsconfig.json")
  const bundle = await rolldown({ input: { main: join(root, entry) }, tsconfig, platform: "node", logLevel: "silent" })
  await bundle.write({ dir: folder, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" })
  await bundle.close()
  return join(folder, "main.mjs")
}
