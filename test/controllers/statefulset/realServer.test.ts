/**
 * The StatefulSet loop on a real API server, whose defaults, canonical forms and pruning no test double has, with simulated machines for pods:
 * three replicas with claims, a rollout, one back by a revision's data as kubectl does it, a partition and a smaller set, waiting for what the
 * server tells and for nothing else. `minReadySeconds`, ordinals and what becomes of claims are newer than the server.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as StatefulSetController from "../../../src/controllers/StatefulSet.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { ControllerRevision, Event, PersistentVolumeClaim, Pod, StatefulSet } from "../../../src/kube/resources.ts"
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

if (missing !== undefined) console.log(`skipped: StatefulSets on a real API server, because ${missing}`)

const server = Layer.effect(
  Endpoint,
  Effect.map(
    Effect.suspend(() => envtest.start("folder" in assets ? assets.folder : "")),
    ({ endpoint }) => endpoint
  )
)

/** Updates of the loops' own objects that changed nothing, by path: each would be a write for ever. */
const idle: Array<string> = []

const versionOf = (body: unknown): string | undefined =>
  (body as { readonly metadata?: { readonly resourceVersion?: string } } | undefined)?.metadata?.resourceVersion

const watched = Layer.effect(
  Transport,
  Effect.map(Transport, (transport) =>
    Transport.of({
      ...transport,
      send: (request) =>
        Effect.tap(transport.send(request), ({ body }) =>
          Effect.sync(() => {
            const isOwn = request.path.startsWith("/apis/apps/") && request.method === "PUT"
            if (isOwn && versionOf(body) === versionOf(request.body)) idle.push(request.path)
          })
        )
    })
  )
).pipe(Layer.provide(HttpTransport.layer))

const cluster = StatefulSetController.make().layer.pipe(
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

/** Waits for the server to tell of a StatefulSet that is as wanted. */
const until = (wanted: (set: StatefulSet) => boolean) =>
  Effect.flatMap(Cache, (cache) =>
    cache.changes(StatefulSet).pipe(
      Stream.filter(({ object }) => wanted(object)),
      Stream.runHead
    )
  )

/** So many replicas are ready, so many of them of the present template, and the loop has said so. */
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

it.live.skipIf(missing !== undefined)(
  "rolls out, back and half of the way, and shrinks, on a real API server",
  () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const patch = (body: object) => client.patch(StatefulSet, target, Patch.strategic(body))
      const images = Effect.map(client.list(Pod, { namespace }), ({ items }) =>
        items.map(({ metadata, spec }) => `${metadata.name} ${spec?.containers[0]?.image}`).sort()
      )
      const revisions = Effect.map(client.list(ControllerRevision, { namespace }), ({ items }) =>
        [...items].sort((a, b) => a.revision - b.revision)
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

      const expected = new Set(["SuccessfulCreate", "SuccessfulDelete"])
      yield* (yield* Cache).changes(Event).pipe(
        Stream.takeUntil(({ object }) => {
          expected.delete(object.reason ?? "")
          return expected.size === 0
        }),
        Stream.runDrain
      )
    }).pipe(Effect.provide(cluster)),
  90_000
)
