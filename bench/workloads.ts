/**
 * Fifty Deployments of forty replicas on an API server without nodes, from the first create until every status says that all
 * replicas are updated at the present generation: the whole program as a process of its own, its processor time and its peak
 * memory read from the operating system. The floor is the same pods created by a bare loop of POSTs against the same server.
 * With `KUBEBUILDER_ASSETS` the server is a real kube-apiserver, otherwise the embedded one in a third process.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Agent, request } from "undici"
import { Deployment, Namespace } from "../src/kube/resources.ts"
import { Endpoint } from "../src/layers/Endpoint.ts"
import * as HttpTransport from "../src/layers/HttpTransport.ts"
import { KubeClient } from "../src/layers/KubeClient.ts"
import { Transport } from "../src/layers/Transport.ts"
import * as envtest from "../test/support/envtest.ts"
import type { Figure } from "./figure.ts"

const program = "dist/main.js"
const [deployments, replicas] = [50, 40]
const pods = deployments * replicas
/** Processor time in /proc is counted in hundredths of a second. */
const ticksPerSecond = 100

interface Server {
  readonly what: string
  readonly url: string
  readonly ca: string
  readonly token: string
}

const embedded = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "bench-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  yield* child(["apiserver", "--directory", folder], /^export KUBECONFIG/m)
  const text = readFileSync(join(folder, "kubeconfig"), "utf8")
  const field = (name: string) => new RegExp(`"?${name}"?: *"?([^"\\s,}]+)`).exec(text)?.[1] ?? ""
  const ca = Buffer.from(field("certificate-authority-data"), "base64").toString()
  return { what: "the embedded server", url: field("server"), ca, token: field("token") }
})

const server: Effect.Effect<Server, never, Effect.Services<typeof embedded>> = Effect.suspend(() => {
  const found = envtest.assets()
  return "missing" in found
    ? embedded
    : Effect.map(envtest.start(found.folder), ({ ca, token, url, version }) => ({
        what: `kube-apiserver ${version.major}.${version.minor}`,
        url,
        ca,
        token
      }))
})

/** The program with these arguments, once it has said that; it is killed with the scope. */
const child = (args: ReadonlyArray<string>, ready: RegExp) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const running = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] })
      let said = ""
      await new Promise<void>((resolve, reject) => {
        running.once("exit", (code) => reject(new Error(`the program exited with ${code}: ${said}`)))
        const heard = (text: Buffer) => {
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
            running.once("exit", () => resolve())
            running.kill("SIGKILL")
          })
      )
  )

const usageOf = ({ pid }: ChildProcess) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
  return {
    cpuMillis: ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond,
    peakMiB: Number(peak) / 1024
  }
}

const template = {
  metadata: { labels: { app: "load" } },
  spec: { containers: [{ name: "main", image: "example.test/main:1" }] }
}

const isComplete = ({ metadata, spec, status }: Deployment): boolean =>
  status?.observedGeneration === metadata.generation &&
  status?.replicas === spec?.replicas &&
  status?.updatedReplicas === spec?.replicas

/** Creates all Deployments and waits until each is complete; milliseconds. */
const rollOut = (client: KubeClient["Service"]) =>
  Effect.gen(function* () {
    yield* client.create(Namespace, { metadata: { name: "load" } })
    const began = performance.now()
    const complete = new Set<string>()
    yield* Effect.all(
      [
        client.watch(Deployment, { namespace: "load", timeoutSeconds: 600 }).pipe(
          Stream.takeUntil(({ object }) => {
            const deployment = object as Deployment
            if (isComplete(deployment)) complete.add(deployment.metadata.name)
            return complete.size === deployments
          }),
          Stream.runDrain
        ),
        Effect.forEach(
          Array.from({ length: deployments }, (_, i) => `load-${i}`),
          (name) =>
            client.create(Deployment, {
              metadata: { namespace: "load", name },
              spec: {
                replicas,
                selector: { matchLabels: { app: "load", of: name } },
                template: { ...template, metadata: { labels: { app: "load", of: name } } }
              }
            }),
          { concurrency: 8, discard: true }
        )
      ],
      { concurrency: "unbounded" }
    )
    return performance.now() - began
  })

/** The same pods by a bare loop over so many connections. */
const floor = async ({ ca, token, url }: Server) => {
  const connections = 12
  const dispatcher = new Agent({ connections, pipelining: 1, connect: { ca } })
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` }
  const post = async (path: string, object: object) => {
    const { body, statusCode } = await request(`${url}${path}`, {
      method: "POST",
      headers,
      dispatcher,
      body: JSON.stringify(object)
    })
    const text = await body.text()
    if (statusCode !== 201) throw new Error(`${statusCode}: ${text}`)
    JSON.parse(text)
  }
  await post("/api/v1/namespaces", { metadata: { name: "floor" } })
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  let next = 0
  const worker = async () => {
    // Names of their own: of two thousand that the server makes up, two may be the same.
    while (next++ < pods) await post("/api/v1/namespaces/floor/pods", { ...template, metadata: { name: `p-${next}` } })
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const used = process.cpuUsage(cpu)
  const millis = performance.now() - began
  await dispatcher.close()
  return { perSecond: (pods * 1000) / millis, cpuPerPod: (used.user + used.system) / 1000 / pods }
}

export const run = async (): Promise<Array<Figure>> => {
  if (!existsSync(program)) throw new Error(`${program} is not there: npm run build first`)
  return Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const where = yield* server
        const endpoint = Endpoint.fixed({ server: where.url, tls: { ca: where.ca }, token: Redacted.make(where.token) })
        const transport = Layer.succeed(Transport, yield* HttpTransport.make(endpoint))
        const client = Context.get(yield* Layer.build(Layer.provide(KubeClient.layer, transport)), KubeClient)
        const ours = yield* Effect.scoped(
          Effect.gen(function* () {
            const running = yield* child(
              [
                `--kubeconfig=${yield* kubeconfig(where)}`,
                "--leader-elect=false",
                "--controllers=deployment,replicaset"
              ],
              /Starting Controller.*deployment[^]*Starting Controller|Starting Controller[^]*Starting Controller.*deployment/
            )
            const before = usageOf(running).cpuMillis
            const millis = yield* rollOut(client)
            const { cpuMillis, peakMiB } = usageOf(running)
            return { perSecond: (pods * 1000) / millis, cpuPerPod: (cpuMillis - before) / pods, peakMiB }
          })
        )
        const bare = yield* Effect.promise(() => floor(where))
        const name = `50 Deployments × 40 on ${where.what}`
        return [
          {
            name,
            value: ours.perSecond,
            unit: "pods/s",
            floor: bare.perSecond,
            ratio: ours.perSecond / bare.perSecond,
            bar: "≥ 400 pods/s",
            ok: ours.perSecond >= 400
          },
          {
            name: `${name}: processor`,
            value: ours.cpuPerPod,
            unit: "ms/pod",
            floor: bare.cpuPerPod,
            ratio: ours.cpuPerPod / bare.cpuPerPod,
            bar: "≤ 1.2 ms/pod",
            ok: ours.cpuPerPod <= 1.2
          },
          {
            name: `${name}: peak memory`,
            value: ours.peakMiB,
            unit: "MiB RSS",
            bar: "≤ 220 MiB",
            ok: ours.peakMiB <= 220
          }
        ]
      })
    )
  )
}

const kubeconfig = (where: Server) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "bench-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    ),
    (folder) => {
      const file = join(folder, "kubeconfig")
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
    }
  )
