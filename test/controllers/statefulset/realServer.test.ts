/**
 * The StatefulSet controller on a real API server, with its defaulting and pruning, and with simulated nodes: three replicas with claims, a rollout, a
 * rollback by a revision's data as kubectl does it, a partition and a scale-down. The test waits for watch events. `minReadySeconds`, ordinals and
 * the retention policy are newer than the server.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as StatefulSetController from "../../../src/controllers/StatefulSet.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { PersistentVolumeClaim, Pod, StatefulSet } from "../../../src/kube/resources.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Nodes from "../../../src/simulation/Nodes.ts"
import * as envtest from "../../support/envtest.ts"
import * as RealServer from "../../support/realServer.ts"
import { revisions } from "../shared/workload/harness.ts"
import { template } from "../shared/workload/spellings.ts"

const isMissing = envtest.isMissing("StatefulSets on a real API server")

/** Updates of the controllers' own objects that changed nothing. */
const { idle, layer: transport } = RealServer.recordIdle("/apis/apps/")

const cluster = StatefulSetController.make().layer.pipe(
  Layer.provideMerge(Nodes.layer({ delays: { start: 20, stop: 20 } })),
  Layer.provideMerge(RealServer.services(transport))
)

const namespace = "default"
const target = { namespace, name: "web" }

const until = (wanted: (set: StatefulSet) => boolean) =>
  RealServer.until(StatefulSet, undefined, (set) => set !== undefined && wanted(set))

/** This many replicas are ready, `updated` of them have the current template, and the status says so. */
const isDone = ({ metadata, status }: StatefulSet, generation: number, replicas: number, updated = replicas): boolean =>
  metadata.generation === generation &&
  status?.observedGeneration === generation &&
  status.replicas === replicas &&
  (status.readyReplicas ?? 0) === replicas &&
  (status.updatedReplicas ?? 0) === updated &&
  (updated < replicas || status.currentRevision === status.updateRevision)

const claim = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
}

it.live.skipIf(isMissing)("rolls out, rolls back, rolls out to a partition, and scales down on a real API server", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const patch = (body: object) => client.patch(StatefulSet, target, Patch.strategic(body))
    const images = Effect.map(client.list(Pod, { namespace }), ({ items }) =>
      items.map(({ metadata, spec }) => `${metadata.name} ${spec?.containers[0]?.image}`).sort()
    )
    yield* client.create(StatefulSet, {
      metadata: target,
      spec: {
        replicas: 3,
        serviceName: "web",
        selector: { matchLabels: { app: "web" } },
        template: template("web:1"),
        volumeClaimTemplates: [claim]
      }
    } as never)
    yield* until((set) => isDone(set, 1, 3))
    assert.deepStrictEqual(yield* images, ["web-0 web:1", "web-1 web:1", "web-2 web:1"])

    yield* patch({ spec: { template: template("web:2") } })
    yield* until((set) => isDone(set, 2, 3))
    assert.deepStrictEqual(yield* images, ["web-0 web:2", "web-1 web:2", "web-2 web:2"])

    const [first] = yield* revisions
    yield* patch(first?.data as object)
    yield* until((set) => isDone(set, 3, 3))
    assert.deepStrictEqual(yield* images, ["web-0 web:1", "web-1 web:1", "web-2 web:1"])
    assert.deepStrictEqual(
      (yield* revisions).map(({ revision }) => revision),
      [2, 3]
    )

    yield* patch({ spec: { updateStrategy: { rollingUpdate: { partition: 2 } }, template: template("web:3") } })
    yield* until((set) => isDone(set, 4, 3, 1))
    assert.deepStrictEqual(yield* images, ["web-0 web:1", "web-1 web:1", "web-2 web:3"])

    yield* patch({ spec: { replicas: 1 } })
    yield* until((set) => isDone(set, 5, 1, 0))
    assert.deepStrictEqual(yield* images, ["web-0 web:1"])
    const claims = (yield* client.list(PersistentVolumeClaim, { namespace })).items
    assert.deepStrictEqual(claims.map(({ metadata }) => metadata.name).sort(), [
      "data-web-0",
      "data-web-1",
      "data-web-2"
    ])
    assert.deepStrictEqual(idle, [])

    yield* RealServer.recorded("SuccessfulCreate", "SuccessfulDelete")
  }).pipe(Effect.provide(cluster))
)
