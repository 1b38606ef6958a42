/**
 * Conversion by hub and spokes: between two spokes an object is converted through the hub, so a kind of n versions needs n - 1 pairs of
 * functions. This file converts one object; the webhook server handles reviews of many, and checks changes of the metadata.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"

/** An object cannot be expressed in another version. The message is returned to the client. */
export class ConversionError extends Data.TaggedError("ConversionError")<{ readonly message: string }> {}

/** A version that is not the stored one, and its conversions to that one and back. */
export interface Spoke<Hub, out R = never> {
  /** The kind in this version. */
  readonly resource: Resource.AnyCustom
  /** From this version to the stored one. */
  readonly toHub: (object: KubeObject) => Effect.Effect<Hub, ConversionError, R>
  /** From the stored version to this one. */
  readonly fromHub: (object: Hub) => Effect.Effect<KubeObject, ConversionError, R>
}

/** A version and its conversions to the stored one and back. */
export interface SpokeOptions<S, Hub, R1, R2> {
  /** The resource in the version that is stored. */
  readonly of: Hub
  /** From this version to the stored one. */
  readonly toHub: (object: Resource.Object<S>) => Effect.Effect<Resource.Object<NoInfer<Hub>>, ConversionError, R1>
  /** From the stored version to this one. */
  readonly fromHub: (
    object: Resource.Object<NoInfer<Hub>>
  ) => Effect.Effect<Resource.Object<NoInfer<S>>, ConversionError, R2>
}

/**
 * A version beside the hub, declared as a resource with Schemas of its own: `Webhook.spoke(MemcachedV1, { of: Memcached, toHub, fromHub })`.
 * What the hub cannot express must be kept in an annotation; otherwise it is lost.
 */
export const spoke = <S extends Resource.AnyCustom, Hub extends Resource.AnyCustom, R1 = never, R2 = never>(
  resource: S,
  { fromHub, toHub }: SpokeOptions<S, Hub, R1, R2>
): Spoke<Resource.Object<Hub>, R1 | R2> => ({
  resource,
  // The version determines the type of the object.
  toHub: (object) => toHub(object as Resource.Object<S>),
  fromHub: (object) => fromHub(object)
})

export const through = <Hub extends KubeObject, R>(hub: Resource.Any, spokes: ReadonlyArray<Spoke<Hub, R>>) => {
  const steps = new Map(spokes.map((spoke) => [Resource.apiVersion(spoke.resource), spoke]))
  const unknown = (version: string) =>
    Effect.fail(new ConversionError({ message: `there is no ${hub.kind} in ${JSON.stringify(version)}` }))
  const own = Resource.apiVersion(hub)
  const into = (object: KubeObject): Effect.Effect<Hub, ConversionError, R> => {
    const version = object.apiVersion ?? ""
    // The version determines the type of the object.
    if (version === own) return Effect.succeed(object as Hub)
    return steps.get(version)?.toHub(object) ?? unknown(version)
  }
  return (object: KubeObject, version: string): Effect.Effect<KubeObject, ConversionError, R> => {
    const target = steps.get(version)
    if (target === undefined && version !== own) return unknown(version)
    return target === undefined ? into(object) : Effect.flatMap(into(object), target.fromHub)
  }
}
