/**
 * Which module may import what, as a table, and a checker that works on any map from path to source, so that each rule can be shown to catch a
 * file that breaks it. Modules are folders or files under `src`; the longest match decides. Imports of types count.
 */

export interface Violation {
  readonly rule: string
  readonly file: string
  readonly what: string
}

interface Module {
  /** Path prefix, or a file. */
  readonly path: string
  /** Other modules, as path prefixes; a module may always import itself, except where `siblings` is false. */
  readonly modules: ReadonlyArray<string>
  /** Package prefixes with values; types may come from client-node everywhere. */
  readonly packages: ReadonlyArray<string>
  readonly siblings?: false
}

const effect = ["effect/"]
const node = [
  ...effect,
  "node:",
  "@effect/platform-node/",
  "undici",
  "@peculiar/",
  "@bufbuild/",
  "yaml",
  "@kubernetes/client-node"
]

const library = ["kube/", "streams/", "layers/"]
const cluster = ["apiserver/", "simulation/"]

/** Parts of modules that only those enter who name them. */
const closed = ["apiserver/server/", "platform/", "manager/console/page/", "testing/envtest/"]

export const modules: ReadonlyArray<Module> = [
  { path: "kube/", modules: [], packages: effect },
  // Pure as well: patterns of schemas in the API server's dialect.
  { path: "kube/structural/pattern.ts", modules: [], packages: ["@bufbuild/re2"] },
  { path: "streams/", modules: ["kube/"], packages: effect },
  { path: "layers/", modules: library, packages: effect },
  { path: "platform/", modules: library, packages: node },
  {
    path: "leader/",
    modules: [
      "kube/",
      "streams/",
      "layers/Transport.ts",
      "layers/KubeClient.ts",
      "layers/Recorder.ts",
      "layers/Leadership.ts",
      "layers/Shutdown.ts",
      "layers/Health.ts"
    ],
    packages: effect
  },
  {
    path: "controllers/",
    modules: [
      "kube/",
      "streams/",
      "layers/ClusterAuthority.ts",
      "layers/CloudProvider.ts",
      "layers/MetricsApi.ts",
      "layers/Controller.ts",
      "layers/Schedules.ts",
      "layers/Cache.ts",
      "layers/KubeClient.ts",
      "layers/Recorder.ts",
      "layers/Discovery.ts",
      "layers/Supervisor.ts",
      "layers/Shutdown.ts",
      "layers/Inspection.ts",
      "layers/Timeline.ts",
      "layers/Webhook.ts",
      "layers/Setting.ts",
      "layers/setting/",
      "layers/controller/"
    ],
    packages: effect,
    siblings: false
  },
  {
    path: "controllers/registry.ts",
    modules: [
      "kube/",
      "controllers/",
      "layers/ClusterAuthority.ts",
      "layers/CloudProvider.ts",
      "layers/Controller.ts",
      "layers/controller/",
      "layers/Schedules.ts",
      "layers/Discovery.ts",
      "layers/KubeClient.ts",
      "layers/Setting.ts",
      "manager/registry.ts"
    ],
    packages: effect
  },
  { path: "apiserver/", modules: ["kube/", "layers/NodeConnection.ts", "layers/Transport.ts"], packages: effect },
  { path: "apiserver/server/", modules: [...library, "apiserver/", "simulation/", "platform/"], packages: node },
  {
    path: "simulation/",
    modules: [
      "kube/",
      "streams/",
      "layers/NodeConnection.ts",
      "layers/Transport.ts",
      "layers/KubeClient.ts",
      "layers/Cache.ts",
      "layers/Recorder.ts",
      "layers/Supervisor.ts"
    ],
    packages: effect
  },
  // The parser of configuration files is pure.
  { path: "manager/", modules: library, packages: [...effect, "yaml"] },
  // A bundle of its own, for a browser.
  { path: "manager/console/page/", modules: ["manager/console/protocol.ts"], packages: ["preact"] },
  { path: "manager/renewal/", modules: [...library, "leader/", "platform/"], packages: node },
  { path: "testing/", modules: [...library, ...cluster, "manager/", "version.ts"], packages: effect },
  // Starts processes and connects over HTTPS, so it has an entry of its own.
  { path: "testing/envtest/", modules: [...library, "manager/", "platform/", "testing/"], packages: node },
  {
    path: "cli/",
    modules: [...library, "leader/", "manager/", "platform/", "version.ts"],
    packages: node
  },
  {
    path: "cli/cluster/",
    modules: [...library, ...cluster, "apiserver/server/", "manager/", "platform/", "cli/"],
    packages: node
  },
  {
    path: "cli/explore/",
    modules: [...library, "manager/", "testing/explore/", "cli/", "version.ts"],
    packages: node
  },
  // A bundle of its own, for a browser, of the console's components.
  {
    path: "cli/explore/page/",
    modules: ["manager/console/page/", "testing/explore/report/"],
    packages: ["preact"]
  },
  {
    path: "cli/product.ts",
    modules: [...library, "leader/", "manager/", "platform/", "controllers/", "cli/", "version.ts"],
    packages: node
  },
  {
    path: "main.ts",
    modules: ["cli/product.ts", "cli/explore/thread.ts", "version.ts", "manager/renewal/"],
    packages: node
  },
  // The build puts it between `main.ts` and the files of the program.
  { path: "compileCache.ts", modules: [], packages: ["node:"] },
  { path: "version.ts", modules: [], packages: [] },
  { path: "index.ts", modules: [...library, "leader/", "manager/"], packages: effect },
  { path: "internals.ts", modules: [...library, ...cluster, "leader/", "manager/"], packages: effect },
  { path: "envtest.ts", modules: ["testing/envtest/"], packages: [] },
  { path: "cluster.ts", modules: ["manager/shards/"], packages: [] },
  { path: "testing.ts", modules: [...library, ...cluster, "testing/"], packages: effect },
  {
    path: "node.ts",
    modules: [...library, "leader/", "manager/", "platform/", "apiserver/server/", "cli/program.ts"],
    packages: node
  }
]

/** Entries: no other file imports them. */
const entries = ["main.ts", "index.ts", "node.ts", "testing.ts", "envtest.ts", "cluster.ts", "internals.ts"]

/** What the pure vocabulary must not hold, although `effect` has it. */
const forbiddenInKube = ["effect/Layer", "effect/Context", "effect/Stream"]

interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
}

export const importsOf = (source: string): ReadonlyArray<Import> => [
  ...[...source.matchAll(/^\s*(?:import|export)\s+(type\s)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm)].map((match) => ({
    specifier: match[2] ?? "",
    typeOnly: match[1] !== undefined
  })),
  ...[...source.matchAll(/\bimport\(\s*"([^"]+)"/g)].map((match) => ({ specifier: match[1] ?? "", typeOnly: false }))
]

const moduleOf = (file: string): Module | undefined =>
  modules.filter((module) => within(module.path, file)).sort((a, b) => b.path.length - a.path.length)[0]

/** Paths are relative to `src`. */
export const check = (files: ReadonlyMap<string, string>): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  for (const [file, source] of files) {
    const module = moduleOf(file)
    if (module === undefined) {
      found.push({ rule: "every file is in a module", file, what: "no module" })
      continue
    }
    for (const { specifier, typeOnly } of importsOf(source)) {
      const rule = specifier.startsWith(".")
        ? checkRelative(file, module, resolve(file, specifier))
        : checkPackage(module, specifier, typeOnly)
      if (rule !== undefined) found.push({ rule, file, what: specifier })
    }
  }
  return found
}

const checkPackage = (module: Module, specifier: string, typeOnly: boolean): string | undefined => {
  if (specifier === "effect" || specifier === "@effect/platform-node") return "no barrels: import the module"
  if (module.path === "kube/" && forbiddenInKube.includes(specifier)) return "kube is vocabulary: no layers, no streams"
  if (typeOnly && specifier === "@kubernetes/client-node") return undefined
  if (module.packages.some((prefix) => specifier === prefix || specifier.startsWith(prefix))) return undefined
  return "only these modules use Node"
}

const checkRelative = (file: string, module: Module, target: string): string | undefined => {
  if (entries.includes(target)) return "entries are not imported"
  const isInside = within(module.path, target)
  if (isInside && module.siblings === false && isSibling(controllerOf(module, file), controllerOf(module, target)))
    return "controllers do not know each other"
  if (!isInside && !module.modules.some((prefix) => target.startsWith(prefix))) return ladder
  const door = closed.find((path) => within(path, target))
  return door !== undefined && !within(door, file) && !module.modules.includes(door) ? ladder : undefined
}

const ladder = "the ladder: lower modules never import higher ones"

const within = (path: string, file: string): boolean => (path.endsWith("/") ? file.startsWith(path) : file === path)

/** `controllers/deployment/plan/plan.ts` and `controllers/Deployment.ts` are one controller's: its name in lower case. */
const controllerOf = (module: Module, file: string): string =>
  (file.slice(module.path.length).split("/")[0] ?? "").replace(/\.ts$/, "").toLowerCase()

/** `controllers/shared` is what several loops use; it knows none of them. */
const isSibling = (from: string, to: string): boolean => from !== to && to !== "shared"

export const resolve = (file: string, specifier: string): string => {
  const parts = file.split("/").slice(0, -1)
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop()
    else if (part !== ".") parts.push(part)
  }
  return parts.join("/")
}

/** The modules that each module imports, types included; files directly below `src` are left out. */
export const importsOfModules = (files: ReadonlyMap<string, string>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const found = new Map<string, Set<string>>()
  for (const [file, source] of files) {
    const [from = "", ...inside] = file.split("/")
    if (inside.length === 0) continue
    const targets = found.get(from) ?? new Set()
    for (const { specifier } of importsOf(source)) {
      const [to = "", ...rest] = specifier.startsWith(".") ? resolve(file, specifier).split("/") : []
      if (rest.length > 0 && to !== from) targets.add(to)
    }
    found.set(from, targets)
  }
  return new Map(Array.from(found, ([from, targets]) => [from, Array.from(targets).sort()]))
}

/** Sets of files that reach each other by imports, those of types included. */
export const circles = (files: ReadonlyMap<string, string>): ReadonlyArray<ReadonlyArray<string>> => {
  const targets = new Map(
    Array.from(files, ([file, source]) => [
      file,
      importsOf(source).flatMap(({ specifier }) => (specifier.startsWith(".") ? [resolve(file, specifier)] : []))
    ])
  )
  const reached = (from: string): ReadonlySet<string> => {
    const seen = new Set<string>()
    const open = [...(targets.get(from) ?? [])]
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      if (seen.has(file)) continue
      seen.add(file)
      open.push(...(targets.get(file) ?? []))
    }
    return seen
  }
  const all = new Map(Array.from(files.keys(), (file) => [file, reached(file)]))
  const found = new Set<string>()
  for (const [file, seen] of all) {
    if (!seen.has(file)) continue
    const circle = [...seen].filter((other) => all.get(other)?.has(file) === true)
    found.add(circle.toSorted().join("\n"))
  }
  return Array.from(found, (circle) => circle.split("\n"))
}
