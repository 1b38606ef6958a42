/**
 * A cluster for tests, as one layer: the embedded API server in process, simulated nodes, and all services that a controller needs, in the
 * virtual time of `TestClock`. It adds what tests do: apply objects, settle, wait until a check holds, list objects. Objects in the cache
 * are frozen, so a controller that writes to what it has read fails here.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { KubeObject } from "../kube/Meta.ts"
import type * as Resource from "../kube/Resource.ts"
import type { User } from "../apiserver/Api.ts"
import { ApiServer, type Options as ApiServerOptions } from "../apiserver/ApiServer.ts"
import * as WebhookCaller from "../apiserver/webhook/WebhookCaller.ts"
import type * as Faults from "../apiserver/faults.ts"
import { Cache, type Options as CacheOptions } from "../layers/Cache.ts"
import { remembered, type Signer } from "../apiserver/authentication/Signer.ts"
import { ClusterAuthority } from "../layers/ClusterAuthority.ts"
import * as Accounts from "./accounts.ts"
import * as Apply from "./apply.ts"
import { NotReached, type Running, TestCluster } from "./TestCluster.ts"
import * as Webhooks from "./webhooks.ts"
import type { Descriptor, Services } from "../layers/Controller.ts"
import { Discovery } from "../layers/Discovery.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import * as Machine from "../simulation/Machine.ts"
import * as Nodes from "../simulation/Nodes.ts"
import { Quiescence } from "../layers/Quiescence.ts"
import { Recorder } from "../layers/Recorder.ts"
import { Supervisor } from "../layers/Supervisor.ts"
import type { Transport } from "../layers/Transport.ts"

/** Settings of the cluster. */
export interface Options {
  /**
   * How many simulated machines; the first is the control plane. With it the layer also provides `Nodes`, for operations on machines and
   * their pods. Without it nothing is simulated: pods stay Pending.
   */
  readonly nodes?: number | undefined
  /** CustomResourceDefinitions that exist at the start, before all other objects: YAML documents, or values. */
  readonly crds?: string | ReadonlyArray<object> | undefined
  /** Objects that exist at the start: YAML documents, or values. */
  readonly objects?: string | ReadonlyArray<object> | undefined
  /** Faults from the start; `ApiServer.setFaults` changes them later. */
  readonly faults?: ReadonlyArray<Faults.Rule> | undefined
  /** Which of the API server's built-in admission plugins run. Default: those of the API server. */
  readonly admission?: ApiServerOptions["admission"]
  /**
   * `RBAC`: every controller has its own account with exactly the roles that `manifests` prints for it, and other requests are refused; the
   * test itself may do everything. Default: everything is allowed.
   */
  readonly authorization?: "RBAC" | undefined
  /** Under RBAC, changes the roles before they are written, so that a test can remove rights. */
  readonly roles?: Accounts.Options["roles"]
  /** Under RBAC, whether each controller has its own account, or all share the program's. Default: `each`. */
  readonly accounts?: Accounts.Options["accounts"]
  /**
   * The webhooks that the program declares (`Webhook.validating(…)`): the server has their configurations before it has `objects`, and calls
   * them in the test's time. Or functions that take a review and return one, by address, for configurations among the objects:
   * `https://hooks.example/validate`, or `https://<name>.<namespace>.svc:<port>/<path>` for a service.
   */
  readonly webhooks?: Webhooks.Webhooks | undefined
  /**
   * Serve `metrics.k8s.io` with the usage of the simulated nodes. Default: false, as in a cluster without a metrics server, so that a test
   * decides what autoscalers read.
   */
  readonly metrics?: ApiServerOptions["metrics"]
  /** What the audit log of the API server retains; see `ApiServer.audit`. */
  readonly audit?: ApiServerOptions["audit"]
  /** Settings of the controllers' cache. */
  readonly cache?: CacheOptions | undefined
  /** Seed of names and uids; two runs with one seed are equal byte by byte. */
  readonly seed?: number | string | undefined
}

/**
 * A cluster in the virtual time of the test.
 *
 * @example
 * ```ts
 * const phase = Effect.gen(function* () {
 *   const cluster = yield* ClusterTest
 *   yield* cluster.apply(`
 *     apiVersion: v1
 *     kind: Pod
 *     metadata: { namespace: default, name: web }
 *     spec: { containers: [{ name: web, image: "example.test/web:1" }] }
 *   `)
 *   yield* cluster.advance("1 minute")
 *   return (yield* cluster.snapshot(Pod)).map(({ status }) => status?.phase)
 * }).pipe(Effect.provide(ClusterTest.layer({ nodes: 2 })), Effect.provide(TestClock.layer()))
 * assert.deepEqual(await Effect.runPromise(phase), ["Running"])
 * ```
 */
export class ClusterTest extends Context.Service<
  ClusterTest,
  {
    /** Waits until no work is left at the present time. */
    readonly settle: Effect.Effect<void>
    /** Settles, advances the clock, and settles again. */
    readonly advance: (duration: Duration.Input) => Effect.Effect<void>
    /**
     * Repeats a check that fails or dies, as assertions do, and advances the clock in between: 100 ms at a time, for a minute at most, by
     * default. Then it fails as the check failed last.
     */
    readonly eventually: <A, E, R>(
      check: Effect.Effect<A, E, R>,
      options?: { readonly within?: Duration.Input | undefined; readonly every?: Duration.Input | undefined }
    ) => Effect.Effect<A, E, R>
    /** Server-side apply of YAML documents or values, in order, as the manager `test`; returns what the server stored. */
    readonly apply: Apply.Apply
    /** Starts a controller; it stops with the scope, or by the returned effect. */
    readonly run: <R>(controller: Descriptor<R>) => Effect.Effect<Running, never, Services | R | Scope.Scope>
    /** All objects of a kind as the server has them, in order. */
    readonly snapshot: <A extends KubeObject>(resource: Resource.Resource<A>) => Effect.Effect<ReadonlyArray<A>>
  }
>()("effect-controller-manager/ClusterTest") {
  /** With simulated nodes: provides `Nodes` too. Fails if the objects of the start cannot be applied. */
  static layer(options: Options & { readonly nodes: number }): Layer.Layer<Provides | Nodes.Nodes, Apply.ApplyError>
  /** Without simulated nodes: pods stay Pending. */
  static layer(options?: Options): Layer.Layer<Provides, Apply.ApplyError>
  static layer(options: Options = {}) {
    const { admission, audit, authorization, metrics } = options
    const signer = remembered()
    return Layer.effectContext(make(options)).pipe(
      Layer.provideMerge(Layer.merge(shared(options), authority(signer))),
      Layer.provideMerge(KubeClient.layer),
      Layer.provideMerge(ApiServer.layerTransport),
      Layer.provideMerge(ApiServer.layer({ admission, audit, authorization, metrics, authentication: { signer } })),
      Layer.provideMerge(Layer.sync(WebhookCaller.WebhookCaller, () => Webhooks.caller(options.webhooks ?? {}))),
      Layer.provideMerge(Layer.mergeAll(Supervisor.layer, Layer.succeed(Cache.Frozen, true), seeded(options.seed))),
      Layer.provideMerge(Quiescence.layer)
    )
  }
}

/** What controllers share. Without RBAC its requests are those of the test, under RBAC those of the program. */
const shared = ({
  authorization,
  cache
}: Options): Layer.Layer<Cache | Discovery | Recorder, never, ApiServer | KubeClient> => {
  const layer = Recorder.layer.pipe(Layer.provideMerge(Layer.merge(Cache.layer(cache), Discovery.layer)))
  return authorization === undefined ? layer : Layer.provide(layer, clientAs(Accounts.programUser))
}

/** The server's own key; its signatures never expire. */
const authority = (signer: Signer): Layer.Layer<ClusterAuthority> =>
  Layer.effect(
    ClusterAuthority,
    Effect.map(Random.Random, (random) =>
      ClusterAuthority.of({
        signer: { ...signer, sign: (input) => signer.sign(input, { random, now: 0, expires: Infinity }) },
        rootCa: "the authorities of the test cluster"
      })
    )
  )

/** A client with a user agent of its own. */
const clientAs = (user: User): Layer.Layer<KubeClient, never, ApiServer> =>
  Layer.provide(KubeClient.layerWith({}), ApiServer.layerTransportAs(user))

const seeded = (seed: number | string | undefined): Layer.Layer<never> =>
  Layer.effectContext(
    Effect.map(Random.withSeed(Random.Random, seed ?? "cluster"), (random) => Context.make(Random.Random, random))
  )

const make = Effect.fnUntraced(function* (options: Options) {
  const { settle } = yield* Quiescence
  const server = yield* ApiServer
  const accounts = options.authorization === undefined ? undefined : clientsOf(server, options)
  const apply = Apply.make(yield* KubeClient, yield* Discovery)
  const advance = (duration: Duration.Input) =>
    settle.pipe(Effect.andThen(TestClock.adjust(duration)), Effect.andThen(settle))

  if (options.crds !== undefined) yield* apply(options.crds)
  yield* Webhooks.connect(options.webhooks ?? {}, apply)
  if (options.objects !== undefined) yield* apply(options.objects)
  const nodes = options.nodes === undefined ? undefined : yield* simulate(options.nodes)
  if (nodes !== undefined) yield* server.connectNodes(Context.get(nodes, Nodes.Nodes).connection)
  yield* server.setFaults(options.faults ?? [])
  const run: ClusterTest["Service"]["run"] = (controller) =>
    Effect.gen(function* () {
      const scope = yield* Effect.acquireRelease(Scope.make(), (scope, exit) => Scope.close(scope, exit))
      const client = accounts === undefined ? undefined : yield* accounts(controller)
      const own = client === undefined ? controller.layer : Layer.provide(controller.layer, client)
      yield* Layer.buildWithScope(own, scope)
      yield* settle
      return { stop: (exit = Exit.void) => Scope.close(scope, exit) }
    })
  // The objects have the type of the resource's type parameter.
  const snapshot = <A extends KubeObject>(resource: Resource.Resource<A>) =>
    Effect.map(server.snapshot(resource), (objects) => objects as unknown as ReadonlyArray<A>)
  const cluster = ClusterTest.of({
    settle,
    advance,
    apply,
    eventually: (check, { within = "1 minute", every = "100 millis" } = {}) =>
      eventually(check, advance, Duration.fromInputUnsafe(within), Duration.fromInputUnsafe(every)),
    run,
    snapshot
  })
  const both = TestCluster.of({
    apply,
    run,
    snapshot,
    until: (resource, target, holds, { within = "1 minute" } = {}) => {
      const check = Effect.flatMap(snapshot(resource), (objects) => {
        const object = objects.find(
          ({ metadata }) => metadata.name === target.name && metadata.namespace === target.namespace
        )
        return holds(object)
          ? Effect.succeed(object)
          : Effect.fail(new NotReached({ resource, target, within, object }))
      })
      return eventually(check, advance, Duration.fromInputUnsafe(within), Duration.millis(100))
    }
  })
  const context = Context.make(ClusterTest, cluster).pipe(Context.add(TestCluster, both))
  return nodes === undefined ? context : Context.merge(context, nodes)
})

/** Clients for the accounts of controllers, whose roles are written when the controller is run. */
const clientsOf = (server: ApiServer["Service"], options: Options) => {
  const { accounts, cache, roles } = options
  const admit = Accounts.make(server, { accounts, roles, namespaces: cache?.namespaces })
  return (controller: Descriptor<unknown>) =>
    Effect.map(admit(controller), (user) => Layer.provide(clientAs(user), Layer.succeed(ApiServer, server)))
}

/** The simulated nodes have their own cache, separate from that of the controllers. */
const simulate = (count: number) =>
  Layer.build(
    Nodes.layer({
      machines: Array.from({ length: count }, (_, i) =>
        i === 0 ? Machine.make("control-plane", 1, "control-plane") : Machine.make(`worker-${i}`, i + 1, "worker")
      )
    }).pipe(Layer.provide(Cache.layer()))
  )

const eventually = <A, E, R>(
  check: Effect.Effect<A, E, R>,
  advance: (duration: Duration.Input) => Effect.Effect<void>,
  within: Duration.Duration,
  every: Duration.Duration
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const deadline = (yield* Clock.monotonicTimeNanos) + Duration.toNanosUnsafe(within)
    while (true) {
      yield* advance(0)
      const exit = yield* Effect.exit(check)
      if (Exit.isSuccess(exit)) return exit.value
      if (Cause.hasInterrupts(exit.cause) || (yield* Clock.monotonicTimeNanos) >= deadline) {
        return yield* Effect.failCause(exit.cause)
      }
      yield* advance(every)
    }
  })

/** What `ClusterTest.layer` provides, beside `Nodes` where there are some. */
export type Provides =
  | ApiServer
  | ClusterAuthority
  | ClusterTest
  | Discovery
  | Quiescence
  | Services
  | TestCluster
  | Transport
