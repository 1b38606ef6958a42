/** The types of a StatefulSet plan: phases of actions, each applied in full before the next, and what the plan waits for. */
import type { Pod } from "../../../kube/resources.ts"
import type { Revision } from "../snapshot.ts"
import type { Storage } from "./storage.ts"

/** Why a pod is deleted. */
export type Fault =
  /** The pod is terminal and gets a replacement. */
  | "ended"
  /** Its ordinal is not desired any more. */
  | "surplus"
  /** Its template is old. */
  | "outdated"

/** An action on one replica. */
export type Action =
  | { readonly _tag: "Create"; readonly ordinal: number; readonly revision: Revision; readonly storage: Storage }
  | { readonly _tag: "Delete"; readonly ordinal: number; readonly pod: Pod; readonly why: Fault }
  /** Creates missing claims of a pending pod. */
  | { readonly _tag: "CreateClaims"; readonly ordinal: number; readonly pod: Pod; readonly storage: Storage }
  /** Corrects the name label, the volumes or the owners of claims. */
  | { readonly _tag: "Update"; readonly ordinal: number; readonly pod: Pod; readonly storage: Storage }
  /** Sets the owners of the claims of a condemned replica before its deletion. */
  | { readonly _tag: "UpdateClaims"; readonly ordinal: number; readonly pod: Pod; readonly storage: Storage }

/** Why the rest of the step has to wait. */
export type Wait = "ended" | "claims" | "terminating" | "unready" | "unavailable"

export interface Waiting {
  readonly for: Wait
  /** The replica that is waited for. */
  readonly ordinal: number
}

export interface Step {
  /** No pod is in two actions of one phase. A failed action ends its phase and skips the phases after it. */
  readonly phases: ReadonlyArray<ReadonlyArray<Action>>
  /** What an ordered set waits for; undefined when all replicas were handled. */
  readonly waiting: Waiting | undefined
  /** The number of unavailable replicas, for sets with rolling updates. */
  readonly unavailable?: number
}

export const actions = ({ phases }: Step): ReadonlyArray<Action> => phases.flat()

/** The changes of an applied step, before the cache shows them. */
export interface Done {
  readonly gone: ReadonlySet<Pod>
  /** The revision of each new pod. */
  readonly made: ReadonlyArray<Revision>
}

export const nothing: Done = { gone: new Set(), made: [] }

export const outcome = (step: Step): Done => {
  const all = actions(step)
  return {
    gone: new Set(all.flatMap((action) => (action._tag === "Delete" ? [action.pod] : []))),
    made: all.flatMap((action) => (action._tag === "Create" ? [action.revision] : []))
  }
}
