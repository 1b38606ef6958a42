/**
 * A real API server for tests, as one layer: etcd and kube-apiserver, and the services that `ClusterTest.layer` provides too, so that the same test body runs
 * on both. Time is real, also in a test that has a `TestClock`; tests wait by watches. Objects in the cache are frozen.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ApiError from "../../kube/ApiError.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Resource from "../../kube/Resource.ts"
import { Cache, type Options as CacheOptions } from "../../layers/Cache.ts"
import type { Services } from "../../layers/Controller.ts"
import { Discovery } from "../../layers/Discovery.ts"
import { Endpoint } from "../../layers/Endpoint.ts"
import type { ListenError } from "../../layers/http/Listener.ts"
import { type Client, KubeClient } from "../../layers/KubeClient.ts"
import { Recorder } from "../../layers/Recorder.ts"
import { Supervisor } from "../../layers/Supervisor.ts"
import type { Transport } from "../../layers/Transport.ts"
import type { Webhook } from "../../layers/Webhook.ts"
import * as HttpTransport from "../../platform/HttpTransport.ts"
import * as Apply from "../apply.ts"
import { type Awaited, NotReached, TestCluster } from "../TestCluster.ts"
import * as ControlPlane from "./ControlPlane.ts"
import * as Kinds from "./kinds.ts"
import * as Webhooks from "./webhooks.ts"

/** Settings of the cluster. */
export interface Options extends ControlPlane.Options {
  /** CustomResourceDefinitions that are installed first: YAML documents, or values. Their kinds are served when the layer is ready. */
  readonly crds?: string | ReadonlyArray<object> | undefined
  /** Objects that exist at the start: YAML documents, or values. */
  readonly objects?: string | ReadonlyArray<object> | undefined
  /**
   * The webhooks that the program declares (`Webhook.validating(…)`): served over HTTPS, and called by the API server before `objects` are applied. The
   * definitions of converted kinds are among `crds`.
   */
  readonly webhooks?: ReadonlyArray<Webhook<Services>> | undefined
  /** Settings of the controllers' cache. */
  readonly cache?: CacheOptions | undefined
}

/** What `Envtest.layer` provides. */
export type Provides = Discovery | Endpoint | Envtest | Services | TestCluster | Transport

/** Why the layer could not be built. */
export type Failure = Apply.ApplyError | ControlPlane.EnvtestError | ListenError | NotReached

/**
 * A real API server, started and stopped by the layer.
 *
 * @example
 * ```ts
 * const version = Effect.gen(function* () {
 *   const cluster = yield* TestCluster
 *   yield* cluster.apply("{ apiVersion: v1, kind: ConfigMap, metadata: { name: colours }, data: { one: blue } }")
 *   yield* cluster.until(ConfigMap, { namespace: "default", name: "colours" }, (map) => map?.data?.["one"] === "blue")
 *   return (yield* Envtest).version.major
 * }).pipe(Effect.provide(Envtest.layer()))
 * const major = Envtest.available() ? await Effect.runPromise(version) : 1
 * assert.equal(major, 1)
 * ```
 */
export class Envtest extends Context.Service<Envtest, ControlPlane.ControlPlane>()(
  "effect-controller-manager/Envtest"
) {
  /** Whether `KUBEBUILDER_ASSETS` names a folder with both programs: `describe.skipIf(!Envtest.available())`. */
  static readonly available = (): boolean => ControlPlane.missing() === undefined

  /** The reason why no API server can be started on this machine, for the message of a skipped test; undefined where one can. */
  static readonly missing = ControlPlane.missing

  /** A separate API server for each layer that is built. */
  static readonly layer = (options: Options = {}): Layer.Layer<Provides, Failure> =>
    Layer.effect(TestCluster, make(options)).pipe(
      Layer.provideMerge(Recorder.layer),
      Layer.provideMerge(Layer.merge(Cache.layer(options.cache), Discovery.layer)),
      Layer.provideMerge(KubeClient.layer),
      Layer.provideMerge(HttpTransport.layer),
      Layer.provideMerge(Layer.merge(Supervisor.layer, Layer.succeed(Cache.Frozen, true))),
      Layer.provideMerge(
        Layer.effectContext(
          Effect.map(ControlPlane.start(options), (one) =>
            Context.make(Envtest, one).pipe(Context.add(Endpoint, one.endpoint))
          )
        )
      ),
      Layer.provideMerge(Layer.succeed(Clock.Clock, Clock.Clock.defaultValue()))
    )
}

const make = Effect.fnUntraced(function* ({ crds, objects, webhooks = [] }: Options) {
  const client = yield* KubeClient
  const apply = Apply.make(client, yield* Discovery)
  const cluster = TestCluster.of({
    apply,
    run: (controller) =>
      Effect.gen(function* () {
        const scope = yield* Effect.acquireRelease(Scope.make(), (scope, exit) => Scope.close(scope, exit))
        yield* Layer.buildWithScope(controller.layer, scope)
        return { stop: (exit = Exit.void) => Scope.close(scope, exit) }
      }),
    snapshot: (resource) => Effect.map(client.list(resource), ({ items }) => items),
    until: (resource, target, holds, { within = "30 seconds" } = {}) =>
      until(client, { resource, target, holds, within })
  })
  if (crds !== undefined) yield* Kinds.served(client, cluster, yield* apply(crds))
  if (webhooks.length > 0) yield* Webhooks.serve(webhooks, apply)
  if (objects !== undefined) yield* apply(objects)
  return cluster
})

interface Wanted<A extends KubeObject> {
  readonly resource: Resource.Resource<A>
  readonly target: Awaited
  readonly holds: (object: A | undefined) => boolean
  readonly within: Duration.Input
}

/** Lists and watches that one object. A watch that ends is begun anew with a list, so no state is missed that lasts. */
const until = <A extends KubeObject>(client: Client, { holds, resource, target, within }: Wanted<A>) => {
  const selection = { namespace: target.namespace, fieldSelector: `metadata.name=${target.name}` }
  let last: A | undefined
  const see = (object: A | undefined): boolean => {
    last = object
    return holds(object)
  }
  const once = Effect.gen(function* () {
    const { items, metadata } = yield* client.list(resource, selection)
    if (see(items[0])) return Option.some(last)
    return yield* client.watch(resource, { ...selection, resourceVersion: metadata.resourceVersion }).pipe(
      Stream.filter(({ type }) => type !== "BOOKMARK"),
      // The server sends objects of the resource that was asked for.
      Stream.map(({ object, type }) => (type === "DELETED" ? undefined : (object as A))),
      Stream.filter(see),
      Stream.runHead
    )
  })
  return once.pipe(
    Effect.filterOrFail(Option.isSome, () => "ended" as const),
    Effect.retry({
      while: (error) => typeof error === "string" || ApiError.hasReason(error, "Gone", "Network", "ServerError"),
      schedule: Schedule.spaced("100 millis")
    }),
    Effect.catchIf(
      (error): error is "ended" => typeof error === "string",
      () => Effect.fail(new NotReached({ resource, target, within, object: last }))
    ),
    Effect.map(({ value }) => value),
    Effect.timeoutOrElse({
      duration: within,
      orElse: () => Effect.fail(new NotReached({ resource, target, within, object: last }))
    })
  )
}
