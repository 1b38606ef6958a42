/**
 * The objects with which the demo cluster of `npm start` begins. Always: the standard namespaces. By default: a Deployment and two bare pods,
 * as something to look at and to count; or a system that changes all the time (`demo/shop.ts`). Written through the API like everything
 * else; running it twice changes nothing.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../kube/ApiError.ts"
import { Deployment, Namespace, Pod } from "../kube/resources.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import * as Shop from "./demo/shop.ts"

export interface Options {
  readonly demo: "web" | "shop" | "none"
  /** How many nodes there are; the size of `shop` follows from it. */
  readonly nodes: number
}

const namespaces = ["default", "kube-system", "kube-public", "kube-node-lease"]

const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: {
    containers: [
      { name: app, image: `example.test/${app}:1.0`, resources: { requests: { cpu: "100m", memory: "64Mi" } } }
    ]
  }
})

const web = {
  metadata: { namespace: "default", name: "web" },
  spec: { replicas: 2, selector: { matchLabels: { app: "web" } }, template: template("web") }
}

/** They run on any node, the control plane included. */
const dns = ["dns-1", "dns-2"].map((name) => ({
  metadata: { namespace: "kube-system", name, labels: { app: "dns" } },
  spec: { ...template("dns").spec, tolerations: [{ operator: "Exists" }] }
}))

/**
 * Creates the namespaces first, then the objects in them; existing ones stay as they are. Where a controller creates the service account
 * of a namespace, pods are refused until it has, so that is tried again for half a minute.
 */
export const seed = Effect.fnUntraced(function* ({ demo, nodes }: Options) {
  const client = yield* KubeClient
  yield* Effect.forEach(
    namespaces,
    (name) => client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } }).pipe(unlessThere),
    { discard: true }
  )
  if (demo === "none") return
  if (demo === "web") yield* client.create(Deployment, web).pipe(unlessThere)
  else yield* Shop.seed(nodes)
  yield* Effect.forEach(dns, (pod) => client.create(Pod, pod).pipe(unlessThere, onceAccepted), { discard: true })
})

/** What changes after the objects exist; runs until interrupted. */
export const run = ({ demo }: Options): Effect.Effect<void, never, KubeClient> =>
  demo === "shop" ? Shop.run : Effect.void

const onceAccepted = <A>(effect: Effect.Effect<A, ApiError.ApiError>) =>
  Effect.retry(effect, {
    schedule: Schedule.spaced("100 millis"),
    times: 300,
    while: (error) => ApiError.hasReason(error, "Forbidden")
  })

const unlessThere = <A>(effect: Effect.Effect<A, ApiError.ApiError>) =>
  Effect.catchIf(
    effect,
    (error) => ApiError.hasReason(error, "AlreadyExists"),
    () => Effect.void
  )
