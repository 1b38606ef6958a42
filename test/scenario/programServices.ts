/** The services of the programs that scenarios bundle: those of a controller manager, over the cluster of a kubeconfig. */
import * as Layer from "effect/Layer"
import { Cache, Endpoint, KubeClient, Recorder, Supervisor } from "../../src/index.ts"
import { HttpTransport, KubeConfig } from "../../src/node.ts"

export const over = (kubeconfig: string) =>
  Recorder.layer.pipe(
    Layer.provideMerge(Cache.layer()),
    Layer.provideMerge(KubeClient.layer),
    Layer.provideMerge(HttpTransport.layer),
    Layer.provideMerge(Supervisor.layer),
    Layer.provide(Layer.effect(Endpoint, KubeConfig.load({ mode: "kubeconfig", path: kubeconfig, env: {} })))
  )
