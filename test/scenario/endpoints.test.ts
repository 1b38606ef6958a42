/**
 * The pages of a running program for operators, over HTTPS and by name: its settings, controllers, informers and leases for authorized
 * clients, its log level for clients that may change it, nothing for others; and profiles, for clients on the host.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFile, writeFile } from "node:fs/promises"
import { connect } from "node:http2"
import { request, type RequestOptions } from "node:https"
import { join } from "node:path"
import type * as Setting from "../../src/layers/Setting.ts"
import { settings } from "../support/controllers.ts"
import * as Process from "../support/process.ts"

interface Answered {
  readonly status: number
  readonly body: string
  readonly type: string | undefined
  readonly allow: string | undefined
  readonly nosniff: boolean
}

interface Question {
  readonly method?: string
  readonly token?: string | undefined
  readonly body?: string
}

const ask = (port: number, path: string, { body, method = "GET", token }: Question = {}) =>
  Effect.promise(
    () =>
      new Promise<Answered>((resolve, reject) => {
        const options: RequestOptions = {
          host: "127.0.0.1",
          port,
          path,
          method,
          agent: false,
          rejectUnauthorized: false,
          headers: {
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...(body === undefined ? {} : { "content-type": "application/json", "content-length": body.length })
          }
        }
        request(options, (response) => {
          let text = ""
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
          response.once("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              body: text,
              type: response.headers["content-type"],
              allow: response.headers.allow,
              nosniff: response.headers["x-content-type-options"] === "nosniff"
            })
          )
        })
          .on("error", reject)
          .end(body)
      })
  )

/** The status of a response over HTTP/2. */
const ask2 = (port: number, path: string, token: string) =>
  Effect.promise(
    () =>
      new Promise<number>((resolve, reject) => {
        const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }).on("error", reject)
        const stream = session.request({ ":path": path, authorization: `Bearer ${token}` })
        stream.on("response", (headers) => resolve(Number(headers[":status"]))).on("error", reject)
        stream.on("end", () => session.close()).resume()
        stream.end()
      })
  )

const portOf = (running: Process.Running, name: string) =>
  Effect.map(running.says(new RegExp(`message="Serving ${name}" port=(\\d+)`)), ([, port]) => Number(port))

/** An API server that authorizes requests, with accounts of three sorts. */
const guarded = Effect.gen(function* () {
  const server = yield* Process.start(["apiserver", "--authorization-mode=RBAC"])
  const [, kubeconfig = ""] = yield* server.says(/^export KUBECONFIG=(\S+)$/m)
  const config = yield* Effect.promise(() => readFile(kubeconfig, "utf8"))
  const [, admin = ""] = /token"?: *"?([\w-]+)/.exec(config) ?? []
  const port = Number(/server"?: *"?https:\/\/[^:]+:(\d+)/.exec(config)?.[1])
  const create = (path: string, body: object) =>
    Effect.map(ask(port, path, { method: "POST", token: admin, body: JSON.stringify(body) }), (answer) => {
      assert.strictEqual(answer.status, 201, answer.body)
      return answer
    })
  const rbac = "/apis/rbac.authorization.k8s.io/v1"
  const account = Effect.fnUntraced(function* (name: string, rules: ReadonlyArray<object>) {
    yield* create("/api/v1/namespaces/default/serviceaccounts", { metadata: { name } })
    yield* create(`${rbac}/clusterroles`, { metadata: { name }, rules })
    yield* create(`${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", namespace: "default", name }]
    })
    const token = yield* create(`/api/v1/namespaces/default/serviceaccounts/${name}/token`, { spec: {} })
    return (JSON.parse(token.body) as { readonly status: { readonly token: string } }).status.token
  })
  return {
    kubeconfig,
    scraper: yield* account("scraper", [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }]),
    watcher: yield* account("watcher", [{ nonResourceURLs: ["/configz", "/debug/*"], verbs: ["get", "head"] }]),
    operator: yield* account("operator", [{ nonResourceURLs: ["*"], verbs: ["*"] }])
  }
})

/** Milliseconds: machines that run many tests at once are slow, and heap snapshots take time. */
const timeout = 60_000

const pages = [
  "/configz",
  "/debug/controllers",
  "/debug/controllers/pod-count",
  "/debug/controllers/garbagecollector",
  "/debug/informers",
  "/debug/leader"
]

/** Repeats the request until the predicate holds. */
const until = Effect.fnUntraced(function* <A>(make: Effect.Effect<A>, isWanted: (found: A) => boolean) {
  while (true) {
    const found = yield* make
    if (isWanted(found)) return found
    yield* Effect.sleep("50 millis")
  }
})

describe.concurrent("the pages for operators", () => {
  it.live(
    "are served to clients with the right, and to no others",
    () =>
      Effect.gen(function* () {
        const { kubeconfig, operator, scraper, watcher } = yield* guarded
        const running = yield* Process.start([
          "--kubeconfig",
          kubeconfig,
          "--controllers=*,garbagecollector",
          "--leader-elect",
          "--metrics-bind-address=127.0.0.1:0",
          "--metrics-secure",
          "--enable-http2"
        ])
        const port = yield* portOf(running, "metrics")
        assert.strictEqual((yield* ask(port, "/metrics", { token: scraper })).status, 200)
        assert.strictEqual((yield* ask(port, "/metrics", { token: watcher })).status, 403)
        for (const path of pages) {
          assert.strictEqual((yield* ask(port, path)).status, 401, path)
          assert.strictEqual((yield* ask(port, path, { token: "nobody" })).status, 401, path)
          assert.strictEqual((yield* ask(port, path, { token: scraper })).status, 403, path)
          const { allow: _, body, ...answer } = yield* ask(port, path, { token: watcher })
          assert.deepStrictEqual(answer, { status: 200, type: "application/json", nosniff: true }, path)
          assert.doesNotThrow(() => JSON.parse(body) as unknown, path)
          assert.strictEqual((yield* ask(port, path, { token: watcher, method: "HEAD" })).body, "")
          const put = yield* ask(port, path, { token: operator, method: "PUT", body: "1" })
          assert.deepStrictEqual([put.status, put.allow], [405, "GET, HEAD"], path)
          assert.strictEqual((yield* ask(port, path, { token: operator, method: "POST", body: "1" })).status, 405, path)
          assert.strictEqual(yield* ask2(port, path, watcher), 200, path)
          assert.strictEqual(yield* ask2(port, path, scraper), 403, path)
        }
        for (const nowhere of ["/", "/debug", "/debug/", "/debug/controllers/nobody", "/debug/pprof/", "/metrics/"]) {
          assert.strictEqual((yield* ask(port, nowhere, { token: operator })).status, 404, nowhere)
        }
        const graph = "/debug/controllers/garbagecollector/graph"
        yield* until(
          ask(port, graph, { token: watcher }),
          ({ body, status }) => status === 200 && /^strict digraph owners {\n[^]*Namespace default[^]*}\n$/.test(body)
        )
        const leader = yield* until(ask(port, "/debug/leader", { token: watcher }), ({ body }) =>
          /"leads": true[^]*"leads": true/.test(body)
        )
        assert.match(leader.body, /"lease": "kube-system\/kube-controller-manager"/)
        const level = (token: string, body: string) => ask(port, "/debug/flags/v", { method: "PUT", token, body })
        assert.strictEqual((yield* level(watcher, "5")).status, 403)
        assert.strictEqual((yield* level(operator, "loud")).status, 400)
        assert.strictEqual((yield* level(operator, "x".repeat(2000))).status, 413)
        assert.strictEqual((yield* level(operator, "5")).body, "The log level was Info and is Debug\n")
        yield* running.says(/The log level was Info and is Debug/)
        const changed = yield* ask(port, "/configz", { token: watcher })
        assert.match(changed.body, /"logLevel": "Debug"/)
        assert.strictEqual((yield* ask(port, "/debug/flags/v", { token: operator })).status, 405)
        for (const token of [operator, scraper, watcher]) assert.notInclude(running.said(), token)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "show the settings in force, whatever their source",
    () =>
      Effect.gen(function* () {
        const { kubeconfig, watcher } = yield* guarded
        const file = join(yield* Process.folder, "manager.yaml")
        yield* Effect.promise(() => writeFile(file, "max-retries: 7\nmax_concurrent_reconciles: 3\n"))
        const flags = {
          kubeconfig,
          config: file,
          "max-concurrent-reconciles": "2",
          "metrics-bind-address": "127.0.0.1:0",
          "metrics-secure": "true"
        }
        const running = yield* Process.start(
          Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
          {
            CM_RECONCILIATION_TIMEOUT: "2m",
            CM_HEALTH_PROBE_BIND_ADDRESS: "0",
            CM_CONSOLE_BIND_ADDRESS: "0",
            CM_ZAP_ENCODER: "console",
            CM_MAX_RETRIES: ""
          }
        )
        const port = yield* portOf(running, "metrics")
        const { body } = yield* ask(port, "/configz", { token: watcher })
        const { settings: shown } = JSON.parse(body) as { readonly settings: Record<string, object> }
        const said: Readonly<Record<string, object>> = {
          ...Object.fromEntries(
            Object.entries(flags).map(([name, value]) => [name, { value, origin: `flag --${name}` }])
          ),
          "health-probe-bind-address": { value: "0", origin: "environment CM_HEALTH_PROBE_BIND_ADDRESS" },
          "console-bind-address": { value: "0", origin: "environment CM_CONSOLE_BIND_ADDRESS" },
          "zap-encoder": { value: "console", origin: "environment CM_ZAP_ENCODER" },
          "reconciliation-timeout": { value: "2m", origin: "environment CM_RECONCILIATION_TIMEOUT" },
          "max-retries": { value: "7", origin: `file ${file}` }
        }
        const expected = Object.values(settings).map((setting: Setting.Setting<unknown>) => [
          setting.name,
          said[setting.name] ?? { value: setting.default ?? "", origin: "default" }
        ])
        assert.deepStrictEqual(shown, Object.fromEntries(expected) as typeof shown)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "are not served to unauthenticated clients",
    () =>
      Effect.gen(function* () {
        const running = yield* Process.start([
          "--cluster=embedded",
          "--controllers=pod-count",
          "--metrics-bind-address=127.0.0.1:0"
        ])
        const port = yield* portOf(running, "metrics")
        for (const path of [...pages, "/debug/flags/v", "/debug/pprof/"]) {
          const { status } = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}${path}`))
          assert.strictEqual(status, 404, path)
        }
      }).pipe(Effect.scoped),
    timeout
  )
})

describe.concurrent("profiles of the program", () => {
  it.live(
    "are those of V8, taken one at a time, and end with the program",
    () =>
      Effect.gen(function* () {
        const args = ["--cluster=embedded", "--controllers=pod-count", "--pprof-bind-address=127.0.0.1:0"]
        const running = yield* Process.start(args)
        const port = yield* portOf(running, "profiles")
        const get = (path: string) =>
          Effect.promise(async () => {
            const response = await fetch(`http://127.0.0.1:${port}/debug/pprof/${path}`)
            return { status: response.status, body: await response.text() }
          })
        assert.strictEqual((yield* get("cmdline")).body.split("\0").slice(2).join(" "), args.join(" "))
        assert.match((yield* get("")).body, /^profile\?seconds=30 /)
        yield* running.says(/Starting Controller/)
        yield* until(get("fibers"), ({ body }) => body.includes("controller=pod-count"))
        const snapshot = JSON.parse((yield* get("heap")).body) as { readonly snapshot: { readonly node_count: number } }
        assert.isAbove(snapshot.snapshot.node_count, 1000)
        assert.include((yield* get("heap?stats")).body, '"used_heap_size"')
        const profile = JSON.parse((yield* get("profile?seconds=1")).body) as {
          readonly samples: ReadonlyArray<number>
        }
        assert.isAbove(profile.samples.length, 0)
        const abort = new AbortController()
        const long = fetch(`http://127.0.0.1:${port}/debug/pprof/profile?seconds=300`, { signal: abort.signal }).then(
          () => "answered",
          () => "cut off"
        )
        yield* until(get("fibers"), ({ status }) => status === 409)
        yield* running.kill("SIGTERM")
        assert.strictEqual((yield* running.exit).code, 0)
        assert.strictEqual(yield* Effect.promise(() => long), "cut off")
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "are served on this host only when just a port is given",
    () =>
      Effect.gen(function* () {
        const running = yield* Process.start(["--cluster=embedded", "--controllers=pod-count", "--profiling=:0"])
        const port = yield* portOf(running, "profiles")
        const { status } = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/debug/pprof/`))
        assert.strictEqual(status, 200)
        const table = yield* Effect.promise(() => readFile("/proc/net/tcp", "utf8"))
        const listening = table.match(
          new RegExp(` [0-9A-F]{8}:${port.toString(16).toUpperCase().padStart(4, "0")} `, "g")
        )
        assert.deepStrictEqual(listening?.[0]?.trim().slice(0, 8), "0100007F")
      }).pipe(Effect.scoped),
    timeout
  )
})
