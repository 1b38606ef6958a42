/**
 * The demo `shop` of `npm start`: a small system that changes all the time. `objects.ts` has its objects. After they are created, this
 * client does what people and their pipelines do: it releases new versions, one of which never becomes ready, and scales up and down. All
 * else that changes follows from the objects: a CronJob each minute, a container that exceeds its memory limit, an image that does not exist.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import * as Patch from "../../kube/Patch.ts"
import { Deployment } from "../../kube/resources.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import * as CallFailure from "../callFailure.ts"
import * as Objects from "./objects.ts"

/** Creates the objects for so many nodes; existing ones stay as they are, and kinds that the server does not have are omitted. */
export const seed = Effect.fnUntraced(function* (nodes: number) {
  const client = yield* KubeClient
  for (const [resource, object] of Objects.all(nodes))
    yield* client.create(resource, object).pipe(
      Effect.catchIf(
        (error) => ApiError.hasReason(error, "AlreadyExists", "NotFound"),
        () => Effect.void
      )
    )
})

/** Between two changes. */
const interval = "20 seconds"

type Change = readonly [name: string, spec: object]

const release = (name: string, tag: string): Change => [
  name,
  { template: { spec: { containers: [{ name, image: Objects.image(name, tag) }] } } }
]

/** The changes of one round, in order; `round` counts from 1. */
const changes = (round: number): ReadonlyArray<Change> => [
  release("storefront", `1.${round}`),
  ["catalog", { replicas: 4 }],
  // Its pods never become ready, so the rollout stops and the old ones stay.
  release("checkout", "unready"),
  ["catalog", { replicas: 2 }],
  release("checkout", `1.${round}`)
]

/** Changes the Deployments until interrupted. A change that fails, or whose Deployment was deleted, is omitted. */
export const run: Effect.Effect<never, never, KubeClient> = Effect.gen(function* () {
  const client = yield* KubeClient
  for (let round = 1; ; round++)
    for (const [name, spec] of changes(round)) {
      yield* Effect.sleep(interval)
      const target = { namespace: Objects.namespace, name }
      yield* Effect.ignore(CallFailure.logFailure(client.patch(Deployment, target, Patch.strategic({ spec }))))
    }
})
