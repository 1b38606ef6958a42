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
import * as Handoff from "../shared/workload/handoff.ts"
import * as Indexes from "../shared/workload/indexes.ts"
import type * as PodControl from "../shared/workload/podControl.ts"
import * as StatusWriter from "../shared/workload/statusWriter.ts"
import * as Apply from "./apply.ts"
import type { Deps } from "./deps.ts"
import * as History from "./history.ts"
import * as Plan from "./plan/plan.ts"
import { isNothing } from "./plan/step.ts"
import * as Snapshot from "./snapshot.ts"
import * as Spec from "./spec.ts"
import type { State } from "./state.ts"
import * as Status from "./status.ts"

export type Failure = History.Failure | PodControl.PodControlError

const selectingAll = "This daemon set is selecting all pods. A non-empty selector is required."

export const sync = (deps: Deps, state: State) =>
  Effect.fnUntraced(function* (key: Key.Key): Effect.fn.Return<Reconcile.Outcome | void, Failure> {
    const { expectations } = state
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
    const done = mayManage ? yield* manage(deps, state, { snapshot, pods, now: monotonic() }) : waited
    const counts = Status.count(snapshot, done.wasManaged)
    const written = yield* Effect.result(StatusWriter.write(deps, set, (stored) => Status.status(stored, counts)))
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
    Indexes.candidates(deps.pods, set)
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
  readonly snapshot: Snapshot.Snapshot
  /** All pods that the set has claimed. */
  readonly pods: ReadonlyArray<Pod>
  /** Monotonic milliseconds. */
  readonly now: number
}

/** Plans and applies, if the plan changes nothing or the cache is fresh. */
const manage = Effect.fnUntraced(function* (
  deps: Deps,
  state: State,
  { now, pods, snapshot }: Managing
): Effect.fn.Return<Done> {
  const { hash, set } = snapshot
  const { uid = "" } = set.metadata
  const plan = Plan.plan(snapshot, (node) => state.backoff.wait(set, node, now))
  const { wait } = plan
  if (isNothing(plan)) return { wasManaged: true, wait, failure: undefined }
  const checks = [Handoff.hasSamePods(set, pods, deps.livePods(set))]
  const isFresh = yield* Effect.result(Handoff.isFresh(state, uid, checks))
  if (isFresh._tag === "Failure") return { ...waited, failure: isFresh.failure }
  if (!isFresh.success) {
    yield* Effect.logDebug("The cache lacks pods of a DaemonSet: waiting for it")
    return { ...waited, wait: Handoff.retryAfter }
  }
  return { wasManaged: true, wait, failure: yield* Apply.apply(deps, state, { set, hash, now, plan }) }
})
