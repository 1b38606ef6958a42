/**
 * The revision of the present template, the one before it, and those that may be deleted. Pure; `history` writes. Source:
 * pkg/controller/statefulset: getStatefulSetRevisions, truncateHistory.
 */
import type { ControllerRevision, StatefulSet } from "../../../kube/resources.ts"
import * as History from "../../shared/revisions/history.ts"
import * as Spec from "../spec.ts"

/** The revision of the present template, and what has to be written for it. */
export type Update =
  | { readonly _tag: "Known"; readonly revision: ControllerRevision }
  /** An old revision is used again: its number becomes the highest. */
  | { readonly _tag: "Again"; readonly revision: ControllerRevision; readonly number: number }
  | { readonly _tag: "New"; readonly number: number }

/**
 * An equal revision is preferred, whatever its number. Only the newest is also compared with the server's defaults filled in.
 * Source: pkg/controller/statefulset getStatefulSetRevisions.
 */
export const update = (set: StatefulSet, revisions: ReadonlyArray<ControllerRevision>): Update => {
  const template = set.spec?.template
  const { current, number } = History.of(revisions, template)
  const newest = History.inOrder(revisions).at(-1)
  if (current !== undefined)
    return current === newest ? { _tag: "Known", revision: current } : { _tag: "Again", revision: current, number }
  return newest !== undefined && History.meant(newest, template)
    ? { _tag: "Known", revision: newest }
    : { _tag: "New", number }
}

/** The revision that all replicas had when the last update was complete; undefined if it does not exist any more. */
export const current = (
  { status }: StatefulSet,
  revisions: ReadonlyArray<ControllerRevision>
): ControllerRevision | undefined => revisions.find(({ metadata }) => metadata.name === status?.currentRevision)

/** The oldest unused revisions above the limit. */
export const excess = (
  set: StatefulSet,
  revisions: ReadonlyArray<ControllerRevision>,
  isUsed: (name: string) => boolean
): ReadonlyArray<ControllerRevision> => {
  const limit = Spec.historyLimit(set)
  const unused = History.inOrder(revisions.filter(({ metadata }) => !isUsed(metadata.name)))
  return limit < 0 || unused.length <= limit ? [] : unused.slice(0, unused.length - limit)
}
