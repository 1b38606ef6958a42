/**
 * What the program watches, as a process and over HTTPS, from the server's side: which requests it sends, and what it writes to the cluster. On the
 * embedded API server, and on a real one where `KUBEBUILDER_ASSETS` names it.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Lease, Namespace, Node, Pod, ReplicaSet } from "../../src/kube/resources.ts"
import * as Patch from "../../src/kube/Patch.ts"
import * as envtest from "../support/envtest.ts"
import * as Gateway from "../support/gateway.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const { label } = Cluster

const isMissing = envtest.isMissing("watching on a real API server")

const real = Effect.map(envtest.start(), ({ ca, token, url }) => ({
  server: url,
  ca,
  token
}))

const servers: ReadonlyArray<readonly [name: string, start: Effect.Effect<Gateway.Upstream, unknown, Scope.Scope>]> = [
  ["the embedded API server", Cluster.embedded],
  ...(isMissing ? [] : [["a real API server", real] as const])
]

/** A server with a gateway that records every request, a client that does not go through it, and a node to label. */
const fixture = Effect.fnUntraced(function* (start: Effect.Effect<Gateway.Upstream, unknown, Scope.Scope>) {
  const upstream = yield* start
  const client = yield* Cluster.client(upstream)
  yield* Cluster.addNode(client)
  const lines: Array<string> = []
  const gateway = yield* Gateway.start(upstream, (line) => lines.push(line))
  const kubeconfig = yield* Kubeconfigs.write({
    server: gateway.server,
    ca: gateway.ca,
    user: { token: upstream.token }
  })
  const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
    Process.start(["--kubeconfig", kubeconfig, "--pod-count-interval=100ms", ...args], env)
  const inNamespace = (name: string, labels: Record<string, string> = {}) =>
    client.create(Namespace, { metadata: { name, labels } })
  const podIn = (namespace: string, name: string) =>
    client.create(
      Pod,
      { metadata: { name }, spec: { containers: [{ name: "main", image: "example.org/none" }] } },
      { namespace }
    )
  /** The paths at which it read a kind. */
  const looked = (plural: string) =>
    [...new Set(lines.filter((line) => line.startsWith("GET ")).map((line) => line.slice(4).split("?")[0] ?? ""))]
      .filter((path) => path.endsWith(`/${plural}`))
      .sort()
  return { client, lines, run, inNamespace, podIn, looked }
})

const stop = Effect.fnUntraced(function* (program: Process.Running) {
  yield* program.kill("SIGTERM")
  const { code, stderr } = yield* program.exit
  assert.strictEqual(code, 0, stderr)
})

for (const [name, server] of servers) {
  describe(`watching on ${name}`, () => {
    it.live("WATCH_NAMESPACE: these namespaces are reconciled, and no request is about all namespaces", () =>
      Effect.gen(function* () {
        const { client, inNamespace, looked, podIn, run } = yield* fixture(server)
        for (const namespace of ["a", "b", "c"]) yield* inNamespace(namespace)
        yield* podIn("a", "one")
        yield* podIn("c", "one")
        const program = yield* run([], { WATCH_NAMESPACE: "a,b,absent" })
        yield* Cluster.labelled(client, 1)
        yield* podIn("c", "two")
        yield* podIn("b", "two")
        yield* Cluster.labelled(client, 2)
        yield* stop(program)
        assert.deepStrictEqual(
          looked("pods"),
          ["a", "absent", "b"].map((namespace) => `/api/v1/namespaces/${namespace}/pods`)
        )
        assert.deepStrictEqual(looked("nodes"), ["/api/v1/nodes"])
      }).pipe(Effect.scoped)
    )

    it.live("--watch-namespace-selector: a namespace is reconciled while it has the labels", () =>
      Effect.gen(function* () {
        const { client, inNamespace, looked, podIn, run } = yield* fixture(server)
        yield* inNamespace("a", { team: "blue" })
        yield* inNamespace("b")
        for (const namespace of ["a", "b"]) yield* podIn(namespace, "one")
        const program = yield* run(["--watch-namespace-selector=team=blue"])
        yield* Cluster.labelled(client, 1)
        yield* podIn("b", "two")
        yield* client.patch(Namespace, { name: "b" }, Patch.merge({ metadata: { labels: { team: "blue" } } }))
        yield* Cluster.labelled(client, 3)
        yield* client.patch(Namespace, { name: "a" }, Patch.merge({ metadata: { labels: { team: null } } }))
        yield* Cluster.labelled(client, 2)
        yield* stop(program)
        assert.deepStrictEqual(
          looked("pods"),
          ["a", "b"].map((namespace) => `/api/v1/namespaces/${namespace}/pods`)
        )
      }).pipe(Effect.scoped)
    )

    it.live("--watch-list=never: the first list comes in pages, never as a stream", () =>
      Effect.gen(function* () {
        const { client, lines, run } = yield* fixture(server)
        const never = yield* run(["--watch-list=never"])
        yield* Cluster.labelled(client, 0)
        yield* stop(never)
        assert.isFalse(lines.some((line) => line.includes("sendInitialEvents")))
        assert.isTrue(lines.some(isPage), lines.join("\n"))
        if (name !== "the embedded API server") return
        lines.length = 0
        yield* client.patch(Node, { name: "control-plane" }, Patch.merge({ metadata: { labels: { [label]: null } } }))
        const auto = yield* run([])
        yield* Cluster.labelled(client, 0)
        yield* stop(auto)
        assert.isTrue(
          lines.some((line) => /\/pods\?.*sendInitialEvents=true/.test(line)),
          lines.join("\n")
        )
        assert.isFalse(lines.some(isPage), lines.join("\n"))
      }).pipe(Effect.scoped)
    )

    for (const isWarm of [true, false]) {
      it.live(
        `--enable-warmup=${isWarm}: a standby ${isWarm ? "reads everything before it leads, and not again then" : "reads nothing before it leads"}`,
        () =>
          Effect.gen(function* () {
            const { client, lines, run } = yield* fixture(server)
            const now = new Date().toISOString().replace("Z", "000Z")
            const lease = yield* client.create(
              Lease,
              {
                metadata: { name: "effect-controller-manager" },
                spec: { holderIdentity: "another", leaseDurationSeconds: 3600, acquireTime: now, renewTime: now }
              },
              { namespace: "default" }
            )
            const program = yield* run([
              "--leader-elect",
              "--leader-elect-resource-namespace=default",
              // So that the watch is the last request of a first sync.
              "--watch-list=never",
              `--enable-warmup=${isWarm}`
            ])
            yield* program.says(/is held by/)
            const isRead = (line: string) => line.startsWith("GET /api/v1/pods")
            if (isWarm) yield* seen(lines, (line) => isRead(line) && line.includes("watch="))
            const before = lines.filter(isRead)
            yield* client.update(Lease, { ...lease, spec: { ...lease.spec, holderIdentity: "" } })
            yield* Cluster.labelled(client, 0)
            yield* stop(program)
            const reads = lines.filter(isRead)
            if (isWarm) assert.deepStrictEqual(reads, before)
            else {
              const taken = lines.findIndex((line) => line.startsWith("PUT ") && line.includes("/leases/"))
              assert.isAbove(lines.findIndex(isRead), taken, lines.join("\n"))
              assert.deepStrictEqual(before, [])
            }
          }).pipe(Effect.scoped)
      )
    }

    it.live("--sync-period: every object is reconciled again, without a request to the server", () =>
      Effect.gen(function* () {
        const { client, lines, run } = yield* fixture(server)
        yield* client.create(
          ReplicaSet,
          {
            metadata: { name: "none" },
            spec: {
              replicas: 0,
              selector: { matchLabels: { app: "none" } },
              template: {
                metadata: { labels: { app: "none" } },
                spec: { containers: [{ name: "main", image: "example.org/none" }] }
              }
            }
          },
          { namespace: "default" }
        )
        const program = yield* run([
          "--controllers=replicaset",
          "--leader-elect=false",
          "--sync-period=200ms",
          "--metrics-bind-address=127.0.0.1:0"
        ])
        const [, port] = yield* program.says(/message="Serving metrics" port=(\d+)/)
        yield* reconciled(Number(port), 5)
        const before = lines.filter((line) => !line.includes("/leases")).length
        yield* reconciled(Number(port), 15)
        assert.strictEqual(lines.filter((line) => !line.includes("/leases")).length, before, lines.join("\n"))
        yield* stop(program)
      }).pipe(Effect.scoped)
    )
  })
}

/** Waits until one of the requests matches. */
const seen = Effect.fnUntraced(function* (lines: ReadonlyArray<string>, is: (line: string) => boolean) {
  while (!lines.some(is)) yield* Effect.sleep("20 millis")
})

const isPage = (line: string): boolean =>
  line.startsWith("GET /api/v1/pods?") && line.includes("limit=") && !line.includes("watch=")

/** Waits until the ReplicaSet has been reconciled this many times. */
const reconciled = Effect.fnUntraced(function* (port: number, times: number) {
  const series = /^controller_runtime_reconcile_total\{[^}]*controller="replicaset"[^}]*result="success"[^}]*\} (\d+)/m
  while (true) {
    const text = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/metrics`).then((answer) => answer.text()))
    if (Number(series.exec(text)?.[1] ?? "0") >= times) return
    yield* Effect.sleep("50 millis")
  }
})

describe("contradicting settings of namespaces end the program with code 2, and one line", () => {
  const cases: ReadonlyArray<
    readonly [args: ReadonlyArray<string>, env: Readonly<Record<string, string>>, says: string]
  > = [
    [
      ["--watch-namespaces=a,B_c"],
      {},
      '--watch-namespaces does not take "a,B_c": "B_c" cannot be the name of a namespace'
    ],
    [[], { WATCH_NAMESPACE: "a/b" }, 'WATCH_NAMESPACE does not take "a/b"'],
    [
      ["--namespace=a"],
      { WATCH_NAMESPACE_SELECTOR: "x=y" },
      "--watch-namespaces and WATCH_NAMESPACE_SELECTOR cannot both"
    ],
    [["--watch-namespace-selector=x=(y"], {}, "--watch-namespace-selector does not take"],
    [["--sync-period=1h", "--min-resync-period=1h"], {}, "--sync-period and --min-resync-period cannot both"],
    [["--controllers=garbagecollector"], { WATCH_NAMESPACE: "a" }, '"garbagecollector" needs all namespaces'],
    [["--controllers=namespace", "--watch-namespace-selector=x"], {}, '"namespace" needs all namespaces']
  ]
  for (const [args, env, says] of cases) {
    it.live(
      `${args.join(" ")} ${JSON.stringify(env)}`,
      () =>
        Effect.gen(function* () {
          const { code, stderr } = yield* Process.run(["--cluster=embedded", ...args], env)
          assert.strictEqual(code, 2, stderr)
          assert.include(stderr, says)
          assert.strictEqual(stderr.trim().split("\n").length, 1, stderr)
        }).pipe(Effect.scoped),
      30_000
    )
  }
})
