/**
 * The Deployment and ReplicaSet controllers on a real API server, with its defaults, canonical forms and pruning, and
 * simulated nodes: a rollout, a rollback by annotation and a scaling. The test waits for watch events.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as DeploymentController from "../../../src/controllers/Deployment.ts"
import * as ReplicaSetController from "../../../src/controllers/ReplicaSet.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { Deployment, ReplicaSet } from "../../../src/kube/resources.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Nodes from "../../../src/simulation/Nodes.ts"
import * as envtest from "../../support/envtest.ts"
import * as RealServer from "../../support/realServer.ts"
import { template } from "../shared/workload/spellings.ts"

const isMissing = envtest.isMissing("Deployments on a real API server")

/** Updates of the controllers' own objects that changed nothing, by path. */
const idle: Array<string> = []

/**
 * The same where a 1.20 server drops a count that was written: the first response shows it, so each controller writes
 * in vain once at most.
 */
const dropped: Array<string> = []

const terminatingOf = (body: unknown) => (body as Partial<Deployment> | undefined)?.status?.terminatingReplicas

const transport = RealServer.observed(({ isIdle, request, response }) => {
  if (!isIdle || !request.path.startsWith("/apis/apps/")) return
  const isDropped = terminatingOf(request.body) !== terminatingOf(response)
  if (isDropped) dropped.push(request.path)
  else idle.push(request.path)
})

const cluster = Layer.mergeAll(DeploymentController.make().layer, ReplicaSetController.make().layer).pipe(
  Layer.provideMerge(Nodes.layer({ delays: { start: 20, stop: 20 } })),
  Layer.provideMerge(RealServer.services(transport))
)

const namespace = "default"
const target = { namespace, name: "web" }

const until = (wanted: (deployment: Deployment) => boolean) =>
  RealServer.until(Deployment, undefined, (deployment) => deployment !== undefined && wanted(deployment))

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

it.live.skipIf(isMissing)("rolls out, rolls back, and scales on a real API server", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const patch = (body: object) => client.patch(Deployment, target, Patch.strategic(body))
    const images = Effect.map(
      client.list(ReplicaSet, { namespace }),
      ({ items }) => new Set(items.map(({ spec }) => `${spec?.template?.spec?.containers[0]?.image} ${spec?.replicas}`))
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

    yield* RealServer.recorded("ScalingReplicaSet", "DeploymentRollback")
  }).pipe(Effect.provide(cluster))
)
