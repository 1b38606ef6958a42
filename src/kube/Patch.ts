/**
 * A patch as a value: its type and its body. The server applies the merge rules; here they are only named. `apply` has the fields that
 * the manager sets, not a difference.
 */

export type PatchType = "json" | "merge" | "strategic" | "apply"

/** A patch, and the type by which the server applies it. */
export interface Patch {
  /** Which merge rules apply. */
  readonly type: PatchType
  /** Plain JSON. */
  readonly body: unknown
}

/** One operation of RFC 6902. */
export interface JsonOperation {
  /** What to do at the path. */
  readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test"
  /** A JSON pointer, `/metadata/labels/team`. Source: RFC 6901. */
  readonly path: string
  /** Where `move` and `copy` take the value from, a JSON pointer. */
  readonly from?: string
  /** For `add`, `replace` and `test`. */
  readonly value?: unknown
}

/** RFC 6902: operations, applied in order, all or none. */
export const json = (operations: ReadonlyArray<JsonOperation>): Patch => ({ type: "json", body: operations })

/**
 * RFC 7386: objects merge, `null` deletes, arrays are replaced whole.
 *
 * @example
 * ```ts
 * const shop = Effect.gen(function* () {
 *   const client = yield* KubeClient
 *   yield* client.create(Namespace, { metadata: { name: "shop", labels: { old: "yes" } } })
 *   return yield* client.patch(Namespace, { name: "shop" }, Patch.merge({ metadata: { labels: { old: null, team: "blue" } } }))
 * })
 * const { metadata } = await Effect.runPromise(Effect.provide(shop, ClusterTest.layer()))
 * assert.deepEqual([metadata.labels?.["team"], metadata.labels?.["old"]], ["blue", undefined])
 * ```
 */
export const merge = (body: object): Patch => ({ type: "merge", body })

/** Kubernetes' own: lists with a merge key merge by it. Built-in kinds only. */
export const strategic = (body: object): Patch => ({ type: "strategic", body })

/** Server-side apply: exactly the fields that this manager sets. */
export const apply = (body: object): Patch => ({ type: "apply", body })

/** The media type of each patch. Source: apimachinery types.PatchType. */
export const contentType: Readonly<Record<PatchType, string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml"
}
