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

/** Loads `src/<path>` with one replacement made. */
export const load = <Module>(path: string, mutation: Mutation): Promise<Module> => loadThrough(path, path, mutation)

/** Loads `src/<entry>` as it would be with one replacement made in `src/<path>`: every module between the two is a copy. */
export const loadThrough = async <Module>(entry: string, path: string, mutation: Mutation): Promise<Module> => {
  const target = join(root, "src", path)
  const count = readFileSync(target, "utf8").split(mutation.find).length - 1
  if (count !== 1)
    throw new Error(`mutant "${mutation.title}": expected the text once in ${path}, found it ${count} times`)
  const copied = between(join(root, "src", entry), target)
  if (!copied.has(target)) throw new Error(`mutant "${mutation.title}": ${entry} does not lead to ${path}`)
  const folder = join(root, "node_modules", ".mutants")
  mkdirSync(folder, { recursive: true })
  const copyOf = (file: string) =>
    join(
      folder,
      `${relative(root, file).replace(/\W+/g, "-")}-${mutation.title.replace(/\W+/g, "-")}-${process.pid}.ts`
    )
  for (const file of copied) {
    const source = readFileSync(file, "utf8")
    const text = file === target ? source.replace(mutation.find, () => mutation.replace) : source
    const linked = text.replace(imports, (_, before, specifier, after) => {
      const imported = resolve(dirname(file), specifier)
      return `${before}${pathToFileURL(copied.has(imported) ? copyOf(imported) : imported).pathname}${after}`
    })
    writeFileSync(copyOf(file), linked)
  }
  return (await import(/* @vite-ignore */ copyOf(join(root, "src", entry)))) as Module
}

const imports = /(from\s+")(\.\.?\/[^"]+)(")/g

/** The modules on a way of imports from one to the other, both included; nothing if there is no way. */
const between = (entry: string, target: string): ReadonlySet<string> => {
  const leads = new Map<string, boolean>([[target, true]])
  const visit = (file: string): boolean => {
    const known = leads.get(file)
    if (known !== undefined) return known
    // Types may import each other in circles; the way back leads nowhere new.
    leads.set(file, false)
    let found = false
    for (const [, , specifier = ""] of readFileSync(file, "utf8").matchAll(imports)) {
      if (visit(resolve(dirname(file), specifier))) found = true
    }
    leads.set(file, found)
    return found
  }
  visit(entry)
  return new Set([...leads].filter(([, is]) => is).map(([file]) => file))
}
