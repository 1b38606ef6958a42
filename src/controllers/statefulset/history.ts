/**
 * Reads, adopts, creates, renumbers and truncates the ControllerRevisions of a StatefulSet. If a name is taken, the revision is either our own and
 * not in the cache yet, or a hash collision: then the next name is tried and the collision counted in the status. Source:
 * pkg/controller/statefulset: getStatefulSetRevisions; pkg/controller/history: CreateControllerRevision.
 */
import * as Effect from "effect/Effect"
import type * as ApiError from "../../kube/ApiError.ts"
import * as Hash from "../../kube/hash.ts"
import { type ControllerRevision, StatefulSet } from "../../kube/resources.ts"
import * as History from "../shared/revisions/history.ts"
import * as RevisionControl from "../shared/revisions/revisionControl.ts"
import type * as Adopt from "../shared/workload/adopt.ts"
import * as Indexes from "../shared/workload/indexes.ts"
import type { Revision } from "./snapshot.ts"
import * as Revisions from "./plan/revisions.ts"
import type { Deps } from "./deps.ts"
import * as Spec from "./spec.ts"

/** On revisions; on pods the name of the revision has a label of its own. Source: history ControllerRevisionHashLabel. */
const hashLabel = "controller.kubernetes.io/hash"

/** Leaves room in the name for a dash and the hash. */
const longestPrefix = 223

export type Failure = ApiError.ApiError | Adopt.ClaimError

export interface Present {
  readonly current: Revision
  readonly update: Revision
  /** All revisions of the set, unsorted. */
  readonly all: ReadonlyArray<ControllerRevision>
  /** The collision count of the set. */
  readonly collisions: number
}

/** Brings the revisions up to date with the template; those of a terminating set are only read. */
export const sync = Effect.fnUntraced(function* (deps: Deps, set: StatefulSet): Effect.fn.Return<Present, Failure> {
  const all = yield* RevisionControl.claim(deps, {
    owner: set,
    resource: StatefulSet,
    selects: (labels) => Spec.selects(set, labels),
    releases: false
  })
  const collisions = set.status?.collisionCount ?? 0
  if (set.metadata.deletionTimestamp !== undefined) return { ...fromStatus(set), all, collisions }
  const made = yield* writeUpdate(deps, set, Revisions.update(set, all), collisions)
  const update = revisionOf(set, made.revision)
  const current = Revisions.current(set, all)
  return {
    current: current === undefined ? update : revisionOf(set, current),
    update,
    all,
    collisions: made.collisions
  }
})

/** A terminating set creates no pods, so the names are enough. */
const fromStatus = (set: StatefulSet): Pick<Present, "current" | "update"> => {
  const { currentRevision = "", updateRevision = "" } = set.status ?? {}
  const template = Spec.templateOf(set)
  return { current: { name: currentRevision, template }, update: { name: updateRevision, template } }
}

/** A revision whose data cannot be decoded counts as one of the present template. */
const revisionOf = (set: StatefulSet, revision: ControllerRevision): Revision => ({
  name: revision.metadata.name,
  template: History.templateOf(revision) ?? Spec.templateOf(set)
})

interface Made {
  readonly revision: ControllerRevision
  readonly collisions: number
}

const writeUpdate = (
  deps: Deps,
  set: StatefulSet,
  update: Revisions.Update,
  collisions: number
): Effect.Effect<Made, ApiError.ApiError> => {
  switch (update._tag) {
    case "Known":
      return Effect.succeed({ revision: update.revision, collisions })
    case "Again":
      return Effect.map(deps.updateRevision({ ...update.revision, revision: update.number }), (revision) => ({
        revision,
        collisions
      }))
    case "New":
      return make(deps, set, update.number, collisions)
  }
}

const make = Effect.fnUntraced(function* (
  deps: Deps,
  set: StatefulSet,
  number: number,
  before: number
): Effect.fn.Return<Made, ApiError.ApiError> {
  const template = Spec.templateOf(set)
  const prefix = set.metadata.name.slice(0, longestPrefix)
  for (let collisions = before; ; collisions++) {
    const hash = Hash.template(template, collisions)
    const making = { resource: StatefulSet, owner: set, template, hash, number, label: hashLabel, prefix }
    const made = yield* RevisionControl.create(deps, making)
    if (made._tag === "Created") return { revision: made.revision, collisions }
  }
})

/** Deletes the lowest revisions above the limit that no pod has. */
export const cleanUp = (
  deps: Deps,
  set: StatefulSet,
  { all, current, update }: Present
): Effect.Effect<void, ApiError.ApiError> => {
  if (all.length <= Spec.historyLimit(set)) return Effect.void
  const pods = deps.pods.byIndex(Indexes.byController.name, set.metadata.uid ?? "")
  const used = new Set([current.name, update.name, ...pods.map(History.hashOf)])
  return RevisionControl.remove(
    deps,
    Revisions.excess(set, all, (name) => used.has(name))
  )
}
