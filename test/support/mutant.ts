/**
 * Seeded mutants: a property that cannot fail proves nothing, so each suite of properties is run against copies of the
 * module under test with one fault written in. The copy is made from the source as it is now; when the text to replace is
 * no longer there exactly once, loading fails, so a mutant can never silently become the original.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..")

export interface Mutation {
  /** What is wrong with the copy, in words: the test's title. */
  readonly title: string
  readonly find: string
  readonly replace: string
}

/** A replacement in one file, below `src`. */
export interface Edit {
  readonly path: string
  readonly find: string
  readonly replace: string
}

/** Loads `src/<path>` with one replacement made. */
export const load = <Module>(path: string, mutation: Mutation): Promise<Module> => loadThrough(path, path, mutation)

/** Loads `src/<entry>` as it would be with one replacement made in `src/<path>`: every module between the two is a copy. */
export const loadThrough = <Module>(entry: string, path: string, mutation: Mutation): Promise<Module> =>
  loadEdited(entry, mutation.title, [{ path, find: mutation.find, replace: mutation.replace }])

/** Loads `src/<entry>` as it would be with all these replacements made, each in a file that the entry leads to. */
export const loadEdited = async <Module>(entry: string, title: string, edits: ReadonlyArray<Edit>): Promise<Module> => {
  const sources = new Map<string, string>()
  for (const { find, path, replace } of edits) {
    const file = join(root, "src", path)
    const source = sources.get(file) ?? readFileSync(file, "utf8")
    const count = source.split(find).length - 1
    if (count !== 1) throw new Error(`mutant "${title}": expected the text once in ${path}, found it ${count} times`)
    sources.set(
      file,
      source.replace(find, () => replace)
    )
  }
  const copied = between(join(root, "src", entry), new Set(sources.keys()))
  for (const file of sources.keys())
    if (!copied.has(file)) throw new Error(`mutant "${title}": ${entry} does not lead to ${relative(root, file)}`)
  const folder = join(root, "node_modules", ".mutants")
  mkdirSync(folder, { recursive: true })
  const copyOf = (file: string) =>
    join(folder, `${relative(root, file).replace(/\W+/g, "-")}-${title.replace(/\W+/g, "-")}-${process.pid}.ts`)
  for (const file of copied) {
    const text = sources.get(file) ?? readFileSync(file, "utf8")
    const linked = text.replace(imports, (_, before, specifier, after) => {
      const imported = resolve(dirname(file), specifier)
      return `${before}${pathToFileURL(copied.has(imported) ? copyOf(imported) : imported).pathname}${after}`
    })
    writeFileSync(copyOf(file), linked)
  }
  return (await import(/* @vite-ignore */ copyOf(join(root, "src", entry)))) as Module
}

const imports = /(from\s+")(\.\.?\/[^"]+)(")/g

/** The modules on a way of imports from one to any of the others, those included; nothing if there is no way. */
const between = (entry: string, targets: ReadonlySet<string>): ReadonlySet<string> => {
  const leads = new Map<string, boolean>()
  const visit = (file: string): boolean => {
    const known = leads.get(file)
    if (known !== undefined) return known
    // Types may import each other in circles; the way back leads nowhere new.
    leads.set(file, targets.has(file))
    let found = targets.has(file)
    for (const [, , specifier = ""] of readFileSync(file, "utf8").matchAll(imports)) {
      if (visit(resolve(dirname(file), specifier))) found = true
    }
    leads.set(file, found)
    return found
  }
  visit(entry)
  return new Set([...leads].filter(([, is]) => is).map(([file]) => file))
}
