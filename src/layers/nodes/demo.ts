/**
 * What the demo cluster of `npm start` holds at the beginning: the standard namespaces and a few pods, so that there is
 * something to look at and to count. Written through the API like everything else; running it twice changes nothing.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ApiError from "../../kube/ApiError.ts"
import { Namespace, Pod } from "../../kube/resources.ts"
import type { Cache } from "../Cache.ts"
import { KubeClient } from "../KubeClient.ts"
import * as Nodes from "./Nodes.ts"

const namespaces = ["default", "kube-system", "kube-public", "kube-node-lease"]

interface Sample {
  readonly namespace: string
  readonly name: string
  readonly app: string
  readonly image: string
  readonly tolerates?: boolean
}

const samples: ReadonlyArray<Sample> = [
  { namespace: "default", name: "web-1", app: "web", image: "example.test/web:1.0" },
  { namespace: "default", name: "web-2", app: "web", image: "example.test/web:1.0" },
  { namespace: "kube-system", name: "dns-1", app: "dns", image: "example.test/dns:1.0", tolerates: true },
  { namespace: "kube-system", name: "dns-2", app: "dns", image: "example.test/dns:1.0", tolerates: true }
]

const podOf = ({ app, image, name, namespace, tolerates }: Sample) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace, name, labels: { app } },
  spec: {
    containers: [{ name: app, image, resources: { requests: { cpu: "100m", memory: "64Mi" } } }],
    ...(tolerates === true ? { tolerations: [{ operator: "Exists" }] } : {})
  }
})

/** Namespaces first, then pods; what is there already stays as it is. */
export const seed: Effect.Effect<void, ApiError.ApiError, KubeClient> = Effect.gen(function* () {
  const client = yield* KubeClient
  yield* Effect.forEach(
    namespaces,
    (name) => client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } }).pipe(unlessThere),
    { discard: true }
  )
  yield* Effect.forEach(samples, (sample) => client.create(Pod, podOf(sample)).pipe(unlessThere), { discard: true })
})

const unlessThere = <A>(effect: Effect.Effect<A, ApiError.ApiError>) =>
  Effect.catchIf(
    effect,
    (error) => ApiError.hasReason(error, "AlreadyExists"),
    () => Effect.void
  )

/** The whole demo: objects, nodes and a scheduler. */
export const layer: Layer.Layer<Nodes.Nodes, ApiError.ApiError, KubeClient | Cache> = Layer.unwrap(
  Effect.as(seed, Nodes.layer())
)
