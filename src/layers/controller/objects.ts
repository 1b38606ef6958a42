/**
 * Reconciles objects instead of keys: a run begins with the object from the cache, decoded by the Schemas of its kind. The run of an object
 * that is gone does nothing. An object that cannot be decoded is reported (`undecodable.ts`), and other objects go on. Declared finalizers
 * are added before the object is passed on; their cleanup runs when it is being deleted.
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

/** A controller of objects of any type. */
export interface Objects<E, R> {
  readonly for: Resource.Any
  readonly finalizers?:
    | Readonly<Record<string, (object: KubeObject, context: Erased) => Effect.Effect<void, E, R>>>
    | undefined
  readonly reconcileObject: (object: KubeObject, context: Erased) => Effect.Effect<Reconcile.Outcome | void, E, R>
}

/** The context of any controller. At run time it always has `events`. */
export type Erased = Omit<ReconcileContext<never>, "events"> & { readonly events: EventSink }

/** The grants that it needs beyond reading its kind. */
export const access = <E, R>({ finalizers, for: kind }: Objects<E, R>): ReadonlyArray<Access.Any> => [
  ...(finalizers === undefined ? [] : [Access.patch(kind)]),
  ...Undecodable.access(kind)
]

/** One run of the controller's layer. */
export const reconciler = <E, R>(options: Objects<E, R>, context: Erased) => {
  const { finalizers, for: kind, reconcileObject } = options
  const decode = reading(kind)
  const undecodable = Undecodable.make(kind, Object.keys(finalizers ?? {}), context)
  const addFinalizers =
    finalizers === undefined ? Effect.succeed<KubeObject> : withFinalizers(kind, finalizers, { decode, context })
  const work = Effect.fnUntraced(function* (stored: KubeObject) {
    const decoded = yield* decode(stored)
    const prepared = yield* addFinalizers(stored)
    if (prepared === undefined) return undefined
    const current = yield* undecodable.clear(prepared)
    return yield* reconcileObject(current === stored ? decoded : yield* decode(current), context)
  })
  return ({ key }: Request): Effect.Effect<Reconcile.Outcome | void, E | ApiError, R> =>
    Effect.flatMap(cached(context, kind, key), (stored) =>
      stored === undefined
        ? Effect.sync(() => undecodable.forget(key))
        : Effect.catchIf(work(stored), isDecodeFailure, ({ flaw }) => undecodable.report(stored, flaw))
    )
}

type Read = (object: KubeObject) => Effect.Effect<KubeObject, DecodeFailure>

/** An error class of this file, so that it differs from a decoding error of the reconcile itself. */
class DecodeFailure extends Data.TaggedError("DecodeFailure")<{ readonly flaw: Resource.Undecodable }> {}

const isDecodeFailure = (error: unknown): error is DecodeFailure => error instanceof DecodeFailure

const reading = (kind: Resource.Any): Read =>
  Resource.isCustom(kind)
    ? (object) => Effect.fromResult(Result.mapError(kind.decode(object), (flaw) => new DecodeFailure({ flaw })))
    : Effect.succeed

/** A controller always reads its own kind, so the read cannot fail as not cached. */
const cached = (context: Erased, kind: Resource.Any, key: string): Effect.Effect<KubeObject | undefined> =>
  (context as unknown as ReconcileContext<Access.Access<"read", Resource.Any>>).cache.get(kind, key)

/** The object with its finalizers; undefined when it is being deleted and their cleanup was all there was to do. */
const withFinalizers =
  <E, R>(
    kind: Resource.Any,
    finalizers: NonNullable<Objects<E, R>["finalizers"]>,
    { decode, context }: { readonly decode: Read; readonly context: Erased }
  ) =>
  (object: KubeObject): Effect.Effect<KubeObject | undefined, E | DecodeFailure | ApiError, R> =>
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
