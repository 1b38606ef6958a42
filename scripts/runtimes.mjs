/**
 * `npm run runtimes [name …]`: tries the project on the versions of Node that it supports, and on Bun and Deno. On each it starts the program on the embedded
 * cluster, rolls a Deployment out with kubectl, stops the program with SIGTERM, and runs two packed consumers; on Node it builds and runs tests, too.
 * `--tests <filter>` runs other tests. `--install` only installs the runtimes. docs/platforms.md names what this finds out.
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { parseArgs } from "node:util"
import { folder, main, root, run } from "./run.mjs"
import { runtimes } from "./runs/installed.mjs"
import { hasKubectl, tryProgram } from "./runs/program.mjs"

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const said = (line) => process.stdout.write(`${line}\n`)

/** What depends on the runtime most: scheduling, streams, sockets and TLS, virtual time, and a cluster in one process. */
const smoke = [
  "test/streams/queue/KeyedQueue.test.ts",
  "test/streams/watch/watch.test.ts",
  "test/layers/KubeClient.test.ts",
  "test/platform/HttpTransport.test.ts",
  "test/testing/ClusterTest.test.ts"
]

/** Packs what is built. */
const pack = () => {
  const destination = folder("packed")
  const args = ["pack", "--json", "--ignore-scripts", "--silent", "--pack-destination", destination]
  return join(destination, JSON.parse(run("npm", args))[0].filename)
}

/** A project with the packed package and the two consumers of `scripts/consumers`, compiled. Their types are checked by `npm run consumers`. */
const consumer = (tarball, overrides) => {
  const path = folder("consumer")
  const { effect } = manifest.devDependencies
  const dependencies = { effect, [manifest.name]: `file:${tarball}` }
  const project = { name: "consumer", private: true, type: "module", dependencies, overrides }
  writeFileSync(join(path, "package.json"), JSON.stringify(project))
  run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--prefer-offline"], { cwd: path })
  cpSync(join(root, "scripts", "consumers"), join(path, "src"), { recursive: true })
  const options = ["--noCheck", "--ignoreConfig", "--module", "nodenext", "--target", "es2023", "--rootDir", "src"]
  const sources = ["src/library.ts", "src/node.ts", "src/tickets.explore.ts"]
  run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...options, "--outDir", ".", ...sources], {
    cwd: path
  })
  return path
}

const consumers = (tarball) => ({
  plain: consumer(tarball, {}),
  overridden: consumer(tarball, manifest.overrides)
})

const isNode = ({ name }) => name.startsWith("node")

const runs = ({ command: [program, ...args] }, path, name) =>
  run(program, [...args, `${name}.js`], { cwd: path, timeout: 60_000 })

/** The library runs as npm installs it, and with the override of undici that kubeconfigs with OIDC need on Node 20. */
const imports = (runtime, { overridden, plain }) => {
  runs(runtime, plain, "library")
  for (const path of [plain, overridden]) runs(runtime, path, "node")
  said('  the packed entries run: ".", "./testing", "./internals"; "./node" with undici 7 and 8')
}

/** The report of an exploration is the same on all versions: what happened in virtual time follows from the seed. */
const explored = ({ command: [node] }, { plain }, first) => {
  const file = join(folder("explored"), "report.json")
  const program = join(root, "dist", "main.js")
  try {
    run(node, [program, "explore", "tickets.explore.js", "--project", plain, "--json", file])
  } catch (error) {
    // What it finds makes it fail.
    if (!error.message.includes("exit code 1")) throw error
  }
  const report = readFileSync(file, "utf8").replaceAll(/"milliseconds": \d+/g, "")
  if (!report.includes('"replay"')) throw new Error(`an exploration finds nothing: ${file}`)
  if (first !== undefined && report !== first) throw new Error(`the report of an exploration differs: ${file}`)
  said(
    `  an exploration finds a failure${first === undefined ? "" : ", with the same report as on the version before"}`
  )
  return report
}

const seconds = (millis) => `${(millis / 1000).toFixed(1)} s`

const program = async ({ command }) => {
  const probes = 20_000 + (process.pid % 10_000)
  const { started, stopped } = await tryProgram([...command, join("dist", "main.js")], { cwd: root, probes })
  const what = hasKubectl
    ? "probes respond, kubectl rolls a Deployment out"
    : "probes respond; there is no kubectl here"
  said(`  the program starts in ${seconds(started)}, ${what}, SIGTERM ends it with 0 in ${seconds(stopped)}`)
}

/** What only Node is used for: building and testing the project. */
const development = ({ command: [node] }, tests) => {
  run(node, ["scripts/build.mjs"])
  const file = join(folder("report"), "tests.json")
  run(node, ["node_modules/vitest/vitest.mjs", "run", "--reporter=json", `--outputFile=${file}`, ...tests])
  said(`  it builds, and ${JSON.parse(readFileSync(file, "utf8")).numPassedTests} tests pass`)
}

const readArguments = () => {
  const options = { install: { type: "boolean", default: false }, tests: { type: "string", multiple: true } }
  return parseArgs({ allowPositionals: true, options })
}

/** The runtimes with the given names; all without. */
const chosen = (names) => {
  const all = runtimes()
  const unknown = names.filter((name) => !all.some((one) => one.name === name))
  if (unknown.length > 0)
    throw new Error(`no runtime ${unknown.join(", ")} here; there are ${all.map(({ name }) => name).join(", ")}`)
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name))
}

await main(async () => {
  const { positionals, values } = readArguments()
  const selected = chosen(positionals)
  if (values.install) return said(selected.map(({ name, version }) => `${name}: ${version}`).join("\n"))
  if (!isNode(selected[0])) run("npm", ["run", "--silent", "build"])
  let projects
  let report
  for (const runtime of selected) {
    said(`${runtime.name}: ${runtime.version}`)
    if (isNode(runtime)) development(runtime, values.tests ?? smoke)
    projects ??= consumers(pack())
    await program(runtime)
    imports(runtime, projects)
    if (isNode(runtime)) report = explored(runtime, projects, report)
  }
  said("runtimes: all well")
})
