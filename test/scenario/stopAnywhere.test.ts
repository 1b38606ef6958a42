/**
 * A stop at difficult moments: before the server has responded, before the first sync, while another replica leads, while the lease is lost, and when
 * the server, a thread or a collector of traces no longer responds. The process ends, in order where that is possible and in time
 * everywhere, and reports no loss as an error that the stop itself caused.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { createServer, type AddressInfo } from "node:net"
import { join } from "node:path"
import * as Patch from "../../src/kube/Patch.ts"
import { Lease } from "../../src/kube/resources.ts"
import * as Gateway from "../support/gateway.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"
import * as Leaders from "./leaders.ts"

/** Milliseconds that a busy machine may add. */
const slack = 5000

const stop = Effect.fnUntraced(function* (running: Process.Running) {
  const began = performance.now()
  yield* running.kill("SIGTERM")
  const exited = yield* running.exit
  return { ...exited, took: performance.now() - began }
})

/** Asserts that it ended as requested, without a complaint. */
const assertClean = ({ code, stderr }: Process.Exited) => {
  assert.strictEqual(code, 0, stderr)
  assert.notMatch(stderr, /level=ERROR/)
  assert.notMatch(stderr, /^effect-controller-manager:/m)
}

/** A script that the program runs before itself. */
const before = Effect.fnUntraced(function* (script: string) {
  const path = join(yield* Process.folder, "before.cjs")
  yield* Effect.promise(() => writeFile(path, script))
  return { env: { NODE_OPTIONS: `--require ${path}` } }
})

/** Accepts connections and all data, and never sends anything. */
const silent = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer((socket) => socket.on("error", () => {}).resume())
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return server
  }),
  (server) => Effect.sync(() => void server.close().unref())
)

describe("a stop", () => {
  it.live("releases the lease, then sends the events, then closes the watches, and serves probes in the meantime", () =>
    Effect.gen(function* () {
      const { client, upstream } = yield* Cluster.withOnePod
      /** The last time of each of these. */
      const at = new Map<"lease" | "watch closed", number>()
      let isAsked = false
      let flushing = () => {}
      const isFlushing = new Promise<void>((resolve) => (flushing = resolve))
      const gateway = yield* Gateway.start(
        upstream,
        (line) => {
          if (line.startsWith("PUT ") && line.includes("/leases/")) at.set("lease", performance.now())
          if (isAsked && line.includes("/events")) flushing()
        },
        (line) => (line.includes("watch=") ? at.set("watch closed", performance.now()) : undefined)
      )
      const kubeconfig = yield* Kubeconfigs.write({ ...gateway })
      const running = yield* Process.start([
        `--kubeconfig=${kubeconfig}`,
        "--leader-elect",
        "--pod-count-interval=1h",
        "--health-probe-bind-address=127.0.0.1:0"
      ])
      const [, port] = yield* running.says(/Serving probes.* port=(\d+)/)
      yield* Cluster.labelled(client, 1)
      yield* Cluster.recorded(client, "a", 1)
      // Events from now on are sent by the flush, and take all its time.
      gateway.hold = (line) => line.startsWith("POST ") && line.includes("/events")
      isAsked = true
      const stopping = yield* Effect.forkChild(stop(running))
      yield* Effect.promise(() => isFlushing)
      const probe = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/healthz`))
      assert.strictEqual(probe.status, 200)
      const stopped = yield* Fiber.join(stopping)
      assertClean(stopped)
      assert.match(stopped.stderr, /released lease[^]*events were not sent before the end/)
      // Between the two, events were retried for five seconds.
      assert.isAtLeast((at.get("watch closed") ?? 0) - (at.get("lease") ?? 0), 4500)
    }).pipe(Effect.scoped)
  )

  it.live("while another replica leads: nothing is written", () =>
    Effect.gen(function* () {
      const cluster = yield* Leaders.replicas(yield* Cluster.embedded, 2)
      const { identity, leader } = yield* Leaders.nextLeader(cluster, "", 2)
      const standby = cluster.all[1 - leader.number] as Leaders.Replica
      yield* standby.says(/is held by/)
      const stopped = yield* stop(standby)
      assertClean(stopped)
      assert.isBelow(stopped.took, slack)
      assert.strictEqual((yield* cluster.client.get(Lease, Leaders.target)).spec?.holderIdentity, identity)
      Leaders.onlyWrote(cluster.written, [leader])
    }).pipe(Effect.scoped)
  )

  it.live("before the first sync: it does not wait for lists without a response", () =>
    Effect.gen(function* () {
      const upstream = yield* Cluster.embedded
      let tell = () => {}
      const asked = new Promise<void>((resolve) => (tell = resolve))
      const isList = (line: string) => /^GET \/api\/v1\/(pods|nodes)/.test(line)
      const gateway = yield* Gateway.start(upstream, (line) => (isList(line) ? tell() : undefined))
      gateway.hold = isList
      const running = yield* Process.start(["--kubeconfig", yield* Kubeconfigs.write({ ...gateway })])
      yield* Effect.promise(() => asked)
      const stopped = yield* stop(running)
      assertClean(stopped)
      assert.isBelow(stopped.took, slack)
    }).pipe(Effect.scoped)
  )

  it.live("of a leader whose server no longer responds: the lease and the events have their time, and it ends", () =>
    Effect.gen(function* () {
      const cluster = yield* Leaders.replicas(yield* Cluster.embedded, 1)
      const { leader } = yield* Leaders.nextLeader(cluster, "", 2)
      leader.gateway.hold = () => true
      const stopped = yield* stop(leader)
      assertClean(stopped)
      // The renew deadline of 3 s and 5 s for events.
      assert.isBelow(stopped.took, 8000 + slack)
      assert.match(stopped.stderr, /could not be released in time; it will expire/)
    }).pipe(Effect.scoped)
  )

  it.live("while it contends again for a lost lease: no error, and the new holder keeps it", () =>
    Effect.gen(function* () {
      const cluster = yield* Leaders.replicas(yield* Cluster.embedded, 1, { more: ["--leader-elect-on-lost=rejoin"] })
      const { leader } = yield* Leaders.nextLeader(cluster, "", 2)
      yield* cluster.client.patch(Lease, Leaders.target, Patch.merge({ spec: { holderIdentity: "thief" } }))
      yield* leader.says(/cannot renew|leader election lost/)
      const stopped = yield* stop(leader)
      assertClean(stopped)
      assert.isBelow(stopped.took, slack)
      assert.strictEqual((yield* cluster.client.get(Lease, Leaders.target)).spec?.holderIdentity, "thief")
    }).pipe(Effect.scoped)
  )

  it.live("with a thread that does not end takes no longer than its limit; the lease is released before", () =>
    Effect.gen(function* () {
      const script = `require("node:worker_threads").Worker.prototype.terminate = () => new Promise(() => {})\n`
      const cluster = yield* Leaders.replicas(yield* Cluster.embedded, 1, {
        ...(yield* before(script)),
        more: ["--graceful-shutdown-timeout=3s"]
      })
      const { leader } = yield* Leaders.nextLeader(cluster, "", 2)
      const { code, stderr, took } = yield* stop(leader)
      assert.strictEqual(code, 1, stderr)
      assert.match(stderr, /released lease/)
      assert.strictEqual(
        Leaders.lastLine(stderr),
        "effect-controller-manager: the stop took longer than 3s; not everything was closed"
      )
      assert.isAbove(took, 2900)
      assert.isBelow(took, 3000 + slack)
    }).pipe(Effect.scoped)
  )

  it.live("with a collector of traces that accepts everything and never responds takes no longer than its limit", () =>
    Effect.gen(function* () {
      const { port } = (yield* silent).address() as AddressInfo
      const cluster = yield* Leaders.replicas(yield* Cluster.embedded, 1, {
        more: [`--otlp-endpoint=http://127.0.0.1:${port}`, "--graceful-shutdown-timeout=8s"]
      })
      const { leader } = yield* Leaders.nextLeader(cluster, "", 2)
      const stopped = yield* stop(leader)
      assertClean(stopped)
      assert.isBelow(stopped.took, 8000 + slack)
    }).pipe(Effect.scoped)
  )
})
