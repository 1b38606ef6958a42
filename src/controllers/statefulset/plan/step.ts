/** The types of a StatefulSet plan: phases of actions, each applied in full before the next, and what the plan waits for. */
import type { Pod } from "../../../kube/resources.ts"
import type { Revision } from "./snapshot.ts"
import type { Storage } from "./storage.ts"

/** Why a pod is deleted. */
export type Fault =
  /** It has ended, well or not, and another one takes its place. */
  | "ended"
  /** There are fewer replicas now. */
  | "surplus"
  /** Its template is an old one. */
  | "outdated"

/** One thing to do, for one replica. */
export type Action =
  | { readonly _tag: "Create"; readonly ordinal: number; readonly revision: Revision; readonly storage: Storage }
  | { readonly _tag: "Delete"; readonly ordinal: number; readonly pod: Pod; readonly why: Fault }
  /** The claims of a pod that nothing has started yet. */
  | { readonly _tag: "CreateClaims"; readonly ordinal: number; readonly pod: Pod; readonly storage: Storage }
  /** Name, volumes or the owners of claims are not what they should be. */
  | { readonly _tag: "Update"; readonly ordinal: number; readonly pod: Pod; readonly storage: Storage }
  /** The claims of a replica that is one too many, before it goes. */
  | { readonly _tag: "UpdateClaims"; readonly ordinal: number; readonly pod: Pod; readonly storage: Storage }

/** Why nothing more can be done for now; each ends with an event. */
export type Wait = "ended" | "claims" | "terminating" | "unready" | "unavailable"

export interface Waiting {
  readonly for: Wait
  /** The replica that is waited for. */
  readonly ordinal: number
}

export interface Step {
  /** No pod is in two deeds of one phase; one deed that fails ends its phase, and those after it. */
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
