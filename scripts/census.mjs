/**
 * How readable the repository is, in numbers. `npm run census` prints a table; `npm run census -- --json` prints JSON with each file, line and
 * word that was counted. A folder as an argument counts that checkout instead of this one. Every definition is in this file;
 * docs/design/readable.md explains the rows. It uses no network, and its output depends on the files alone.
 *
 * `npm run census -- --lint`, a part of `npm run lint`, prints only the banned words and the citations of what is not there, and fails when
 * there is one.
 *
 * Two rows come from reports that another run has left, and are missing without them:
 *
 *     npm run coverage -- --coverage.reporter=json                          writes coverage/coverage-final.json
 *     npx vitest run --reporter=json --outputFile=coverage/times.json       writes coverage/times.json
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join, relative, resolve } from "node:path"
import { parseSync } from "rolldown/utils"
import { words } from "./words.mjs"

const require = createRequire(import.meta.url)

const given = process.argv.slice(2)
const folder = given.find((argument) => !argument.startsWith("--"))
const root = resolve(folder ?? join(import.meta.dirname, ".."))

/** A file of `src` with fewer lines is short. */
const shortLines = 40

/** The least size of a look-alike block. */
const lookAlike = { lines: 6, tokens: 50 }

const readUtf8 = (path) => readFileSync(path, "utf8")
const sumOf = (items, of) => items.reduce((sum, item) => sum + of(item), 0)
const groupBy = (items, keyOf) => {
  const groups = new Map()
  for (const item of items) {
    const key = keyOf(item)
    if (groups.has(key)) groups.get(key).push(item)
    else groups.set(key, [item])
  }
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1))
}
const memoized = (compute) => {
  const known = new Map()
  return (key) => {
    if (!known.has(key)) known.set(key, compute(key))
    return known.get(key)
  }
}

// The files: those that git tracks, and untracked ones that it does not ignore.

const tracked = execFileSync("git", ["-C", root, "ls-files", "--cached", "--others", "--exclude-standard"], {
  encoding: "utf8",
  maxBuffer: 1 << 28
})
  .split("\n")
  .filter((file) => file !== "" && existsSync(join(root, file)))
  .toSorted()
const read = memoized((file) => readUtf8(join(root, file)))
const lineCount = (file) => read(file).split("\n").length - 1
const sources = tracked.filter((file) => /^src\/.*\.tsx?$/.test(file))
const tests = tracked.filter((file) => /^test\/.*\.ts$/.test(file))
const apiServer = sources.filter((file) => /^src\/(?:layers\/)?apiserver\//.test(file))
const comments = tracked.filter((file) => /\.(?:ts|mjs)$/.test(file))
/** `docs/api` is generated from doc comments, which count already; the glossary names the words that it replaces. */
const pages = tracked.filter((file) => file.endsWith(".md") && !/^docs\/(?:api\/|glossary\.md$)/.test(file))

/** The folder directly below `src` or `test`; files in `src` or `test` itself are entries. */
const moduleOf = (file) => (file.split("/").length > 2 ? file.split("/")[1] : "(entries)")

/**
 * What a file holds, by its syntax: relative imports (of types, `import()` and `import("…").Type` included), `throw` statements, comments,
 * test cases with their titles, and assertions.
 *
 * A case is a call of `it` or `test`, or of what `.effect`, `.prop`, `.skipIf(…)`, `.each(…)` and the like make of them, with a title and
 * something more; one inside a loop counts once. An assertion is a call of `expect`, of `assert` or of a method of `assert`.
 */
const factsOf = memoized((file) => {
  const source = read(file)
  const { comments: found, errors, module, program } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`)
  const starts = [0]
  for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) starts.push(at + 1)
  const lineAt = (offset) => starts.findLastIndex((start) => start <= offset) + 1
  const facts = {
    imports: [...module.staticImports, ...module.staticExports.flatMap(({ entries }) => entries)].flatMap(
      ({ moduleRequest }) => (moduleRequest === null || moduleRequest === undefined ? [] : [moduleRequest.value])
    ),
    throws: 0,
    assertions: 0,
    cases: 0,
    prose: found.flatMap(({ start, value }) =>
      value.split("\n").map((text, at) => ({ line: lineAt(start) + at, text }))
    )
  }
  const see = {
    ThrowStatement: () => facts.throws++,
    ImportExpression: ({ source: target }) => target.type === "Literal" && facts.imports.push(target.value),
    TSImportType: ({ source: target }) => facts.imports.push(target.value),
    CallExpression: ({ arguments: [title, ...others], callee, start }) => {
      const called = calledBy(callee)
      if (called === "assert" || called === "expect") facts.assertions++
      const isCase = (called === "it" || called === "test") && others.length > 0 && callee.property?.name !== "pipe"
      if (isCase) facts.cases++
      if (
        (isCase || called === "describe" || called === "checkProperty" || called === "checkSequences") &&
        title !== undefined
      ) {
        facts.prose.push({ line: lineAt(start), text: textOf(title) })
      }
    }
  }
  walk(program, see)
  facts.prose.sort((a, b) => a.line - b.line)
  return facts
})

const walk = (node, see) => {
  if (Array.isArray(node)) for (const item of node) walk(item, see)
  else if (node !== null && typeof node === "object") {
    see[node.type]?.(node)
    for (const key in node) walk(node[key], see)
  }
}

/** The name at the left end of `it.effect.skipIf(…)`; a chain counts as one call, its last. */
const calledBy = (callee) => {
  if (callee.type === "Identifier") return callee.name
  if (callee.type === "MemberExpression") return calledBy(callee.object)
  return callee.type === "CallExpression" && callee.callee.type === "MemberExpression" ? calledBy(callee.callee) : ""
}

const textOf = (title) =>
  title.type === "TemplateLiteral"
    ? title.quasis.map(({ value }) => value.raw).join("…")
    : typeof title.value === "string"
      ? title.value
      : ""

/** Import by import, types included, among the files of `src`. */
const importGraph = new Map(
  sources.map((file) => [
    file,
    factsOf(file)
      .imports.filter((target) => target.startsWith("."))
      .map((target) => relative(root, resolve(root, dirname(file), target)))
  ])
)

const modules = () =>
  groupBy(sources, moduleOf).map(([module, files]) => ({
    module,
    files: files.length,
    lines: sumOf(files, lineCount),
    short: files.filter((file) => lineCount(file) < shortLines).length,
    folders: Math.max(...files.map((file) => Math.max(0, file.split("/").length - 3)))
  }))

/** Sets of files each of which reaches all others of its set by imports (strongly connected components, Tarjan), largest first. */
const circles = () => {
  const found = []
  const index = new Map()
  const low = new Map()
  const stack = []
  const visit = (file) => {
    index.set(file, index.size)
    low.set(file, index.get(file))
    stack.push(file)
    for (const target of importGraph.get(file)) {
      if (!importGraph.has(target)) continue
      if (!index.has(target)) visit(target)
      if (stack.includes(target)) low.set(file, Math.min(low.get(file), low.get(target)))
    }
    if (low.get(file) !== index.get(file)) return
    const component = stack.splice(stack.indexOf(file))
    if (component.length > 1) found.push(component.toSorted((a, b) => (a < b ? -1 : 1)))
  }
  for (const file of importGraph.keys()) if (!index.has(file)) visit(file)
  return found.toSorted((a, b) => b.length - a.length)
}

/**
 * Pairs of blocks that jscpd finds alike. `exact`: the same tokens, comments left out. `renamed`: the same when the names of identifiers are
 * not compared either, which includes the exact ones; literals are compared in both.
 */
const lookAlikes = (part) => {
  const pairs = (...mode) => {
    const output = mkdtempSync(join(tmpdir(), "census-"))
    try {
      const size = ["--min-lines", `${lookAlike.lines}`, "--min-tokens", `${lookAlike.tokens}`, "--max-lines", "100000"]
      const report = ["--reporters", "json", "--output", output, "--silent"]
      const script = require.resolve("jscpd/run-jscpd.js")
      const options = ["--format", "typescript", "--mode", "weak", ...mode, ...size, ...report]
      execFileSync(process.execPath, [script, part, ...options], { cwd: root, stdio: "ignore" })
      return JSON.parse(readUtf8(join(output, "jscpd-report.json"))).duplicates.map(
        ({ firstFile, lines, secondFile }) => ({
          lines,
          at: [firstFile, secondFile].map(({ name, start }) => `${name}:${start}`)
        })
      )
    } finally {
      rmSync(output, { recursive: true, force: true })
    }
  }
  return { exact: pairs(), renamed: pairs("--ignore-identifiers") }
}

/**
 * The files of the data path, from the framing of bytes to `reconcile`, as docs/design/pipeline.md lists them between its two markers. A
 * listed file that does not exist, or that imports none of the others and is imported by none, is a fault of the list.
 */
const dataPath = () => {
  const page = "docs/design/pipeline.md"
  const text = tracked.includes(page) ? read(page) : ""
  const list = /<!-- data path -->([\s\S]*?)<!-- end of data path -->/.exec(text)?.[1]
  if (list === undefined) return undefined
  const files = [...list.matchAll(/`(src\/[^`]+\.ts)`/g)].map((match) => match[1])
  const imports = (file, other) => importGraph.get(file)?.includes(other) ?? false
  const isConnected = (file) => files.some((other) => imports(file, other) || imports(other, file))
  return { files, faults: files.filter((file) => !importGraph.has(file) || !isConnected(file)) }
}

/** Comments and titles of a source, all of a page. */
const proseOf = (file) =>
  file.endsWith(".md")
    ? read(file)
        .split("\n")
        .map((text, at) => ({ line: at + 1, text }))
    : factsOf(file).prose

const findAll = (files, find) =>
  files.flatMap((file) => proseOf(file).flatMap(({ line, text }) => find(text).map((what) => ({ file, line, what }))))

const banned = new RegExp(`\\b(?:${words.join("|")})\\b`, "gi")
const listFile = "scripts/words.mjs"
const bannedWords = () =>
  findAll(
    [...comments, ...pages].filter((file) => file !== listFile),
    (text) => [...text.matchAll(banned)].map((match) => match[0].toLowerCase())
  )

/** A letter and number of a section of a document outside the repository. */
const outside =
  /\bspec [A-H]\b(?:\.?\d[\d.]*)?|(?<!\/)\bcontrollers\.md [A-Z]{1,2}\b(?:\.?\d[\d.]*)?|\bframework\.md\b/g

/** The name of a file, with or without its folders. Go packages, addresses, patterns, and built or installed files do not count. */
const fileName = /(?<![\w:/.@$*<>{}-])(?:\.{0,2}\/)*((?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.(?:md|ts|mjs))(?![\w/-]|\.\w)/g
const foreign =
  /^(?:pkg|staging|cmd|test\/e2e\/framework|node_modules|dist|designs|keps|packages)\/|\.d\.ts$|^framework\.md$/

/** These pages name files that their reader writes; `npm run readme`, `npm run guide` and a test execute them. */
const carriedOut = ["README.md", "docs/writing-a-controller.md", "docs/explore.md"]

/** A cited file exists if some file of the repository has that path, or ends in it. */
const lostCitations = () => {
  const endings = new Set(tracked.flatMap((file) => file.split("/").map((_, at, parts) => parts.slice(at).join("/"))))
  return findAll([...comments, ...pages.filter((file) => !carriedOut.includes(file))], (text) => [
    ...[...text.matchAll(outside)].map((match) => match[0]),
    ...[...text.matchAll(fileName)].map((match) => match[1]).filter((path) => !endings.has(path) && !foreign.test(path))
  ])
}

/** What `npm run lint` reports: one line for each banned word and lost citation. */
const lint = () => {
  const print =
    (why) =>
    ({ file, line, what }) =>
      `${file}:${line}: "${what}" ${why}`
  return [
    ...bannedWords().map(print("is a banned word; docs/glossary.md has the term")),
    ...lostCitations().map(print("is cited, but is not in the repository"))
  ]
}

if (given.includes("--lint")) {
  const found = lint()
  for (const line of found) console.error(line)
  process.exit(found.length === 0 ? 0 : 1)
}

const suites = () =>
  groupBy(tests, moduleOf).map(([suite, files]) => ({
    suite,
    files: files.filter((file) => file.endsWith(".test.ts")).length,
    cases: sumOf(files, (file) => factsOf(file).cases),
    assertions: sumOf(files, (file) => factsOf(file).assertions)
  }))

const report = (name) => (existsSync(join(root, name)) ? JSON.parse(readUtf8(join(root, name))) : undefined)

const percent = (hits) =>
  hits.length === 0 ? 100 : Math.floor((1000 * hits.filter(Boolean).length) / hits.length) / 10

/** A line is covered when one of the statements that begin on it ran. */
const coverage = () => {
  const files = report("coverage/coverage-final.json")
  if (files === undefined) return undefined
  return groupBy(Object.entries(files), ([file]) => moduleOf(relative(root, file))).map(([module, entries]) => {
    const lines = entries.flatMap(([, { s, statementMap }]) => {
      const hits = new Map()
      for (const [id, { start }] of Object.entries(statementMap)) {
        hits.set(start.line, hits.get(start.line) === true || s[id] > 0)
      }
      return [...hits.values()]
    })
    const branches = entries.flatMap(([, { b }]) => Object.values(b).flat())
    return { module, lines: percent(lines), branches: percent(branches) }
  })
}

/** Seconds of the test files of a folder, added; files run side by side, so the whole run takes less. */
const times = () =>
  report("coverage/times.json") &&
  groupBy(report("coverage/times.json").testResults, ({ name }) => moduleOf(relative(root, name))).map(
    ([suite, files]) => ({ suite, seconds: Math.round(sumOf(files, (file) => file.endTime - file.startTime) / 1000) })
  )

const census = {
  modules: modules(),
  shortFiles: sources.filter((file) => lineCount(file) < shortLines),
  circles: circles(),
  lookAlikes: { src: lookAlikes("src"), test: lookAlikes("test") },
  dataPath: dataPath(),
  throwsInApiServer: sumOf(apiServer, (file) => factsOf(file).throws),
  bannedWords: bannedWords(),
  lostCitations: lostCitations(),
  suites: suites(),
  testFiles: tests
    .map((file) => ({ file, cases: factsOf(file).cases, assertions: factsOf(file).assertions }))
    .filter(({ assertions, cases }) => cases + assertions > 0),
  coverage: coverage(),
  times: times()
}

const table = (rows) => {
  const columns = Object.keys(rows[0])
  const total = Object.fromEntries(
    columns.map((column, at) => [column, at === 0 ? "all" : sumOf(rows, (row) => row[column])])
  )
  const all = "files" in rows[0] || "seconds" in rows[0] ? [...rows, total] : rows
  const width = (column) => Math.max(column.length, ...all.map((row) => `${row[column]}`.length))
  const line = (row) =>
    columns
      .map((column, at) => (at === 0 ? row[column].padEnd(width(column)) : `${row[column]}`.padStart(width(column))))
      .join("  ")
  return [line(Object.fromEntries(columns.map((column) => [column, column]))), ...all.map(line)].map(
    (text) => `  ${text}`
  )
}

const inFiles = (found) => `${found.length} in ${new Set(found.map(({ file }) => file)).size} files`

const summary = ({ dataPath: path, lookAlikes: alike, ...rows }) => [
  "modules of src (short: files under 40 lines; folders: levels below the module)",
  ...table(rows.modules.map(({ files, lines, module, short }) => ({ module, files, lines, short }))),
  `levels of folders in the deepest module: ${Math.max(...rows.modules.map(({ folders }) => folders))}`,
  `files under ${shortLines} lines in src: ${rows.shortFiles.length}`,
  `import circles, types included: ${rows.circles.length}${rows.circles.length === 0 ? "" : `, of ${rows.circles.map((files) => files.length).join(", ")} files`}`,
  ...Object.entries(alike).map(
    ([part, { exact, renamed }]) => `look-alike blocks in ${part}: ${exact.length}; after renaming: ${renamed.length}`
  ),
  ...(path === undefined ? [] : [`files on the data path: ${path.files.length}`]),
  ...(path?.faults ?? []).map((file) => `  not there, or not connected: ${file}`),
  `throw statements in the API server: ${rows.throwsInApiServer}`,
  `banned words: ${inFiles(rows.bannedWords)}`,
  `citations of what is not there: ${inFiles(rows.lostCitations)}`,
  "tests (cases and assertions as written, support included)",
  ...table(rows.suites),
  ...(rows.coverage === undefined ? [] : ["coverage in per cent", ...table(rows.coverage)]),
  ...(rows.times === undefined ? [] : ["seconds of npm test by folder", ...table(rows.times)])
]

console.log(given.includes("--json") ? JSON.stringify(census, null, 2) : summary(census).join("\n"))
