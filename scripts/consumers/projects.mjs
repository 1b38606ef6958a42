/**
 * Projects as consumers have them: every example, and one that `create` has written, each copied into an empty folder, with the tarball as dependency. They
 * are type-checked with both module resolutions, built, tested and started. What two of them depend on has the same version in both (which is checked), so
 * npm installs everything once, in the folder around them.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { folder, root, run } from "../run.mjs"

const library = "effect-controller-manager"
const said = (line) => process.stdout.write(`${line}\n`)
const json = (path) => JSON.parse(readFileSync(path, "utf8"))
const write = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)

/** The versions of effect that the package's range allows: the oldest and the newest that npm has, once where they are the same. */
const effects = () => {
  const { peerDependencies } = json(join(root, "package.json"))
  const found = JSON.parse(run("npm", ["view", `effect@${peerDependencies.effect}`, "version", "--json", "--silent"]))
  const versions = [found].flat().map((one) => one.version ?? one)
  return { range: peerDependencies.effect, versions: [...new Set([versions[0], versions.at(-1)])] }
}

/** What these projects depend on together. */
const merged = (manifests) => {
  const all = { dependencies: {}, devDependencies: {}, overrides: {} }
  for (const manifest of manifests)
    for (const [kind, versions] of Object.entries(all))
      for (const [name, version] of Object.entries(manifest[kind] ?? {})) {
        versions[name] ??= version
        if (versions[name] !== version)
          throw new Error(`${manifest.name} depends on another version of ${name} than the others: ${version}`)
      }
  return all
}

/** The same with another version of effect. */
const withEffect = (manifest, effect) => ({ ...manifest, dependencies: { ...manifest.dependencies, effect } })

const install = (base, manifest) => {
  write(join(base, "package.json"), { ...manifest, name: "projects" })
  const quiet = ["--silent", "--no-audit", "--no-fund", "--prefer-offline"]
  // As a user's machine writes the lock file, and as the image is built from it.
  run("npm", ["install", "--package-lock-only", ...quiet], { cwd: base })
  run("npm", ["ci", ...quiet], { cwd: base })
}

/** In an empty folder, depending on the tarball. */
const copy = (base, name, tarball) => {
  const path = join(base, name)
  const source = join(root, "examples", name)
  cpSync(source, path, { recursive: true, filter: (one) => !/\/(node_modules|dist)$/.test(one) })
  const manifest = json(join(path, "package.json"))
  if (!manifest.dependencies[library].endsWith(".tgz")) throw new Error(`${name} does not depend on the tarball`)
  write(join(path, "package.json"), {
    ...manifest,
    dependencies: { ...manifest.dependencies, [library]: `file:${tarball}` }
  })
  return path
}

/** The program of the tarball writes it; npx has installed only that program, once for all commands, because that takes it seconds. */
const create = (base, tarball) => {
  const project = `blog-operator --group apps.example.org --kind BlogPost --library "file:${tarball}"`
  const [first, ...others] = [project, ...additions].map((line) => `${library} create ${line}`)
  const commands = [first, "cd blog-operator", ...others].join(" && ")
  run("npm", ["exec", "--yes", `--package=file:${tarball}`, "--call", commands], { cwd: base })
  return join(base, "blog-operator")
}

/** Everything that `create` adds to a project, in two groups. */
const additions = [
  "api --group shop.example.org --kind Order --version v1",
  "api --group shop.example.org --kind Region --cluster-scoped --no-controller",
  "version --kind BlogPost --version v1 --storage",
  "version --kind BlogPost --version v2",
  "webhook --kind BlogPost --validating --defaulting",
  "webhook --kind Region --validating",
  "controller --name pod-janitor --for Pod"
]

/** What its program prints of them. */
const printed = [
  "name: blogposts.apps.example.org",
  "name: orders.shop.example.org",
  "name: regions.shop.example.org",
  "name: v1alpha1",
  "name: v2",
  "name: validate.blogposts.apps.example.org",
  "name: default.blogposts.apps.example.org",
  "name: validate.regions.shop.example.org",
  "strategy: Webhook"
]

const tsc = (path, config) => run(join(path, "../node_modules/.bin/tsc"), ["-p", config], { cwd: path })

const bundler = {
  extends: "./tsconfig.json",
  compilerOptions: {
    module: "esnext",
    moduleResolution: "bundler",
    rewriteRelativeImportExtensions: false,
    allowImportingTsExtensions: true
  }
}

const check = (path) => {
  write(join(path, "tsconfig.bundler.json"), bundler)
  for (const config of ["tsconfig.json", "tsconfig.bundler.json", "tsconfig.build.json"]) tsc(path, config)
}

/** Starts it with commands that need no cluster. */
const start = (path, { name, scripts, version }) => {
  // A program with another command line, which test/scenario/entities.test.ts starts.
  if (scripts.start === undefined) return
  const ask = (...args) => run(process.execPath, ["dist/main.js", ...args], { cwd: path, timeout: 60_000 })
  const answer = ask("--version").trim()
  if (answer !== version) throw new Error(`${name} says it is ${answer}, not ${version}`)
  const manifests = ask("manifests")
  if (!manifests.includes(`name: ${name}\n`)) throw new Error(`${name} prints manifests that do not name it`)
  if (name !== "blog-operator") return
  const whole = ask("manifests", "--skip-webhook-config=false", "--webhook-self-signed")
  const missing = printed.filter((line) => !whole.includes(line))
  if (missing.length > 0) throw new Error(`${name} prints manifests without ${missing.join(", ")}`)
}

/** Manifests beside the sources must equal what the program prints now. */
const compare = (path) => {
  const kept = join(path, "deploy")
  if (!existsSync(kept)) return
  const before = textsIn(kept)
  run("npm", ["run", "--silent", "manifests"], { cwd: path })
  const after = textsIn(kept)
  const stale = Object.keys({ ...before, ...after }).filter((name) => before[name] !== after[name])
  if (stale.length > 0)
    throw new Error(`${kept} is not what the program prints: ${stale.join(", ")}; npm run manifests renews it`)
}

const textsIn = (folder) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]))

export const projects = (tarball) => {
  const { range, versions } = effects()
  said(`projects: examples and a created one, effect ${range}: npm has ${versions.join(" and ")}`)
  const base = folder("projects")
  mkdirSync(join(base, "node_modules"))
  const created = create(base, tarball)
  const examples = readdirSync(join(root, "examples"), { withFileTypes: true }).filter((one) => one.isDirectory())
  const all = [created, ...examples.map(({ name }) => copy(base, name, tarball))]
  const manifests = all.map((path) => json(join(path, "package.json")))
  const manifest = { ...manifests[0], ...merged(manifests) }
  for (const effect of versions) {
    install(base, withEffect(manifest, effect))
    for (const path of all) check(path)
    said(`  effect ${effect}: ${all.length} projects type-check with nodenext and bundler, and build`)
    run(
      join(base, "node_modules/.bin/vitest"),
      ["run", "--root", base, "--maxWorkers", "2", "--testTimeout", "60000"],
      { cwd: base }
    )
    said(`  effect ${effect}: their tests pass`)
    for (const path of all) {
      start(path, json(join(path, "package.json")))
      compare(path)
    }
    said(`  effect ${effect}: their programs start`)
  }
}
