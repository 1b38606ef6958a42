/**
 * The DaemonSet controller on a real API server, with its defaults, canonical forms and pruning, and simulated nodes: a
 * rollout, a rollback with a revision's data as kubectl does it, and a node that is tainted. The test waits for watch
 * events. Surge is newer than that server.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as DaemonSetController from "../../../src/controllers/DaemonSet.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { ControllerRevision, DaemonSet, Event, Node, Pod } from "../../../src/kube/resources.ts"
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

if (missing !== undefined) console.log(`skipped: DaemonSets on a real API server, because ${missing}`)

const server = Layer.effect(
  Endpoint,
  Effect.map(
    Effect.suspend(() => envtest.start("folder" in assets ? assets.folder : "")),
    ({ endpoint }) => endpoint
  )
)

/** Updates that changed nothing, by path: each would repeat forever. */
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

const cluster = DaemonSetController.make().layer.pipe(
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

/** Waits for a watch event with a DaemonSet that satisfies the condition. */
const until = (wanted: (set: DaemonSet) => boolean) =>
  Effect.flatMap(Cache, (cache) =>
    cache.changes(DaemonSet).pipe(
      Stream.filter(({ object }) => wanted(object)),
      Stream.runHead
    )
  )

/** All desired nodes have an available pod of the current template, and the status says so. */
const isDone = ({ metadata, status }: DaemonSet, nodes: number): boolean =>
  status?.observedGeneration === metadata.generation &&
  status?.desiredNumberScheduled === nodes &&
  status.currentNumberScheduled === nodes &&
  status.numberMisscheduled === 0 &&
  (status.updatedNumberScheduled ?? 0) === nodes &&
  (status.numberAvailable ?? 0) === nodes

it.live.skipIf(missing !== undefined)(
  "rolls out, rolls back, and leaves a tainted node on a real API server",
  () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const patch = (body: object) => client.patch(DaemonSet, target, Patch.strategic(body))
      const images = Effect.map(client.list(Pod, { namespace }), ({ items }) =>
        items
          .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
          .map(({ spec }) => `${spec?.nodeName} ${spec?.containers[0]?.image}`)
          .sort()
      )
      const revisions = Effect.map(client.list(ControllerRevision, { namespace }), ({ items }) =>
        [...items].sort((a, b) => a.revision - b.revision)
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

      const expected = new Set(["SuccessfulCreate", "SuccessfulDelete"])
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
