/**
 * The watch sources that a controller declares: each is a value with its resource and the mapping from a change to keys. Nothing is watched
 * before the controller's layer runs.
 */
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Resource from "../../kube/Resource.ts"
import type { Predicate } from "../../streams/store/predicate.ts"
import * as Trigger from "../../streams/store/trigger.ts"
import type { Index } from "../Cache.ts"
import * as Loop from "./loop.ts"

/** A kind whose changes add keys. Made by {@link watch}. */
export interface Watched<out R extends Resource.Any = Resource.Any> {
  /** The kind that is watched. */
  readonly resource: R
  /** @internal */
  readonly source: Loop.WatchSource
}

/** Settings of a watch source. */
export interface SourceOptions<A> {
  /** Which changes add keys. Default: all. */
  readonly predicate?: Predicate<A> | undefined
  /** Indexes of its objects in the cache. */
  readonly indexes?: ReadonlyArray<Index<A>> | undefined
}

/**
 * Watches a kind: `watch(Secret, Trigger.map((secret) => …))`.
 *
 * @example
 * ```ts
 * const Users = Controller.make({
 *   name: "users",
 *   for: Pod,
 *   watches: [Controller.watch(Secret, Trigger.map(({ metadata }) => [Key.make(metadata.namespace, "web")]))],
 *   reconcile: ({ key }, { cache }) => Effect.asVoid(cache.get(Secret, key))
 * })
 * assert.deepEqual(Users.reads, [Pod, Secret])
 * ```
 */
export const watch = <A extends KubeObject, Id extends string>(
  resource: Resource.Resource<A, Id>,
  trigger: Trigger.Trigger<A>,
  options: SourceOptions<A> = {}
): Watched<Resource.Resource<A, Id>> => ({ resource, source: Loop.watchSource(resource, trigger, options) })

/** As {@link SourceOptions}, with the index that finds the objects that refer to a changed one. */
export interface LookupOptions<A, B> extends SourceOptions<A> {
  /** The index of the other kind. */
  readonly index: Index<B>
  /** The values of a changed object to look up in the index. Default: its key. */
  readonly valuesOf?: ((object: A) => ReadonlyArray<string>) | undefined
}

/**
 * Watches a kind that objects of another kind refer to: a change adds the keys of the objects of the second kind that the index has for its values.
 * `watchReferred(Secret, Pod, { index: { name: "secret", of: (pod) => keysOfSecrets(pod) } })`. The controller must read the second
 * kind, which is usually the one that it reconciles.
 */
export const watchReferred = <A extends KubeObject, Id extends string, B extends KubeObject>(
  resource: Resource.Resource<A, Id>,
  by: Resource.Resource<B>,
  options: LookupOptions<A, B>
): Watched<Resource.Resource<A, Id>> => ({
  resource,
  source: Loop.lookupSource(resource, { resource: by, index: options.index }, options)
})

/** An entry of `owns` with settings. Made by {@link owned}. */
export interface Owned<out R extends Resource.Any = Resource.Any> {
  /** The kind that is owned. */
  readonly resource: R
  /** @internal */
  readonly feedFor: (owner: Resource.Any) => Loop.WatchSource
}

/** Settings of an owned kind. */
export interface OwnedOptions<A> extends SourceOptions<A> {
  /**
   * True: every owner reference to the `for` kind adds a key. Default false: only the controller reference.
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

/** An entry of the `owns` of a controller. */
export type Owns = Resource.Any | Owned

/** The kind of an entry of `owns`. */
export type KindOf<O> = O extends Owned<infer R> ? R : O

/** A kind without settings has no options. */
export const ownedOf = (entry: Owns): Owned => ("resource" in entry ? entry : owned(entry))
