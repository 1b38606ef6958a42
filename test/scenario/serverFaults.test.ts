/**
 * Faults of the API server, from its clients' view: it is unreachable for a while, returns without its history, rejects half of the calls, or is
 * slow. The process continues, sends no more requests than documented, readiness is right in the meantime, and when the fault is over
 * everything becomes as requested. `SOAK=1` has faults of full length and the program's default times.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as envtest from "../support/envtest.ts"
import * as Gateway from "../support/gateway.ts"
import * as Process from "../support/process.ts"
import { full } from "../support/runs.ts"
import * as TcpProxy from "../support/tcpProxy.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"
import * as Load from "./leadership/load.ts"

/** Milliseconds: how long a fault lasts. */
const length = full ? 60_000 : 7000
/** Milliseconds: the program's defaults in full runs. */
const times = full ? { lease: 15_000, renew: 10_000, retry: 2000 } : { lease: 4000, renew: 3000, retry: 400 }
/** Milliseconds that a busy machine may add. */
const allowance = 10_000

/** The maximum of connections in any one second to an unreachable server, of a leader with three kinds and two loops. */
const maxConnections = 25

/** The maximum of calls in any one second under the load of the test when half of them are rejected; about 120 without faults. */
const calls = 400

const flags = [
  "--controllers=deployment,replicaset",
  "--leader-elect",
  `--leader-elect-lease-duration=${times.lease}ms`,
  `--leader-elect-renew-deadline=${times.renew}ms`,
  `--leader-elect-retry-period=${times.retry}ms`,
  "--leader-elect-on-lost=rejoin",
  "--health-probe-bind-address=127.0.0.1:0",
  "--v=1"
]

/** A request as it arrives at the gateway of the server. */
interface Asked {
  /** Milliseconds of this process's monotonic clock. */
  readonly at: number
  readonly line: string
}

/** The program, a connection to the server that can be cut, and load that continues during the fault. */
const day = Effect.fnUntraced(function* (upstream: Gateway.Upstream) {
  const client = yield* Cluster.client(upstream)
  const asked: Array<Asked> = []
  const gateway = yield* Gateway.start(upstream, (line) => asked.push({ at: performance.now(), line }))
  const wire = yield* TcpProxy.start(gateway.server)
  const kubeconfig = yield* Kubeconfigs.write({ server: wire.server, ca: gateway.ca })
  const program = yield* Process.start(["--kubeconfig", kubeconfig, ...flags])
  const [, port] = yield* program.says(/Serving probes.* port=(\d+)/)
  const model: Load.Model = new Map([["calm", 3]])
  yield* Load.deployment(client, "calm", 3)
  yield* Load.settled(client, model)
  const loading = yield* Effect.forkScoped(Load.changes(client, model, 100))
  const probe = (path: string) => Effect.promise(() => answer(`http://127.0.0.1:${port}${path}`))
  return {
    asked,
    client,
    gateway,
    probe,
    program,
    wire,
    ready: until(probe("/readyz?verbose"), /readyz check passed/),
    unready: (pattern: RegExp) => until(probe("/readyz?verbose"), pattern),
    rest: Fiber.interrupt(loading),
    /** The load ends, and everything becomes as requested; then the program stops in order. */
    over: Effect.gen(function* () {
      yield* Fiber.interrupt(loading)
      yield* Load.settled(client, model)
      assert.match(yield* probe("/healthz"), /ok/)
      yield* program.kill("SIGTERM")
      const { code, stderr } = yield* program.exit
      assert.strictEqual(code, 0, stderr)
    })
  }
})

const answer = (url: string): Promise<string> =>
  fetch(url, { headers: { connection: "close" } }).then((response) => response.text())

const until = Effect.fnUntraced(function* (look: Effect.Effect<string>, pattern: RegExp) {
  let text = yield* look
  for (; !pattern.test(text); text = yield* look) yield* Effect.sleep(50)
  return text
})

/** Waits for the next such line from now on: on a busy machine the program may have printed one before. */
const said = (program: Process.Running, pattern: RegExp) =>
  Effect.suspend(() => {
    const mark = program.said().length
    return until(
      Effect.sync(() => program.said().slice(mark)),
      pattern
    )
  })

/** The maximum within any one second. */
const busiest = (all: ReadonlyArray<Pick<Asked, "at">>): number =>
  Math.max(0, ...all.map((from) => all.filter(({ at }) => at >= from.at && at < from.at + 1000).length))

/** Neither a read, nor the lease, nor an event, which may by design be sent after the term. */
const isWork = (line: string): boolean => !line.startsWith("GET ") && !/\/leases|\/events/.test(line)

const report = (what: string): void => void process.stderr.write(`${what}\n`)

/** Changes the connection for the length of a fault, and runs the checks in the meantime. */
const away = Effect.fnUntraced(function* ({ probe, program, unready, wire }: Effect.Success<ReturnType<typeof day>>) {
  const began = performance.now()
  wire.leave(true)
  yield* said(program, /no longer leading: no renewal succeeded for/)
  const lost = performance.now() - began
  assert.isBelow(lost, times.renew + allowance, "the lease is lost in time")
  yield* unready(
    /informer-sync failed: .*deployments\.apps not up to date, failed \d+ times in a row: watch deployments\.apps: /
  )
  yield* Effect.sleep(Math.max(0, began + length - performance.now()))
  assert.match(yield* probe("/readyz"), /\[-\]informer-sync failed: reason withheld/)
  assert.match(yield* probe("/healthz"), /ok/)
  const moments = wire.arrivals.filter((at) => at >= began).map((at) => ({ at }))
  report(
    `unreachable for ${length} ms: lost the lease after ${Math.round(lost)} ms, ${moments.length} connections, ${busiest(moments)} in one second`
  )
  assert.isAtMost(busiest(moments), maxConnections)
})

const limit = 300_000 + 4 * length

describe.concurrent("an API server", () => {
  it.live(
    "that is unreachable, and then returns: the lease is lost, the rate of connections stays limited, and all work is done in the end",
    () =>
      Effect.gen(function* () {
        const one = yield* day(yield* Cluster.embedded)
        yield* away(one)
        one.wire.leave(false)
        yield* one.ready
        yield* one.over
      }).pipe(Effect.scoped),
    limit
  )

  it.live(
    "that returns without its history: everything is listed again, once",
    () =>
      Effect.gen(function* () {
        const one = yield* day(yield* Cluster.embedded)
        yield* away(one)
        const back = one.asked.length
        const expired = new Set<string>()
        one.gateway.refuse = (line) => {
          const [, kind] = /^GET ([^?]*)\?.*watch=.*resourceVersion=[1-9]/.exec(line) ?? []
          if (kind === undefined || kind.includes("leases") || expired.has(kind)) return undefined
          expired.add(kind)
          return 410
        }
        one.wire.leave(false)
        yield* one.ready
        yield* one.over
        const since = one.asked.slice(back).map(({ line }) => line)
        const paths = ["/apis/apps/v1/deployments", "/apis/apps/v1/replicasets", "/api/v1/pods"]
        assert.includeMembers([...expired], paths)
        for (const path of paths) {
          const reads = since.filter((line) => line.startsWith(`GET ${path}?`) && /sendInitialEvents|limit=/.test(line))
          assert.strictEqual(reads.length, 1, `${path}: ${reads.join()}`)
        }
      }).pipe(Effect.scoped),
    limit
  )

  it.live(
    "that rejects half of all calls: the others are enough",
    () =>
      Effect.gen(function* () {
        const one = yield* day(yield* Cluster.embedded)
        const began = performance.now()
        let [lot, refused] = [1, 0]
        one.gateway.refuse = () => {
          lot = (lot * 1103515245 + 12345) % 2 ** 31
          return lot < 2 ** 30 ? undefined : [429, 500, 503][refused++ % 3]
        }
        yield* Effect.sleep(length)
        assert.match(yield* one.probe("/healthz"), /ok/)
        const asked = one.asked.filter(({ at }) => at >= began)
        report(
          `half rejected for ${length} ms: ${asked.length} calls, ${refused} rejected, ${busiest(asked)} in one second`
        )
        assert.isAtMost(busiest(asked), calls)
        one.gateway.refuse = () => undefined
        yield* one.ready
        yield* one.over
      }).pipe(Effect.scoped),
    limit
  )

  it.live(
    "that responds more slowly than a renewal may wait: the lease is lost in time, and nothing more is written",
    () =>
      Effect.gen(function* () {
        const one = yield* day(yield* Cluster.embedded)
        const began = performance.now()
        // A renewal waits for half the renew deadline.
        one.gateway.latency = times.renew / 2 + 200
        yield* said(one.program, /no longer leading/)
        const lost = performance.now()
        assert.isBelow(lost - began, times.renew + allowance)
        yield* Effect.sleep(Math.max(0, began + length - lost))
        assert.match(yield* one.probe("/healthz"), /ok/)
        const asked = one.asked.filter(({ at }) => at >= began)
        const late = asked.filter(({ at, line }) => at > lost && isWork(line))
        assert.deepStrictEqual(late, [])
        report(
          `slow for ${length} ms: lost the lease after ${Math.round(lost - began)} ms, ${asked.length} calls, ${busiest(asked)} in one second`
        )
        assert.isAtMost(busiest(asked), maxConnections)
        one.gateway.latency = 0
        yield* one.ready
        yield* one.over
      }).pipe(Effect.scoped),
    limit
  )
})

const isMissing = envtest.isMissing("bad days of a real API server")

describe.skipIf(isMissing)("a real API server", () => {
  it.live(
    "that is killed, and restarted without its history: all work is done in the end",
    () =>
      Effect.gen(function* () {
        const server = yield* envtest.start()
        const one = yield* day({ server: server.url, ca: server.ca, token: server.token })
        const began = performance.now()
        one.wire.leave(true)
        // What happens in the meantime is in the history that is lost.
        yield* said(one.program, /no longer leading: no renewal succeeded for/)
        yield* one.unready(/informer-sync failed: .*not up to date/)
        yield* one.rest
        yield* server.kill
        one.wire.leave(false)
        yield* Effect.sleep(Math.max(0, began + length - performance.now()))
        yield* server.compact
        yield* server.restart
        yield* one.ready
        yield* one.over
      }).pipe(Effect.scoped),
    limit
  )
})
