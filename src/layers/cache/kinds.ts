/**
 * The settings of the informers of a kind: those of that kind, otherwise those of all kinds. Labels or fields of a subscription take
 * precedence over both, and the fields of a resource that is a part of a kind over all. Pure; the registry starts the informers.
 * Source: controller-runtime's `cache.Options`.
 */
import type * as Duration from "effect/Duration"
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Resource from "../../kube/Resource.ts"
import type { Selection } from "./Informer.ts"
import type { Resync } from "./informer/resync.ts"

/** Settings of a kind, or of all kinds. */
export interface Settings<in out A extends KubeObject = KubeObject> {
  /** The label selector of subscriptions without one; a subscription with `""` selects all objects. */
  readonly labelSelector?: string | undefined
  /** The field selector of subscriptions without one. */
  readonly fieldSelector?: string | undefined
  /**
   * Applied to each object once before it is stored, for instance to drop fields that no controller reads. It may write to its argument.
   * It must not change `apiVersion`, `kind`, or in the metadata name, namespace, uid, resourceVersion, owners, finalizers and deletion.
   */
  readonly transform?: ((object: A) => A) | undefined
  /** Default false: `metadata.managedFields` is removed before an object is stored. */
  readonly keepManagedFields?: boolean | undefined
  /**
   * The least time between two deliveries of a watch while its events follow each other closely: an event may become visible so much later, and events
   * that are read together cost a fraction. Longer for kinds that change often and are read rarely. Default: 20 ms.
   */
  readonly interval?: Duration.Input | undefined
  /** When informers distribute their objects again, without a request, as updates whose object and previous are the same. Default: never. */
  readonly resync?: Resync | "never" | undefined
}

/** The settings of one kind. Made by {@link kind}. */
export interface KindOptions extends Settings {
  readonly resource: Resource.Any
}

/** For {@link Kinds.kinds}: `Cache.kind(Secret, { transform: withoutData })`. The settings apply to each projection of the kind. */
export const kind = <A extends KubeObject>(resource: Resource.Resource<A>, settings: Settings<A>): KindOptions => ({
  ...(settings as unknown as Settings),
  resource
})

export interface Kinds extends Settings {
  /** Of several entries for one kind the first is used. */
  readonly kinds?: ReadonlyArray<KindOptions> | undefined
}

/** A busy watch has an event each millisecond; a reader that is woken by each one spends more on that than on the events. */
const defaultInterval = "20 millis"

interface Applied extends Settings {
  readonly interval: Duration.Input
}

/** The settings that apply to the kind. */
export const of = (options: Kinds, { group, plural }: Resource.Any): Applied => {
  const own = options.kinds?.find(({ resource }) => resource.group === group && resource.plural === plural)
  return {
    labelSelector: own?.labelSelector ?? options.labelSelector,
    fieldSelector: own?.fieldSelector ?? options.fieldSelector,
    transform: own?.transform ?? options.transform,
    keepManagedFields: own?.keepManagedFields ?? options.keepManagedFields,
    interval: own?.interval ?? options.interval ?? defaultInterval,
    resync: own?.resync ?? options.resync
  }
}

/** The effective selection of a subscription, normalized: absent instead of empty, and no namespace for cluster-scoped kinds. */
export const selection = (options: Kinds, resource: Resource.Any, given: Selection = {}): Selection => {
  const settings = of(options, resource)
  const labelSelector = given.labelSelector ?? settings.labelSelector
  const fieldSelector = resource.part?.fieldSelector ?? given.fieldSelector ?? settings.fieldSelector
  return {
    ...(given.namespace && resource.scope === "Namespaced" ? { namespace: given.namespace } : {}),
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {})
  }
}
