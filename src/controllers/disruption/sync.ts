/**
 * One sync of a budget: collects its pods and the sizes of their controllers, plans, records events, and writes at most
 * one status. If a step fails, the status is set to allow no disruption, unless another writer was faster, and the sync
 * is retried. Also the syncs of the pod keys. Source: pkg/controller/disruption: trySync.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import type { Pod, PodDisruptionBudget } from "../../kube/resources.ts"
import * as Selector from "../../kube/Selector.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import { apply, type Failure, resetStale, textOf, writeFailSafe } from "./apply.ts"
import * as Coverage from "./coverage.ts"
import type { Deps } from "./deps.ts"
import * as Expectation from "./expectation.ts"
import * as ExpectedScale from "./expectedScale.ts"
import * as Plan from "./plan.ts"
import { type State, subjectOf } from "./triggers.ts"

export const sync =
  (deps: Deps, state: State) =>
  (key: Key.Key): Effect.Effect<Reconcile.Outcome, Failure> => {
    const subject = subjectOf(key)
    switch (subject._tag) {
      case "Budget":
        return budget(deps, state, subject.key)
      case "Shared":
        return Effect.as(recordShared(deps, state, subject.key), Reconcile.done)
      case "Stale":
        return resetStale(deps, subject.key)
    }
  }

const budget = (deps: Deps, state: State, key: Key.Key): Effect.Effect<Reconcile.Outcome, Failure> => {
  const found = deps.budgets.get(key)
  if (found === undefined) return Effect.succeed(Reconcile.done)
  return attempt(deps, state, found).pipe(
    Effect.catchIf(
      isOvertaken,
      // The cache may lack our own last write: without the version its watch event enqueues the key, however long the
      // backoff is.
      (error) =>
        Effect.andThen(
          Effect.sync(() => state.written.delete(key)),
          Effect.fail(error)
        ),
      (error) => Effect.andThen(writeFailSafe(deps, state, found, error), Effect.fail(error))
    ),
    // The budget was deleted; its watch event will follow.
    ApiError.unlessGone,
    Effect.map((outcome) => outcome ?? Reconcile.done)
  )
}

/** A conflict, or a lost leadership: the count itself is not wrong. */
const isOvertaken = (error: Failure): boolean =>
  error._tag === "ApiError" && ApiError.hasReason(error, "Conflict", "LeaderFenced", "NotFound")

const attempt = Effect.fnUntraced(function* (deps: Deps, state: State, found: PodDisruptionBudget) {
  const { events } = deps
  const pods = yield* podsOf(deps, state, found)
  if (pods.length === 0) yield* events.normal(found, "NoPods", "No matching pods found")
  const { desired, expected } = yield* Effect.tapError(expectation(deps, found, pods), (error) => {
    const why = `Failed to calculate the number of expected pods: ${textOf(error)}`
    return events.warning(found, "CalculateExpectedPodCountFailed", why)
  })
  const now = yield* Clock.currentTimeMillis
  const { expired, recheck, status } = Plan.plan({ budget: found, pods, expected, desired, now })
  for (const pod of expired) {
    yield* events.warning(pod, "NotDeleted", `Pod was expected by PDB ${Key.of(found)} to be deleted but it wasn't`)
  }
  if (status !== undefined) yield* apply(deps, state, found, status)
  return recheck === undefined ? Reconcile.done : Reconcile.after(recheck)
})

/** Sorted, so that the same pods give the same messages. */
const podsOf = (deps: Deps, { coverage }: State, found: PodDisruptionBudget) => {
  const selector = Coverage.selectorOf(found)
  if (selector !== undefined && Result.isFailure(selector)) {
    const why = selector.failure
    return Effect.andThen(
      deps.events.warning(found, "NoPods", `Failed to get pods: ${why}`),
      Effect.fail(new ExpectedScale.Uncountable({ why }))
    )
  }
  const pods: Array<Pod> = []
  for (const key of [...coverage.podsOf(Key.of(found))].sort()) {
    const pod = deps.pods.get(key)
    if (pod !== undefined) pods.push(pod)
  }
  return Effect.succeed(pods)
}

const expectation = Effect.fnUntraced(function* (deps: Deps, found: PodDisruptionBudget, pods: ReadonlyArray<Pod>) {
  const { spec } = found
  const { scale, unmanaged } = Expectation.needsScale(spec)
    ? yield* ExpectedScale.count(deps, pods)
    : { scale: 0, unmanaged: [] }
  const counted = yield* Effect.mapError(
    Effect.fromResult(Expectation.of(spec, { pods: pods.length, scale })),
    (why) => new ExpectedScale.Uncountable({ why })
  )
  if (unmanaged.length > 0) yield* deps.events.warning(found, "UnmanagedPods", unmanagedText(found))
  return counted
})

const unmanagedText = ({ spec }: PodDisruptionBudget): string =>
  `Pods selected by this PodDisruptionBudget (selector: ${Selector.goString(spec?.selector)}) were found to be unmanaged. ` +
  "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
  'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'

const recordShared = (deps: Deps, { coverage }: State, key: Key.Key): Effect.Effect<void> => {
  const pod = deps.pods.get(key)
  if (pod === undefined) return Effect.void
  const [first, ...others] = coverage.of(pod)
  if (first === undefined || others.length === 0) return Effect.void
  const { name, namespace = "" } = pod.metadata
  const chosen = JSON.stringify(Key.parse(first).name)
  const who = `${JSON.stringify(namespace)}/${JSON.stringify(name)}`
  return deps.events.warning(
    pod,
    "MultiplePodDisruptionBudgets",
    `Pod ${who} matches multiple PodDisruptionBudgets.  Chose ${chosen} arbitrarily.`
  )
}
