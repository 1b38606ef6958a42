/**
 * A project that uses the Node entries: the embedded cluster over HTTPS, reached through the kubeconfig that it writes, and the real API server of tests,
 * where there is one. scripts/consumers.mjs compiles and runs it with the packed package.
 */
import { Endpoint, KubeClient, Namespace } from "effect-controller-manager"
import { EmbeddedCluster, HttpTransport, KubeConfig, run } from "effect-controller-manager/node"
import { TestCluster } from "effect-controller-manager/testing"
import { Envtest } from "effect-controller-manager/testing/envtest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The client with the credentials of a kubeconfig. */
const client = (path: string) =>
  KubeClient.layer.pipe(
    Layer.provide(HttpTransport.layer),
    Layer.provide(Layer.effect(Endpoint, KubeConfig.load({ mode: "kubeconfig", path, env: {} })))
  )

const names = Effect.gen(function* () {
  const { kubeconfig } = yield* EmbeddedCluster
  const list = Effect.flatMap(KubeClient, (client) => client.list(Namespace))
  const { items } = yield* Effect.provide(list, client(kubeconfig))
  return items.map(({ metadata }) => metadata.name)
})

const found = await Effect.runPromise(Effect.provide(names, EmbeddedCluster.layer()))
if (!found.includes("kube-system")) throw new Error(`expected the standard namespaces, found ${found.join(", ")}`)
if (typeof run !== "function") throw new Error("the program is not there")

const real = Effect.gen(function* () {
  const names = (yield* (yield* TestCluster).snapshot(Namespace)).map(({ metadata }) => metadata.name)
  return names.includes("kube-system") && (yield* Envtest).version.major === 1
}).pipe(Effect.provide(Envtest.layer()))

if (!Envtest.available()) console.log(Envtest.missing())
else if (!(await Effect.runPromise(real))) throw new Error("expected the standard namespaces on a real API server")
