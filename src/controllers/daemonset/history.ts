/**
 * Adopts, labels, renumbers, creates and deletes the ControllerRevisions of a DaemonSet. A name that is taken belongs
 * either to our own revision, which the cache does not show yet, or to a hash collision: then `collisionCount` is
 * raised and the next sync uses another name. Source: pkg/controller/daemon: constructHistory, snapshot,
 * cleanupHistory.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import * as Hash from "../../kube/hash.ts"
import * as Patch from "../../kube/Patch.ts"
import { type ControllerRevision, DaemonSet, type Pod } from "../../kube/resources.ts"
import * as History from "../shared/revisions/history.ts"
import * as RevisionControl from "../shared/revisions/revisionControl.ts"
import type * as Adopt from "../shared/workload/adopt.ts"
import * as Indexes from "../shared/workload/indexes.ts"
import type { Deps } from "./deps.ts"
import * as Spec from "./spec.ts"

/** The server's collisionCount differs from the cached one. */
export class StaleCollisionCount extends Data.TaggedError("StaleCollisionCount")<{ readonly message: string }> {}

export type Failure = ApiError.ApiError | Adopt.ClaimError | StaleCollisionCount

export interface Synced {
  /** The revision hash of the current template. */
  readonly hash: string
  /** Revisions of other templates, lowest number first. */
  readonly old: ReadonlyArray<ControllerRevision>
}

/** Syncs the revisions with the template. `pods`: all pods that the set has claimed. */
export const sync = Effect.fnUntraced(function* (
  deps: Deps,
  set: DaemonSet,
  pods: ReadonlyArray<Pod>
): Effect.fn.Return<Synced, Failure> {
  const claimed = yield* RevisionControl.claim(deps, {
    owner: set,
    resource: DaemonSet,
    selects: (labels) => Spec.selects(set, labels),
    releases: true
  })
  const labelled = yield* Effect.forEach(claimed, (revision) => label(deps, revision))
  const history = History.of(labelled, set.spec?.template)
  if (history.current === undefined) {
    const made = yield* make(deps, set, history.number)
    return { hash: History.hashOf(made) ?? "", old: history.old }
  }
  const hash = History.hashOf(history.current) ?? ""
  yield* Effect.forEach(history.duplicates, (duplicate) => merge(deps, { hash, duplicate, pods }), { discard: true })
  if (history.current.revision !== history.number)
    yield* deps.updateRevision({ ...history.current, revision: history.number })
  return { hash, old: history.old }
})

/** A revision without a hash label gets its name as the hash. */
const label = (deps: Deps, revision: ControllerRevision): Effect.Effect<ControllerRevision, ApiError.ApiError> => {
  const { labels, name } = revision.metadata
  return History.hashOf(revision) === undefined
    ? deps.updateRevision({
        ...revision,
        metadata: { ...revision.metadata, labels: { ...labels, [History.hashLabel]: name } }
      })
    : Effect.succeed(revision)
}

interface Merging {
  /** The hash of the revision that stays. */
  readonly hash: string
  readonly duplicate: ControllerRevision
  readonly pods: ReadonlyArray<Pod>
}

/** Relabels the duplicate's pods before deleting it, so that each pod's revision always exists. */
const merge = Effect.fnUntraced(function* (deps: Deps, { duplicate, hash, pods }: Merging) {
  const former = History.hashOf(duplicate)
  const patch = (uid: string | undefined): Patch.Patch =>
    Patch.strategic({ metadata: { uid, labels: { [History.hashLabel]: hash } } })
  for (const pod of pods)
    if (former !== hash && History.hashOf(pod) === former)
      yield* ApiError.unlessGone(deps.patch(pod, patch(pod.metadata.uid)))
  yield* ApiError.unlessGone(deps.removeRevision(duplicate))
})

const make = Effect.fnUntraced(function* (
  deps: Deps,
  set: DaemonSet,
  number: number
): Effect.fn.Return<ControllerRevision, Failure> {
  const template = Spec.templateOf(set)
  const hash = Hash.template(template, set.status?.collisionCount)
  const made = yield* RevisionControl.create(deps, { resource: DaemonSet, owner: set, template, hash, number })
  return made._tag === "Created" ? made.revision : yield* collided(deps, set, made.error)
})

/** Raises the collision count, so that the next sync uses another name. */
const collided = Effect.fnUntraced(function* (
  deps: Deps,
  set: DaemonSet,
  error: ApiError.ApiError
): Effect.fn.Return<never, Failure> {
  const live = yield* deps.live(set)
  const counted = set.status?.collisionCount
  const known = live.status?.collisionCount
  if (known !== counted) {
    const found = `found a stale collision count (${counted ?? 0}, expected ${known ?? 0})`
    const message = `${found} of DaemonSet "${set.metadata.name}" while processing; will retry until it is updated`
    return yield* new StaleCollisionCount({ message })
  }
  yield* deps.updateStatus({ ...live, status: { ...empty, ...live.status, collisionCount: (known ?? 0) + 1 } })
  return yield* error
})

/** Required fields of a status. */
const empty = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 }

/**
 * Deletes the oldest revisions above the limit that no cached pod uses, including pods that appeared during this sync.
 */
export const cleanUp = (
  deps: Deps,
  set: DaemonSet,
  old: ReadonlyArray<ControllerRevision>
): Effect.Effect<void, ApiError.ApiError> => {
  const used = new Set(deps.pods.byIndex(Indexes.byController.name, set.metadata.uid ?? "").map(History.hashOf))
  return RevisionControl.remove(
    deps,
    History.excess(old, Spec.historyLimit(set), (hash) => used.has(hash))
  )
}
