/** What a plan of the DaemonSet loop asks for: pods for nodes, and pods to delete, each with the reason. */
import type { Pod } from "../../../kube/resources.ts"

/** Why a pod is made. */
export type Need = "missing" | "surge"

/** Why a pod is deleted. */
export type Fault =
  /** It has ended, well or not, and another one takes its place. */
  | "failed"
  | "succeeded"
  /** Another pod does its work. */
  | "excess"
  /** Its node should not run it, or is gone. */
  | "unwanted"
  /** Its template is an old one. */
  | "outdated"

export interface Creation {
  /** The name of the node. */
  readonly node: string
  readonly why: Need
}

export interface Deletion {
  readonly pod: Pod
  readonly why: Fault
}

export interface Step {
  /** Each node at most once. */
  readonly create: ReadonlyArray<Creation>
  /** Each pod at most once, none that is being deleted already. */
  readonly remove: ReadonlyArray<Deletion>
}

export const isNothing = ({ create, remove }: Step): boolean => create.length === 0 && remove.length === 0
