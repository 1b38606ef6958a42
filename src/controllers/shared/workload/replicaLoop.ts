/**
 * The loop behind ReplicaSets and ReplicationControllers. Triggers maintain the expectations and map pods to owners; a sync claims the active pods,
 * creates or deletes according to the plan, and writes the status, also after a failure. Source: pkg/controller/replicaset: syncReplicaSet,
 * manageReplicas.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { ApiError } from "../../../kube/ApiError.ts"
import * as Key from "../../../kube/Key.ts"
import * as Owner from "../../../kube/Owner.ts"
import type * as Patch from "../../../kube/Patch.ts"
import * as PodFacts from "../../../kube/pod.ts"
import type * as Resource from "../../../kube/Resource.ts"
import { Pod } from "../../../kube/resources.ts"
import * as Selector from "../../../kube/Selector.ts"
import * as Controller from "../../../layers/Controller.ts"
import type { KeyedQueue } from "../../../streams/queue/KeyedQueue.ts"
import * as Monotonic from "../../../streams/monotonic.ts"
import * as Reconcile from "../../../streams/reconcile/Reconcile.ts"
import * as Store from "../../../streams/store/Store.ts"
import type * as Trigger from "../../../streams/store/trigger.ts"
import * as Adopt from "./adopt.ts"
import * as Expectations from "./expectations.ts"
import * as Indexes from "./indexes.ts"
import * as Metrics from "./metrics.ts"
import * as Owners from "./owners.ts"
import * as PodControl from "./podControl.ts"
import * as Replicas from "./replicas.ts"
import * as Selectors from "./selectors.ts"
import * as SlowStart from "./slowStart.ts"
import * as StatusWriter from "./statusWriter.ts"

/** What differs between the two kinds. */
export interface Kind<O extends Replicas.ReplicaOwner> {
  readonly resource: Resource.Resource<O>
  /** Undefined for an invalid or empty selector: such an owner has no pods, and is not synced. */
  readonly selector: (owner: O) => Selector.LabelSelector | undefined
  /** Whether the status counts terminating pods. */
  readonly countsTerminating: boolean
}

/** The dependencies of the loop. */
export interface Deps<O> extends PodControl.Calls {
  readonly owners: Store.Readable<O & Replicas.ReplicaOwner>
  readonly pods: Store.Readable<Pod>
  /** The owner of that name, read from the server. */
  readonly live: (owner: O) => Effect.Effect<O, ApiError>
  readonly updateStatus: (owner: O) => Effect.Effect<O, ApiError>
  readonly patch: (pod: Pod, patch: Patch.Patch) => Effect.Effect<Pod, ApiError>
  readonly queue: Pick<KeyedQueue, "addWithUnsafe">
}

export type Failure = ApiError | Adopt.ClaimError | PodControl.PodControlError

/**
 * Calls in flight, over all syncs: the last batches of a large owner are hundreds of calls, and over HTTP/1.1 each call needs a connection.
 */
const atOnce = 64

interface State<O extends Replicas.ReplicaOwner> {
  readonly kind: Kind<O>
  readonly deps: Deps<O>
  readonly permits: Semaphore.Semaphore
  readonly expectations: Expectations.Expectations
  readonly owners: Owners.Owners<O>
  readonly terminatingReplicas: StatusWriter.KeptField
}

/** The triggers and the sync, with expectations of their own. The triggers run after the stores have changed. */
export interface Loop<in O> {
  readonly onOwner: Trigger.Trigger<O>
  readonly onPod: Trigger.Trigger<Pod>
  readonly sync: (request: Pick<Controller.Request, "key">) => Effect.Effect<Reconcile.Outcome | void, Failure>
}

export const make = <O extends Replicas.ReplicaOwner>(kind: Kind<O>, deps: Deps<O>): Loop<O> => {
  const owners = { resource: kind.resource, store: deps.owners, selects: Selectors.selecting(kind.selector) }
  const state: State<O> = {
    kind,
    deps,
    owners,
    expectations: Expectations.make(),
    permits: Semaphore.makeUnsafe(atOnce),
    terminatingReplicas: StatusWriter.keptField()
  }
  const availableAfter = (owner: O): number => Replicas.minReadySeconds(owner)
  const onPod = Owners.podTrigger({ owners, expectations: state.expectations, queue: deps.queue, availableAfter })
  return { onOwner: ownerTrigger(state), onPod, sync: sync(state) }
}

/** One term of the loop as a controller runs it. */
export const body = <O extends Replicas.ReplicaOwner>(
  kind: Kind<O>,
  deps: Deps<O>
): Controller.Body<Failure, never> => {
  const { onOwner, onPod, sync } = make(kind, deps)
  return {
    sources: [
      Controller.watch(kind.resource, onOwner, { indexes: [Indexes.byController] }),
      Controller.watch(Pod, onPod, { indexes: Indexes.both })
    ],
    reconcile: sync
  }
}

/** The expectations of a deleted owner are dropped, so that a new owner of its name starts without any. */
const ownerTrigger =
  <O extends Replicas.ReplicaOwner>({ expectations }: State<O>): Trigger.Trigger<O> =>
  (delta) => {
    const key = Key.of(delta.object)
    if (delta._tag === "Deleted") expectations.forget(key)
    return [key]
  }

const sync = <O extends Replicas.ReplicaOwner>(state: State<O>) =>
  Effect.fnUntraced(function* ({
    key
  }: Pick<Controller.Request, "key">): Effect.fn.Return<Reconcile.Outcome | void, Failure> {
    const { expectations, kind, deps } = state
    const owner = deps.owners.get(key)
    if (owner === undefined) return expectations.forget(key)
    const selector = kind.selector(owner)
    if (selector === undefined) {
      return yield* Effect.logError(
        `The selector of ${kind.resource.kind} ${key} selects nothing: its pods are left alone`
      )
    }
    const clock = yield* Clock.Clock
    const monotonic = Monotonic.millis(clock)
    // Read before the pods: events that arrive later are reflected in the pods.
    const mayManage = expectations.wait(key, monotonic()) === 0 && owner.metadata.deletionTimestamp === undefined
    const { active, terminating } = yield* gather(state, owner, selector)
    const step = mayManage ? plan(state, owner, active, clock.currentTimeMillisUnsafe()) : Replicas.nothing
    if (step._tag === "Delete") yield* Metrics.chosen(active, step.pods, clock.currentTimeMillisUnsafe())
    const failure = step._tag === "Nothing" ? undefined : yield* carryOut(state, key, owner, step, monotonic())
    const now = clock.currentTimeMillisUnsafe()
    const next = Replicas.status({
      owner,
      active,
      terminating: kind.countsTerminating ? terminating : undefined,
      failure: failure?.message,
      now
    })
    if (!Replicas.isCurrent(owner, next, state.terminatingReplicas.isKept())) {
      // A retry writes the same counts, so the observed generation stays theirs.
      const { status } = yield* StatusWriter.write(deps, owner, () => next)
      state.terminatingReplicas.answered(next.terminatingReplicas, status?.terminatingReplicas)
    }
    if (failure !== undefined) return yield* failure
    const recheck = Replicas.recheck({ owner, active, now }, next)
    const left = recheck === undefined ? Infinity : Math.max(0, recheck - (clock.currentTimeMillisUnsafe() - now))
    const delay = Math.min(left, expectations.wait(key, monotonic()) || Infinity)
    return delay === Infinity ? Reconcile.done : Reconcile.after(delay)
  })

/** The active pods after adoptions and releases, and the number of terminating ones. */
const gather = <O extends Replicas.ReplicaOwner>(
  { kind, deps }: State<O>,
  owner: O,
  selector: Selector.LabelSelector
): Effect.Effect<{ readonly active: ReadonlyArray<Pod>; readonly terminating: number }, Failure> => {
  const matches = (pod: Pod): boolean => Selector.matchesLabels(selector, pod.metadata.labels)
  const own = deps.pods.byIndex(Indexes.byController.name, owner.metadata.uid ?? "")
  const orphans = deps.pods.byIndex(Indexes.orphans.name, owner.metadata.namespace ?? "")
  const terminating = own.reduce((sum, pod) => (PodFacts.isTerminating(pod) && matches(pod) ? sum + 1 : sum), 0)
  const claim = Adopt.claim({ owner, resource: kind.resource, matches, live: deps.live(owner), patch: deps.patch }, [
    ...own.filter(PodFacts.isActive),
    ...orphans.filter(PodFacts.isActive)
  ])
  return Effect.map(claim, (active) => ({ active, terminating }))
}

const plan = <O extends Replicas.ReplicaOwner>(
  state: State<O>,
  owner: O,
  active: ReadonlyArray<Pod>,
  now: number
): Replicas.Step => Replicas.step(Replicas.desired(owner), active, () => relatives(state, owner), now)

/** Returns the first failure, after all calls were tried. `now`: monotonic milliseconds, for the expectations. */
const carryOut = <O extends Replicas.ReplicaOwner>(
  state: State<O>,
  key: Key.Key,
  owner: O,
  step: Exclude<Replicas.Step, { readonly _tag: "Nothing" }>,
  now: number
): Effect.Effect<PodControl.PodControlError | undefined> =>
  step._tag === "Create" ? create(state, key, owner, step.count, now) : remove(state, key, owner, step.pods, now)

const create = Effect.fnUntraced(function* <O extends Replicas.ReplicaOwner>(
  { expectations, kind, permits, deps }: State<O>,
  key: Key.Key,
  owner: O,
  count: number,
  now: number
) {
  expectations.expectCreations(key, count, now)
  const pod = PodControl.draft(kind.resource, owner, owner.spec?.template ?? {})
  const { failure, succeeded } = yield* SlowStart.run(count, permits.withPermit(PodControl.create(deps, owner, pod)))
  for (let i = succeeded; i < count; i++) expectations.creationObserved(key)
  return failure?.error
})

const remove = Effect.fnUntraced(function* <O extends Replicas.ReplicaOwner>(
  { expectations, permits, deps }: State<O>,
  key: Key.Key,
  owner: O,
  pods: ReadonlyArray<Pod>,
  now: number
) {
  expectations.expectDeletions(key, pods.map(Key.of), now)
  const failures: Array<PodControl.PodControlError> = []
  yield* Effect.forEach(
    pods,
    (pod) =>
      Effect.matchEager(permits.withPermit(PodControl.remove(deps, owner, pod)), {
        onSuccess: (answer) => {
          if (answer === "NotFound") expectations.deletionObserved(key, Key.of(pod))
        },
        onFailure: (error) => {
          expectations.deletionObserved(key, Key.of(pod))
          failures.push(error)
        }
      }),
    { concurrency: "unbounded", discard: true }
  )
  return failures[0]
})

/** The pods that any owner with the same controller selects: they count for colocation. None for an owner without a controller. */
const relatives = <O extends Replicas.ReplicaOwner>({ owners, deps }: State<O>, owner: O): ReadonlyArray<Pod> => {
  const parent = Owner.controllerOf(owner)
  if (parent === undefined) return []
  const family = owners.store.byIndex(Indexes.byController.name, parent.uid)
  return deps.pods
    .byIndex(Store.namespaceIndex, owner.metadata.namespace ?? "")
    .filter((pod) => family.some((relative) => owners.selects(relative, pod.metadata.labels)))
}
