/**
 * The pages of the API reference, as Markdown, from the result of `surface`: one for each source module with public symbols, and an index. The project's
 * formatter formats the declarations, so that a reader sees them as they would be written here.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { folder, root, run } from "../run.mjs"

/** The titles of pages, by the way the module is imported. */
const titleOf = ({ imports, name }) =>
  !imports.some(({ isModule }) => isModule) && imports.length === 1 ? imports[0].name : name

/** `{@link Options}` is for editors. */
const prose = (text) => text.replace(/\{@link ([^}]+)\}/g, "`$1`")

/** The compiler names a type by its file where the source need not name it: `import("effect/Stream").Stream<…>`. */
const brief = (text) => text.replace(/import\("effect\/(\w+)"\)/g, "$1").replace(/import\("[^"]+"\)\./g, "")

const firstSentence = (text) =>
  /^(.*?[.:])(\s|$)/s.exec(prose(text))?.[1]?.replace(/\s+/g, " ").replace(/:$/, ".") ?? ""

/** All declarations, formatted; a file for each, because an error in one must not affect the others. */
const laidOut = (texts) => {
  const path = folder("layout")
  const files = texts.map((text, index) => [join(path, `${index}.d.ts`), text])
  for (const [file, text] of files) writeFileSync(file, `${prose(brief(text))}\n`)
  const options = ["--config", join(root, ".oxfmtrc.json"), path]
  run(process.execPath, [join(root, "node_modules/oxfmt/bin/oxfmt"), ...options], { cwd: path })
  return files.map(([file]) =>
    readFileSync(file, "utf8")
      .trim()
      .replace(/^(export )?(declare )?/m, (found, ...rest) => (rest.at(-2) === 0 ? "" : found))
  )
}

/** `import { Controller } from "effect-controller-manager"`; for symbols with names of their own, one import of all that come from one entry. */
const importsOf = ({ imports }) => {
  const specifiers = [...new Set(imports.map(({ specifier }) => specifier))]
  return specifiers.map((specifier) => {
    const names = imports.filter((one) => one.specifier === specifier).map(({ name }) => name)
    return `import { ${names.join(", ")} } from "${specifier}"`
  })
}

const fence = "```"

/** Links to the sections of a page: the anchor of a second heading that differs in case only has a number at its end. */
const contentsOf = (symbols) => {
  const seen = new Map()
  const links = symbols.map(({ name }) => {
    const anchor = name.toLowerCase()
    const before = seen.get(anchor) ?? 0
    seen.set(anchor, before + 1)
    return `[${name}](#${anchor}${before === 0 ? "" : `-${before}`})`
  })
  return symbols.length < 3 ? "" : `${links.join(" · ")}\n\n`
}

const pageOf = (page) => {
  const symbols = page.symbols.map(
    ({ doc, isShape, name, texts }) =>
      `## ${name}\n\n${isShape === true ? `*Named above, not exported by itself.*\n\n` : ""}${doc === "" ? "" : `${prose(doc)}\n\n`}${fence}ts\n${texts.join("\n\n")}\n${fence}\n`
  )
  const imports = `${fence}ts\n${importsOf(page).join("\n")}\n${fence}\n`
  return `# ${page.title}\n\n${imports}\n${prose(page.opening)}\n\nSource: [${page.source}](../../${page.source})\n\n${contentsOf(page.symbols)}${symbols.join("\n")}`
}

const indexOf = (pages, specifiers) => {
  const sections = specifiers.map((specifier) => {
    const rows = pages
      .filter(({ imports }) => imports.some((one) => one.specifier === specifier))
      .map((page) => {
        const names = page.imports.filter((one) => one.specifier === specifier).map(({ name }) => `\`${name}\``)
        return `| [${page.title}](${page.title}.md) | ${names.join(", ")} | ${firstSentence(page.opening).replaceAll("|", "\\|")} |`
      })
    return `## ${specifier}\n\n| page | import | what it is |\n|---|---|---|\n${rows.join("\n")}\n`
  })
  return `# API reference\n\nEverything that is public, with its doc comments. \`npm run api\` renews these pages from the sources.\n\nIn \`Effect<A, E, R>\`, \`E\` is how it can fail and \`R\` what it needs; \`Duration.Input\` is a text like \`"5 seconds"\`, or a number of milliseconds. The message of an error is one sentence.\n\n${sections.join("\n")}`
}

/** The files of the reference: their names and texts. */
export const pagesOf = ({ pages, specifiers }) => {
  const texts = laidOut(pages.flatMap(({ symbols }) => symbols.flatMap(({ texts }) => texts)))
  const titled = pages.map((page) => ({
    ...page,
    title: titleOf(page),
    symbols: page.symbols.map((symbol) => ({ ...symbol, texts: symbol.texts.map(() => texts.shift()) }))
  }))
  const names = titled.map(({ title }) => title.toLowerCase())
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined)
    throw new Error(`two modules want the page ${twice}.md: give one another name where it is exported`)
  return new Map([
    ["README.md", indexOf(titled, specifiers)],
    ...titled.map((page) => [`${page.title}.md`, pageOf(page)])
  ])
}
