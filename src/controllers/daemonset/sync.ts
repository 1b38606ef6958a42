/**
 * One sync of a DaemonSet: claims pods, syncs the revisions, takes a snapshot, plans, applies, writes the status.
 * `plan/` decides; this file holds the order and the handling of failures. Source: pkg/controller/daemon:
 * syncDaemonSet.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import type * as Key from "../../kube/Key.ts"
import { DaemonSet, type Pod } from "../../kube/resources.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import * as Adopt from "../shared/workload/adopt.ts"
import * as Handover from "../shared/workload/handoff.ts"
import * as Indexes from "../shared/workload/indexes.ts"
import type * as PodControl from "../shared/workload/podControl.ts"
import * as History from "./history.ts"
import * as Snapshot from "./snapshot.ts"
import * as Manage from "./plan/plan.ts"
import * as Rolling from "./plan/rolling.ts"
import * as Status from "./status.ts"
import { isCurrent, type Deps } from "./deps.ts"
import * as Spec from "./spec.ts"
import * as Apply from "./apply.ts"

export type Failure = History.Failure | PodControl.PodControlError

const selectingAll = "This daemon set is selecting all pods. A non-empty selector is required."

export const sync = (context: Apply.SyncContext) =>
  Effect.fnUntraced(function* (key: Key.Key): Effect.fn.Return<Reconcile.Outcome | void, Failure> {
    const { expectations, deps } = context
    const set = deps.sets.get(key)
    if (set === undefined) return expectations.forget(key)
    if (Spec.selectsEverything(set)) return yield* deps.events.warning(set, "SelectingAll", selectingAll)
    // Its pods and revisions may have been orphaned, which the cache does not show.
    if (set.metadata.deletionTimestamp !== undefined || Spec.selectorOf(set) === undefined) return
    const clock = yield* Clock.Clock
    const monotonic = Monotonic.millis(clock)
    // Read before the pods: what the cache shows from here on has been observed.
    const mayManage = expectations.wait(key, monotonic()) === 0
    const pods = yield* claim(deps, set)
    const { hash, old } = yield* History.sync(deps, set, pods)
    const snapshot = Snapshot.take({ set, hash, nodes: deps.nodes.list(), pods, now: clock.currentTimeMillisUnsafe() })
    const done = mayManage ? yield* manage(context, snapshot, { pods, now: monotonic() }) : waited
    const written = yield* Effect.result(updateStatus(deps, snapshot, done.wasManaged))
    if (done.failure !== undefined) return yield* done.failure
    if (written._tag === "Failure") return yield* written.failure
    if (done.wasManaged) yield* History.cleanUp(deps, set, old)
    const delay = Math.min(
      done.wait ?? Infinity,
      Status.recheck(snapshot) ?? Infinity,
      expectations.wait(key, monotonic()) || Infinity
    )
    return delay === Infinity ? Reconcile.done : Reconcile.after(delay)
  })

const claim = (deps: Deps, set: DaemonSet): Effect.Effect<ReadonlyArray<Pod>, Adopt.ClaimError> =>
  Adopt.claim(
    {
      owner: set,
      resource: DaemonSet,
      matches: ({ metadata }: Pod) => Spec.selects(set, metadata.labels),
      live: deps.live(set),
      patch: deps.patch
    },
    [
      ...deps.pods.byIndex(Indexes.byController.name, set.metadata.uid ?? ""),
      ...deps.pods.byIndex(Indexes.orphans.name, set.metadata.namespace ?? "")
    ]
  )

interface Done {
  /** The pods were managed, or an attempt was made. */
  readonly wasManaged: boolean
  /** Milliseconds until a delayed action is allowed. */
  readonly wait: number | undefined
  readonly failure: PodControl.PodControlError | ApiError | undefined
}

const waited: Done = { wasManaged: false, wait: undefined, failure: undefined }

interface Managing {
  /** All pods that the set has claimed. */
  readonly pods: ReadonlyArray<Pod>
  /** Monotonic milliseconds. */
  readonly now: number
}

/**
 * Each node on its own first. A rolling update continues only when that step is empty, because the snapshot does not
 * show its effects.
 */
const manage = Effect.fnUntraced(function* (
  context: Apply.SyncContext,
  snapshot: Snapshot.Snapshot,
  { now, pods }: Managing
): Effect.fn.Return<Done> {
  const { hash, set } = snapshot
  const managed = Manage.decide(snapshot, (node) => context.backoff.wait(set, node, now))
  const step = Manage.isNothing(managed) ? Rolling.decide(snapshot) : managed
  const { wait } = managed
  if (Manage.isNothing(step)) return { wasManaged: true, wait, failure: undefined }
  const current = yield* Effect.result(isCurrent(context.deps, context.trust, set, pods))
  if (current._tag === "Failure") return { ...waited, failure: current.failure }
  if (!current.success) {
    yield* Effect.logDebug("The cache lacks pods of a DaemonSet: waiting for it")
    return { ...waited, wait: Handover.patience }
  }
  return { wasManaged: true, wait, failure: yield* Apply.apply(context, { set, hash, now }, step) }
})

/** Writes the counts if they differ; retries a failed write once on the live object. */
const updateStatus = (deps: Deps, snapshot: Snapshot.Snapshot, isManaged: boolean): Effect.Effect<void, ApiError> => {
  const { set } = snapshot
  const counts = Status.count(snapshot, isManaged)
  const write = (onto: DaemonSet): Effect.Effect<void, ApiError> => {
    const status = Status.withCounts(onto.status, counts)
    return status === onto.status ? Effect.void : Effect.asVoid(deps.updateStatus({ ...onto, status }))
  }
  return Effect.catch(write(set), (error) =>
    Effect.flatMap(deps.live(set), (fresh) =>
      fresh.metadata.uid === set.metadata.uid ? write(fresh) : Effect.fail(error)
    )
  )
}
