import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as library from "../src/index.ts"
import * as internals from "../src/internals.ts"
import * as node from "../src/node.ts"
import * as envtest from "../src/envtest.ts"
import * as testing from "../src/testing.ts"
import { version } from "../src/version.ts"

const root = new URL("..", import.meta.url).pathname
const text = (path: string): string => readFileSync(join(root, path), "utf8")

interface Manifest {
  readonly version: string
  readonly bin: Record<string, string>
  readonly exports: Record<string, string | { readonly types: string; readonly default: string }>
  readonly scripts: Record<string, string>
  readonly dependencies: Record<string, string>
  readonly devDependencies: Record<string, string>
  readonly peerDependencies: Record<string, string>
  readonly overrides: Record<string, string>
  readonly engines: Record<string, string>
  readonly devEngines: { readonly runtime: { readonly version: string } }
}
const manifest = JSON.parse(text("package.json")) as Manifest

interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly optionalDependencies?: Record<string, string>
}
const lock = JSON.parse(text("package-lock.json")) as {
  readonly version: string
  readonly packages: Record<string, Locked>
}

/** The packages that loading a file of `src` loads, through all its static imports of values. */
const packagesOf = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
  const found = new Set<string>()
  if (seen.has(file)) return found
  seen.add(file)
  for (const match of text(file).matchAll(/^\s*(?:import|export)\s+(type\s)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm)) {
    const [, typeOnly, specifier = ""] = match
    if (typeOnly !== undefined) continue
    if (!specifier.startsWith(".")) found.add(specifier.split("/")[0] ?? "")
    else for (const name of packagesOf(join(dirname(file), specifier), seen)) found.add(name)
  }
  return found
}

/** Where npm finds a package for another one: in its folder or further out. */
const isLocked = (from: string, name: string): boolean => {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("node_modules/") - 1))) {
    if (`${folder === "" ? "" : `${folder}/`}node_modules/${name}` in lock.packages) return true
    if (folder === "") return false
  }
}

/** Binaries for platforms that the registry does not have: they are locked by their version, without a hash. */
const unhashed = /^node_modules\/@effect\/tsgo-(?!linux-x64$)/

/** The commands of a script of package.json: `A=b vitest run && npm run build` runs `vitest` and `npm`. */
const commandsOf = (script: string): ReadonlyArray<string> =>
  script.split(/&&|\|\|?|;/).map((part) => part.trim().replace(/^(?:exec |\w+=\S* )+/, ""))

/** The tools with which each project here, and each project that `create` writes, is built and tested. */
const projects = [
  ".",
  "templates/operator",
  ...readdirSync(join(root, "examples"), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [`examples/${entry.name}`] : []
  )
]

describe("everything that runs comes from a lock file", () => {
  for (const project of projects) {
    it(`scripts of ${project} run this Node, npm and tools of its devDependencies`, () => {
      const { devDependencies, scripts } = JSON.parse(text(join(project, "package.json"))) as Manifest
      const installed = Object.keys(devDependencies).flatMap((name) => {
        const { bin = {} } = JSON.parse(text(join("node_modules", name, "package.json"))) as { readonly bin?: unknown }
        return typeof bin === "string" ? [name.split("/").at(-1)] : Object.keys(bin as object)
      })
      for (const command of Object.values(scripts).flatMap(commandsOf)) {
        const [program] = command.split(" ")
        assert.include(["node", "npm", ...installed], program, command)
        assert.notMatch(command, /^npm (?:exec|x|i|install)\b/)
      }
    })
  }

  it("scripts and CI let npx install nothing", () => {
    const scripts = readdirSync(join(root, "scripts"), { recursive: true, encoding: "utf8" })
    const files = [".ci/run", ...scripts.filter((name) => name.endsWith(".mjs")).map((name) => `scripts/${name}`)]
    const calls = files.flatMap((file) =>
      text(file)
        .split("\n")
        .filter((line) => /\bnpx\b/.test(line) && !/^\s*(?:\*|\/\/|\/\*\*)/.test(line))
    )
    assert.isNotEmpty(calls)
    assert.deepStrictEqual(
      calls.filter((line) => !line.includes("npx --no-install")),
      []
    )
  })

  for (const project of ["templates/operator", "examples/memcached-operator"]) {
    it(`the image of ${project} is built from bases with a tag that can be pinned, and from the project's own lock`, () => {
      const lines = text(join(project, "Dockerfile")).split("\n")
      const args = new Map(
        lines.flatMap((line) => {
          const [, name = "", image = ""] = /^ARG (\w+)=(\S+)$/.exec(line) ?? []
          return name === "" ? [] : [[name, image]]
        })
      )
      const bases = lines.flatMap((line) => /^FROM (\S+)/.exec(line)?.[1] ?? [])
      assert.lengthOf(bases, 2)
      for (const base of bases) {
        const image = args.get(/^\$\{(\w+)\}$/.exec(base)?.[1] ?? "")
        assert.match(image ?? base, /^[\w./-]+:(?!latest$)[\w.-]+$/)
      }
      assert.isTrue(lines.some((line) => line.startsWith("#") && line.includes("@sha256:")))
      const runs = lines.filter((line) => line.startsWith("RUN ")).join("\n")
      assert.match(runs, /\bnpm ci\b/)
      assert.notMatch(runs, /\bnpm (?:i|install)\b/)
      assert.isTrue(lines.includes("COPY package.json package-lock.json ./"))
      for (const ignored of ["gitignore", ".gitignore", "dockerignore", ".dockerignore"]) {
        if (existsSync(join(root, project, ignored))) assert.notInclude(text(join(project, ignored)), "lock")
      }
    })
  }
})

describe("package", () => {
  it("has one version", () => {
    assert.strictEqual(version, manifest.version)
    assert.strictEqual(lock.version, manifest.version)
  })

  it("every entry is the build of a file that exists", () => {
    const targets = Object.entries(manifest.exports).flatMap(([name, target]) =>
      typeof target === "string" ? [] : [{ name, ...target }]
    )
    assert.deepStrictEqual(
      targets.map(({ name }) => name),
      [".", "./node", "./testing", "./testing/envtest", "./cluster", "./internals"]
    )
    for (const { default: module, types } of targets) {
      assert.strictEqual(types.replace(/\.d\.ts$/, ""), module.replace(/\.js$/, ""))
      assert.isTrue(existsSync(join(root, module.replace(/^\.\/dist\/(.*)\.js$/, "src/$1.ts"))), module)
    }
    assert.deepStrictEqual(Object.values(manifest.bin), ["dist/main.js"])
  })

  it("the library, its test kit and its internals load only effect and an engine for patterns; the check finds what the platform module loads", () => {
    assert.deepStrictEqual([...packagesOf("src/index.ts")], ["effect", "@bufbuild"])
    assert.deepStrictEqual([...packagesOf("src/testing.ts")], ["effect", "@bufbuild"])
    assert.deepStrictEqual([...packagesOf("src/internals.ts")], ["effect", "@bufbuild"])
    assert.includeMembers([...packagesOf("src/node.ts")], ["effect", "undici"])
  })

  it("what promises nothing has no second name in an entry that does", () => {
    const promised = [library, node, testing, envtest].flatMap((entry): ReadonlyArray<unknown> => Object.values(entry))
    const unpromised = Object.entries(internals)
    assert.isAbove(unpromised.length, 10)
    assert.deepStrictEqual(
      unpromised.filter(([, value]) => promised.includes(value)).map(([name]) => name),
      []
    )
  })

  it("effect has one version: consumers are asked for the tested version", () => {
    assert.strictEqual(manifest.peerDependencies["effect"], `~${manifest.devDependencies["effect"]}`)
    assert.strictEqual(manifest.overrides["undici"], manifest.dependencies["undici"])
  })

  it("runs on the versions of Node that it names: manifests, README, docs/platforms.md and the tool that tries them agree", () => {
    const lowest = /^>=(\d+\.\d+)\.0$/.exec(manifest.engines["node"] ?? "")?.[1] ?? ""
    assert.strictEqual(manifest.devEngines.runtime.version, manifest.engines["node"])
    for (const project of projects) {
      const { engines } = JSON.parse(text(join(project, "package.json"))) as Manifest
      assert.deepStrictEqual(engines, manifest.engines, project)
    }
    const { optionalDependencies } = JSON.parse(text("tools/runtimes/package.json")) as Locked
    const tried = Object.entries(optionalDependencies ?? {}).flatMap(([name, version]) => {
      const line = /^node(\d+)-linux-x64$/.exec(name)?.[1]
      return line === undefined ? [] : [{ line, version: version.slice(version.lastIndexOf("@") + 1) }]
    })
    assert.deepStrictEqual(lowest, tried[0]?.version.replace(/\.\d+$/, ""))
    const rows = [...text("docs/platforms.md").matchAll(/^\| (\d+)(?:\.\d+)? \|.*\| (\d+\.\d+\.\d+) \|$/gm)]
    assert.deepStrictEqual(
      rows.map(([, line, version]) => ({ line, version })),
      tried
    )
    const [, ...lines] = tried.map(({ line }) => line)
    const supported = `Node ${lowest}, ${lines.slice(0, -1).join(", ")} and ${lines.at(-1)} on Linux are supported`
    for (const page of ["README.md", "docs/platforms.md"]) assert.include(text(page), supported)
    for (const page of [
      "README.md",
      "docs/writing-a-controller.md",
      "examples/README.md",
      "templates/operator/README.md"
    ])
      assert.include(text(page), `Node ${lowest} or newer`)
  })

  it("gives the reason for every dependency", () => {
    const rows = text("docs/dependencies.md").matchAll(/^\| `([^`]+)`/gm)
    const explained = [...rows].flatMap(([, name]) => name ?? []).sort()
    const wanted = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).sort()
    assert.deepStrictEqual(explained, wanted)
    const readme = text("README.md")
    const section = readme.slice(readme.indexOf("\n## Dependencies"), readme.indexOf("\n## Contributing"))
    assert.deepStrictEqual(
      wanted.filter((name) => !section.includes(`\`${name}\``)),
      []
    )
  })

  it("describes commands that exist", () => {
    const known = new Set([...Object.keys(manifest.scripts), "ci"])
    const told = [...`${text("README.md")}${text("CONTRIBUTING.md")}`.matchAll(/`npm (?:run )?([a-z:]+)/g)]
    assert.isAbove(told.length, 5)
    assert.deepStrictEqual(
      told.map(([, name]) => name ?? "").filter((name) => !known.has(name)),
      []
    )
  })

  it("the lock names no registry and holds every platform's packages", () => {
    const packages = Object.entries(lock.packages).filter(([path]) => path !== "")
    assert.isAbove(packages.length, 100)
    assert.deepStrictEqual(
      packages.filter(
        ([path, entry]) => entry.resolved !== undefined || (entry.integrity === undefined && !unhashed.test(path))
      ),
      []
    )
    assert.isDefined(lock.packages["node_modules/@effect/tsgo-linux-x64"]?.integrity)
    const absent = packages.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter((name) => !isLocked(path, name))
    )
    assert.deepStrictEqual(absent, [])
  })
})
