/**
 * Modules of users of the package, from texts: they are compiled in one program, or executed, with the sources of the entries in the place of the
 * package. The folder of a text is removed when it has been read.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { API } from "typescript/unstable/sync"

const root = fileURLToPath(new URL("../..", import.meta.url))

const entries: Readonly<Record<string, string>> = {
  "effect-controller-manager": join(root, "src/index.ts"),
  "effect-controller-manager/node": join(root, "src/node.ts"),
  "effect-controller-manager/testing": join(root, "src/testing.ts"),
  "effect-controller-manager/testing/envtest": join(root, "src/envtest.ts")
}

/** In a new folder in which the packages of this project are found. A name may have folders: `src/Team`. */
const inFolder = <A>(modules: Readonly<Record<string, string>>, use: (folder: string) => A): A => {
  const documents = join(root, "node_modules/.documents")
  mkdirSync(documents, { recursive: true })
  const folder = mkdtempSync(join(documents, "modules-"))
  for (const [name, text] of Object.entries(modules)) {
    const file = join(folder, `${name}.ts`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  const remove = () => rmSync(folder, { recursive: true })
  try {
    const result = use(folder)
    if (result instanceof Promise) return result.finally(remove) as A
    remove()
    return result
  } catch (error) {
    remove()
    throw error
  }
}

/** The first lines of the compiler's messages about each module. */
export const compile = (modules: Readonly<Record<string, string>>): Readonly<Record<string, ReadonlyArray<string>>> =>
  inFolder(modules, (folder) => {
    const config = join(folder, "tsconfig.json")
    const paths = Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, [file]]))
    const compilerOptions = { noUnusedLocals: false, paths }
    writeFileSync(
      config,
      JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include: ["**/*.ts"] })
    )
    const api = new API({ cwd: folder })
    try {
      const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects()
      const messages = (name: string) => {
        const file = join(folder, `${name}.ts`)
        const { program } = project!
        return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
          ({ text }) => text
        )
      }
      return Object.fromEntries(Object.keys(modules).map((name) => [name, messages(name)]))
    } finally {
      api.close()
    }
  })

/** With the sources of the entries in the place of the package. */
const resolved = (text: string): string =>
  text.replace(/(?<=from )"([^"]+)"/g, (_, name: string) => JSON.stringify(entries[name] ?? name))

/** Executes one of several modules, which import one another by paths, to its end, and returns its exports. */
export const executeOf = <A>(modules: Readonly<Record<string, string>>, name: string): Promise<A> =>
  inFolder(
    Object.fromEntries(Object.entries(modules).map(([path, text]) => [path, resolved(text)])),
    (folder) => import(/* @vite-ignore */ join(folder, `${name}.ts`)) as Promise<A>
  )

/** Executes a module to its end, and returns its exports. */
export const execute = <A>(text: string): Promise<A> => executeOf({ main: text }, "main")
