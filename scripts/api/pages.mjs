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

/** The imports of the examples in doc comments. */
const exampleImports = `import assert from "node:assert/strict"
import { Access, ApiError, applier, Conditions, Controller, Key, KubeClient, Owner, Patch } from "effect-controller-manager"
import { Reconcile, Resource, Selector, Trigger } from "effect-controller-manager"
import { ConfigMap, Deployment, Namespace, Pod, Secret } from "effect-controller-manager"
import { ClusterTest, explore, TestCluster } from "effect-controller-manager/testing"
import { Envtest } from "effect-controller-manager/testing/envtest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"`

const indexOf = (pages, specifiers) => {
  const sections = specifiers.map((specifier) => {
    const rows = pages
      .filter(({ imports }) => imports.some((one) => one.specifier === specifier))
      .map((page) => {
        return `| [${page.title}](${page.title}.md) | ${namesOf(page, specifier).join(", ")} | ${firstSentence(page.opening).replaceAll("|", "\\|")} |`
      })
    return `## ${specifier}\n\n| page | import | what it is |\n|---|---|---|\n${rows.join("\n")}\n`
  })
  return `# API reference\n\nEverything that is public, with its doc comments. [What is stable](stability.md) says which of it may change, and when. \`npm run api\` renews these pages from the sources.\n\nIn \`Effect<A, E, R>\`, \`E\` is how it can fail and \`R\` what it needs; \`Duration.Input\` is a text like \`"5 seconds"\`, or a number of milliseconds. The message of an error is one sentence.\n\nThe examples have these imports. \`test/api.test.ts\` compiles and executes each of them.\n\n${fence}ts\n${exampleImports}\n${fence}\n\n${sections.join("\n")}`
}

/** The names that these texts import from an entry, or that they name in prose: `ApiError.facts(error)`. */
const usedOf = (specifier, texts) =>
  new Set([
    ...texts.flatMap((text) => [...text.matchAll(/`(\w+)[`.(]/g)].map(([, name]) => name)),
    ...texts
      .flatMap((text) => [...text.matchAll(/^import (?:type )?\{([^}]*)\} from "([^"]+)"/gm)])
      .filter(([, , from]) => from === specifier)
      .flatMap(([, names]) => names.split(",").map((name) => name.trim().replace(/^type /, "")))
  ])

const namesOf = (page, specifier) =>
  page.imports.filter((one) => one.specifier === specifier).map(({ name }) => `\`${name}\``)

/** The page that says what is stable: what the guides and examples use, the rest of the public entries, and the entry that promises nothing. */
const stabilityOf = ({ internals, internalSpecifier, pages, specifiers, texts }) => {
  const table = (wanted) => {
    const rows = specifiers.flatMap((specifier) => {
      const used = usedOf(specifier, texts)
      const found = pages
        .filter(({ imports }) => imports.some((one) => one.specifier === specifier))
        .filter(({ imports }) => imports.some(({ name }) => used.has(name)) === wanted)
      const links = found.map((page) => `[${page.title}](${page.title}.md)`)
      return links.length === 0 ? [] : [`| \`${specifier}\` | ${links.join(", ")} |`]
    })
    return `| entry | pages |\n|---|---|\n${rows.join("\n")}\n`
  }
  const rows = internals.map(
    (page) =>
      `| ${namesOf(page, internalSpecifier).join(", ")} | ${firstSentence(page.opening).replaceAll("|", "\\|")} | [source](../../${page.source}) |`
  )
  return `# What is stable

\`npm run api\` generates this page from the exports of the package, and from what the README, the guides, the examples and the template of
\`create\` import or name. Before version 1.0 a minor version (0.**2**.0) may break programs; a patch version (0.1.**1**) does not. A symbol that moves or
gets another name leaves no alias behind: [the changelog](../../CHANGELOG.md) has the old name beside the new one.

| | a patch version | a minor version |
|---|---|---|
| stable | changes nothing that a program relies on | may change it; the changelog shows what to write instead |
| may change | changes nothing that a program relies on | may change or remove it; the changelog names it |
| internals | may change or remove it | may change or remove it |

## Stable

The README, the guides, the examples or the template use these, and tests execute what they show.

${table(true)}
## May change

Public, and not yet used in a guide or an example.

${table(false)}
## Internals

\`${internalSpecifier}\` is the machinery behind the other entries, for programs that are put together by hand. It promises nothing. The
declarations have doc comments, and there is no reference of it.

| import | what it is | |
|---|---|---|
${rows.join("\n")}
`
}

/** The files of the reference: their names and texts. `texts` are those of guides and examples. */
export const pagesOf = ({ internals, internalSpecifier, pages, specifiers }, texts) => {
  const formatted = laidOut(pages.flatMap(({ symbols }) => symbols.flatMap(({ texts }) => texts)))
  const titled = pages.map((page) => ({
    ...page,
    title: titleOf(page),
    symbols: page.symbols.map((symbol) => ({ ...symbol, texts: symbol.texts.map(() => formatted.shift()) }))
  }))
  const names = titled.map(({ title }) => title.toLowerCase())
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined)
    throw new Error(`two modules want the page ${twice}.md: give one another name where it is exported`)
  return new Map([
    ["README.md", indexOf(titled, specifiers)],
    ["stability.md", stabilityOf({ internals, internalSpecifier, pages: titled, specifiers, texts })],
    ...titled.map((page) => [`${page.title}.md`, pageOf(page)])
  ])
}
