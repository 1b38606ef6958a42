/**
 * The types of a DaemonSet's plan: which pods are created and deleted, and why. Source: pkg/controller/daemon:
 * podsShouldBeOnNode, rollingUpdate.
 */
import type { Pod } from "../../../kube/resources.ts"

/** Why a pod is created. */
export type Need = "missing" | "surge"

/** Why a pod is deleted. */
export type Fault =
  /** The pod is terminal and gets a replacement. */
  | "failed"
  | "succeeded"
  /** Another pod of the node is preferred. */
  | "excess"
  /** Its node should not run it, or does not exist. */
  | "unwanted"
  /** Its template is old. */
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
  /** At most one entry per node. */
  readonly create: ReadonlyArray<Creation>
  /** At most one entry per pod, and none for a terminating pod. */
  readonly remove: ReadonlyArray<Deletion>
}

export const isNothing = ({ create, remove }: Step): boolean => create.length === 0 && remove.length === 0

export const nothing: Step = { create: [], remove: [] }
