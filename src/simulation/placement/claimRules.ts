/**
 * Whether the claims of a pod let it be placed: a missing claim, or an unbound one of a class that binds at once, prevents it on every node;
 * an unbound one of a class that waits for its first consumer gets the node that was chosen. The claims of generic ephemeral volumes are not
 * checked. Source: pkg/scheduler/framework/plugins/volumebinding: PreFilter.
 */
import * as Key from "../../kube/Key.ts"
import type { PersistentVolumeClaim, Pod, StorageClass } from "../../kube/resources.ts"
import type { Readable } from "../../streams/store/Store.ts"

export type Verdict =
  /** `unbound`: the claims to which the chosen node is to be written; without any, the pod can be bound. */
  | { readonly _tag: "Suitable"; readonly unbound: ReadonlyArray<PersistentVolumeClaim> }
  | { readonly _tag: "Unsuitable"; readonly reason: string }

const suitable: Verdict = { _tag: "Suitable", unbound: [] }

const unsuitable = (reason: string): Verdict => ({ _tag: "Unsuitable", reason })

/** Names of the claims, in the namespace of the pod. */
export const claimNames = (pod: Pod): ReadonlyArray<string> =>
  (pod.spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [])

export const check = (pod: Pod, claims: Readable<PersistentVolumeClaim>, classes: Readable<StorageClass>): Verdict => {
  const names = claimNames(pod)
  if (names.length === 0) return suitable
  const unbound: Array<PersistentVolumeClaim> = []
  let isImmediate = false
  for (const name of names) {
    const claim = claims.get(Key.make(pod.metadata.namespace, name))
    const quoted = JSON.stringify(name)
    if (claim === undefined) return unsuitable(`persistentvolumeclaim ${quoted} not found`)
    if (claim.metadata.deletionTimestamp !== undefined)
      return unsuitable(`persistentvolumeclaim ${quoted} is being deleted`)
    if (claim.status?.phase === "Lost") {
      const volume = JSON.stringify(claim.spec?.volumeName ?? "")
      return unsuitable(`persistentvolumeclaim ${quoted} bound to non-existent persistentvolume ${volume}`)
    }
    if (claim.status?.phase === "Bound") continue
    const mode = classes.get(claim.spec?.storageClassName ?? "")?.volumeBindingMode
    if (mode === "WaitForFirstConsumer" && (claim.spec?.volumeName ?? "") === "") unbound.push(claim)
    else isImmediate = true
  }
  return isImmediate ? unsuitable("pod has unbound immediate PersistentVolumeClaims") : { _tag: "Suitable", unbound }
}
