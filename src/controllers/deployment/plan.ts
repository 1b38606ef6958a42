/** Which way a sync goes: the first that applies. Source: spec B.2. */
import type { Deployment } from "../../kube/resources.ts"
import type * as ReplicaSets from "./replicaSets.ts"
import * as Rollback from "./rollback.ts"
import * as Scaling from "./scaling.ts"

export type Way =
  /** It is on its way out: nothing but the status. */
  | { readonly _tag: "Report" }
  /** It is paused or was scaled: sizes change, templates do not. */
  | { readonly _tag: "Scale" }
  /** Back to the template of this revision; zero stands for the one before. */
  | { readonly _tag: "Rollback"; readonly revision: bigint }
  | { readonly _tag: "Recreate" }
  | { readonly _tag: "Rolling" }
  | { readonly _tag: "UnknownStrategy"; readonly type: string }

export const way = (deployment: Deployment, sets: ReplicaSets.Sets): Way => {
  if (deployment.metadata.deletionTimestamp !== undefined) return { _tag: "Report" }
  if (deployment.spec?.paused === true) return { _tag: "Scale" }
  const revision = Rollback.requested(deployment)
  if (revision !== undefined) return { _tag: "Rollback", revision }
  if (Scaling.isDue(deployment, sets)) return { _tag: "Scale" }
  const type = deployment.spec?.strategy?.type ?? ""
  switch (type) {
    case "Recreate":
      return { _tag: "Recreate" }
    case "RollingUpdate":
      return { _tag: "Rolling" }
    default:
      return { _tag: "UnknownStrategy", type }
  }
}

/** Nothing in it says which pods are meant, so every pod is. No server stores such a selector any more. */
export const selectsEverything = (deployment: Deployment): boolean => {
  const { matchExpressions = [], matchLabels = {} } = deployment.spec?.selector ?? {}
  return matchExpressions.length === 0 && Object.keys(matchLabels).length === 0
}
