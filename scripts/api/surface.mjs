/**
 * What a package makes public, as its readers get it: the declarations that `tsc` emits for the types of its `exports`, read with
 * TypeScript's own API. A page is a source module of which something is public; it has the module's opening comment, the
 * ways to import it and its public symbols in the order of the source, each with its doc comment, its declarations and its fields.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { basename, join, relative } from "node:path"
import process from "node:process"
import { API, SymbolFlags } from "typescript/unstable/sync"
import {
  isClassDeclaration,
  isIntersectionTypeNode,
  isInterfaceDeclaration,
  isTypeAliasDeclaration,
  isTypeLiteralNode,
  isTypeReferenceNode,
  isVariableDeclaration
} from "typescript/unstable/ast/is"
import { folder, run } from "../run.mjs"

/** The declarations of a project, in a fresh folder in which its packages are found. */
const emitted = (root) => {
  const path = folder("api")
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  const options = ["--noCheck", "--emitDeclarationOnly", "--declarationMap", "false", "--sourceMap", "false"]
  mkdirSync(join(path, "dist"))
  run(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", join(path, "dist"), ...options], { cwd: root })
  symlinkSync(join(root, "node_modules"), join(path, "node_modules"))
  const { compilerOptions } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"))
  const { plugins: _, ...kept } = compilerOptions
  writeFileSync(join(path, "tsconfig.json"), JSON.stringify({ compilerOptions: kept, include: ["dist"] }))
  return path
}

/** `.` and `./node`, each with the file of its types. */
const entriesOf = (root) => {
  const { exports, name } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  return Object.entries(exports)
    .filter(([, target]) => target.types !== undefined)
    .map(([path, { types }]) => ({ specifier: join(name, path), types }))
}

const isAlias = (symbol) => (symbol.flags & SymbolFlags.Alias) !== 0
const isModule = (symbol) => (symbol.flags & SymbolFlags.ValueModule) !== 0

/** The sentences of a doc comment without its frame and its tags; undefined where there is none. */
const docOf = (comment) => {
  const inner = /^\/\*\*(.*)\*\/$/s.exec(comment)?.[1]
  if (inner === undefined) return undefined
  const lines = inner.split("\n").map((line) => line.replace(/^\s*\* ?/, "").trimEnd())
  return lines
    .filter((line) => !/^@\w+\s*$/.test(line))
    .join("\n")
    .trim()
}

/** The doc comment right before a node, if any. */
const commentOf = (node) => docOf(node.jsDoc?.at(-1)?.getText() ?? "")

/** Where the statement begins to which a declaration belongs: `const a = …` is deep in one. */
const statementOf = (node) => (isVariableDeclaration(node) ? node.parent.parent : node)

const nameOf = (member) => member.name?.getText() ?? "call"

/** Members that nobody reads or writes: private ones, and those that say of a field of another form that it is absent here. */
const isNobodys = (text) => /^(private|constructor)\b|\?: undefined;?$/.test(text)

/** The fields of a declaration that a user reads or writes, by name, each with its comment. */
const fieldsOf = (node) => {
  if (isInterfaceDeclaration(node) || isTypeLiteralNode(node) || isClassDeclaration(node)) {
    const members = [...node.members].filter((member) => !isNobodys(member.getText()))
    return members.map((member) => ({ name: nameOf(member), doc: commentOf(member) }))
  }
  if (isTypeAliasDeclaration(node)) return fieldsOf(node.type)
  if (isIntersectionTypeNode(node)) return [...node.types].flatMap(fieldsOf)
  // What a class of an error or a service extends has the record among its arguments. Fields of other values were inferred.
  if (isVariableDeclaration(node)) return node.type === undefined ? [] : argumentFieldsOf(node.type)
  return []
}

const argumentFieldsOf = (node) => {
  if (isTypeReferenceNode(node) && /\.(ServiceClass|Reference)$/.test(node.typeName.getText())) {
    return [...(node.typeArguments ?? [])].flatMap((argument) =>
      isTypeLiteralNode(argument) ? fieldsOf(argument) : []
    )
  }
  return []
}

/** A discriminator, a phantom, and what an error says: one sentence, in all of them. */
const selfEvident = /^(_tag|_A|message)$/

/** The arguments of what a class extends: `extends X_base<{ … }>`. */
const inheritedOf = (node) =>
  [...(node.heritageClauses ?? [])]
    .flatMap((clause) => Array.from(clause.types))
    .flatMap((type) => Array.from(type.typeArguments ?? []))
    .flatMap(fieldsOf)

/**
 * The compiler names what a class extends: `declare const Cache_base: Context.ServiceClass<…>`. Readers get the words of the source:
 * `extends Context.Service<…>`.
 */
const baseOf = (node, text) => {
  const name = node.name?.getText()
  const base = [...node.getSourceFile().statements]
    .flatMap((statement) => Array.from(statement.declarationList?.declarations ?? []))
    .find((declaration) => declaration.name.getText() === `${name}_base`)
  if (base === undefined) return { text, fields: inheritedOf(node) }
  const type = base.type.getText()
  const service = /^Context\.ServiceClass<\w+, ("[^"]+"), (.*)>$/s.exec(type)
  const tag = /_tag: ("\w+");\s*\}/.exec(type)?.[1]
  const extended =
    service === null ? `Data.TaggedError(${tag})` : `Context.Service<${name}, ${service[2]}>()(${service[1]})`
  return { text: text.replace(`${name}_base`, () => extended), fields: [...fieldsOf(base), ...inheritedOf(node)] }
}

/** One declaration under its public name and without its doc comment, and the fields of it. */
const declared = (node, publicName) => {
  const name = node.name?.getText() ?? publicName
  const text = statementOf(node)
    .getText()
    .replace(new RegExp(`\\b${name}\\b`), publicName)
  if (!isClassDeclaration(node)) return { text, fields: fieldsOf(node) }
  const base = baseOf(node, text)
  return { text: base.text, fields: [...base.fields, ...fieldsOf(node)] }
}

/** The shapes that a file declares, by name, whether it exports them or not. */
const shapesOf = (file) =>
  [...file.statements].filter((statement) => isInterfaceDeclaration(statement) || isTypeAliasDeclaration(statement))

/**
 * The shapes of a file that its public symbols name and that are not public themselves: readers of a signature need them. Those
 * that the file exports, to other rooms, have to say what they are; the others are mere abbreviations.
 */
const namedShapes = (file, symbols, known) => {
  const found = new Map()
  const texts = [...symbols.values()].flatMap(({ texts }) => texts)
  const shapes = shapesOf(file)
  for (const text of texts) {
    for (const node of shapes) {
      const name = node.name.getText()
      if (known.has(name) || found.has(name) || !new RegExp(`(?<![.\\w])${name}\\b`).test(text)) continue
      const declaration = node.getText()
      const isPrivate = !declaration.startsWith("export ")
      const doc = commentOf(node) ?? ""
      found.set(name, {
        name,
        doc,
        texts: [declaration],
        fields: isPrivate ? [] : fieldsOf(node),
        isShape: true,
        isPrivate
      })
      texts.push(declaration)
    }
  }
  return [...found.values()]
}

const openingOf = (source) => docOf(/^\/\*\*.*?\*\//s.exec(source)?.[0] ?? "") ?? ""

/**
 * The pages of what the project in a folder exports; `specifiers` are the ways in.
 */
export const surface = (root) => {
  const path = emitted(root)
  const api = new API({ cwd: path })
  try {
    const snapshot = api.updateSnapshot({ openProjects: [join(path, "tsconfig.json")] })
    const [project] = snapshot.getProjects()
    const reader = makeReader(project, path, root)
    const entries = entriesOf(root)
    for (const { specifier, types } of entries) reader.entry(specifier, join(path, types))
    return { specifiers: entries.map(({ specifier }) => specifier), pages: reader.pages() }
  } finally {
    api.close()
  }
}

const makeReader = ({ checker, program }, path, root) => {
  const pages = new Map()
  const target = (symbol) => (isAlias(symbol) ? checker.getAliasedSymbol(symbol) : symbol)
  const nodesOf = (symbol) => symbol.declarations.map((handle) => handle.resolve()).filter((node) => node !== undefined)

  const page = (file) => {
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
    const docs = nodes.map((node) => commentOf(statementOf(node)))
    const all = nodes.map((node) => declared(node, name))
    const fields = all.flatMap(({ fields }) => fields).filter(({ name }) => !selfEvident.test(name))
    const doc = docs.filter((doc) => doc !== undefined).join("\n\n")
    const texts = all.map(({ text }) => text)
    for (const node of nodes) to.known.add(node.name?.getText())
    to.symbols.set(name, { name, doc, texts, fields })
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
        const shapes = namedShapes(program.getSourceFile(file), symbols, known)
        return { imports, name, opening, source, symbols: [...symbols.values(), ...shapes] }
      })
  }
}
