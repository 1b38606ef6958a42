/**
 * `npm run consumers`: packs the package and uses it as a consumer does. Each project is a new folder in which npm installs the tarball and `effect`,
 * without this project's overrides. Its source is type-checked with both module resolutions and with all declarations checked, compiled,
 * and run. The examples, and a project that `create` writes, follow in `consumers/projects.mjs`.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { projects } from "./consumers/projects.mjs"
import { folder, main, root, run } from "./run.mjs"

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const said = (line) => process.stdout.write(`${line}\n`)

const pack = () => {
  const destination = folder("packed")
  run("npm", ["run", "--silent", "build"])
  const [{ filename, files, size }] = JSON.parse(
    run("npm", ["pack", "--json", "--ignore-scripts", "--silent", "--pack-destination", destination])
  )
  const paths = files.map(({ path }) => path)
  for (const needed of [
    "dist/main.js",
    "dist/index.d.ts",
    "dist/THIRD-PARTY-NOTICES.txt",
    "src/index.ts",
    "LICENSE",
    "templates/operator/Dockerfile"
  ]) {
    if (!paths.includes(needed)) throw new Error(`the tarball lacks ${needed}`)
  }
  const stray = paths.filter(
    (path) => !/^(dist|src|templates)\/|^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/.test(path)
  )
  if (stray.length > 0) throw new Error(`the tarball has ${stray.join(", ")}`)
  said(`packed ${filename}: ${paths.length} files, ${Math.round(size / 1024)} KiB`)
  return join(destination, filename)
}

const options = {
  target: "es2023",
  lib: ["es2023", "dom"],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false
}
const resolutions = {
  nodenext: { module: "nodenext", moduleResolution: "nodenext", rootDir: "src", outDir: "out" },
  bundler: { module: "esnext", moduleResolution: "bundler", noEmit: true }
}

/** A project of one file, installed. */
const project = (name, tarball, types) => {
  const path = folder(`consumer-${name}`)
  const { "@types/node": nodeTypes, effect, typescript } = manifest.devDependencies
  const dependencies = { effect, [manifest.name]: `file:${tarball}` }
  const devDependencies = { typescript, ...(types.includes("node") ? { "@types/node": nodeTypes } : {}) }
  const write = (file, value) => writeFileSync(join(path, file), JSON.stringify(value, null, 2))
  write("package.json", { name: `consumer-${name}`, private: true, type: "module", dependencies, devDependencies })
  for (const [kind, resolution] of Object.entries(resolutions)) {
    write(`tsconfig.${kind}.json`, { compilerOptions: { ...options, types, ...resolution }, include: ["src"] })
  }
  mkdirSync(join(path, "src"))
  copyFileSync(join(root, "scripts", "consumers", `${name}.ts`), join(path, "src", "main.ts"))
  run("npm", ["install", "--silent", "--no-audit", "--no-fund"], { cwd: path })
  for (const kind of Object.keys(resolutions)) {
    run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", `tsconfig.${kind}.json`], { cwd: path })
    said(`  type-checks with moduleResolution ${kind}, TypeScript ${typescript}, skipLibCheck false`)
  }
  return path
}

/** Imports `.`, `./testing` and `./internals` on the Node that runs this. */
const library = (tarball) => {
  said(`library: imports ".", "./testing" and "./internals" on Node ${process.versions.node}, no overrides`)
  const path = project("library", tarball, [])
  run(process.execPath, ["out/main.js"], { cwd: path, timeout: 60_000 })
  said("  runs: a controller on the embedded API server, in virtual time")
}

/** The long-term support line of Node, from a lock file of its own; this Node where the platform has none. */
const longTermSupport = () => {
  const path = folder("consumer-lts")
  cpSync(join(root, "scripts", "consumers", "lts"), path, { recursive: true })
  run("npm", ["ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: path })
  const found = join(path, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node")
  return existsSync(found) ? found : process.execPath
}

/** Imports `./node` and `./testing/envtest` on the current Node, and runs the packed program. */
const node = (tarball) => {
  const lts = longTermSupport()
  const on = (...args) => run(lts, args, { cwd: path }).trim()
  said(`node: imports "./node" and "./testing/envtest" on Node ${run(lts, ["--version"]).trim()}, no overrides`)
  const path = project("node", tarball, ["node"])
  on("out/main.js")
  said("  runs: a call to the embedded cluster over HTTPS, through its kubeconfig")
  const answer = on(join("node_modules", manifest.name, manifest.bin[manifest.name]), "--version")
  if (answer !== manifest.version) throw new Error(`the packed program says it is ${answer}, not ${manifest.version}`)
  said(`  effect-controller-manager --version: ${answer}`)
}

await main(() => {
  const tarball = pack()
  library(tarball)
  node(tarball)
  projects(tarball)
  said("consumers: all well")
})
