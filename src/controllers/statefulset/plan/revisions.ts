/**
 * Which revision the present template is, which one was before, and which may go. Pure; what there is to write is done by `history`.
 * Source: spec G.8.2.
 */
import type { ControllerRevision, StatefulSet } from "../../../kube/resources.ts"
import * as History from "../../revisions/history.ts"
import * as Spec from "../spec.ts"

/** What the present template is, or becomes. */
export type Update =
  | { readonly _tag: "Known"; readonly revision: ControllerRevision }
  /** An old one is used again: its number becomes the highest. */
  | { readonly _tag: "Again"; readonly revision: ControllerRevision; readonly number: number }
  | { readonly _tag: "New"; readonly number: number }

export const update = (set: StatefulSet, revisions: ReadonlyArray<ControllerRevision>): Update => {
  const template = set.spec?.template
  const { current, number, old } = History.of(revisions, template)
  if (current?.revision === number) return { _tag: "Known", revision: current }
  const newest = old.at(-1)
  // A server that has learnt a default since says more of the same template.
  if (newest !== undefined && History.meant(newest, template)) return { _tag: "Known", revision: newest }
  return current === undefined ? { _tag: "New", number } : { _tag: "Again", revision: current, number }
}

/** What the replicas were of when the last update was done; undefined if that is not kept any more. */
export const current = (
  { status }: StatefulSet,
  revisions: ReadonlyArray<ControllerRevision>
): ControllerRevision | undefined => revisions.find(({ metadata }) => metadata.name === status?.currentRevision)

/** The lowest ones above the limit of those that nobody uses. */
export const excess = (
  set: StatefulSet,
  revisions: ReadonlyArray<ControllerRevision>,
  isUsed: (name: string) => boolean
): ReadonlyArray<ControllerRevision> => {
  const limit = Spec.historyLimit(set)
  const unused = History.inOrder(revisions.filter(({ metadata }) => !isUsed(metadata.name)))
  return limit < 0 || unused.length <= limit ? [] : unused.slice(0, unused.length - limit)
}
