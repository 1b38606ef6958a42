/**
 * Reconciling objects instead of keys: a run begins with the object from the cache, read by its kind's Schemas. One that is gone ends the
 * run quietly; one that the Schemas cannot read is reported (`undecodable`), and the controller goes on with the others. Finalizers that are
 * declared are put on before the object is handed out and worked on when it is being deleted.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Access from "../../kube/Access.ts"
import type { ApiError } from "../../kube/ApiError.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"
import type * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import type { EventSink } from "../Recorder.ts"
import type { Request, ReconcileContext } from "./reconcileContext.ts"
import * as Undecodable from "./undecodable.ts"
import { finalize } from "./writes/finalize.ts"

/** A controller of objects, whatever their type. */
export interface Objects<E, R> {
  readonly for: Resource.Any
  readonly finalizers?:
    | Readonly<Record<string, (object: KubeObject, context: Erased) => Effect.Effect<void, E, R>>>
    | undefined
  readonly reconcileObject: (object: KubeObject, context: Erased) => Effect.Effect<Reconcile.Outcome | void, E, R>
}

/** The context of any controller; at run time it always has `events`. */
export type Erased = Omit<ReconcileContext<never>, "events"> & { readonly events: EventSink }

/** What it needs to be allowed beyond reading its kind. */
export const access = <E, R>({ finalizers, for: kind }: Objects<E, R>): ReadonlyArray<Access.Any> => [
  ...(finalizers === undefined ? [] : [Access.patch(kind)]),
  ...Undecodable.access(kind)
]

/** One run of the controller's layer. */
export const reconciler = <E, R>(options: Objects<E, R>, context: Erased) => {
  const { finalizers, for: kind, reconcileObject } = options
  const decode = reading(kind)
  const undecodable = Undecodable.make(kind, Object.keys(finalizers ?? {}), context)
  const hold = finalizers === undefined ? Effect.succeed<KubeObject> : holding(kind, finalizers, { decode, context })
  const work = Effect.fnUntraced(function* (stored: KubeObject) {
    const decoded = yield* decode(stored)
    const held = yield* hold(stored)
    if (held === undefined) return undefined
    const current = yield* undecodable.clear(held)
    return yield* reconcileObject(current === stored ? decoded : yield* decode(current), context)
  })
  return ({ key }: Request): Effect.Effect<Reconcile.Outcome | void, E | ApiError, R> =>
    Effect.flatMap(cached(context, kind, key), (stored) =>
      stored === undefined
        ? Effect.sync(() => undecodable.forget(key))
        : Effect.catchIf(work(stored), isFlawed, ({ flaw }) => undecodable.tell(stored, flaw))
    )
}

type Read = (object: KubeObject) => Effect.Effect<KubeObject, Flawed>

/** Ours, so that a reconcile's own failure to read something else is not taken for it. */
class Flawed extends Data.TaggedError("Flawed")<{ readonly flaw: Resource.Undecodable }> {}

const isFlawed = (error: unknown): error is Flawed => error instanceof Flawed

const reading = (kind: Resource.Any): Read =>
  Resource.isCustom(kind)
    ? (object) => Effect.fromResult(Result.mapError(kind.decode(object), (flaw) => new Flawed({ flaw })))
    : Effect.succeed

/** The kind is among those that the controller reads: its own. */
const cached = (context: Erased, kind: Resource.Any, key: string): Effect.Effect<KubeObject | undefined> =>
  (context as unknown as ReconcileContext<Access.Access<"read", Resource.Any>>).cache.get(kind, key)

/** The object with the finalizers on it; undefined when there is no more to do than they did. */
const holding =
  <E, R>(
    kind: Resource.Any,
    finalizers: NonNullable<Objects<E, R>["finalizers"]>,
    { decode, context }: { readonly decode: Read; readonly context: Erased }
  ) =>
  (object: KubeObject): Effect.Effect<KubeObject | undefined, E | Flawed | ApiError, R> =>
    finalize((context as unknown as ReconcileContext<Access.Access<"patch", Resource.Any>>).client, {
      resource: kind,
      object,
      finalizers: Object.fromEntries(
        Object.entries(finalizers).map(([name, work]) => [
          name,
          (current: KubeObject) => Effect.flatMap(decode(current), (decoded) => work(decoded, context))
        ])
      )
    })
