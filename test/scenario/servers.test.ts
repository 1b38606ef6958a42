/**
 * The servers of the program, as processes: they respond before anything has synced, on a standby as on a leader, report correctly what is
 * missing, and close with the program.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"
import { request } from "node:https"
import { createServer } from "node:net"
import * as Process from "../support/process.ts"
import * as Promtool from "../support/promtool.ts"

/** Milliseconds: machines that run many tests at once are slow. */
const timeout = 60_000

const flags = ["--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=127.0.0.1:0"]

/** Undefined: no listener responds. */
const get = (port: number, path: string, host = "127.0.0.1") =>
  Effect.promise(() =>
    fetch(`http://${host}:${port}${path}`, { headers: { connection: "close" } }).then(
      async (response) => ({ status: response.status, body: await response.text() }),
      () => undefined
    )
  )

/** The status of the response over HTTPS, without verification of the certificate. */
const secured = (port: number, token: string | undefined) =>
  Effect.promise(
    () =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
        request(
          { host: "127.0.0.1", port, path: "/metrics", headers, agent: false, rejectUnauthorized: false },
          (response) => {
            resolve(response.statusCode)
            response.resume()
          }
        )
          .on("error", reject)
          .end()
      })
  )

/** Repeats the request until the response is one of these. */
const until = Effect.fnUntraced(function* (
  port: number,
  path: string,
  isWanted: (body: string, status: number) => boolean
) {
  while (true) {
    const answer = yield* get(port, path)
    if (answer !== undefined && isWanted(answer.body, answer.status)) return answer
    yield* Effect.sleep("50 millis")
  }
})

const portOf = (running: Process.Running, name: string) =>
  Effect.map(running.says(new RegExp(`message="Serving ${name}" port=(\\d+)`)), ([, port]) => Number(port))

const started = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const running = yield* Process.start([...flags, ...args])
  return { running, probes: yield* portOf(running, "probes"), metrics: yield* portOf(running, "metrics") }
})

/** The sum over all series of one metric with these labels. */
const sum = (metrics: string, series: RegExp): number =>
  Array.from(metrics.matchAll(new RegExp(`^${series.source}[^ ]* (\\S+)$`, "gm")), ([, value]) => Number(value)).reduce(
    (total, value) => total + value,
    0
  )

describe.concurrent("the servers of the program", () => {
  it.live(
    "live at once, ready when all has synced, every series exists; closed at the end",
    () =>
      Effect.gen(function* () {
        const { metrics, probes, running } = yield* started("--cluster=embedded")
        assert.deepStrictEqual(yield* get(probes, "/healthz"), { status: 200, body: "ok" })
        assert.strictEqual((yield* get(probes, "/livez/event-loop"))?.body, "ok")
        yield* until(probes, "/readyz", (_, status) => status === 200)
        const { body } = yield* until(
          metrics,
          "/metrics",
          (text) => sum(text, /controller_runtime_reconcile_total/) > 3
        )
        assert.isAbove(sum(body, /rest_client_requests_total{code="200",method="GET"/), 0)
        assert.strictEqual(sum(body, /informer_synced{kind="pods"}/), 1)
        assert.match(body, /^leader_fenced_writes_total 0$/m)
        assert.match(body, /^certwatcher_read_certificate_errors_total 0$/m)
        if (Promtool.missing === undefined) assert.strictEqual(Promtool.complaints(body), "")
        yield* running.kill("SIGTERM")
        assert.strictEqual((yield* running.exit).code, 0)
        assert.isUndefined(yield* get(probes, "/healthz"))
        assert.isUndefined(yield* get(metrics, "/metrics"))
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "a standby is ready and serves the series of the controllers that it would run",
    () =>
      Effect.gen(function* () {
        const server = yield* Process.start(["apiserver"])
        const [, kubeconfig = ""] = yield* server.says(/^export KUBECONFIG=(\S+)$/m)
        const args = ["--kubeconfig", kubeconfig, "--controllers=pod-count", "--leader-elect"]
        const leader = yield* started(...args)
        yield* leader.running.says(/Starting Controller/)
        const standby = yield* started(...args)
        yield* standby.running.says(/is held by/)
        yield* until(standby.probes, "/readyz", (_, status) => status === 200)
        const { body } = yield* until(standby.metrics, "/metrics", (text) =>
          text.includes("leader_election_slowpath_total")
        )
        assert.match(body, /^leader_election_master_status{name="effect-controller-manager"} 0$/m)
        assert.match(body, /^controller_runtime_reconcile_total{controller="pod-count",result="success"} 0$/m)
        assert.match(body, /^informer_synced{kind="pods"} 1$/m)
        if (Promtool.missing === undefined) assert.strictEqual(Promtool.complaints(body), "")
        const led = yield* until(leader.metrics, "/metrics", () => true)
        assert.match(led.body, /^leader_election_master_status{name="effect-controller-manager"} 1$/m)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "with --metrics-secure, metrics are served over TLS to clients that the API server authenticates and authorizes",
    () =>
      Effect.gen(function* () {
        const server = yield* Process.start(["apiserver"])
        const [, kubeconfig = ""] = yield* server.says(/^export KUBECONFIG=(\S+)$/m)
        const [, token = ""] =
          /token"?: *"?([\w-]+)/.exec(yield* Effect.promise(() => readFile(kubeconfig, "utf8"))) ?? []
        const { metrics, running } = yield* started(
          "--kubeconfig",
          kubeconfig,
          "--controllers=pod-count",
          "--metrics-secure"
        )
        assert.strictEqual(yield* secured(metrics, undefined), 401)
        assert.strictEqual(yield* secured(metrics, "wrong"), 401)
        assert.strictEqual(yield* secured(metrics, token), 200)
        assert.isUndefined(yield* get(metrics, "/metrics"))
        assert.notInclude(running.said(), token)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "metrics without encryption are served on loopback unless an address is named, which is logged",
    () =>
      Effect.gen(function* () {
        const server = yield* Process.start(["apiserver"])
        const [, kubeconfig = ""] = yield* server.says(/^export KUBECONFIG=(\S+)$/m)
        const args = ["--kubeconfig", kubeconfig, "--controllers=pod-count"]
        const own = yield* Process.start([...args, "--metrics-bind-address=:0"])
        const port = yield* portOf(own, "metrics")
        assert.strictEqual((yield* get(port, "/metrics"))?.status, 200)
        // As another pod would connect: by another address of this machine.
        assert.isUndefined(yield* get(port, "/metrics", "127.0.0.2"))
        assert.notMatch(own.said(), /level=WARN .*--metrics-secure/)
        const open = yield* Process.start([...args, "--metrics-bind-address=0.0.0.0:0"])
        yield* open.says(/level=WARN .*--metrics-secure/)
        assert.strictEqual((yield* get(yield* portOf(open, "metrics"), "/metrics", "127.0.0.2"))?.status, 200)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "an address in use is reported in one line, with exit code 1",
    () =>
      Effect.gen(function* () {
        const port = yield* Effect.acquireRelease(
          Effect.promise(
            () =>
              new Promise<{ readonly port: number; readonly close: () => void }>((resolve) => {
                const other = createServer().listen(0, "127.0.0.1", () => {
                  const address = other.address()
                  resolve({
                    port: typeof address === "object" && address !== null ? address.port : 0,
                    close: () => void other.close()
                  })
                })
              })
          ),
          (other) => Effect.sync(other.close)
        )
        const { code, stderr } = yield* Process.run([
          "--cluster=embedded",
          `--metrics-bind-address=127.0.0.1:${port.port}`
        ])
        assert.strictEqual(code, 1)
        assert.include(
          stderr,
          `effect-controller-manager: cannot serve metrics on 127.0.0.1:${port.port}: it is already in use; choose another address with --metrics-bind-address, or 0 for none\n`
        )
      }).pipe(Effect.scoped),
    timeout
  )
})
