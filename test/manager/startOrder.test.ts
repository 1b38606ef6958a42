/**
 * The order of a manager's start with an election, in virtual time, as the server and the controllers observe it. Tests of processes show that the
 * servers start before. Source: controller-runtime: controllerManager.Start.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Access from "../../src/kube/Access.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ConfigMap } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { Cache } from "../../src/layers/Cache.ts"
import * as Controller from "../../src/layers/Controller.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Leadership } from "../../src/layers/Leadership.ts"
import * as Manager from "../../src/manager/Manager.ts"
import { Quiescence } from "../../src/layers/Quiescence.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import { Supervisor } from "../../src/layers/Supervisor.ts"
import { type Request, Transport } from "../../src/layers/Transport.ts"
import * as Election from "../../src/leader/Election.ts"
import * as Cluster from "../support/cluster.ts"

const { settle } = Cluster

/** The step of the start that a request belongs to. */
const meaning = ({ context, method, path }: Request): string | undefined => {
  if (path === "/version") return "server asked whether it is there"
  if (context.resource === "configmaps") return method === "GET" ? undefined : "object written"
  return context.resource?.startsWith("leases") === true && method === "POST" ? "lease taken" : undefined
}

/** A manager whose first response about config maps waits for the gate, and the steps so far. */
const starting = Effect.fnUntraced(function* (gate: Effect.Effect<void>, everywhere: boolean) {
  const trace: Array<string> = []
  const note = (line: string) => Effect.sync(() => void trace.push(line))
  const transport = Layer.effect(
    Transport,
    Effect.map(Transport, (inner) => {
      const slowly = (request: Request) => (request.context.resource === "configmaps" ? gate : Effect.void)
      return Transport.of({
        send: (request) =>
          Effect.andThen(
            request.method === "GET" ? slowly(request) : Effect.void,
            Effect.tap(inner.send(request), () => Effect.sync(() => trace.push(meaning(request) ?? "")))
          ),
        watch: (request) => {
          if (request.context.resource === "configmaps") trace.push("kind asked for")
          return inner.watch(request)
        }
      })
    })
  )
  const loop = Controller.make({
    name: "loop",
    for: ConfigMap,
    needsLeader: !everywhere,
    access: [Access.patch(ConfigMap)],
    reconcile: ({ name, namespace }, { client }) =>
      Effect.andThen(
        note("reconciles"),
        Effect.asVoid(client.patch(ConfigMap, { namespace, name }, Patch.merge({ data: { done: "yes" } })))
      )
  })
  const controller = { ...loop, layer: Layer.provideMerge(loop.layer, Layer.effectDiscard(note("controller built"))) }
  const election = Layer.provide(
    Election.layer({ namespace: "kube-system", name: "demo", identity: "me" }),
    Layer.effect(Recorder, Recorder)
  )
  const services = Recorder.layer.pipe(
    Layer.provideMerge(Cache.layer({ streamingList: "never" })),
    Layer.provideMerge(KubeClient.layer),
    Layer.provideMerge(transport),
    Layer.provideMerge(Supervisor.layer)
  )
  const fiber = yield* Layer.build(election).pipe(
    Effect.flatMap((built) =>
      Effect.provideService(Manager.run({ controllers: [controller] }), Leadership, Context.get(built, Leadership))
    ),
    Effect.scoped,
    Effect.provide(Layer.fresh(services)),
    Effect.forkDetach
  )
  yield* settle
  return { fiber, told: () => trace.filter((line, at) => line !== "" && trace.indexOf(line) === at) }
})

const outside = Layer.provideMerge(KubeClient.layer, ApiServer.layerTransport).pipe(
  Layer.provideMerge(ApiServer.layer()),
  Layer.provideMerge(Quiescence.layer)
)

const phases = [
  "server asked whether it is there",
  "kind asked for",
  "lease taken",
  "controller built",
  "reconciles",
  "object written"
]

describe("a start", () => {
  it.effect(
    "contacts the server, syncs the kinds, acquires the lease, builds the controllers, and then reconciles",
    () =>
      Effect.gen(function* () {
        const client = yield* KubeClient
        yield* client.create(ConfigMap, { metadata: { name: "a", namespace: "default" } })
        const { fiber, told } = yield* starting(Effect.void, false)
        assert.deepStrictEqual(told(), phases)
        yield* Fiber.interrupt(fiber)
      }).pipe(Effect.provide(Layer.fresh(outside)))
  )

  it.effect("reconciles nothing before the first list, and then each object once", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      for (const name of ["a", "b"]) yield* client.create(ConfigMap, { metadata: { name, namespace: "default" } })
      const gate = Latch.makeUnsafe(false)
      const { fiber, told } = yield* starting(gate.await, true)
      assert.notInclude(told(), "reconciles")
      yield* gate.open
      yield* settle
      assert.deepStrictEqual(told().slice(-2), ["reconciles", "object written"])
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(Layer.fresh(outside)))
  )
})
