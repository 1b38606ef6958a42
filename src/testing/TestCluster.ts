/**
 * What a test does with a cluster, whether that is the embedded one in virtual time or a real API server in real time: apply objects, run controllers, list
 * objects, and wait until something holds for one. `ClusterTest.layer` and `Envtest.layer` both provide it, so that one test body runs on both.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type { ApiError } from "../kube/ApiError.ts"
import type { KubeObject } from "../kube/Meta.ts"
import { excerpt } from "../kube/printable.ts"
import * as Resource from "../kube/Resource.ts"
import type { Descriptor, Services } from "../layers/Controller.ts"
import type * as Apply from "./apply.ts"

/** A controller that was started. */
export interface Running {
  /** Closes its scope with that exit. Default: a success. */
  readonly stop: (exit?: Exit.Exit<unknown, unknown>) => Effect.Effect<void>
}

/** One object that a test waits for. */
export interface Awaited {
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string | undefined
  /** Of the object. */
  readonly name: string
}

/** The most characters of an object in a message. */
const longestObject = 4000

/** Something did not hold for an object in time. The message contains the object as it was seen last. */
export class NotReached extends Data.TaggedError("NotReached")<{
  /** The kind of the object. */
  readonly resource: Resource.Any
  /** The object that was waited for. */
  readonly target: Awaited
  /** For how long. */
  readonly within: Duration.Input
  /** Its last state; undefined if there was no such object. */
  readonly object: KubeObject | undefined
}> {
  override get message(): string {
    const { object, resource, target, within } = this
    const name = target.namespace === undefined ? target.name : `${target.namespace}/${target.name}`
    const time = Duration.format(Duration.fromInputUnsafe(within))
    return `what was waited for did not hold for ${Resource.qualifiedName(resource)} ${name} within ${time}: ${shown(object)}`
  }
}

const shown = (object: KubeObject | undefined): string => {
  if (object === undefined) return "there was no such object"
  const { managedFields: _, ...metadata } = object.metadata
  return `it was last ${excerpt(JSON.stringify({ ...object, metadata }), longestObject)}`
}

/**
 * The cluster of a test.
 *
 * @example
 * ```ts
 * const test = Effect.gen(function* () {
 *   const cluster = yield* TestCluster
 *   yield* cluster.apply("{ apiVersion: v1, kind: ConfigMap, metadata: { name: colours }, data: { one: blue } }")
 *   return yield* cluster.until(ConfigMap, { namespace: "default", name: "colours" }, (map) => map?.data?.["one"] === "blue")
 * }).pipe(Effect.provide(ClusterTest.layer()), Effect.provide(TestClock.layer()))
 * assert.equal((await Effect.runPromise(test))?.metadata.name, "colours")
 * ```
 */
export class TestCluster extends Context.Service<
  TestCluster,
  {
    /** Server-side apply of YAML documents or values, in order, as the manager `test`; returns what the server stored. */
    readonly apply: Apply.Apply
    /** Starts a controller; it stops with the scope, or by the returned effect. */
    readonly run: <R>(controller: Descriptor<R>) => Effect.Effect<Running, never, Services | R | Scope.Scope>
    /** All objects of a kind as the server has them. */
    readonly snapshot: <A extends KubeObject>(
      resource: Resource.Resource<A>
    ) => Effect.Effect<ReadonlyArray<A>, ApiError>
    /**
     * The first state of an object for which the predicate holds; undefined stands for an absent object. On the embedded cluster time advances by
     * itself, for a minute at most by default. On a real server it waits for changes, for 30 seconds at most by default.
     */
    readonly until: <A extends KubeObject>(
      resource: Resource.Resource<A>,
      target: Awaited,
      holds: (object: A | undefined) => boolean,
      options?: { readonly within?: Duration.Input | undefined }
    ) => Effect.Effect<A | undefined, ApiError | NotReached>
  }
>()("effect-controller-manager/TestCluster") {}
