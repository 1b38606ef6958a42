/**
 * `npm run api`: generates docs/api from the doc comments of everything that is public, and fails with the names of symbols or fields that have none.
 * With `--check` it writes nothing and fails where the pages are outdated. With the folder of another project it only checks the
 * comments of that project.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import process from "node:process"
import { pagesOf } from "./api/pages.mjs"
import { surface } from "./api/surface.mjs"
import { main, root } from "./run.mjs"

const check = process.argv.includes("--check")
const other = process.argv.slice(2).find((argument) => !argument.startsWith("--"))
const directory = join(root, "docs/api")

/** `src/layers/Controller.ts: Options.name`, for everything without a doc comment. */
const undocumented = ({ internals, pages }) => [
  ...new Set(
    [...pages, ...internals].flatMap(({ source, symbols }) =>
      symbols.flatMap(({ doc, fields, isPrivate, name }) => [
        ...(doc === "" && isPrivate !== true ? [`${source}: ${name}`] : []),
        ...fields.filter((field) => field.doc === undefined).map((field) => `${source}: ${name}.${field.name}`)
      ])
    )
  )
]

const isText = (path) => /\.(md|ts)$/.test(path) && !/(^|\/)(node_modules|dist)\//.test(path)

/** The pages for users; the others are for those who change this package. */
const guideNames = [
  "writing-a-controller",
  ...readdirSync(join(root, "docs")).flatMap((file) => /^(from-.+)\.md$/.exec(file)?.[1] ?? []),
  "testing",
  "embedded-cluster",
  "controllers",
  "operations"
]

/** What users are shown: the README, the guides, the examples, and what `create` writes. */
const shown = () => {
  const inFolder = (name) => readdirSync(join(root, name), { recursive: true }).map((path) => join(name, path))
  const guides = guideNames.map((name) => join("docs", `${name}.md`))
  const paths = ["README.md", ...guides, ...inFolder("examples"), ...inFolder("templates")]
  return paths.filter(isText).map((path) => readFileSync(join(root, path), "utf8"))
}

const present = () =>
  existsSync(directory)
    ? new Map(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), "utf8")]))
    : new Map()

const renew = (pages) => {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory)
  for (const [name, text] of pages) writeFileSync(join(directory, name), text)
}

const compare = (pages) => {
  const there = present()
  const names = [...new Set([...pages.keys(), ...there.keys()])]
  const stale = names.filter((name) => pages.get(name) !== there.get(name))
  if (stale.length > 0) throw new Error(`docs/api is not up to date, run "npm run api": ${stale.join(", ")}`)
}

await main(() => {
  const read = surface(other === undefined ? root : resolve(other))
  if (other === undefined && !check) renew(pagesOf(read, shown()))
  const missing = undocumented(read)
  if (missing.length > 0) throw new Error(`${missing.length} have no doc comment:\n${missing.join("\n")}`)
  if (other === undefined && check) compare(pagesOf(read, shown()))
})
