/**
 * The other cluster as a service: a client for it, and a cache that watches it. The client and the cache that a controller gets from its
 * context are those of the cluster that the program runs on.
 */
import { Cache, Endpoint, KubeClient } from "effect-controller-manager"
import { HttpTransport, KubeConfig } from "effect-controller-manager/node"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The other cluster is not configured; the program ends with this message. */
export class NoEdge extends Data.TaggedError("NoEdge")<{ readonly message: string }> {}

const path = Effect.mapError(
  Config.NonEmptyString("EDGE_KUBECONFIG"),
  () => new NoEdge({ message: "EDGE_KUBECONFIG must name the kubeconfig of the edge cluster" })
)

export class Edge extends Context.Service<
  Edge,
  { readonly cache: Cache["Service"]; readonly client: KubeClient["Service"] }
>()("multi-cluster/Edge") {
  /** Over any transport to the cluster. */
  static readonly layer = Layer.effect(
    Edge,
    Effect.gen(function* () {
      return { cache: yield* Cache, client: yield* KubeClient }
    })
  ).pipe(Layer.provide(Cache.layer()), Layer.provide(KubeClient.layerWith({})))

  /** The cluster of the kubeconfig that `EDGE_KUBECONFIG` names. */
  static readonly layerKubeConfig = Edge.layer.pipe(
    Layer.provide(HttpTransport.layer),
    Layer.provide(
      Layer.effect(
        Endpoint,
        Effect.flatMap(path, (path) => KubeConfig.load({ mode: "kubeconfig", path, env: {} }))
      )
    )
  )
}
