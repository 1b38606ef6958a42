/**
 * The program, as a process and over HTTPS, on API servers that do not stream lists, and on ones that do not list at all: its requests, and the
 * responses of its probes.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Namespace, ServiceAccount } from "../../src/kube/resources.ts"
import * as Gateway from "../support/gateway.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

/** What kube-apiserver 1.36 sends, after a status of 200, where its etcd is 3.4. Source: apiserver/pkg/storage/cacher: Cacher.Watch. */
const progressUnsupported = `${JSON.stringify({
  type: "ERROR",
  object: {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message:
      "a watch stream was requested by the client but the required storage feature RequestWatchProgress is disabled",
    reason: "InternalError",
    code: 500
  }
})}\n`

const behindGateway = Effect.gen(function* () {
  const upstream = yield* Cluster.embedded
  const lines: Array<string> = []
  const gateway = yield* Gateway.start(upstream, (line) => lines.push(line))
  const kubeconfig = yield* Kubeconfigs.write({ ...gateway, user: { token: upstream.token } })
  const run = (...args: ReadonlyArray<string>) =>
    Process.start([
      "--kubeconfig",
      kubeconfig,
      "--controllers=serviceaccount,podgc,replicaset",
      "--leader-elect=false",
      "--health-probe-bind-address=127.0.0.1:0",
      ...args
    ])
  return { client: yield* Cluster.client(upstream), gateway, lines, run }
})

const probe = (url: string) =>
  Effect.promise(async () => {
    const response = await fetch(url)
    return { status: response.status, text: await response.text() }
  })

/** Repeats the request of a probe until it has this response. */
const until = Effect.fnUntraced(function* (url: string, pattern: RegExp) {
  while (true) {
    const answer = yield* probe(url)
    if (pattern.test(answer.text)) return answer
    yield* Effect.sleep("50 millis")
  }
})

const probesOf = (program: Process.Running) =>
  Effect.map(program.says(/Serving probes.*port=(\d+)/), ([, port]) => `http://127.0.0.1:${port}`)

/** `/api/v1/pods` of a request for a streaming list. */
const streamed = (line: string): ReadonlyArray<string> =>
  line.includes("sendInitialEvents=true") ? [line.slice("GET ".length).split("?")[0] ?? ""] : []

describe("an API server that does not stream lists", () => {
  it.live("the program works on one whose etcd cannot report progress, and logs that once", () =>
    Effect.gen(function* () {
      const { client, gateway, lines, run } = yield* behindGateway
      gateway.answer = (line) => (line.includes("sendInitialEvents=true") ? progressUnsupported : undefined)
      const program = yield* run()
      const probes = yield* probesOf(program)
      yield* client.create(Namespace, { metadata: { name: "served" } })
      const isDefault = ({ metadata }: ServiceAccount) => metadata.name === "default"
      yield* Cluster.until(client, ServiceAccount, { namespace: "served" }, isDefault)
      yield* until(`${probes}/readyz`, /^ok$/)
      const asked = lines.flatMap(streamed)
      assert.isAtLeast(asked.length, 1)
      assert.strictEqual(new Set(asked).size, asked.length, "no kind is asked for twice")
      yield* program.kill("SIGTERM")
      const { code, stderr, stdout } = yield* program.exit
      assert.strictEqual(code, 0)
      const said = `${stdout}${stderr}`.split("\n").filter((line) => line.includes("cannot stream lists"))
      assert.strictEqual(said.length, 1, said.join("\n"))
      assert.match(said[0] ?? "", /INFO/i)
    }).pipe(Effect.scoped)
  )

  it.live("kinds that have not synced in time show in /readyz and /healthz?verbose, whichever way they fail", () =>
    Effect.gen(function* () {
      const { gateway, run } = yield* behindGateway
      gateway.answer = (line) => (line.includes("sendInitialEvents=true") ? progressUnsupported : undefined)
      gateway.refuse = (line) => (line.startsWith("GET /apis/apps/v1/replicasets?") ? 500 : undefined)
      gateway.hold = (line) => line.startsWith("GET /api/v1/nodes?")
      const probes = yield* probesOf(yield* run("--cache-sync-timeout=2s"))
      const names = [/replicasets\.apps not synced, failed .*list replicasets/, /nodes not synced/]
      for (const pattern of names) {
        assert.strictEqual((yield* until(`${probes}/readyz?verbose`, pattern)).status, 500)
        assert.strictEqual((yield* until(`${probes}/healthz?verbose`, pattern)).status, 200)
      }
      assert.match((yield* probe(`${probes}/healthz?verbose`)).text, /\[\+\]informers ok, but after 2s: /)
      assert.deepStrictEqual(yield* probe(`${probes}/healthz`), { status: 200, text: "ok" })
    }).pipe(Effect.scoped)
  )
})
