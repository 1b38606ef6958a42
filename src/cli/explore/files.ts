/** Finds the files with explorations of a project, and what of the project is needed to load them. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join, relative, sep } from "node:path"
import process from "node:process"
import { pathToFileURL } from "node:url"

/** What the user has to change: a file, or what is asked for. */
export class InvalidExplorations extends Data.TaggedError("InvalidExplorations")<{ readonly message: string }> {}

/** A file that exports explorations. */
export interface File {
  /** Relative to the project, with slashes. */
  readonly path: string
  readonly url: string
}

const skipped = new Set(["node_modules", "dist"])

const pattern = /\.explore\.(?:ts|mts|js|mjs)$/

/** All files `*.explore.ts` of a project, in order; links are not followed. */
export const find = (project: string): Effect.Effect<ReadonlyArray<File>, InvalidExplorations> =>
  Effect.tryPromise({
    try: () => filesIn(project),
    catch: (cause) =>
      new InvalidExplorations({
        message: `cannot read ${project}: ${cause instanceof Error ? cause.message : String(cause)}`
      })
  }).pipe(
    Effect.map((paths) =>
      paths
        .map((path) => ({ path: relative(project, path).replaceAll(sep, "/"), url: pathToFileURL(path).href }))
        .sort((a, b) => (a.path < b.path ? -1 : 1))
    )
  )

const filesIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  const entries = await readdir(folder, { withFileTypes: true })
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return skipped.has(entry.name) || entry.name.startsWith(".") ? [] : filesIn(path)
      return entry.isFile() && pattern.test(entry.name) ? [path] : []
    })
  )
  return found.flat()
}

/** Node loads TypeScript by itself since 22.18 and 23.6. */
const doesNodeLoadTypeScript = (): boolean =>
  "typescript" in process.features && process.features.typescript !== false && process.features.typescript !== undefined

/**
 * The module that makes Node load TypeScript: tsx, if the project has it and Node needs it. Fails if it is missing, and one of the files is TypeScript.
 */
export const loaderFor = (
  project: string,
  files: ReadonlyArray<File>
): Effect.Effect<string | undefined, InvalidExplorations> =>
  Effect.suspend(() => {
    if (doesNodeLoadTypeScript()) return Effect.undefined
    try {
      return Effect.succeed(apiOf(createRequire(join(project, "package.json")).resolve("tsx/package.json")))
    } catch {
      const first = files.find(({ path }) => path.endsWith("ts"))
      if (first === undefined) return Effect.undefined
      const message = `cannot load ${first.path}: Node ${process.versions.node} does not load TypeScript; install tsx in the project (npm install --save-dev tsx), or use Node 22.18 or newer`
      return Effect.fail(new InvalidExplorations({ message }))
    }
  })

/** The module that `import "tsx/esm/api"` of the project loads. Node 20 has no function that resolves it for another file. */
const apiOf = (manifest: string): string => {
  const { exports } = JSON.parse(readFileSync(manifest, "utf8")) as {
    readonly exports: { readonly "./esm/api": { readonly import: { readonly default: string } } }
  }
  return pathToFileURL(join(dirname(manifest), exports["./esm/api"].import.default)).href
}
