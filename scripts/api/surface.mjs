/**
 * The public surface of a package, as its users get it: the declarations that `tsc` emits for the types of its `exports`, read with TypeScript's own API. A
 * page is a source module with public symbols; a folder beside a module of its name is part of that module. It has the module's first comment, the ways to import it, and its public symbols in the order of the
 * source, each with its doc comment, its declarations and its fields.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import process from "node:process"
import { API, SymbolFlags } from "typescript/unstable/sync"
import { namedShapes, openingOf, symbolOf } from "./declarations.mjs"
import { folder } from "../run.mjs"

/** The declarations of a project, in a new folder in which its packages are found. */
const emitted = (root) => {
  const path = folder("api")
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  const options = [
    "--noCheck",
    "--noEmitOnError",
    "false",
    "--emitDeclarationOnly",
    "--declarationMap",
    "false",
    "--sourceMap",
    "false"
  ]
  mkdirSync(join(path, "dist"))
  // The build of the project reports its errors; here only the declarations matter.
  const { stderr, stdout } = spawnSync(
    process.execPath,
    [tsc, "-p", "tsconfig.build.json", "--outDir", join(path, "dist"), ...options],
    { cwd: root, encoding: "utf8" }
  )
  if (readdirSync(join(path, "dist")).length === 0) throw new Error(`tsc wrote no declarations:\n${stdout}${stderr}`)
  symlinkSync(join(root, "node_modules"), join(path, "node_modules"))
  const { compilerOptions } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"))
  const { plugins: _, ...kept } = compilerOptions
  writeFileSync(join(path, "tsconfig.json"), JSON.stringify({ compilerOptions: kept, include: ["dist"] }))
  return path
}

/** The entry that promises nothing. */
const internal = "./internals"

/** `.` and `./node`, each with the file of its types. */
const entriesOf = (root) => {
  const { exports, name } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  return Object.entries(exports)
    .filter(([, target]) => target.types !== undefined)
    .map(([path, { types }]) => ({ path, specifier: join(name, path), types }))
}

const isAlias = (symbol) => (symbol.flags & SymbolFlags.Alias) !== 0
const isModule = (symbol) => (symbol.flags & SymbolFlags.ValueModule) !== 0

/**
 * The pages of the exports of the project in a folder; `specifiers` are its entries. The entry that promises nothing is apart: `internals` are
 * its pages, `internalSpecifier` its name.
 */
export const surface = (root) => {
  const path = emitted(root)
  const api = new API({ cwd: path })
  try {
    const snapshot = api.updateSnapshot({ openProjects: [join(path, "tsconfig.json")] })
    const [project] = snapshot.getProjects()
    const entries = entriesOf(root)
    const read = (entries) => {
      const reader = makeReader(project, path, root)
      for (const { specifier, types } of entries) reader.entry(specifier, join(path, types))
      return reader.pages()
    }
    const promised = entries.filter(({ path }) => path !== internal)
    const others = entries.filter(({ path }) => path === internal)
    return {
      specifiers: promised.map(({ specifier }) => specifier),
      pages: read(promised),
      internalSpecifier: others[0]?.specifier,
      internals: read(others)
    }
  } finally {
    api.close()
  }
}

const makeReader = ({ checker, program }, path, root) => {
  const pages = new Map()
  const target = (symbol) => (isAlias(symbol) ? checker.getAliasedSymbol(symbol) : symbol)
  const nodesOf = (symbol) => symbol.declarations.map((handle) => handle.resolve()).filter((node) => node !== undefined)

  const page = (declared) => {
    const whole = `${dirname(declared)}.d.ts`
    // The entries are directly in dist, and have no pages.
    const file = dirname(whole) !== join(path, "dist") && existsSync(whole) ? whole : declared
    const source = relative(join(path, "dist"), file).replace(/\.d\.ts$/, ".ts")
    const known = pages.get(source)
    if (known !== undefined) return known
    const opening = openingOf(readFileSync(join(root, "src", source), "utf8"))
    const name = basename(source, ".ts")
    const made = { name, source: `src/${source}`, opening, imports: [], symbols: new Map(), known: new Set(), file }
    pages.set(source, made)
    return made
  }

  const add = (to, name, symbol) => {
    if (to.symbols.has(name)) return
    const nodes = nodesOf(symbol)
    for (const node of nodes) to.known.add(node.name?.getText())
    to.symbols.set(name, symbolOf(name, nodes))
  }

  return {
    entry: (specifier, file) => {
      const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)))
      for (const alias of exported) {
        const symbol = target(alias)
        const [node] = nodesOf(symbol)
        const to = page(node.getSourceFile().fileName)
        if (isModule(symbol)) {
          to.name = alias.name
          to.imports.push({ specifier, name: alias.name, isModule: true })
          for (const member of checker.getExportsOfModule(symbol)) add(to, member.name, target(member))
        } else {
          to.imports.push({ specifier, name: alias.name, isModule: false })
          add(to, alias.name, symbol)
        }
      }
    },
    pages: () =>
      [...pages.values()].map(({ file, imports, known, name, opening, source, symbols }) => {
        // In the order of the source; symbols from other files follow.
        const files = new Set([program.getSourceFile(file), ...[...symbols.values()].map((symbol) => symbol.file)])
        const order = [...files]
        const sorted = [...symbols.values()].sort(
          (a, b) => order.indexOf(a.file) - order.indexOf(b.file) || a.at - b.at
        )
        return { imports, name, opening, source, symbols: [...sorted, ...namedShapes(sorted, known)] }
      })
  }
}
