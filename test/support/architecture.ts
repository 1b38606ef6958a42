/**
 * The import ladder as data: which room may import what, and a checker that works on any map from path to source, so that each
 * rule can be shown to catch a file that breaks it. Rooms are folders or files under `src`; the longest match decides.
 */

export interface Violation {
  readonly rule: string
  readonly file: string
  readonly what: string
}

/** What a room may import from outside and from other rooms. */
interface Room {
  /** Path prefix, or a file. */
  readonly path: string
  /** Other rooms, as path prefixes; a room may always import itself, except where `siblings` is false. */
  readonly rooms: ReadonlyArray<string>
  /** Package prefixes with values; types may come from client-node everywhere. */
  readonly packages: ReadonlyArray<string>
  readonly siblings?: false
}

const pureEffect = ["effect/"]
const edge = [
  "effect/",
  "node:",
  "@effect/platform-node/",
  "undici",
  "@peculiar/",
  "@bufbuild/",
  "yaml",
  "@kubernetes/client-node"
]

/** Files of `layers` that touch the platform. */
export const edgeFiles = [
  "platform/HttpTransport.ts",
  "platform/http/",
  "platform/KubeConfig.ts",
  "platform/kubeconfig/",
  "apiserver/server/EmbeddedCluster.ts",
  "manager/cluster/clusters.ts",
  "manager/configFile.ts",
  "manager/cluster/standAlone.ts",
  "manager/debug/inspector.ts",
  "manager/identity/authorityFiles.ts",
  "manager/http/Listener.ts",
  "manager/http/certificateFiles.ts",
  "manager/http/door.ts",
  "manager/http/selfSigned.ts",
  "manager/http/signing.ts",
  "manager/metrics/process.ts",
  "manager/metrics/versions.ts",
  "manager/servers.ts",
  "manager/webhooks/certificates/Custody.ts",
  "manager/webhooks/certificates/keyring.ts",
  "manager/webhooks/server.ts",
  "manager/webhooks/started.ts",
  "apiserver/server/"
]

/** Nobody enters these without naming them. */
const closedRooms = ["apiserver/", "simulation/"]

/** Where the platform comes in on purpose. */
const edgeUsers = ["main.ts", "product.ts", "program.ts", "cli/", "node.ts", "manager/renewal/thread.ts"]

/** Whatever program it is, its controllers are told to it. */
const belowCommands = ["kube/", "streams/", "layers/", "leader/", "manager/", "version.ts"]
const layersMay = ["kube/", "streams/", "layers/"]
const cluster = ["apiserver/", "simulation/"]

export const rooms: ReadonlyArray<Room> = [
  { path: "kube/", rooms: [], packages: pureEffect },
  // Pure as well: patterns of schemas in the API server's dialect.
  { path: "kube/structural/pattern.ts", rooms: [], packages: ["@bufbuild/re2"] },
  { path: "streams/", rooms: ["kube/"], packages: pureEffect },
  { path: "layers/", rooms: layersMay, packages: pureEffect },
  { path: "apiserver/", rooms: ["kube/", "layers/Transport.ts"], packages: pureEffect },
  {
    path: "apiserver/server/",
    rooms: ["kube/", "layers/Transport.ts", "apiserver/"],
    packages: edge
  },
  {
    path: "simulation/",
    rooms: [
      "kube/",
      "streams/",
      "layers/Transport.ts",
      "layers/KubeClient.ts",
      "layers/Cache.ts",
      "layers/Recorder.ts",
      "layers/Supervisor.ts"
    ],
    packages: pureEffect
  },
  ...edgeFiles
    .filter((path) => path !== "apiserver/server/")
    .map((path): Room => ({
      path,
      rooms: [...layersMay, ...cluster, ...(path.startsWith("manager/") ? ["manager/"] : [])],
      packages: edge
    })),
  { path: "manager/", rooms: layersMay, packages: pureEffect },
  { path: "testing/ClusterTest.ts", rooms: [...layersMay, ...cluster, "manager/"], packages: pureEffect },
  { path: "layers/clusterTest/", rooms: [...layersMay, ...cluster, "manager/"], packages: pureEffect },
  {
    path: "leader/",
    rooms: [
      "kube/",
      "streams/",
      "layers/Transport.ts",
      "layers/KubeClient.ts",
      "layers/Recorder.ts",
      "layers/Leadership.ts",
      "layers/Shutdown.ts",
      "layers/Health.ts"
    ],
    packages: pureEffect
  },
  {
    path: "controllers/",
    rooms: [
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
      "layers/Webhook.ts",
      "layers/controller/"
    ],
    packages: pureEffect,
    siblings: false
  },
  {
    path: "controllers/registry.ts",
    rooms: [
      "kube/",
      "controllers/",
      "layers/ClusterAuthority.ts",
      "layers/CloudProvider.ts",
      "layers/Controller.ts",
      "layers/controller/",
      "layers/Schedules.ts",
      "layers/Discovery.ts",
      "layers/KubeClient.ts",
      "manager/roster.ts"
    ],
    packages: pureEffect
  },
  { path: "manager/renewal/", rooms: ["kube/", "streams/", "layers/", "leader/"], packages: edge },
  { path: "main.ts", rooms: ["product.ts", "version.ts", "manager/renewal/"], packages: edge },
  { path: "cli/", rooms: belowCommands, packages: edge },
  { path: "program.ts", rooms: [...belowCommands, "cli/"], packages: edge },
  { path: "product.ts", rooms: [...belowCommands, "controllers/", "cli/", "program.ts"], packages: edge },
  { path: "version.ts", rooms: [], packages: [] },
  { path: "index.ts", rooms: ["kube/", "streams/", "layers/", "leader/", "manager/"], packages: pureEffect },
  { path: "testing.ts", rooms: [...layersMay, ...cluster], packages: pureEffect },
  { path: "node.ts", rooms: ["kube/", "streams/", "layers/", "leader/", "manager/", "program.ts"], packages: edge }
]

/** Nobody imports these: they are where reading starts. */
const entries = ["main.ts", "index.ts", "node.ts", "testing.ts"]

/** What the pure vocabulary must not hold, although `effect` has it. */
const forbiddenInKube = ["effect/Layer", "effect/Context", "effect/Stream"]

interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
}

const importsOf = (source: string): ReadonlyArray<Import> => [
  ...[...source.matchAll(/^\s*(?:import|export)\s+(type\s)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm)].map((match) => ({
    specifier: match[2] ?? "",
    typeOnly: match[1] !== undefined
  })),
  ...[...source.matchAll(/\bimport\(\s*"([^"]+)"/g)].map((match) => ({ specifier: match[1] ?? "", typeOnly: false }))
]

const roomOf = (file: string): Room | undefined =>
  rooms.filter((room) => within(room.path, file)).sort((a, b) => b.path.length - a.path.length)[0]

/** Paths are relative to `src`. */
export const check = (files: ReadonlyMap<string, string>): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  for (const [file, source] of files) {
    const room = roomOf(file)
    if (room === undefined) {
      found.push({ rule: "every file is in a room", file, what: "no room" })
      continue
    }
    for (const { specifier, typeOnly } of importsOf(source)) {
      const rule = specifier.startsWith(".")
        ? checkRelative(file, room, resolve(file, specifier), typeOnly)
        : checkPackage(room, specifier, typeOnly)
      if (rule !== undefined) found.push({ rule, file, what: specifier })
    }
  }
  return found
}

const checkPackage = (room: Room, specifier: string, typeOnly: boolean): string | undefined => {
  if (specifier === "effect" || specifier === "@effect/platform-node") return "no barrels: import the module"
  if (room.path === "kube/" && forbiddenInKube.includes(specifier)) return "kube is vocabulary: no layers, no streams"
  if (typeOnly && specifier === "@kubernetes/client-node") return undefined
  if (room.packages.some((prefix) => specifier === prefix || specifier.startsWith(prefix))) return undefined
  return "only platform-edge files touch the platform"
}

const checkRelative = (file: string, room: Room, target: string, typeOnly: boolean): string | undefined => {
  if (entries.includes(target)) return "entries are not imported"
  const inside = within(room.path, target)
  if (inside && room.siblings === false && isSibling(controllerOf(room, file), controllerOf(room, target)))
    return "controllers do not know each other"
  const closed = closedRooms.find((path) => within(path, target))
  if (closed !== undefined && !within(closed, file) && !room.rooms.some((prefix) => prefix.startsWith(closed))) {
    return room.path === "layers/" ? "layers do not know the embedded cluster" : ladder
  }
  if (!inside && !room.rooms.some((prefix) => target.startsWith(prefix))) return ladder
  // An edge file is a room of its own inside `layers`; the pure ones may name its types, not load it.
  const edge = edgeFiles.some((path) => within(path, target)) && !edgeFiles.some((path) => within(path, file))
  return edge && !typeOnly && !edgeUsers.some((path) => within(path, file)) ? ladder : undefined
}

const ladder = "the ladder: lower rooms never import higher ones"

const within = (path: string, file: string): boolean => (path.endsWith("/") ? file.startsWith(path) : file === path)

/** `controllers/deployment/plan.ts` and `controllers/Deployment.ts` are one controller's: its name in lower case. */
const controllerOf = (room: Room, file: string): string =>
  (file.slice(room.path.length).split("/")[0] ?? "").replace(/\.ts$/, "").toLowerCase()

/** What several loops share - about nodes, about Services, about owners of pods; it knows none of them. */
const sharedByControllers = new Set(["kinds", "nodes", "revisions", "scale", "services", "tokens", "workload"])

const isSibling = (from: string, to: string): boolean => from !== to && !sharedByControllers.has(to)

const resolve = (file: string, specifier: string): string => {
  const parts = file.split("/").slice(0, -1)
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop()
    else if (part !== ".") parts.push(part)
  }
  return parts.join("/")
}
