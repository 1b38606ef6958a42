/**
 * The shutdown of a manager with an election, a cache and a recorder on the embedded API server, in virtual time: the order of the steps,
 * recorded by the server and the controllers, and what happens when there is not enough time.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import * as Access from "../../src/kube/Access.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ConfigMap } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { Cache } from "../../src/layers/Cache.ts"
import * as Controller from "../../src/layers/Controller.ts"
import { Discovery } from "../../src/layers/Discovery.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Leadership } from "../../src/layers/Leadership.ts"
import * as Manager from "../../src/manager/Manager.ts"
import { Quiescence } from "../../src/layers/Quiescence.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import * as Shutdown from "../../src/layers/Shutdown.ts"
import { Supervisor } from "../../src/layers/Supervisor.ts"
import { type Request, Transport } from "../../src/layers/Transport.ts"
import * as Election from "../../src/leader/Election.ts"
import * as Cluster from "../support/cluster.ts"
import { logged } from "../support/logged.ts"

/** A line for a request; undefined for requests that every manager sends all the time. */
const meaning = (request: Request): string | undefined => {
  const { resource } = request.context
  if (request.method === "GET") return undefined
  if (resource === "events") return "event sent"
  if (resource === "configmaps") return `${request.context.name} written`
  return JSON.stringify(request.body).includes('"holderIdentity":""') ? "lease released" : undefined
}

/** Records the requests and when watches end. `answers` decides whether the server responds. */
const traced = (trace: Array<string>, answers: (request: Request) => boolean) =>
  Layer.effect(
    Transport,
    Effect.map(Transport, ({ send, watch }) =>
      Transport.of({
        send: (request) =>
          answers(request)
            ? Effect.tap(send(request), () => Effect.sync(() => trace.push(meaning(request) ?? "")))
            : Effect.never,
        watch: (request) =>
          Stream.ensuring(
            watch(request),
            Effect.sync(() => void trace.push("watch closed"))
          )
      })
    )
  )

const lines = (trace: ReadonlyArray<string>) =>
  trace.filter((line, index) => line !== "" && !(line === trace[index - 1] && line === "watch closed"))

interface Situation {
  readonly stop?: Shutdown.Options
  readonly answers?: (request: Request) => boolean
  /** What the keyed controller awaits before it writes the object of a key. */
  readonly gate: Effect.Effect<void>
}

/** A manager that leads; a keyed controller that writes the objects it sees, and one that runs once on a schedule. */
const running = Effect.fnUntraced(function* ({ answers = () => true, gate, stop = {} }: Situation) {
  const trace: Array<string> = []
  const note = (line: string) => Effect.sync(() => void trace.push(line))
  const web = Controller.make({
    name: "web",
    for: ConfigMap,
    access: [Access.patch(ConfigMap)],
    reconcile: ({ name, namespace }, { client }) =>
      Effect.andThen(note(`web begins ${name}`), gate).pipe(
        Effect.andThen(client.patch(ConfigMap, { namespace, name }, Patch.merge({ data: { done: "yes" } }))),
        Effect.andThen(note(`web ends ${name}`)),
        Effect.onInterrupt(() => note(`web interrupted in ${name}`))
      )
  })
  const tick = Controller.scheduled({
    name: "tick",
    access: [],
    schedule: Schedule.spaced("1 hour"),
    run: () => Effect.andThen(gate, note("tick ends"))
  })
  const election = Layer.build(
    Layer.provide(
      Election.layer({ namespace: "kube-system", name: "demo", identity: "me" }),
      Layer.effect(Recorder, Recorder)
    )
  )
  const services = Recorder.layer.pipe(
    Layer.provideMerge(Layer.merge(Cache.layer(), Discovery.layer)),
    Layer.provideMerge(KubeClient.layer),
    Layer.provideMerge(traced(trace, answers)),
    Layer.provideMerge(Supervisor.layer)
  )
  const shutdown = yield* Shutdown.make(stop)
  const program = Effect.gen(function* () {
    yield* Effect.addFinalizer(() => note("servers closed"))
    return yield* Effect.flatMap(election, (context) =>
      Effect.provideService(Manager.run({ controllers: [web, tick] }), Leadership, Context.get(context, Leadership))
    ).pipe(Effect.scoped, Effect.provide(Layer.fresh(services)))
  }).pipe(Effect.scoped, Effect.provideService(Shutdown.Shutdown, shutdown))
  const fiber = yield* Effect.forkDetach(program)
  yield* Cluster.settle
  return {
    shutdown,
    trace,
    fiber,
    /** Begins the shutdown, as a signal does. */
    stop: Effect.gen(function* () {
      trace.length = 0
      yield* shutdown.begin
      yield* Effect.forkDetach(Fiber.interrupt(fiber), { startImmediately: true })
      yield* Cluster.settle
    }),
    isOver: () => Cluster.isDone(fiber)
  }
})

const add = (name: string) =>
  Effect.flatMap(KubeClient, (client) => client.create(ConfigMap, { metadata: { name, namespace: "default" } }))

/** A client of the test, and the server. */
const outside = Layer.provideMerge(KubeClient.layer, ApiServer.layerTransport).pipe(
  Layer.provideMerge(ApiServer.layer()),
  Layer.provideMerge(Quiescence.layer),
  // Runs in flight are read from the metrics, so each test has its own registry.
  Layer.provideMerge(Layer.sync(Metric.MetricRegistry, () => new Map()))
)

const ending = ["lease released", "event sent", "watch closed", "servers closed"]

describe("a stop", () => {
  it.effect("takes no key, lets runs finish, releases the Lease, sends events, closes watches, then servers", () =>
    Effect.gen(function* () {
      const gate = Latch.makeUnsafe(false)
      yield* add("a")
      const manager = yield* running({ gate: gate.await })
      yield* manager.stop
      yield* add("b")
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(lines(manager.trace), [])
      assert.isFalse(manager.isOver())
      assert.sameMembers([...manager.shutdown.runningUnsafe()], ["web default/a", "tick"])
      yield* gate.open
      yield* Cluster.settle
      yield* TestClock.adjust("1 second")
      assert.isTrue(manager.isOver())
      const [first, second, third, ...rest] = lines(manager.trace)
      assert.sameMembers([first, second, third], ["tick ends", "a written", "web ends a"])
      assert.deepStrictEqual(rest, ending)
      assert.deepStrictEqual(manager.shutdown.givenUpUnsafe(), [])
    }).pipe(Effect.provide(Layer.fresh(outside)))
  )

  it.effect("interrupts runs that do not finish in time, names them, and releases the Lease", () =>
    Effect.gen(function* () {
      yield* add("a")
      const manager = yield* running({ gate: Effect.never, stop: { timeout: "10 seconds" } })
      yield* manager.stop
      yield* TestClock.adjust("7999 millis")
      assert.deepStrictEqual(lines(manager.trace), [])
      yield* TestClock.adjust("1 millis")
      yield* Cluster.settle
      assert.isTrue(manager.isOver())
      assert.deepStrictEqual(lines(manager.trace), ["web interrupted in a", ...ending])
      assert.deepStrictEqual(manager.shutdown.givenUpUnsafe(), ["tick", "web default/a"])
    }).pipe(Effect.provide(Layer.fresh(outside)))
  )

  it.effect("keeps the Lease while a run that cannot be interrupted goes on, and names that run", () =>
    Effect.gen(function* () {
      yield* add("a")
      const gate = Effect.uninterruptible(Effect.never)
      const manager = yield* running({ gate, stop: { timeout: "10 seconds" } })
      yield* manager.stop
      yield* TestClock.adjust("10 seconds")
      assert.isFalse(manager.isOver())
      assert.sameMembers([...manager.shutdown.runningUnsafe()], ["web default/a", "tick"])
      assert.deepStrictEqual(lines(manager.trace), [])
    }).pipe(Effect.provide(Layer.fresh(outside)))
  )

  for (const stop of [{ timeout: 0 }, { mode: "interrupt" }] satisfies ReadonlyArray<Shutdown.Options>) {
    it.effect(
      `with ${JSON.stringify(stop)} interrupts runs, releases the Lease, sends events, and gives nothing up`,
      () =>
        Effect.gen(function* () {
          yield* add("a")
          const manager = yield* running({ gate: Effect.never, stop })
          yield* manager.stop
          assert.isTrue(manager.isOver())
          assert.deepStrictEqual(lines(manager.trace), ["web interrupted in a", ...ending])
          assert.deepStrictEqual(manager.shutdown.givenUpUnsafe(), [])
        }).pipe(Effect.provide(Layer.fresh(outside)))
    )
  }

  it.effect("without a limit waits until all runs have finished", () =>
    Effect.gen(function* () {
      const gate = Latch.makeUnsafe(false)
      yield* add("a")
      // A run has its own time limit of five minutes.
      const manager = yield* running({ gate: gate.await, stop: { timeout: Infinity } })
      yield* manager.stop
      yield* TestClock.adjust("4 minutes")
      assert.deepStrictEqual(lines(manager.trace), [])
      yield* gate.open
      yield* Cluster.settle
      assert.isTrue(manager.isOver())
      assert.deepStrictEqual(lines(manager.trace).slice(-4), ending)
    }).pipe(Effect.provide(Layer.fresh(outside)))
  )

  it.effect("interrupts runs at once when the Lease is lost, gives nothing up, and releases no Lease", () =>
    Effect.gen(function* () {
      let isGone = false
      yield* add("a")
      const manager = yield* running({ gate: Effect.never, answers: () => !isGone })
      isGone = true
      yield* manager.stop
      assert.isFalse(manager.isOver())
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(lines(manager.trace), ["web interrupted in a"])
      // The server does not respond: releasing the Lease and sending events have their own limits.
      yield* TestClock.adjust("10 seconds")
      assert.isTrue(manager.isOver())
      assert.deepStrictEqual(lines(manager.trace), ["web interrupted in a", "watch closed", "servers closed"])
      const exit = yield* Fiber.await(manager.fiber)
      assert.isTrue(Exit.isFailure(exit) && Exit.hasInterrupts(exit))
    }).pipe(Effect.provide(Layer.fresh(outside)))
  )

  it.effect("logs a failure although no fiber waits for it", () =>
    Effect.gen(function* () {
      const { lines, logger } = logged()
      const shutdown = yield* Shutdown.make({})
      yield* Effect.gen(function* () {
        const supervisor = yield* Supervisor
        yield* shutdown.begin
        yield* supervisor.fork("web", Effect.die("no more"))
        yield* Effect.yieldNow
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.merge(Supervisor.layer, logger)),
        Effect.provideService(Shutdown.Shutdown, shutdown)
      )
      assert.lengthOf(lines(/web failed: no more/), 1)
    })
  )

  it.effect("of one controller alone may take the same time", () =>
    Effect.gen(function* () {
      yield* add("a")
      const shutdown = yield* Shutdown.make({ timeout: "10 seconds" })
      const hanging = Controller.make({ name: "web", for: ConfigMap, reconcile: () => Effect.never })
      const closing = Effect.gen(function* () {
        const { stopping } = yield* Cluster.start(hanging)
        return yield* stopping()
      }).pipe(Effect.provideService(Shutdown.Shutdown, shutdown))
      const alone = yield* closing
      yield* TestClock.adjust("7999 millis")
      assert.isFalse(Cluster.isDone(alone))
      yield* TestClock.adjust("1 millis")
      assert.isTrue(Cluster.isDone(alone))
      assert.deepStrictEqual(shutdown.givenUpUnsafe(), ["web default/a"])
    }).pipe(
      Effect.provideServiceEffect(
        Metric.MetricRegistry,
        Effect.sync(() => new Map())
      ),
      Effect.provide(Cluster.layer)
    )
  )
})
