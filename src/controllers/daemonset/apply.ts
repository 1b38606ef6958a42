/**
 * What a step asks for, done: words on pods that have ended, creations in batches that grow, deletions. The books are told before, and
 * of what no event will tell. Source: pkg/controller/daemon: syncNodes.
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
import type { Backoff } from "./backoff.ts"
import * as Drafts from "./drafts.ts"
import { type Creation, type Deletion, type Fault, isNothing, type Need, type Step } from "./plan/step.ts"
import * as Pods from "./pods.ts"
import type { Deps } from "./deps.ts"
import * as Spec from "./spec.ts"

/** So many pods are made or deleted at a time, by all syncs together; over HTTP/1.1 each call is a connection. */
const atOnce = 64

const handledPods = Family.counter(
  "daemonset_controller_pods_total",
  "Daemons that were asked for or asked to go, by reason",
  ["action", "reason"]
)

export const skips = Metrics.staleSkips("daemonset_controller")

export const metrics = [skips, handledPods]

const countRequested = (action: "create" | "delete", reasons: ReadonlyArray<Need | Fault>): Effect.Effect<void> => {
  const counts = new Map<string, number>()
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return Effect.forEach(counts, ([reason, count]) => handledPods.add(count, { action, reason }), { discard: true })
}

/** What syncs share. */
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
  /** By which pods of the present template are known. */
  readonly hash: string
  /** Monotonic milliseconds. */
  readonly now: number
}

/** Answers with the first failure, after everything was tried that should be. Of what is above the bounds nothing is done. */
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
  yield* Effect.annotateLogs(Effect.logDebug("Daemons are made and deleted"), counts)
  const createFailure = yield* createAll(context, { set, hash, create })
  const deleteFailure = yield* removeAll(context, set, remove)
  return createFailure ?? deleteFailure
})

/** Pods that have ended are told of; the next that fails on the same node waits. */
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
