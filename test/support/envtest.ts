/**
 * A real API server for tests: etcd and kube-apiserver from the folder that `KUBEBUILDER_ASSETS` names (the convention of controller-runtime's
 * envtest), on free loopback ports, in a temporary folder, as an `Endpoint`. Each runs in a process group of its own, which is killed
 * and waited for when the scope closes.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { request } from "node:https"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Endpoint } from "../../src/layers/Endpoint.ts"
import { authority } from "./tls.ts"

const folder = process.env["KUBEBUILDER_ASSETS"] ?? ""

/** The reason why there is no real API server on this machine; undefined where there is one. */
export const missing = ((): string | undefined => {
  if (folder === "") return "KUBEBUILDER_ASSETS is not set"
  const absent = ["etcd", "kube-apiserver"].filter((name) => !existsSync(join(folder, name)))
  return absent.length === 0 ? undefined : `KUBEBUILDER_ASSETS=${folder} has no ${absent.join(" and no ")}`
})()

/** Whether a suite has to be skipped because there is no real API server, which is then reported. */
export const isMissing = (suite: string): boolean => {
  if (missing !== undefined) process.stderr.write(`${suite} skipped: ${missing}\n`)
  return missing !== undefined
}

export interface RealServer {
  readonly endpoint: Endpoint["Service"]
  readonly url: string
  readonly ca: string
  readonly token: string
  /** The file with the key by which the server verifies tokens of service accounts. */
  readonly tokenKey: string
  /** `1.20`, as two numbers. */
  readonly version: { readonly major: number; readonly minor: number }
  /** Compacts etcd's history: every revision before the present one is removed. */
  readonly compact: Effect.Effect<void>
  /** Kills the API server with SIGKILL; etcd stays. */
  readonly kill: Effect.Effect<void>
  /** Restarts it on the same port, and waits until it is ready. */
  readonly restart: Effect.Effect<void>
}

const token = "envtest-administrator"

/** Starts both, the API server with `more` flags; fails with the end of the server's log when it does not become ready. */
export const start = (more: ReadonlyArray<string> = []): Effect.Effect<RealServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "ecm-envtest-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
    )
    const [etcdPort, peerPort, port] = yield* Effect.promise(() => freePorts(3))
    const etcdUrl = `http://127.0.0.1:${etcdPort}`
    yield* child(join(folder, "etcd"), [
      `--data-dir=${join(directory, "etcd")}`,
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peerPort}`,
      `--initial-cluster=default=http://127.0.0.1:${peerPort}`,
      "--unsafe-no-fsync"
    ])
    const { ca, flags, tokenKey } = yield* Effect.promise(() => credentials(directory))
    const around = yield* Effect.scope
    const apiserver = child(join(folder, "kube-apiserver"), [
      ...flags,
      `--etcd-servers=${etcdUrl}`,
      "--bind-address=127.0.0.1",
      // No client connects to this address; with a loopback address the Service `kubernetes` would have no Endpoints.
      "--advertise-address=10.0.0.1",
      `--secure-port=${port}`,
      "--service-cluster-ip-range=10.0.0.0/24",
      "--disable-admission-plugins=ServiceAccount",
      "--authorization-mode=RBAC",
      "--allow-privileged",
      ...more
    ])
    const get = (path: string) => read(Number(port), ca, path)
    const boot = Effect.gen(function* () {
      const scope = yield* Scope.fork(around)
      const server = yield* Scope.provide(apiserver, scope)
      yield* Effect.promise(() => ready(server, () => get("/readyz").then((answer) => answer.status === 200)))
      return scope
    })
    let running = yield* boot
    // The server is ready before its own controllers have created the initial objects of a cluster, of which this is the last.
    for (const path of [
      "/api/v1/namespaces?fieldSelector=metadata.name=kube-system",
      "/api/v1/namespaces/default/endpoints?fieldSelector=metadata.name=kubernetes"
    ])
      yield* Effect.promise(() => present(Number(port), ca, path))
    const { body } = yield* Effect.promise(() => get("/version"))
    const { major, minor } = JSON.parse(body) as { major: string; minor: string }
    const url = `https://127.0.0.1:${port}`
    return {
      endpoint: Endpoint.fixed({ server: url, tls: { ca }, token: Redacted.make(token) }),
      url,
      ca,
      token,
      tokenKey,
      version: { major: Number(major), minor: Number.parseInt(minor, 10) },
      compact: Effect.promise(() => compact(etcdUrl)),
      kill: Effect.suspend(() => Scope.close(running, Exit.void)),
      restart: Effect.map(boot, (scope) => {
        running = scope
      })
    }
  })

/** Through etcd's JSON gateway; any read returns the present revision. */
const compact = async (etcdUrl: string): Promise<void> => {
  const call = async (path: string, body: object) => {
    const answer = await fetch(`${etcdUrl}/v3/kv/${path}`, { method: "POST", body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`etcd ${path}: ${await answer.text()}`)
    return (await answer.json()) as { header: { revision: string } }
  }
  const { header } = await call("range", { key: btoa("none") })
  await call("compaction", { revision: header.revision, physical: true })
}

const credentials = async (directory: string) => {
  const ca = await authority("envtest")
  const serving = await ca.issue("kube-apiserver")
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const put = async (name: string, content: string) => {
    await writeFile(join(directory, name), content, { mode: 0o600 })
    return join(directory, name)
  }
  const signing = await put("sa.key", privateKey.export({ type: "pkcs8", format: "pem" }))
  const flags = [
    `--cert-dir=${directory}`,
    `--tls-cert-file=${await put("serving.crt", serving.cert)}`,
    `--tls-private-key-file=${await put("serving.key", serving.key)}`,
    `--token-auth-file=${await put("tokens.csv", `${token},admin,admin-uid,"system:masters"\n`)}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${signing}`,
    `--service-account-signing-key-file=${signing}`
  ]
  return { ca: ca.cert, flags, tokenKey: signing }
}

interface Running {
  readonly process: ChildProcess
  /** The last kilobytes of its output. */
  log: string
}

/** A child in a process group of its own; the group is killed and the child waited for. */
const child = (command: string, args: ReadonlyArray<string>): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      // Most of the CPU time of a start is garbage collection.
      const env = { ...process.env, GOGC: "400" }
      const started = spawn(command, args, { env, detached: true, stdio: ["ignore", "pipe", "pipe"] })
      const running: Running = { process: started, log: "" }
      const keep = (text: Buffer) => {
        running.log = (running.log + text.toString()).slice(-8192)
      }
      started.stdout.on("data", keep)
      started.stderr.on("data", keep)
      started.on("error", (error) => keep(Buffer.from(String(error))))
      return running
    }),
    ({ process: one }) =>
      Effect.promise(async () => {
        if (one.pid === undefined || one.exitCode !== null || one.signalCode !== null) return
        const exited = once(one, "exit")
        process.kill(-one.pid, "SIGKILL")
        await exited
      })
  )

/** Asks ten times a second: the server's output is no signal, since a server whose `/readyz` fails may print nothing for half a minute. */
const ready = async (server: Running, ask: () => Promise<boolean>): Promise<void> => {
  const ended = new AbortController()
  const end = () => ended.abort()
  server.process.once("exit", end).once("error", end)
  try {
    while (!(await ask().catch(() => false))) {
      const { exitCode, pid, signalCode } = server.process
      const hasEnded = pid === undefined || exitCode !== null || signalCode !== null
      if (hasEnded) throw new Error(`kube-apiserver ended before it was ready:\n${server.log}`)
      await setTimeout(100, undefined, { signal: ended.signal }).catch(() => undefined)
    }
  } finally {
    server.process.off("exit", end).off("error", end)
  }
}

const read = (port: number, ca: string, path: string): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const call = request({ host: "127.0.0.1", port, path, ca, headers, agent: false }, (response) => {
      let body = ""
      response.setEncoding("utf8").on("data", (text: string) => (body += text))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }))
      response.on("error", reject)
    })
    call.on("error", reject)
    call.end()
  })

/** Waits for the first event of a watch: the selected object exists, now or later. */
const present = (port: number, ca: string, list: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const path = `${list}&watch=1&timeoutSeconds=60`
    const call = request({ host: "127.0.0.1", port, path, ca, headers, agent: false }, (response) => {
      response.once("data", () => {
        resolve()
        call.destroy()
      })
      response.on("end", () => reject(new Error(`kube-apiserver has nothing at ${list}`)))
      response.on("error", reject)
    })
    call.on("error", reject)
    call.end()
  })

const freePorts = async (count: number): Promise<ReadonlyArray<number>> => {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"))
  await Promise.all(servers.map((server) => once(server, "listening")))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => once(server.close(), "close")))
  return ports
}
