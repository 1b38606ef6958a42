/**
 * Reads, adopts, creates, renumbers and truncates the ControllerRevisions of a StatefulSet. If a name is taken, the revision is either our own and
 * not in the cache yet, or a hash collision: then the next name is tried and the collision counted in the status. Source:
 * pkg/controller/statefulset: getStatefulSetRevisions; pkg/controller/history: CreateControllerRevision.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import * as Hash from "../../kube/hash.ts"
import { type ControllerRevision, StatefulSet } from "../../kube/resources.ts"
import * as History from "../shared/revisions/history.ts"
import * as Adopt from "../shared/workload/adopt.ts"
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
export const syncRevisions = Effect.fnUntraced(function* (
  deps: Deps,
  set: StatefulSet
): Effect.fn.Return<Present, Failure> {
  const all = yield* claim(deps, set)
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

/** Adopts matching revisions; former revisions that no longer match are not released. */
const claim = (deps: Deps, set: StatefulSet): Effect.Effect<ReadonlyArray<ControllerRevision>, Adopt.ClaimError> => {
  const matches = ({ metadata }: ControllerRevision): boolean => Spec.selects(set, metadata.labels)
  const found = [
    ...deps.revisions.byIndex(Indexes.byController.name, set.metadata.uid ?? ""),
    ...deps.revisions.byIndex(Indexes.orphans.name, set.metadata.namespace ?? "")
  ]
  return Adopt.claim(
    { owner: set, resource: StatefulSet, matches, live: deps.live(set), patch: deps.patchRevision },
    found.filter(matches)
  )
}

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
    const draft = History.draft(making)
    const made = yield* Effect.result(deps.createRevision(draft))
    if (made._tag === "Success") return { revision: made.success, collisions }
    if (!ApiError.hasReason(made.failure, "AlreadyExists")) return yield* made.failure
    const holder = yield* deps.liveRevision(set, draft.metadata.name)
    if (History.isOf(holder, template)) return { revision: holder, collisions }
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
  return Effect.forEach(
    Revisions.excess(set, all, (name) => used.has(name)),
    (revision) => unlessGone(deps.removeRevision(revision)),
    { discard: true }
  )
}

const unlessGone = <A>(call: Effect.Effect<A, ApiError.ApiError>): Effect.Effect<void, ApiError.ApiError> =>
  Effect.matchEffect(call, {
    onSuccess: () => Effect.void,
    onFailure: (error) => (ApiError.hasReason(error, "NotFound") ? Effect.void : Effect.fail(error))
  })
