/** A store kept in step by one watch, of everything that is selected: the plain case, and the fast one. */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Resource from "../../../kube/Resource.ts"
import type { Change } from "../../../streams/watch/Change.ts"
import * as Store from "../../../streams/store/Store.ts"
import type { Options } from "../Informer.ts"
import * as VersionWaits from "../VersionWaits.ts"
import * as Audience from "./Audience.ts"
import * as Reflector from "./reflector.ts"
import * as Source from "./Source.ts"

export const make = Effect.fnUntraced(function* <A extends KubeObject>(
  { freeze, metrics, resource, watch }: Options<A>,
  ready: Source.Ready,
  waits: VersionWaits.Gate["waits"]
): Effect.fn.Return<Source.Source<A>, never, Scope.Scope> {
  const of = Resource.qualifiedName(resource)
  const store = Store.make<A>({ freeze })
  const audience = Audience.make(of, store)
  const gate: VersionWaits.Gate = {
    waits,
    hasPassed: (key, version) =>
      VersionWaits.hasPassed(store.resourceVersion, store.get(key)?.metadata.resourceVersion, version),
    threw: audience.threw
  }
  const accept = (change: Change<A>): void => {
    audience.tell(store.apply(change))
    if (change._tag === "Synced") Deferred.doneUnsafe(ready, Effect.void)
    if (waits.size > 0) VersionWaits.passUnsafe(gate)
  }
  const clock = yield* Clock.Clock
  const reflector = Reflector.make({ clock, of, changes: watch(undefined), accept, after: audience.flush, metrics })
  yield* Source.releasing(gate, ready)
  yield* Effect.forkScoped(reflector.run)
  return {
    store,
    audience,
    gate,
    watches: () => [
      {
        namespace: undefined,
        synced: store.synced,
        objects: store.size,
        resourceVersion: store.resourceVersion,
        ...reflector.state()
      }
    ]
  }
})
