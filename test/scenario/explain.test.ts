/** `explain` against a running program: the timeline of an object, as a table, as JSON and while it goes on. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Deployment } from "../../src/kube/resources.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import type { ObjectView } from "../../src/manager/console/protocol.ts"
import { createServer } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"

const started = Effect.gen(function* () {
  const running = yield* Process.start(["--cluster=embedded", "--console-bind-address=127.0.0.1:0"])
  const [console] = yield* running.says(/^http:\/\/127\.0\.0\.1:\d+\/console\/#token=\S+$/m)
  const [, kubeconfig = ""] = yield* running.says(/^kubectl --kubeconfig (\S+) /m)
  const client = yield* Cluster.client(yield* Cluster.accessIn(kubeconfig))
  const isScaled = ({ metadata, status }: Deployment) => metadata.name === "web" && status?.readyReplicas === 2
  yield* Cluster.until(client, Deployment, {}, isScaled)
  return {
    client,
    console,
    explain: (...args: ReadonlyArray<string>) => Process.run(["explain", ...args], { CM_CONSOLE: console })
  }
})

describe("explain", () => {
  it.live("prints the changes of a Deployment, its reconciles with their reasons, writes and events", () =>
    Effect.gen(function* () {
      const { explain } = yield* started
      const table = yield* explain("deployment/web")
      assert.strictEqual(table.code, 0, table.stderr)
      const [heading = "", ...lines] = table.stdout.trimEnd().split("\n")
      assert.match(heading, /^TIME +WHAT +CONTROLLER +DETAIL$/)
      const has = (pattern: RegExp) =>
        assert.isTrue(
          lines.some((line) => pattern.test(line)),
          `${pattern}\n${table.stdout}`
        )
      has(/ reconcile +deployment +default\/web done; because: Deployment default\/web (created|listed)$/)
      has(/ write +deployment +create replicasets\.apps default\/web-\w+: 201$/)
      has(/ event +deployment +Normal ScalingReplicaSet of deployments\.apps default\/web: Scaled up /)
      has(/ change +ReplicaSet default\/web-\w+ modified: .*status\.readyReplicas/)
      const json = yield* explain("Deployment/default/web", "-o", "json")
      const view = JSON.parse(json.stdout) as ObjectView
      assert.deepInclude(view, { resource: "deployments.apps", kind: "Deployment", key: "default/web", exists: true })
      const create = view.timeline.find((entry) => entry.type === "write" && entry.verb === "create")
      const run = view.timeline.find(({ id }) => create?.type === "write" && id === create.causes[0])
      assert.isTrue(run?.type === "reconcile" && run.controller === "deployment", json.stdout)
      const wide = yield* explain("deploy/web", "-o", "wide")
      assert.match(wide.stdout, /^TIME +WHAT +CONTROLLER +DETAIL +TOOK +ID +CAUSED BY$/m)
    }).pipe(Effect.scoped)
  )

  it.live("goes on with --watch while the Deployment is scaled", () =>
    Effect.gen(function* () {
      const { client, console } = yield* started
      const watching = yield* Process.start(["explain", "deployment/web", "--watch"], { CM_CONSOLE: console })
      yield* watching.says(/because: /)
      const target = { namespace: "default", name: "web" }
      yield* Effect.provideService(
        Effect.flatMap(KubeClient, (one) => one.patch(Deployment, target, Patch.merge({ spec: { replicas: 3 } }))),
        KubeClient,
        client
      )
      yield* watching.says(/because: Deployment default\/web modified: spec\.replicas/)
      assert.strictEqual(watching.said().match(/^TIME /gm)?.length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("says what to do without a console, with a wrong token, and for an object that is not there", () =>
    Effect.gen(function* () {
      const { console, explain } = yield* started
      const without = yield* Process.run(["explain", "deployment/web"])
      assert.deepStrictEqual([without.code, without.stdout], [2, ""])
      assert.match(without.stderr, /--console is missing/)
      const refused = yield* Process.run(["explain", "deployment/web"], {
        CM_CONSOLE: console.replace(/=.*/, "=wrong")
      })
      assert.strictEqual(refused.code, 1)
      assert.match(refused.stderr, /refused: /)
      assert.notInclude(refused.stderr, "wrong\n")
      const nowhere = yield* explain("deployment/nowhere")
      assert.strictEqual(nowhere.code, 0)
      assert.match(nowhere.stdout, /^Deployment default\/nowhere is not in the cache /)
      const unclear = yield* explain("web")
      assert.strictEqual(unclear.code, 2)
      for (const wrong of ["token=s3cret", "/console/#token=s3cret", "http://10.1.2.3:8082/console/#token=s3cret"]) {
        const { code, stderr } = yield* explain("deployment/web", `--console=${wrong}`)
        assert.deepStrictEqual([code, stderr.includes("s3cret")], [2, false], stderr)
      }
    }).pipe(Effect.scoped)
  )

  it.live("ends when its output is closed", () =>
    Effect.gen(function* () {
      const { client, console } = yield* started
      const watching = yield* Process.start(["explain", "deployment/web", "--watch"], { CM_CONSOLE: console })
      yield* watching.says(/because: /)
      yield* watching.deafen
      const target = { namespace: "default", name: "web" }
      yield* Effect.provideService(
        Effect.flatMap(KubeClient, (one) => one.patch(Deployment, target, Patch.merge({ spec: { replicas: 3 } }))),
        KubeClient,
        client
      )
      assert.strictEqual((yield* watching.exit).code, 0)
    }).pipe(Effect.scoped)
  )

  for (const [status, body] of [
    [200, "{}"],
    [200, "null"],
    [200, "<html>"],
    [400, '{"message":{}}']
  ] as const) {
    it.live(`fails in one line if another server responds ${status} with ${body}`, () =>
      Effect.gen(function* () {
        const server = createServer((_, response) => response.writeHead(status).end(body)).listen(0, "127.0.0.1")
        yield* Effect.promise(() => once(server, "listening"))
        yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
        const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
        const { code, stderr } = yield* Process.run(["explain", "pod/a"], { CM_CONSOLE: origin })
        assert.strictEqual(code, 1)
        assert.include(stderr, origin)
        assert.notInclude(stderr, "[object")
        assert.lengthOf(stderr.trimEnd().split("\n"), 1)
      }).pipe(Effect.scoped)
    )
  }
})
