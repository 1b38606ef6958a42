/** What becomes of a claim: it is held while it is there, and let go when it is being deleted and nothing uses it. Pure and total. */
import * as Finalizers from "../../kube/finalizers.ts"
import type { PersistentVolumeClaim, Pod } from "../../kube/resources.ts"
import * as Use from "./use.ts"

export const finalizer = "kubernetes.io/pvc-protection"

export type Plan =
  | { readonly _tag: "Nothing" }
  /** Some pod uses it. */
  | { readonly _tag: "Keep" }
  /** Nothing that the cache knows of uses it: the server is to be asked. */
  | { readonly _tag: "Ask" }
  | { readonly _tag: "Hold"; readonly finalizers: ReadonlyArray<string> }
  | { readonly _tag: "LetGo"; readonly finalizers: ReadonlyArray<string> }

/** Whether it is being deleted, and waits for us. */
export const isWaiting = (claim: PersistentVolumeClaim): boolean =>
  Finalizers.isDeleting(claim) && Finalizers.has(claim, finalizer)

/** Whether there is anything to do for it, or may be. */
export const concerns = (claim: PersistentVolumeClaim): boolean =>
  Finalizers.isDeleting(claim) === Finalizers.has(claim, finalizer)

/** `cached`: pods of the cache that may use it. `live`: those of the server, or of their namespace; undefined if it was not asked. */
export const plan = (
  claim: PersistentVolumeClaim,
  cached: ReadonlyArray<Pod>,
  live: ReadonlyArray<Pod> | undefined
): Plan => {
  if (!concerns(claim)) return { _tag: "Nothing" }
  const names = Finalizers.of(claim)
  if (!Finalizers.isDeleting(claim)) return { _tag: "Hold", finalizers: Finalizers.add(names, finalizer) }
  if (cached.some((pod) => Use.keeps(pod, claim))) return { _tag: "Keep" }
  if (live === undefined) return { _tag: "Ask" }
  return live.some((pod) => Use.keeps(pod, claim))
    ? { _tag: "Keep" }
    : { _tag: "LetGo", finalizers: Finalizers.remove(names, finalizer) }
}
