/**
 * The kinds whose changes ask for reconciles, as a controller declares them: each a value that knows its resource and how a change becomes
 * keys. Nothing is watched before the controller's layer runs.
 */
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Resource from "../../kube/Resource.ts"
import type { Predicate } from "../../streams/store/predicate.ts"
import * as Trigger from "../../streams/store/trigger.ts"
import type { Index } from "../Cache.ts"
import * as Loop from "./loop.ts"

/** A kind whose changes ask for reconciles. Made by {@link watch}. */
export interface Watched<out R extends Resource.Any = Resource.Any> {
  /** The kind that is watched. */
  readonly resource: R
  /** @internal */
  readonly source: Loop.WatchSource
}

/** What else can be said of a kind that is watched. */
export interface SourceOptions<A> {
  /** Which of its changes count. Default: all. */
  readonly predicate?: Predicate<A> | undefined
  /** Ways to look its objects up in the cache. */
  readonly indexes?: ReadonlyArray<Index<A>> | undefined
}

/** Watches a kind: `watch(Secret, Trigger.map((secret) => …))`. */
export const watch = <A extends KubeObject, Id extends string>(
  resource: Resource.Resource<A, Id>,
  trigger: Trigger.Trigger<A>,
  options: SourceOptions<A> = {}
): Watched<Resource.Resource<A, Id>> => ({ resource, source: Loop.watchSource(resource, trigger, options) })

/** As {@link SourceOptions}, and how the objects are found that refer to a changed one. */
export interface LookupOptions<A, B> extends SourceOptions<A> {
  /** The index of the other kind: under which values its objects are found. */
  readonly index: Index<B>
  /** The values of a changed object; its key unless said otherwise. */
  readonly valuesOf?: ((object: A) => ReadonlyArray<string>) | undefined
}

/**
 * Watches a kind that others refer to: a change asks for the objects of the second kind whose index has one of its values.
 * `watchReferred(Secret, Pod, { index: { name: "secret", of: (pod) => keysOfSecrets(pod) } })`. The controller must read the second
 * kind; mostly it is the one that it reconciles.
 */
export const watchReferred = <A extends KubeObject, Id extends string, B extends KubeObject>(
  resource: Resource.Resource<A, Id>,
  by: Resource.Resource<B>,
  options: LookupOptions<A, B>
): Watched<Resource.Resource<A, Id>> => ({
  resource,
  source: Loop.lookupSource(resource, { resource: by, index: options.index }, options)
})

/** A kind among the `owns` of a controller, with more to say than its name. Made by {@link owned}. */
export interface Owned<out R extends Resource.Any = Resource.Any> {
  /** The kind that is owned. */
  readonly resource: R
  /** @internal */
  readonly feedFor: (owner: Resource.Any) => Loop.WatchSource
}

/** What else can be said of a kind that is owned. */
export interface OwnedOptions<A> extends SourceOptions<A> {
  /**
   * Whether every owner reference to the `for` kind leads to its object, not the controlling one alone. False unless said otherwise.
   * Source: controller-runtime builder.MatchEveryOwner.
   */
  readonly matchEveryOwner?: boolean | undefined
}

/** `owns: [Controller.owned(Deployment, { matchEveryOwner: true, predicate: Predicate.generationChanged })]`. */
export const owned = <A extends KubeObject, Id extends string>(
  resource: Resource.Resource<A, Id>,
  options: OwnedOptions<A> = {}
): Owned<Resource.Resource<A, Id>> => ({
  resource,
  feedFor: (owner) =>
    Loop.watchSource(resource, Trigger.owner(owner, { controllerOnly: options.matchEveryOwner !== true }), options)
})

/** What may stand among the `owns` of a controller. */
export type Owns = Resource.Any | Owned

/** The kind of an entry of `owns`. */
export type KindOf<O> = O extends Owned<infer R> ? R : O

/** A kind by itself is one without options. */
export const ownedOf = (entry: Owns): Owned => ("resource" in entry ? entry : owned(entry))
