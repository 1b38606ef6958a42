/**
 * The common parts of benchmarks of whole processes: a server in a process of its own, the program beside it, the figures of the operating system about a
 * process, and the same requests by a bare loop as a lower bound. With `KUBEBUILDER_ASSETS` the server is a real kube-apiserver, otherwise
 * the embedded one.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { type ChildProcess, spawn } from "node:child_process"
import { generateKeyPairSync } from "node:crypto"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { Endpoint } from "../../src/layers/Endpoint.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Transport } from "../../src/layers/Transport.ts"
import * as envtest from "../../test/support/envtest.ts"
import type { Figure } from "../figure.ts"
import type { Access } from "../plain.ts"

export { type Plain, plainly } from "../plain.ts"

/** A build of the program. */
export interface Build {
  readonly name: "now" | "before"
  /** Its folder, with `dist` in it. */
  readonly folder: string
  /** Flags of Node. Default: none. */
  readonly flags?: ReadonlyArray<string>
}

const now: Build = { name: "now", folder: "." }

/** The build of this folder, run as the image runs it: with the flags of its entry point. */
export const asImage: Build = {
  ...now,
  flags: (
    JSON.parse(/^ENTRYPOINT (.*)$/m.exec(readFileSync("Dockerfile", "utf8"))?.[1] ?? "[]") as Array<string>
  ).filter((one) => one.startsWith("--"))
}

/** The build of this folder, and the one in the folder that `BEFORE` names, to compare both in the same run. */
export const builds: ReadonlyArray<Build> = [
  now,
  ...(process.env["BEFORE"] === undefined ? [] : [{ name: "before", folder: process.env["BEFORE"] } as const])
]

/** Of several runs. */
export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** What was measured in some rounds, in which the builds take turns; `before` is empty where there is one build. */
export const alternately = <A, E, R>(rounds: number, measure: (build: Build) => Effect.Effect<A, E, R>) =>
  Effect.map(
    Effect.forEach(Array.from({ length: rounds }), () => Effect.forEach(builds, measure)),
    (measured) => ({
      now: measured.flatMap(([one]) => (one === undefined ? [] : [one])),
      before: measured.flatMap(([, one]) => (one === undefined ? [] : [one]))
    })
  )

const programOf = ({ folder }: Build): string => join(folder, "dist/main.js")

/** CPU time in /proc is counted in hundredths of a second. */
const ticksPerSecond = 100

export interface Server extends Access {
  readonly what: string
}

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "bench-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Serves every kind in the version that loops know; a real server of an old version does not. */
export const embedded = Effect.gen(function* () {
  const directory = yield* folder
  yield* child(["apiserver", "--directory", directory], /^export KUBECONFIG/m)
  const text = readFileSync(join(directory, "kubeconfig"), "utf8")
  const field = (name: string) => new RegExp(`"?${name}"?: *"?([^"\\s,}]+)`).exec(text)?.[1] ?? ""
  const ca = Buffer.from(field("certificate-authority-data"), "base64").toString()
  return { what: "the embedded server", url: field("server"), ca, token: field("token") }
})

export const server: Effect.Effect<Server, never, Effect.Services<typeof embedded>> = Effect.suspend(() => {
  for (const build of builds)
    if (!existsSync(programOf(build))) throw new Error(`${programOf(build)} is not there: npm run build first`)
  return envtest.missing !== undefined
    ? embedded
    : Effect.map(envtest.start(), ({ ca, token, url, version }) => ({
        what: `kube-apiserver ${version.major}.${version.minor}`,
        url,
        ca,
        token
      }))
})

/** Starts the program with these arguments, and waits for this line; the scope kills it. */
export const child = (args: ReadonlyArray<string>, ready: RegExp, build: Build = now) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const running = spawn(process.execPath, [...(build.flags ?? []), programOf(build), ...args], {
        stdio: ["ignore", "pipe", "pipe"]
      })
      let said = ""
      let isReady = false
      await new Promise<void>((resolve, reject) => {
        running.once("exit", (code) => reject(new Error(`the program exited with ${code}: ${said}`)))
        const heard = (text: Buffer) => {
          // Later output is not needed, and would be kept in memory. A search for many lines costs more than the requests of a benchmark.
          if (isReady) return
          said += text.toString()
          isReady = ready.test(said)
          if (isReady) resolve()
        }
        running.stdout.on("data", heard)
        running.stderr.on("data", heard)
      })
      return running
    }),
    (running) =>
      Effect.promise(
        () =>
          new Promise<void>((resolve) => {
            if (running.exitCode !== null) return resolve()
            running.once("exit", () => resolve())
            running.kill("SIGKILL")
          })
      )
  )

/** The program with these controllers, once it has started the last of them. */
export const controllers = (
  where: Server,
  names: ReadonlyArray<string>,
  args: ReadonlyArray<string> = [],
  build: Build = now
) =>
  Effect.flatMap(kubeconfig(where), (file) =>
    child(
      [
        `--kubeconfig=${file}`,
        "--leader-elect=false",
        "--metrics-bind-address=0",
        "--health-probe-bind-address=0",
        `--controllers=${names.join(",")}`,
        ...args
      ],
      new RegExp(`Starting Controller.*(?:${names.join("|")})(?:[^]*?Starting Controller){${names.length - 1}}`),
      build
    )
  )

export const usageOf = ({ pid }: ChildProcess) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  const mib = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
  return {
    cpuMillis: ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond,
    residentMiB: mib("VmRSS"),
    peakMiB: mib("VmHWM")
  }
}

/** The load of the machine: beside every duration that other work may have increased. */
export const load = (): string => `load ${loadavg()[0]?.toFixed(1)}`

/** A client of this process. */
export const client = (where: Server) =>
  Effect.gen(function* () {
    const endpoint = Endpoint.fixed({ server: where.url, tls: { ca: where.ca }, token: Redacted.make(where.token) })
    const transport = Layer.succeed(Transport, yield* HttpTransport.make(endpoint))
    return Context.get(yield* Layer.build(Layer.provide(KubeClient.layer, transport)), KubeClient)
  })

/** For work without a limit: time, CPU time and memory, beside the lower bounds. */
export const figures = (
  name: string,
  of: {
    readonly seconds: number
    readonly floorSeconds: number
    /** Milliseconds for each `per`. */
    readonly cpu: number
    readonly floorCpu: number
    readonly per: string
    readonly peakMiB: number
  }
): Array<Figure> => [
  {
    name: `${name}, ${load()}`,
    value: of.seconds,
    unit: "s",
    floor: of.floorSeconds,
    ratio: of.seconds / of.floorSeconds,
    bar: "none",
    ok: true
  },
  {
    name: `${name}: processor`,
    value: of.cpu,
    unit: `ms/${of.per}`,
    floor: of.floorCpu,
    ratio: of.cpu / of.floorCpu,
    bar: "none",
    ok: true
  },
  { name: `${name}: peak memory`, value: of.peakMiB, unit: "MiB RSS", bar: "none", ok: true }
]

/** A file with a key to sign tokens with, until the scope closes. Nothing here verifies the signatures. */
export const signingKey = Effect.map(folder, (directory) => {
  const file = join(directory, "sa.key")
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 })
  return file
})

/** A kubeconfig for the program, until the scope closes. */
export const kubeconfig = (where: Server) =>
  Effect.map(folder, (directory) => {
    const file = join(directory, "kubeconfig")
    const content = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "bench",
      contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
      clusters: [
        {
          name: "bench",
          cluster: { server: where.url, "certificate-authority-data": Buffer.from(where.ca).toString("base64") }
        }
      ],
      users: [{ name: "bench", user: { token: where.token } }]
    }
    writeFileSync(file, JSON.stringify(content), { mode: 0o600 })
    return file
  })
