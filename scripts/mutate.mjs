/**
 * `npm run mutate -- <source file> [--tests <test file>]...`: mutates one source file with StrykerJS and runs the test files that reach
 * it by a few imports, those of the same folder of `test` if there are any, or those that are named. Prints the score and the
 * mutants that survive; the reports are in `reports/mutation`. StrykerJS does not run on Node 20, so `tools/mutate` locks a newer Node beside it.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import process from "node:process"
import { parseArgs } from "node:util"
import { root } from "./run.mjs"

const tool = join(root, "tools/mutate")
const reports = "reports/mutation"
const isTest = (path) => path.startsWith("test/") && path.endsWith(".test.ts")
const isFile = (path) => existsSync(join(root, path))

const refuse = (sentence) => {
  process.stderr.write(`${sentence}\n`)
  process.exit(2)
}

/** Paths from the root, wherever npm was called. */
const inRoot = (path) => relative(root, resolve(process.env.INIT_CWD ?? process.cwd(), path))

const readArguments = () => {
  try {
    return parseArgs({ allowPositionals: true, options: { tests: { type: "string", multiple: true, default: [] } } })
  } catch (error) {
    return refuse(error.message.split("\n")[0])
  }
}

/** For each file, the files of `src` and `test` that import values of it. */
const importers = () => {
  const found = new Map()
  for (const folder of ["src", "test"]) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
      if (!name.endsWith(".ts")) continue
      const path = join(folder, name)
      const imports = /^\s*(?:import|export)\s+(?!type\s)(?:[^"';]*?\sfrom\s+)?"(\.[^"]+)"/gm
      for (const [, specifier] of readFileSync(join(root, path), "utf8").matchAll(imports)) {
        const target = join(dirname(path), specifier)
        found.set(target, [...(found.get(target) ?? []), path])
      }
    }
  }
  return found
}

const testsOf = (source) => {
  const graph = importers()
  let reached = [source]
  for (let steps = 1; steps <= 4; steps++) {
    reached = [...new Set(reached.flatMap((path) => [path, ...(graph.get(path) ?? [])]))]
    const tests = reached.filter(isTest)
    const own = tests.filter((path) => path.startsWith(`${dirname(source).replace(/^src/, "test")}/`))
    if (own.length > 0 && steps >= 2) return own
    if (tests.length > 0 && steps >= 3) return tests
  }
  return []
}

/** npm installs the lock of the tool once; `vitest` is the one of this project. */
const install = () => {
  if (existsSync(join(tool, "node_modules/.package-lock.json"))) return
  const { status } = spawnSync("npm", ["ci", "--prefix", tool], { cwd: root, stdio: "inherit" })
  if (status !== 0) refuse("npm ci --prefix tools/mutate failed.")
}

const mutate = (source, tests) => {
  const name = join(reports, source.replaceAll("/", "."))
  const config = `${name}.config.json`
  mkdirSync(join(root, reports), { recursive: true })
  const settings = {
    mutate: [source],
    testRunner: "vitest",
    plugins: [join(tool, "node_modules/@stryker-mutator/vitest-runner/dist/src/index.js")],
    vitest: { configFile: "tools/mutate/vitest.config.mjs", related: false },
    // TypeScript 7 has no API in JavaScript, which StrykerJS would read a tsconfig with.
    tsconfigFile: "none.json",
    concurrency: 1,
    reporters: ["progress-append-only", "json", "html"],
    jsonReporter: { fileName: `${name}.json` },
    htmlReporter: { fileName: `${name}.html` },
    tempDirName: `${name}.sandbox`,
    cleanTempDir: "always",
    ignorePatterns: ["/dist", "/coverage", "/reports", "/bench"]
  }
  writeFileSync(join(root, config), JSON.stringify(settings, undefined, 2))
  const locked = join(tool, "node_modules", `node-${process.platform}-${process.arch}`, "bin/node")
  const stryker = join(tool, "node_modules/@stryker-mutator/core/bin/stryker.js")
  const { KUBEBUILDER_ASSETS: _, ...env } = process.env
  const { status } = spawnSync(existsSync(locked) ? locked : process.execPath, [stryker, "run", config], {
    cwd: root,
    env: { ...env, MUTATE_TESTS: tests.join() },
    stdio: "inherit"
  })
  if (status !== 0) process.exit(status ?? 1)
  return JSON.parse(readFileSync(join(root, `${name}.json`), "utf8")).files[source]
}

/** A line for each mutant that no test detects: position, mutator, replacement. */
const survivorsOf = ({ mutants, source }) => {
  const lines = source.split("\n")
  const textOf = ({ end, start }) => {
    const text = lines.slice(start.line - 1, end.line)
    text[text.length - 1] = text.at(-1).slice(0, end.column - 1)
    text[0] = text[0].slice(start.column - 1)
    return text.join(" ")
  }
  const short = (text) => text.replaceAll(/\s+/g, " ").slice(0, 100)
  return mutants
    .filter(({ status }) => status === "Survived" || status === "NoCoverage")
    .map(({ location, mutatorName, replacement, status }) => {
      const uncovered = status === "NoCoverage" ? " (no test reaches it)" : ""
      return `:${location.start.line} ${mutatorName}${uncovered}: ${short(textOf(location))} → ${short(replacement)}`
    })
}

const { positionals, values } = readArguments()
if (positionals.length !== 1) refuse("npm run mutate -- takes one source file: src/….ts")
const source = inRoot(positionals[0])
if (!/^src\/.*\.ts$/.test(source) || !isFile(source)) refuse(`${positionals[0]} is no TypeScript file under src.`)
const named = values.tests.map(inRoot)
const missing = named.find((path) => !isTest(path) || !isFile(path))
if (missing !== undefined) refuse(`${missing} is no test file under test.`)
const tests = named.length > 0 ? named : testsOf(source)
if (tests.length === 0) refuse(`No test imports ${source} in at most four steps: name test files with --tests.`)

process.stdout.write(`tests:\n${tests.map((path) => `  ${path}\n`).join("")}`)
install()
const result = mutate(source, tests)
const count = (...statuses) => result.mutants.filter(({ status }) => statuses.includes(status)).length
const killed = count("Killed", "Timeout")
const total = killed + count("Survived", "NoCoverage")
for (const line of survivorsOf(result)) process.stdout.write(`${source}${line}\n`)
const score = total === 0 ? "no mutants" : `score ${(Math.floor((killed / total) * 1000) / 10).toFixed(1)} %`
process.stdout.write(`${source}: ${total} mutants, ${killed} killed, ${total - killed} survived, ${score}\n`)
