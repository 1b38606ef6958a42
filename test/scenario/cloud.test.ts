/**
 * The cloud loop as operators start it: without a cloud the program refuses it; with one it follows what its provider reports about machines;
 * the built-in provider deletes nothing. Source: k8s.io/cloud-provider/controllers/nodelifecycle.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Patch from "../../src/kube/Patch.ts"
import { Event, Node } from "../../src/kube/resources.ts"
import * as KubeConfig from "../../src/platform/KubeConfig.ts"
import * as Bundle from "../support/bundle.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"

const loop = "--controllers=cloud-node-lifecycle"
const here = ["--cloud-loops=include", "--cloud-provider=memory", loop]

const timeout = 120_000

const machines = Bundle.make("test/scenario/cloud/machines.ts")

const shutdown = { key: "node.cloudprovider.kubernetes.io/shutdown", effect: "NoSchedule" }

const fixture = Effect.gen(function* () {
  const running = yield* Process.start(["apiserver"])
  const [, kubeconfig = ""] = yield* running.says(/^export KUBECONFIG=(\S+)$/m)
  const client = yield* Cluster.clientAt(yield* KubeConfig.load({ mode: "kubeconfig", path: kubeconfig, env: {} }))
  const add = Effect.fnUntraced(function* (
    name: string,
    status: "True" | "Unknown",
    taints: ReadonlyArray<object> = []
  ) {
    yield* client.create(Node, { metadata: { name } })
    // Written afterwards, because a server may add its own taint to a new node.
    yield* client.patch(Node, { name }, Patch.merge({ spec: { taints } }))
    const conditions = [{ type: "Ready", status }]
    yield* client.patch(Node, { name, subresource: "status" }, Patch.merge({ status: { conditions } }))
  })
  const start = (program?: string) =>
    Process.start(
      [
        "--kubeconfig",
        kubeconfig,
        "--leader-elect=false",
        "--node-monitor-period=200ms",
        "--metrics-bind-address=127.0.0.1:0",
        ...here
      ],
      {},
      { program }
    )
  const without = (node: string) =>
    Cluster.until(client, Node, {}, ({ metadata, spec }) => metadata.name === node && (spec?.taints ?? []).length === 0)
  const names = Effect.map(client.list(Node), ({ items }) => items.map(({ metadata }) => metadata.name).sort())
  return { add, client, kubeconfig, names, start, without }
})

const stopped = Effect.fnUntraced(function* (running: Process.Running) {
  yield* running.kill("SIGTERM")
  const { code, stderr } = yield* running.exit
  assert.strictEqual(code, 0, stderr)
  return stderr
})

describe.concurrent("the cloud loop", () => {
  it.live(
    "is refused without a cloud, before any request",
    () =>
      Effect.gen(function* () {
        const refused = Effect.fnUntraced(function* (flags: ReadonlyArray<string>, sentence: string) {
          const { code, stderr } = yield* Process.run([...flags, "--kubeconfig=/nowhere"])
          assert.deepStrictEqual([code, stderr], [2, `effect-controller-manager: ${sentence}\n`])
        })
        yield* Effect.all(
          [
            refused([loop], '"cloud-node-lifecycle" needs a cloud and runs only with --cloud-loops=include'),
            refused(
              ["--cloud-loops=include"],
              "--cloud-loops=include needs a cloud: name one with --cloud-provider (memory)"
            ),
            refused(
              ["--cloud-loops=include", "--cloud-provider=memroy"],
              'there is no cloud provider "memroy": did you mean memory?'
            )
          ],
          { concurrency: 2 }
        )
        const running = yield* Process.start(["--cluster=embedded", "--controllers=*"])
        yield* running.says(/message="\\?"?\\?"cloud-node-lifecycle\\?" is disabled/)
        yield* running.says(/Starting Controller" controller=nodelifecycle/)
        assert.notMatch(yield* stopped(running), /Starting Controller" controller=cloud-node-lifecycle/)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "deletes nodes without machines and taints those that are shut down, as the cloud reports",
    () =>
      Effect.gen(function* () {
        const { add, client, names, start, without } = yield* fixture
        yield* add("gone", "Unknown")
        yield* add("off", "Unknown")
        yield* add("silent", "Unknown")
        yield* add("back", "True", [shutdown])
        const running = yield* start(yield* machines)
        yield* Cluster.until(
          client,
          Event,
          {},
          ({ message }) => message === "Deleting node gone because it does not exist in the cloud provider"
        )
        yield* Cluster.until(
          client,
          Node,
          {},
          ({ metadata, spec }) =>
            metadata.name === "off" && spec?.taints?.some(({ key }) => key === shutdown.key) === true
        )
        yield* without("back")
        yield* running.says(/Deleted a node whose machine is gone.* node=gone/)
        assert.deepStrictEqual(yield* names, ["back", "off", "silent"])
        const [, port = ""] = yield* running.says(/message="Serving metrics" port=(\d+)/)
        const metrics = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/metrics`).then((one) => one.text()))
        assert.match(metrics, /^cloud_node_lifecycle_nodes_deleted_total(\{[^}]*\})? 1$/m)
        yield* stopped(running)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "deletes nothing with the built-in cloud",
    () =>
      Effect.gen(function* () {
        const { add, client, names, start, without } = yield* fixture
        yield* add("silent", "Unknown")
        yield* add("back", "True", [shutdown])
        const running = yield* start()
        // When two taints are removed one after the other, one whole check lies in between.
        yield* without("back")
        yield* client.patch(Node, { name: "back" }, Patch.merge({ spec: { taints: [shutdown] } }))
        yield* without("back")
        assert.deepStrictEqual(yield* names, ["back", "silent"])
        yield* stopped(running)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "of a user's program asks the cloud of that program",
    () =>
      Effect.gen(function* () {
        const { add, client, kubeconfig } = yield* fixture
        yield* add("one", "True")
        const program = yield* Bundle.make("test/scenario/cloud/program.ts")
        const flags = ["--kubeconfig", kubeconfig, "--cloud-loops=include", "--cloud-provider=memory"]
        const running = yield* Process.start(flags, {}, { program })
        yield* Cluster.until(client, Node, {}, ({ metadata }) => metadata.labels?.["type"] === "large-one")
        yield* stopped(running)
      }).pipe(Effect.scoped),
    timeout
  )
})
