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
import * as Adopt from "../shared/workload/adopt.ts"
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
  const claimed = yield* claim(deps, set)
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

const claim = (deps: Deps, set: DaemonSet): Effect.Effect<ReadonlyArray<ControllerRevision>, Adopt.ClaimError> =>
  Adopt.claim(
    {
      owner: set,
      resource: DaemonSet,
      matches: ({ metadata }: ControllerRevision) => Spec.selects(set, metadata.labels),
      live: deps.live(set),
      patch: deps.patchRevision
    },
    [
      ...deps.revisions.byIndex(Indexes.byController.name, set.metadata.uid ?? ""),
      ...deps.revisions.byIndex(Indexes.orphans.name, set.metadata.namespace ?? "")
    ]
  )

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
    if (former !== hash && History.hashOf(pod) === former) yield* unlessGone(deps.patch(pod, patch(pod.metadata.uid)))
  yield* unlessGone(deps.removeRevision(duplicate))
})

const unlessGone = <A>(call: Effect.Effect<A, ApiError.ApiError>): Effect.Effect<void, ApiError.ApiError> =>
  Effect.matchEffect(call, {
    onSuccess: () => Effect.void,
    onFailure: (error) => (ApiError.hasReason(error, "NotFound") ? Effect.void : Effect.fail(error))
  })

const make = Effect.fnUntraced(function* (
  deps: Deps,
  set: DaemonSet,
  number: number
): Effect.fn.Return<ControllerRevision, Failure> {
  const template = Spec.templateOf(set)
  const hash = Hash.template(template, set.status?.collisionCount)
  const draft = History.draft({ resource: DaemonSet, owner: set, template, hash, number })
  return yield* Effect.catchIf(
    deps.createRevision(draft),
    (error) => ApiError.hasReason(error, "AlreadyExists"),
    (error) => taken(deps, set, draft.metadata.name, error)
  )
})

const taken = Effect.fnUntraced(function* (
  deps: Deps,
  set: DaemonSet,
  name: string,
  error: ApiError.ApiError
): Effect.fn.Return<ControllerRevision, Failure> {
  const holder = yield* deps.liveRevision(set, name)
  if (History.isOf(holder, set.spec?.template)) return holder
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
  return Effect.forEach(
    History.excess(old, Spec.historyLimit(set), (hash) => used.has(hash)),
    (revision) => unlessGone(deps.removeRevision(revision)),
    { discard: true }
  )
}
