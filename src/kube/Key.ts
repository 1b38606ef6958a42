/**
 * The key of an object inside its kind: `namespace/name`, or `name` for cluster-scoped kinds. Keys are plain strings
 * because they are what the queue, the store and the logs index by; only this file knows the separator. Neither part
 * can contain a slash (RFC 1123 names), so the encoding is unambiguous.
 */
import type { KubeObject } from "./Meta.ts"

/** The key of an object in its kind: `namespace/name`, or `name` for cluster-scoped kinds. */
export type Key = string

/** The two parts of a key. */
export interface Parts {
  /** Undefined for cluster-scoped kinds. */
  readonly namespace: string | undefined
  /** Of the object. */
  readonly name: string
}

/**
 * The key of a name in a namespace. Cluster-scoped kinds have no namespace, or an empty one. `join` instead of concatenation: V8 keeps a
 * concatenated string as a tree, which costs a large store 32 bytes a key.
 *
 * @example
 * ```ts
 * assert.equal(Key.make("shop", "web"), "shop/web")
 * assert.equal(Key.make(undefined, "node-1"), "node-1")
 * ```
 */
export const make = (namespace: string | undefined, name: string): Key =>
  namespace === undefined || namespace === "" ? name : [namespace, name].join("/")

/**
 * The key of an object.
 *
 * @example
 * ```ts
 * const pod = { metadata: { namespace: "shop", name: "web-1" } }
 * assert.equal(Key.of(pod), "shop/web-1")
 * ```
 */
export const of = (object: KubeObject): Key => make(object.metadata.namespace, object.metadata.name)

/** The parts of a key. The inverse of {@link make}. */
export const parse = (key: Key): Parts => {
  const slash = key.indexOf("/")
  return slash === -1
    ? { namespace: undefined, name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
