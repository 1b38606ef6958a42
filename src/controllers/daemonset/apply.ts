/**
 * Applies a step: events for failed and succeeded pods, creations in slow-start batches, deletions. Expectations are
 * raised first, and lowered for calls that no watch event will follow. Source: pkg/controller/daemon: syncNodes.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as Key from "../../kube/Key.ts"
import type { DaemonSet } from "../../kube/resources.ts"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import type { Expectations } from "../shared/workload/expectations.ts"
import type { Trust } from "../shared/workload/handoff.ts"
import * as Metrics from "../shared/workload/metrics.ts"
import * as PodControl from "../shared/workload/podControl.ts"
import * as SlowStart from "../shared/workload/slowStart.ts"
import type { Backoff } from "./state.ts"
import * as Drafts from "./drafts.ts"
import { type Creation, type Deletion, type Fault, isNothing, type Need, type Step } from "./plan/plan.ts"
import * as Pods from "./pods.ts"
import type { Deps } from "./deps.ts"
import * as Spec from "./spec.ts"

/** Pod creations and deletions in flight, over all syncs; over HTTP/1.1 each call needs a connection. */
const atOnce = 64

const handledPods = Family.counter(
  "daemonset_controller_pods_total",
  "Daemon pods that were created or deleted, by reason",
  ["action", "reason"]
)

export const skips = Metrics.staleSkips("daemonset_controller")

export const metrics = [skips, handledPods]

const countRequested = (action: "create" | "delete", reasons: ReadonlyArray<Need | Fault>): Effect.Effect<void> => {
  const counts = new Map<string, number>()
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return Effect.forEach(counts, ([reason, count]) => handledPods.add(count, { action, reason }), { discard: true })
}

/** Shared by all syncs of one leadership term. */
export interface SyncContext {
  readonly deps: Deps
  readonly expectations: Expectations
  readonly backoff: Backoff
  readonly trust: Trust
  readonly permits: Semaphore.Semaphore
}

export const make = (shared: Omit<SyncContext, "permits">): SyncContext => ({
  ...shared,
  permits: Semaphore.makeUnsafe(atOnce)
})

export interface Target {
  readonly set: DaemonSet
  /** The revision hash of the current template. */
  readonly hash: string
  /** Monotonic milliseconds. */
  readonly now: number
}

/**
 * Returns the first failure after every call was tried. Creations and deletions beyond `burst` are left to the next
 * sync.
 */
export const apply = Effect.fnUntraced(function* (
  context: SyncContext,
  { hash, now, set }: Target,
  step: Step
): Effect.fn.Return<PodControl.PodControlError | undefined> {
  const create = step.create.slice(0, Spec.burst)
  const remove = step.remove.slice(0, Spec.burst)
  if (isNothing(step)) return undefined
  context.expectations.expectBoth(
    Key.of(set),
    create.length,
    remove.map(({ pod }) => Key.of(pod)),
    now
  )
  yield* recordEndedPods(context, set, remove, now)
  yield* countRequested(
    "create",
    create.map(({ why }) => why)
  )
  yield* countRequested(
    "delete",
    remove.map(({ why }) => why)
  )
  const counts = { created: create.length, deleted: remove.length, revision: hash }
  yield* Effect.annotateLogs(Effect.logDebug("Creating and deleting daemon pods"), counts)
  const createFailure = yield* createAll(context, { set, hash, create })
  const deleteFailure = yield* removeAll(context, set, remove)
  return createFailure ?? deleteFailure
})

/** Records an event for each failed or succeeded pod, and starts the backoff for the node of a failed one. */
const recordEndedPods = (
  { backoff, deps }: SyncContext,
  set: DaemonSet,
  remove: ReadonlyArray<Deletion>,
  now: number
) =>
  Effect.forEach(
    remove,
    ({ pod, why }) => {
      const { name, namespace } = pod.metadata
      const node = Pods.target(pod) ?? ""
      const where = `daemon pod ${namespace}/${name} on node ${node}`
      if (why === "failed") {
        backoff.next(set, node, now)
        return deps.events.warning(set, "FailedDaemonPod", `Found failed ${where}, will try to kill it`)
      }
      if (why !== "succeeded") return Effect.void
      return deps.events.normal(set, "SucceededDaemonPod", `Found succeeded ${where}, will try to delete it`)
    },
    { discard: true }
  )

interface Creating extends Omit<Target, "now"> {
  readonly create: ReadonlyArray<Creation>
}

const createAll = Effect.fnUntraced(function* (
  { expectations, permits, deps }: SyncContext,
  { create, hash, set }: Creating
): Effect.fn.Return<PodControl.PodControlError | undefined> {
  const draft = Drafts.make(set, hash)
  let next = 0
  const call = Effect.suspend(() => permits.withPermit(PodControl.create(deps, set, draft(create[next++]?.node ?? ""))))
  const { failure, succeeded } = yield* SlowStart.run(create.length, call)
  for (let i = succeeded; i < create.length; i++) expectations.creationObserved(Key.of(set))
  return failure?.error
})

const removeAll = Effect.fnUntraced(function* (
  { expectations, permits, deps }: SyncContext,
  set: DaemonSet,
  remove: ReadonlyArray<Deletion>
): Effect.fn.Return<PodControl.PodControlError | undefined> {
  let failure: PodControl.PodControlError | undefined
  const lower = ({ pod }: Deletion): void => expectations.deletionObserved(Key.of(set), Key.of(pod))
  yield* Effect.forEach(
    remove,
    (deletion) =>
      Effect.matchEager(permits.withPermit(PodControl.remove(deps, set, deletion.pod)), {
        onSuccess: (answer) => {
          if (answer === "NotFound") lower(deletion)
        },
        onFailure: (error) => {
          lower(deletion)
          failure ??= error
        }
      }),
    { concurrency: "unbounded", discard: true }
  )
  return failure
})
