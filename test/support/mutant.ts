/**
 * Seeded mutants: a property that cannot fail proves nothing, so each suite of properties is run against copies of the
 * module under test with one fault written in. The copy is made from the source as it is now; when the text to replace is
 * no longer there exactly once, loading fails, so a mutant can never silently become the original.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..")

export interface Mutation {
  /** What is wrong with the copy, in words: the test's title. */
  readonly title: string
  readonly find: string
  readonly replace: string
}

/** Loads `src/<path>` with one replacement made. */
export const load = async <Module>(path: string, mutation: Mutation): Promise<Module> => {
  const file = join(root, "src", path)
  const source = readFileSync(file, "utf8")
  const count = source.split(mutation.find).length - 1
  if (count !== 1)
    throw new Error(`mutant "${mutation.title}": expected the text once in ${path}, found it ${count} times`)
  const mutated = source
    .replace(mutation.find, () => mutation.replace)
    .replace(/(from\s+")(\.\.?\/[^"]+)(")/g, (_, before, specifier, after) => {
      const target = pathToFileURL(resolve(dirname(file), specifier)).pathname
      return `${before}${target}${after}`
    })
  const folder = join(root, "node_modules", ".mutants")
  mkdirSync(folder, { recursive: true })
  const name = `${path.replace(/\W+/g, "-")}-${mutation.title.replace(/\W+/g, "-")}-${process.pid}.ts`
  const copy = join(folder, name)
  writeFileSync(copy, mutated)
  return (await import(/* @vite-ignore */ copy)) as Module
}
