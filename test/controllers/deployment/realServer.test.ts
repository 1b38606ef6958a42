/**
 * The Deployment and ReplicaSet controllers on a real API server, with its defaults, canonical forms and pruning, and
 * simulated nodes: a rollout, a rollback by annotation and a scaling. The test waits for watch events.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as DeploymentController from "../../../src/controllers/Deployment.ts"
import * as ReplicaSetController from "../../../src/controllers/ReplicaSet.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { Deployment, Event, ReplicaSet } from "../../../src/kube/resources.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import { Endpoint } from "../../../src/layers/Endpoint.ts"
import * as HttpTransport from "../../../src/platform/HttpTransport.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Nodes from "../../../src/simulation/Nodes.ts"
import { Recorder } from "../../../src/layers/Recorder.ts"
import { Supervisor } from "../../../src/layers/Supervisor.ts"
import { Transport } from "../../../src/layers/Transport.ts"
import * as envtest from "../../support/envtest.ts"
import { template } from "../shared/workload/spellings.ts"

const assets = envtest.assets()
const missing = "missing" in assets ? assets.missing : undefined

if (missing !== undefined) console.log(`skipped: Deployments on a real API server, because ${missing}`)

const server = Layer.effect(
  Endpoint,
  Effect.map(
    Effect.suspend(() => envtest.start("folder" in assets ? assets.folder : "")),
    ({ endpoint }) => endpoint
  )
)

/** Updates that changed nothing, by path: each would repeat forever. */
const idle: Array<string> = []

/**
 * The same where a 1.20 server drops a count that was written: the first response shows it, so each controller writes
 * in vain once at most.
 */
const dropped: Array<string> = []

const versionOf = (body: unknown): string | undefined =>
  (body as { readonly metadata?: { readonly resourceVersion?: string } } | undefined)?.metadata?.resourceVersion

const statusOf = (body: unknown): Deployment["status"] => (body as Partial<Deployment> | undefined)?.status

const watched = Layer.effect(
  Transport,
  Effect.map(Transport, (transport) =>
    Transport.of({
      ...transport,
      send: (request) =>
        Effect.tap(transport.send(request), ({ body }) =>
          Effect.sync(() => {
            const isOwn = request.path.startsWith("/apis/apps/") && request.method === "PUT"
            if (!isOwn || versionOf(body) !== versionOf(request.body)) return
            const isDropped = statusOf(request.body)?.terminatingReplicas !== statusOf(body)?.terminatingReplicas
            if (isDropped) dropped.push(request.path)
            else idle.push(request.path)
          })
        )
    })
  )
).pipe(Layer.provide(HttpTransport.layer))

const cluster = Layer.mergeAll(DeploymentController.make().layer, ReplicaSetController.make().layer).pipe(
  Layer.provideMerge(Nodes.layer({ delays: { start: 20, stop: 20 } })),
  Layer.provideMerge(Recorder.layer),
  Layer.provideMerge(Cache.layer()),
  Layer.provideMerge(KubeClient.layer),
  Layer.provideMerge(watched),
  Layer.provideMerge(Supervisor.layer),
  Layer.provide(server)
)

const namespace = "default"
const target = { namespace, name: "web" }

/** Waits for a watch event with a Deployment that satisfies the condition. */
const until = (wanted: (deployment: Deployment) => boolean) =>
  Effect.flatMap(Cache, (cache) =>
    cache.changes(Deployment).pipe(
      Stream.filter(({ object }) => wanted(object)),
      Stream.runHead
    )
  )

const revision = ({ metadata }: Deployment): string | undefined =>
  metadata.annotations?.["deployment.kubernetes.io/revision"]

/** All pods are of that revision and available, and the status says so. */
const isDone = (deployment: Deployment, number: string, replicas: number): boolean => {
  const { metadata, status } = deployment
  const progressing = status?.conditions?.find(({ type }) => type === "Progressing")
  return (
    revision(deployment) === number &&
    status?.observedGeneration === metadata.generation &&
    status?.replicas === replicas &&
    status.updatedReplicas === replicas &&
    status.availableReplicas === replicas &&
    progressing?.reason === "NewReplicaSetAvailable"
  )
}

it.live.skipIf(missing !== undefined)(
  "rolls out, rolls back, and scales on a real API server",
  () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const patch = (body: object) => client.patch(Deployment, target, Patch.strategic(body))
      const images = Effect.map(
        client.list(ReplicaSet, { namespace }),
        ({ items }) =>
          new Set(items.map(({ spec }) => `${spec?.template?.spec?.containers[0]?.image} ${spec?.replicas}`))
      )
      yield* client.create(Deployment, {
        metadata: { ...target, annotations: { cause: "first" } },
        spec: { replicas: 3, selector: { matchLabels: { app: "web" } }, template: template("web:1") }
      } as never)
      yield* until((deployment) => isDone(deployment, "1", 3))
      assert.deepStrictEqual(yield* images, new Set(["web:1 3"]))

      yield* patch({ metadata: { annotations: { cause: "second" } }, spec: { template: template("web:2") } })
      yield* until((deployment) => isDone(deployment, "2", 3))
      assert.deepStrictEqual(yield* images, new Set(["web:1 0", "web:2 3"]))

      yield* patch({ metadata: { annotations: { "deprecated.deployment.rollback.to": "1" } } })
      yield* until((deployment) => isDone(deployment, "3", 3))
      assert.deepStrictEqual(yield* images, new Set(["web:1 3", "web:2 0"]))
      const back = yield* client.get(Deployment, target)
      assert.deepStrictEqual(back.metadata.annotations, { cause: "first", "deployment.kubernetes.io/revision": "3" })

      yield* patch({ spec: { replicas: 5 } })
      yield* until((deployment) => isDone(deployment, "3", 5))
      assert.deepStrictEqual(yield* images, new Set(["web:1 5", "web:2 0"]))
      assert.deepStrictEqual(idle, [])
      for (const kind of ["deployments", "replicasets"])
        assert.isAtMost(dropped.filter((path) => path.includes(kind)).length, 1)

      const expected = new Set(["ScalingReplicaSet", "DeploymentRollback"])
      yield* (yield* Cache).changes(Event).pipe(
        Stream.takeUntil(({ object }) => {
          expected.delete(object.reason ?? "")
          return expected.size === 0
        }),
        Stream.runDrain
      )
    }).pipe(Effect.provide(cluster)),
  60_000
)
