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

const key = '"managedFields":['

/**
 * Parses the JSON of a watch event without building its managedFields, a third of a typical object that a cache drops at
 * once. The array is cut out of the text, from its key to the first closing bracket, and a number put in its place; the
 * cut was right only if what remains is JSON and has that number at `object.metadata.managedFields`. Otherwise the whole
 * text is parsed, so the result is always what parsing everything and removing that field gives:
 *
 * - a bracket inside a string leaves an odd number of quotes, and a bracket of an inner array leaves the outer one's: no
 *   JSON either way;
 * - the text of the key is always a key, because inside a string its quotes would be escaped; but it may be another
 *   object's, then the number is not where it should be.
 *
 * Throws like `JSON.parse`, for a text that is not JSON.
 */
export const parseTrimmed = (text: string): unknown => {
  const start = text.indexOf(key)
  const end = start === -1 ? -1 : text.indexOf("]", start + key.length)
  const event = end === -1 ? undefined : parsed(`${text.slice(0, start)}"managedFields":0${text.slice(end + 1)}`)
  const metadata = event?.object?.metadata
  if (typeof metadata === "object" && metadata?.managedFields === 0) return withoutThem(event)
  const whole = JSON.parse(text) as Event | null
  return Array.isArray(whole?.object?.metadata?.managedFields) ? withoutThem(whole) : whole
}

interface Event {
  readonly object?: { metadata?: { readonly managedFields?: unknown } | null } | null
}

const parsed = (text: string): Event | undefined => {
  try {
    return JSON.parse(text) as Event
  } catch {
    return undefined
  }
}

const withoutThem = (event: Event | null | undefined): unknown => {
  const object = event?.object
  if (object?.metadata) object.metadata = withoutManagedFields(object.metadata)
  return event
}
