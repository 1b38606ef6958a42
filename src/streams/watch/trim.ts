/**
 * Makes a freshly parsed object what a cache should hold: without `metadata.managedFields` (a third of a typical object and
 * of no use to controllers), with `apiVersion` and `kind`, which servers leave out of list items. It works in place, so it
 * is for objects that nobody else has seen. It takes care not to push objects into V8's slow dictionary mode: the memory
 * of a large cache depends on it.
 */
import type { KubeObject } from "../../kube/Meta.ts"

export interface Options {
  /** Written where the object has none. */
  readonly apiVersion?: string | undefined
  readonly kind?: string | undefined
  /** Default false. */
  readonly keepManagedFields?: boolean | undefined
}

/** A function for `watch`'s `transform`; the result is the argument. */
export const trim =
  <A extends KubeObject>(options: Options = {}) =>
  (object: A): A => {
    const own = object as Mutable<KubeObject>
    if (own.apiVersion === undefined && options.apiVersion !== undefined) own.apiVersion = options.apiVersion
    if (own.kind === undefined && options.kind !== undefined) own.kind = options.kind
    if (options.keepManagedFields !== true && own.metadata.managedFields !== undefined) {
      own.metadata = withoutManagedFields(own.metadata)
    }
    return object
  }

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** A copy: deleting a property costs an object its shape, on newer V8 even when it is the last one. */
export const withoutManagedFields = <M extends object>(metadata: M): M => {
  const { managedFields: _, ...rest } = metadata as { readonly managedFields?: unknown }
  return rest as M
}
