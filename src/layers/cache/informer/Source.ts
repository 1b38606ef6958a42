/** What keeps an informer's store in step with the server, as the informer sees it: by one watch (`SharedInformer.ts`) or by several (`branches.ts`). */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { KubeObject } from "../../../kube/Meta.ts"
import type * as Resource from "../../../kube/Resource.ts"
import type { Change } from "../../../streams/watch/Change.ts"
import type * as Store from "../../../streams/store/Store.ts"
import type { CacheMetrics } from "../metrics.ts"
import type { InformerStatus } from "../Informer.ts"
import * as VersionWaits from "../VersionWaits.ts"
import type * as Audience from "./Audience.ts"
import type * as Reflector from "./reflector.ts"

/** What an informer needs to keep its store in step. */
export interface Options<A extends KubeObject> {
  readonly resource: Resource.Resource<A>
  /** The watch of one namespace, or of the whole selection. */
  readonly watch: (namespace: string | undefined) => Stream.Stream<Change<A>>
  readonly freeze: boolean
  readonly metrics: Pick<CacheMetrics, "relisted">
}

/** What the two ways to keep a store in step have in common. */
export interface Source<A extends KubeObject> {
  readonly store: Store.Readable<A> & Pick<Store.Store<A>, "addIndex">
  readonly audience: Audience.Audience<A>
  readonly gate: VersionWaits.Gate
  readonly watches: () => ReadonlyArray<WatchStatus>
}

export type WatchStatus = { readonly namespace: string | undefined } & Pick<
  InformerStatus,
  "synced" | "objects" | "resourceVersion"
> &
  ReturnType<Reflector.Reflector["state"]>

export type Ready = Deferred.Deferred<void, void>

/** Registered before the watches, so that it runs after them: nothing is told after the waits and readers have been released. */
export const releasing = (gate: VersionWaits.Gate, ready: Ready) =>
  Effect.addFinalizer(() =>
    Effect.sync(() => {
      VersionWaits.closeUnsafe(gate)
      Deferred.doneUnsafe(ready, Effect.fail(undefined))
    })
  )
