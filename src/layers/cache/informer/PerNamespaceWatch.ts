/**
 * A store that one watch for each selected namespace fills; readers and listeners see one store. `Namespaces` decides which namespaces
 * are selected and when they are shown. This file starts and stops the watches, and keeps deltas until the stores of all kinds
 * have changed.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as Key from "../../../kube/Key.ts"
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Resource from "../../../kube/Resource.ts"
import type { Change } from "../../../streams/watch/protocol.ts"
import type { Delta } from "../../../streams/store/Store.ts"
import * as PartedStore from "../../../streams/store/PartedStore.ts"
import * as Store from "../../../streams/store/Store.ts"
import * as Informer from "../Informer.ts"
import * as VersionWaits from "../VersionWaits.ts"
import type * as Namespaces from "./Namespaces.ts"

/** One watch of a namespace. */
interface NamespaceWatch<A extends KubeObject> {
  readonly part: PartedStore.Part<A>
  readonly reflector: Informer.Reflector
  readonly fiber: Fiber.Fiber<never>
}

export const perNamespaceWatch = Effect.fnUntraced(function* <A extends KubeObject>(
  { counters, freeze, resource, watch }: Informer.WatchOptions<A>,
  namespaces: Namespaces.Namespaces,
  ready: Informer.Ready,
  waits: VersionWaits.Gate["waits"]
): Effect.fn.Return<Informer.InformerWatch<A>, never, Scope.Scope> {
  const name = Resource.qualifiedName(resource)
  const store = PartedStore.make<A>({ freeze })
  const processor = Informer.makeProcessor(name, store)
  const namespaceWatches = new Map<string, NamespaceWatch<A>>()
  /** Deltas that have not been distributed yet. */
  let undelivered: Array<Delta<A>> = []
  const gate: VersionWaits.Gate = {
    waits,
    hasPassed: (key, version) => {
      const part = store.part(Key.parse(key).namespace ?? "")
      // A namespace that is not watched has no events, so there is nothing to wait for.
      if (part === undefined) return true
      return (
        part.shown && VersionWaits.hasPassed(part.resourceVersion, store.get(key)?.metadata.resourceVersion, version)
      )
    },
    threw: processor.recordError
  }
  const deliver = (): void => {
    const deltas = undelivered
    undelivered = []
    processor.distribute(deltas)
    if (store.synced) Deferred.doneUnsafe(ready, Effect.void)
    if (waits.size > 0) VersionWaits.passUnsafe(gate)
  }
  const stage = (deltas: ReadonlyArray<Delta<A>>): void => {
    for (const delta of deltas) undelivered.push(delta)
  }
  const accept = (namespace: string, part: PartedStore.Part<A>, change: Change<A>): void => {
    processor.distribute(part.apply(change))
    if (change._tag === "Synced" && !part.shown && store.part(namespace) === part) namespaces.arrived(member, namespace)
    if (waits.size > 0) VersionWaits.passUnsafe(gate)
  }
  yield* Informer.releasing(gate, ready)
  const clock = yield* Clock.Clock
  const startedAt = clock.currentTimeMillisUnsafe()
  const fork = yield* FiberSet.makeRuntime<never, never, never>()
  const add = (namespace: string): void => {
    const part = store.add(namespace)
    const reflector = Informer.makeReflector({
      clock,
      of: `${name} in namespace ${namespace}`,
      changes: watch(namespace),
      accept: (change: Change<A>) => accept(namespace, part, change),
      after: processor.logErrors,
      counters
    })
    // It starts after the caller's synchronous section.
    namespaceWatches.set(namespace, { part, reflector, fiber: fork(Effect.andThen(Effect.yieldNow, reflector.run)) })
  }
  const member: Namespaces.Member = {
    isSynced: () => store.synced,
    isComplete: (namespace) => store.part(namespace)?.complete === true,
    add,
    remove: (namespace) => {
      namespaceWatches.get(namespace)?.fiber.interruptUnsafe()
      namespaceWatches.delete(namespace)
      stage(store.remove(namespace))
    },
    show: (namespace) => stage(store.part(namespace)?.show() ?? []),
    settle: store.settle,
    deliver
  }
  const leave = namespaces.join(member)
  yield* Effect.addFinalizer(() => Effect.sync(leave))
  return {
    store,
    processor,
    gate,
    watches: () =>
      namespaceWatches.size === 0
        ? [{ namespace: undefined, synced: store.synced, objects: 0, resourceVersion: undefined, startedAt, ...silent }]
        : Array.from(namespaceWatches, ([namespace, { part, reflector }]) => ({
            namespace,
            synced: part.complete,
            objects: store.keysByIndex(Store.namespaceIndex, namespace).length,
            resourceVersion: part.resourceVersion,
            ...reflector.state()
          }))
  }
})

/** The state of an informer without a namespace to watch. */
const silent: Omit<ReturnType<Informer.Reflector["state"]>, "startedAt"> = {
  attempts: 0,
  failures: 0,
  relists: 0,
  lastError: undefined,
  lastEventAt: undefined,
  defects: 0
}
