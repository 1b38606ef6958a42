/**
 * What holds for the informers of a kind: what is said of that kind, else what is said of all, else nothing; and a subscription that names
 * labels or fields itself goes before both, and a resource that is a part of a kind before all. It only decides; the registry starts the informers.
 * Source: controller-runtime's `cache.Options`.
 */
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Resource from "../../kube/Resource.ts"
import type { Selection } from "./Informer.ts"
import type { Resync } from "./informer/resync.ts"

/** What can be said of a kind, or of all. */
export interface Said<in out A extends KubeObject = KubeObject> {
  /** Of subscriptions that name no labels; one that names `""` means all. */
  readonly labelSelector?: string | undefined
  /** The same for fields. */
  readonly fieldSelector?: string | undefined
  /**
   * Makes of each object, once and before it is stored, what is to be kept: drop what no controller reads. It must leave `apiVersion`, `kind`
   * and the name, namespace, uid, version, owners and deletion of the metadata as they are, and may write to its argument.
   */
  readonly transform?: ((object: A) => A) | undefined
  /** Default false: `metadata.managedFields` is dropped before an object is stored. */
  readonly keepManagedFields?: boolean | undefined
  /** When informers distribute their objects again, without a request: updates whose object and previous are the same. Default never. */
  readonly resync?: Resync | "never" | undefined
}

/** What is said of one kind. Made by {@link kind}. */
export interface KindOptions extends Said {
  readonly resource: Resource.Any
}

/** For {@link Kinds.kinds}: `Cache.kind(Secret, { transform: withoutData })`. It holds for each projection of the kind. */
export const kind = <A extends KubeObject>(resource: Resource.Resource<A>, said: Said<A>): KindOptions => ({
  ...(said as unknown as Said),
  resource
})

export interface Kinds extends Said {
  /** Of one kind the first that is there counts. */
  readonly kinds?: ReadonlyArray<KindOptions> | undefined
}

/** What holds for the kind. */
export const of = (options: Kinds, { group, plural }: Resource.Any): Said => {
  const own = options.kinds?.find(({ resource }) => resource.group === group && resource.plural === plural)
  return {
    labelSelector: own?.labelSelector ?? options.labelSelector,
    fieldSelector: own?.fieldSelector ?? options.fieldSelector,
    transform: own?.transform ?? options.transform,
    keepManagedFields: own?.keepManagedFields ?? options.keepManagedFields,
    resync: own?.resync ?? options.resync
  }
}

/** The selection that is meant, in one spelling: absent instead of empty, and no namespace for kinds that have none. */
export const selection = (options: Kinds, resource: Resource.Any, given: Selection = {}): Selection => {
  const said = of(options, resource)
  const labelSelector = given.labelSelector ?? said.labelSelector
  const fieldSelector = resource.part?.fieldSelector ?? given.fieldSelector ?? said.fieldSelector
  return {
    ...(given.namespace && resource.scope === "Namespaced" ? { namespace: given.namespace } : {}),
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {})
  }
}
