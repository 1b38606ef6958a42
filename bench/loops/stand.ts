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
import { Agent, request } from "undici"
import { Endpoint } from "../../src/layers/Endpoint.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Transport } from "../../src/layers/Transport.ts"
import * as envtest from "../../test/support/envtest.ts"
import type { Figure } from "../figure.ts"

const program = "dist/main.js"

/** CPU time in /proc is counted in hundredths of a second. */
const ticksPerSecond = 100

export interface Server {
  readonly what: string
  readonly url: string
  readonly ca: string
  readonly token: string
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
  if (!existsSync(program)) throw new Error(`${program} is not there: npm run build first`)
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
export const child = (args: ReadonlyArray<string>, ready: RegExp) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const running = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] })
      let said = ""
      await new Promise<void>((resolve, reject) => {
        running.once("exit", (code) => reject(new Error(`the program exited with ${code}: ${said}`)))
        const heard = (text: Buffer) => {
          // Later output is not needed, and would be kept in memory.
          if (ready.test(said)) return
          said += text.toString()
          if (ready.test(said)) resolve()
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
export const controllers = (where: Server, names: ReadonlyArray<string>, args: ReadonlyArray<string> = []) =>
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
      new RegExp(`Starting Controller.*(?:${names.join("|")})(?:[^]*Starting Controller){${names.length - 1}}`)
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

/** One request of a bare loop. */
export interface Plain {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  readonly body?: object | undefined
}

/** Requests over this many connections, one after the other on each, and nothing else: how fast the server allows any client to be. */
export const plainly = async ({ ca, token, url }: Server, count: number, make: (index: number) => Plain) => {
  const connections = 12
  const dispatcher = new Agent({ connections, pipelining: 1, connect: { ca } })
  const authorization = `Bearer ${token}`
  const send = async ({ body: sent, method, path }: Plain) => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json"
    const { body, statusCode } = await request(`${url}${path}`, {
      method,
      headers: { "content-type": type, authorization },
      dispatcher,
      ...(sent === undefined ? {} : { body: JSON.stringify(sent) })
    })
    const text = await body.text()
    if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode}: ${text}`)
    JSON.parse(text)
  }
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  let next = 0
  const worker = async () => {
    while (next < count) await send(make(next++))
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const used = process.cpuUsage(cpu)
  const millis = performance.now() - began
  await dispatcher.close()
  return { millis, perSecond: (count * 1000) / millis, cpuEach: (used.user + used.system) / 1000 / count }
}

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
