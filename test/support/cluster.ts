/**
 * Everything that a controller needs, in process and in virtual time: the embedded API server and the services over it. Objects in the cache are
 * frozen, so a controller that writes to what it read fails here.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { type Fault, isWatch, type Rule } from "../../src/apiserver/faults.ts"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Patch from "../../src/kube/Patch.ts"
import type * as Resource from "../../src/kube/Resource.ts"
import { Event, Pod } from "../../src/kube/resources.ts"
import { Cache } from "../../src/layers/Cache.ts"
import type { Descriptor, Services } from "../../src/layers/Controller.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Quiescence } from "../../src/layers/Quiescence.ts"
import { LeaderLost } from "../../src/layers/Leadership.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import { Supervisor } from "../../src/layers/Supervisor.ts"
import type { Request, Transport } from "../../src/layers/Transport.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"

export const layer: Layer.Layer<ApiServer | Transport | Services | Quiescence> = Recorder.layer.pipe(
  Layer.provideMerge(Cache.layer()),
  Layer.provideMerge(KubeClient.layer),
  Layer.provideMerge(ApiServer.layerTransport),
  Layer.provideMerge(ApiServer.layer()),
  Layer.provideMerge(Supervisor.layer),
  Layer.provideMerge(Layer.succeed(Cache.Frozen, true)),
  Layer.provideMerge(Quiescence.layer)
)

/** Waits until no fiber has work left before time passes. */
export const settle = Effect.flatMap(Quiescence, (quiescence) => quiescence.settle)

/** Runs a controller until `stop`, which closes its scope with the exit given and waits. */
export const start = <R>(controller: Descriptor<R>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    yield* Layer.buildWithScope(controller.layer, scope)
    yield* settle
    return {
      stop: (exit: Exit.Exit<unknown, unknown> = Exit.void) => Scope.close(scope, exit),
      /** The same in a fiber, for a stop that takes time. */
      stopping: (exit: Exit.Exit<unknown, unknown> = Exit.void) =>
        Effect.tap(Effect.forkChild(Scope.close(scope, exit), { startImmediately: true }), () => settle)
    }
  })

export const isDone = <A, E>(fiber: Fiber.Fiber<A, E>): boolean => fiber.pollUnsafe() !== undefined

/** Settles, lets the virtual time of a `ClusterTest` pass, and settles again. */
export const advance = (time: Duration.Input) => Effect.flatMap(ClusterTest, (cluster) => cluster.advance(time))

export const withClient = <A, E, R>(use: (client: KubeClient["Service"]) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(KubeClient, use)

/** Where an object is: in the namespace `default`, unless its resource is cluster-scoped. */
const placeOf = ({ scope }: Resource.Any, name: string) =>
  scope === "Cluster" ? { name } : { namespace: "default", name }

/** Creates a pod with one container, without waiting. */
export const createPod = (name: string, namespace: string, spec: object = {}, metadata: object = {}) =>
  withClient((client) =>
    client.create(Pod, {
      metadata: { namespace, name, ...metadata },
      spec: { containers: [{ name: "main", image: "example.test/main:1" }], ...spec }
    })
  )

/** Creates an object, then settles. */
export const create = <A extends KubeObject>(resource: Resource.Resource<A>, object: object) =>
  withClient((client) => Effect.tap(client.create(resource, object as never), () => settle))

/** Sends a merge patch, then settles. */
export const patch = (resource: Resource.Any, name: string, body: object, subresource?: string) =>
  withClient((client) =>
    Effect.tap(client.patch(resource, { ...placeOf(resource, name), subresource }, Patch.merge(body)), () => settle)
  )

/** Deletes an object, then settles. */
export const remove = (resource: Resource.Any, name: string, options: object = {}) =>
  withClient((client) => Effect.tap(client.delete(resource, placeOf(resource, name), options), () => settle))

/** The Event objects that a field selector selects, sorted by their names. */
export const eventObjects = (fieldSelector: string) =>
  Effect.gen(function* () {
    yield* (yield* Recorder).drained
    return (yield* (yield* KubeClient).list(Event, { fieldSelector })).items
  })

/** These events as text: `Normal SuccessfulCreate Created pod: …`. */
export const events = (fieldSelector: string) =>
  Effect.map(eventObjects(fieldSelector), (items) =>
    items.map(({ message, reason, type }) => `${type} ${reason} ${message}`)
  )

/** Whether nothing is written while this time passes. */
export const isIdle = Effect.fnUntraced(function* (time: Duration.Input) {
  const server = yield* ApiServer
  const before = yield* server.revision
  yield* advance(time)
  return (yield* server.revision) === before
})

/** Records the writes that `isRecorded` accepts from now on; `rules` inject faults. */
export const recording = (isRecorded: (request: Request) => boolean, rules: ReadonlyArray<Rule> = []) =>
  recordingAll((request) => request.method !== "GET" && isRecorded(request), rules)

/** Records the requests that `isRecorded` accepts from now on, other than watches; `rules` inject faults. */
export const recordingAll = (isRecorded: (request: Request) => boolean, rules: ReadonlyArray<Rule> = []) =>
  Effect.gen(function* () {
    const calls: Array<Request> = []
    yield* (yield* ApiServer).setFaults([
      {
        match: (request) => {
          if (!isWatch(request) && isRecorded(request)) calls.push(request)
          return false
        },
        fault: { _tag: "Drop" }
      },
      ...rules
    ])
    return calls
  })

/** `update deployments.apps/status web`. */
export const line = ({ context }: Request): string =>
  [context.verb, context.resource, context.name].filter((part) => part !== undefined).join(" ")

/** Ends a controller as a lost leadership does: no running work finishes. */
export const leaderLost = Exit.fail(new LeaderLost({ reason: "Stolen", message: "the process is gone" }))

/** Faults of writes in random operation sequences; after a `crash` the test ends the process. */
export const writeFaults: Readonly<Partial<Record<string, Fault>>> = {
  conflict: { _tag: "Conflict" },
  refusal: { _tag: "Status", code: 500 },
  lost: { _tag: "DropAnswer" },
  crash: { _tag: "DropAnswer" }
}
