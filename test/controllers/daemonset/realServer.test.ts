/**
 * The DaemonSet controller on a real API server, with its defaults, canonical forms and pruning, and simulated nodes: a
 * rollout, a rollback with a revision's data as kubectl does it, and a node that is tainted. The test waits for watch
 * events. Surge is newer than that server.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as DaemonSetController from "../../../src/controllers/DaemonSet.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { DaemonSet, Node, Pod } from "../../../src/kube/resources.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Nodes from "../../../src/simulation/Nodes.ts"
import * as envtest from "../../support/envtest.ts"
import * as RealServer from "../../support/realServer.ts"
import { revisions } from "../shared/workload/harness.ts"
import { template } from "../shared/workload/spellings.ts"

const isMissing = envtest.isMissing("DaemonSets on a real API server")

/** Updates of the controllers' own objects that changed nothing. */
const { idle, layer: transport } = RealServer.recordIdle("/apis/apps/")

const cluster = DaemonSetController.make().layer.pipe(
  Layer.provideMerge(Nodes.layer({ delays: { start: 20, stop: 20 } })),
  Layer.provideMerge(RealServer.services(transport))
)

const namespace = "default"
const target = { namespace, name: "web" }

const until = (wanted: (set: DaemonSet) => boolean) =>
  RealServer.until(DaemonSet, undefined, (set) => set !== undefined && wanted(set))

/** All desired nodes have an available pod of the current template, and the status says so. */
const isDone = ({ metadata, status }: DaemonSet, nodes: number): boolean =>
  status?.observedGeneration === metadata.generation &&
  status?.desiredNumberScheduled === nodes &&
  status.currentNumberScheduled === nodes &&
  status.numberMisscheduled === 0 &&
  (status.updatedNumberScheduled ?? 0) === nodes &&
  (status.numberAvailable ?? 0) === nodes

it.live.skipIf(isMissing)("rolls out, rolls back, and leaves a tainted node on a real API server", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const patch = (body: object) => client.patch(DaemonSet, target, Patch.strategic(body))
    const images = Effect.map(client.list(Pod, { namespace }), ({ items }) =>
      items
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ spec }) => `${spec?.nodeName} ${spec?.containers[0]?.image}`)
        .sort()
    )
    yield* client.create(DaemonSet, {
      metadata: target,
      spec: { selector: { matchLabels: { app: "web" } }, template: template("web:1") }
    } as never)
    yield* until((set) => isDone(set, 2))
    assert.deepStrictEqual(yield* images, ["worker-1 web:1", "worker-2 web:1"])

    yield* patch({ spec: { template: template("web:2") } })
    yield* until((set) => isDone(set, 2) && set.metadata.generation === 2)
    assert.deepStrictEqual(yield* images, ["worker-1 web:2", "worker-2 web:2"])

    const [first] = yield* revisions
    yield* patch(first?.data as object)
    yield* until((set) => isDone(set, 2) && set.metadata.generation === 3)
    assert.deepStrictEqual(yield* images, ["worker-1 web:1", "worker-2 web:1"])
    assert.deepStrictEqual(
      (yield* revisions).map(({ revision }) => revision),
      [2, 3]
    )

    const taints = [{ key: "own", effect: "NoExecute" }]
    yield* client.patch(Node, { name: "worker-1" }, Patch.merge({ spec: { taints } }))
    yield* until((set) => isDone(set, 1))
    assert.deepStrictEqual(yield* images, ["worker-2 web:1"])
    assert.deepStrictEqual(idle, [])

    yield* RealServer.recorded("SuccessfulCreate", "SuccessfulDelete")
  }).pipe(Effect.provide(cluster))
)
