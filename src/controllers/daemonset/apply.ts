/**
 * Carries out the plan: events for failed and succeeded pods, creations in slow-start batches, deletions. Expectations are
 * raised first, and lowered for calls that no watch event will follow. Source: pkg/controller/daemon: syncNodes.
 */
import * as Effect from "effect/Effect"
import * as Key from "../../kube/Key.ts"
import type { DaemonSet } from "../../kube/resources.ts"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import * as Metrics from "../shared/workload/metrics.ts"
import * as PodControl from "../shared/workload/podControl.ts"
import * as SlowStart from "../shared/workload/slowStart.ts"
import type { Deps } from "./deps.ts"
import * as Drafts from "./drafts.ts"
import { type Creation, type Deletion, type Fault, isNothing, type Need, type Step } from "./plan/step.ts"
import * as Pods from "./pods.ts"
import * as Spec from "./spec.ts"
import type { State } from "./state.ts"

const handledPods = Family.counter(
  "daemonset_controller_pods_total",
  "Daemon pods that were created or deleted, by reason",
  ["action", "reason"]
)

export const skips = Metrics.staleSkips("daemonset_controller")

export const families = [skips, handledPods]

const countRequested = (action: "create" | "delete", reasons: ReadonlyArray<Need | Fault>): Effect.Effect<void> => {
  const counts = new Map<string, number>()
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return Effect.forEach(counts, ([reason, count]) => handledPods.add(count, { action, reason }), { discard: true })
}

export interface Target {
  readonly set: DaemonSet
  /** The revision hash of the current template. */
  readonly hash: string
  readonly plan: Step
  /** Monotonic milliseconds. */
  readonly now: number
}

/**
 * Returns the first failure after every call was tried. Creations and deletions beyond `burst` are left to the next
 * sync.
 */
export const apply = Effect.fnUntraced(function* (
  deps: Deps,
  state: State,
  { hash, now, plan, set }: Target
): Effect.fn.Return<PodControl.PodControlError | undefined> {
  const create = plan.create.slice(0, Spec.burst)
  const remove = plan.remove.slice(0, Spec.burst)
  if (isNothing(plan)) return undefined
  state.expectations.expectBoth(
    Key.of(set),
    create.length,
    remove.map(({ pod }) => Key.of(pod)),
    now
  )
  yield* recordEndedPods(deps, state, { set, remove, now })
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
  const createFailure = yield* createAll(deps, state, { set, hash, create })
  const deleteFailure = yield* removeAll(deps, state, set, remove)
  return createFailure ?? deleteFailure
})

/** Records an event for each failed or succeeded pod, and starts the backoff for the node of a failed one. */
const recordEndedPods = (
  deps: Deps,
  { backoff }: State,
  { now, remove, set }: Pick<Target, "set" | "now"> & { readonly remove: ReadonlyArray<Deletion> }
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

interface Creating extends Pick<Target, "set" | "hash"> {
  readonly create: ReadonlyArray<Creation>
}

const createAll = Effect.fnUntraced(function* (
  deps: Deps,
  { expectations, permits }: State,
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
  deps: Deps,
  { expectations, permits }: State,
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
