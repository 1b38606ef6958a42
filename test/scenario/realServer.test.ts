/**
 * The program with a real API server, through a kubeconfig and with an elected leader: the label, the events, the lease, and a clean stop that
 * releases the lease. Needs `KUBEBUILDER_ASSETS`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { KubeObject } from "../../src/kube/Meta.ts"
import { Event, Lease, Namespace, Node, Pod } from "../../src/kube/resources.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Transport } from "../../src/layers/Transport.ts"
import { pod } from "../conformance/Case.ts"
import * as envtest from "../support/envtest.ts"
import * as Process from "../support/process.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const isMissing = envtest.isMissing("the program on a real API server")

const clientOf = Effect.fnUntraced(function* (server: envtest.RealServer) {
  const transport = Layer.succeed(Transport, yield* HttpTransport.make(server.endpoint))
  return Context.get(yield* Layer.build(Layer.provide(KubeClient.layer, transport)), KubeClient)
})

describe.skipIf(isMissing)("on a real API server", () => {
  it.live("pod-count labels the control plane and records events, as leader, and stops cleanly", () =>
    Effect.gen(function* () {
      const server = yield* envtest.start()
      const client = yield* clientOf(server)
      yield* client.create(Node, {
        metadata: { name: "cp", labels: { "node-role.kubernetes.io/control-plane": "" } }
      })
      yield* client.create(Namespace, { metadata: { name: "app" } })
      for (const name of ["a", "b", "c"]) yield* client.create(Pod, pod(name), { namespace: "app" })
      const user = { token: server.token }
      const file = yield* Kubeconfigs.write({ server: server.url, ca: server.ca, user })
      const program = yield* Process.start(["--kubeconfig", file, "--leader-elect"])
      const first = <A extends KubeObject>(
        events: Stream.Stream<{ readonly object: unknown }, unknown>,
        is: (object: A) => boolean
      ) =>
        events.pipe(
          Stream.map(({ object }) => object as A),
          Stream.filter(is),
          Stream.take(1),
          Stream.runCollect
        )
      yield* Effect.all(
        [
          first<Node>(client.watch(Node, {}), (node) => node.metadata.labels?.["hopegi/pod-count"] === "3"),
          ...["a", "b", "c"].map((name) =>
            first<Event>(
              client.watch(Event, { namespace: "app", fieldSelector: `involvedObject.name=${name}` }),
              (event) => event.message === "pod count is 3" && event.reason === "SuccessCalculatePod"
            )
          )
        ],
        { concurrency: "unbounded" }
      )
      const held = (yield* client.list(Lease)).items.filter(({ spec }) => (spec?.holderIdentity ?? "") !== "")
      yield* program.kill("SIGTERM")
      const { code, stderr } = yield* program.exit
      assert.strictEqual(code, 0, stderr)
      const after = (yield* client.list(Lease)).items.filter(({ spec }) => (spec?.holderIdentity ?? "") !== "")
      assert.strictEqual(held.length, after.length + 1, "the lease was held, and released")
    })
  )
})
