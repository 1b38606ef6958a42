/**
 * One declaration, as a reader of the API needs it: under its public name, without the compiler's additions, with its doc comment and its fields. It reads
 * the syntax of emitted declarations and does not know which entry exports what.
 */
import {
  isClassDeclaration,
  isIntersectionTypeNode,
  isInterfaceDeclaration,
  isTypeAliasDeclaration,
  isTypeLiteralNode,
  isTypeReferenceNode,
  isVariableDeclaration
} from "typescript/unstable/ast/is"

/** The sentences and examples of a doc comment without its delimiters and its other tags; undefined where there is none. */
const docOf = (comment) => {
  const inner = /^\/\*\*(.*)\*\/$/s.exec(comment)?.[1]
  if (inner === undefined) return undefined
  const lines = inner.split("\n").map((line) => line.replace(/^\s*\* ?/, "").trimEnd())
  return lines
    .map((line) => (line === "@example" ? "Example:" : line))
    .filter((line) => !/^@\w+\s*$/.test(line))
    .join("\n")
    .trim()
}

/** The doc comment right before a node, if any. */
const commentOf = (node) => docOf(node.jsDoc?.at(-1)?.getText() ?? "")

/** The start of the statement to which a declaration belongs: `const a = …` is nested in one. */
const statementOf = (node) => (isVariableDeclaration(node) ? node.parent.parent : node)

const nameOf = (member) => member.name?.getText() ?? "call"

/** Members that a caller cannot use: private ones, and those that only say that a field of another variant is absent. */
const isUseless = (text) => /^(private|constructor)\b|\?: undefined;?$/.test(text)

/** The fields of a declaration that a user reads or writes, by name, each with its comment. */
const fieldsOf = (node) => {
  if (isInterfaceDeclaration(node) || isTypeLiteralNode(node) || isClassDeclaration(node)) {
    const members = [...node.members].filter((member) => !isUseless(member.getText()))
    return members.map((member) => ({ name: nameOf(member), doc: commentOf(member) }))
  }
  if (isTypeAliasDeclaration(node)) return fieldsOf(node.type)
  if (isIntersectionTypeNode(node)) return [...node.types].flatMap(fieldsOf)
  // The class of an error or a service has its record among the arguments of what it extends. Fields of other values are inferred.
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

/** The arguments of what a class extends: `extends X_base<{ … }>`. */
const inheritedOf = (node) =>
  [...(node.heritageClauses ?? [])]
    .flatMap((clause) => Array.from(clause.types))
    .flatMap((type) => Array.from(type.typeArguments ?? []))
    .flatMap(fieldsOf)

/**
 * The compiler names what a class extends: `declare const Cache_base: Context.ServiceClass<…>`. Readers get the form of the source:
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

/**
 * The types that public symbols name and that are not public themselves, from the file of each symbol: readers of a signature need them. Types that a
 * file exports to other modules must have a doc comment; the others are only abbreviations.
 */
export const namedShapes = (symbols, known) => {
  const found = new Map()
  for (const file of new Set(symbols.map((symbol) => symbol.file))) {
    const texts = symbols.filter((symbol) => symbol.file === file).flatMap((symbol) => symbol.texts)
    const shapes = [...file.statements].filter((node) => isInterfaceDeclaration(node) || isTypeAliasDeclaration(node))
    for (const text of texts) {
      for (const node of shapes.filter((node) => isNamed(node.name.getText(), text))) {
        const name = node.name.getText()
        if (known.has(name) || found.has(name)) continue
        found.set(name, shapeOf(node))
        texts.push(node.getText())
      }
    }
  }
  return [...found.values()]
}

const isNamed = (name, text) => new RegExp(`(?<![.\\w])${name}\\b`).test(text)

const shapeOf = (node) => {
  const text = node.getText()
  const isPrivate = !text.startsWith("export ")
  const fields = isPrivate ? [] : publicFields(fieldsOf(node))
  return { name: node.name.getText(), doc: commentOf(node) ?? "", texts: [text], fields, isShape: true, isPrivate }
}

/** A discriminator, a phantom type, and the message of an error: these have the same comment everywhere. */
const withoutComment = /^(_tag|_A|message)$/

const publicFields = (fields) => fields.filter(({ name }) => !withoutComment.test(name))

/** A public symbol, which may be declared more than once: a type and a value of one name. */
export const symbolOf = (name, nodes) => {
  const all = nodes.map((node) => declared(node, name))
  return {
    name,
    doc: nodes
      .map((node) => commentOf(statementOf(node)))
      .filter((doc) => doc !== undefined)
      .join("\n\n"),
    texts: all.map(({ text }) => text),
    fields: publicFields(all.flatMap(({ fields }) => fields)),
    file: nodes[0].getSourceFile(),
    at: nodes[0].pos
  }
}

/** The first comment of a source file. */
export const openingOf = (source) => docOf(/^\/\*\*.*?\*\//s.exec(source)?.[0] ?? "") ?? ""
