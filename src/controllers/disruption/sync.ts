/**
 * One look at a budget: gathers its pods and the sizes of what controls them, plans, tells users what is odd, and writes at most one status. Whatever
 * goes wrong on the way, no pod may be let go by a count that does not hold any more: unless another writer was faster, the status says so,
 * and the budget is looked at again. And the pods that have keys of their own. Source: pkg/controller/disruption: trySync.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import type * as Patch from "../../kube/Patch.ts"
import type { Pod, PodDisruptionBudget } from "../../kube/resources.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import type { Readable } from "../../streams/store/Store.ts"
import * as Controllers from "./controllers.ts"
import * as Coverage from "./coverage.ts"
import * as Expectation from "./expectation.ts"
import * as Plan from "./plan.ts"
import * as Stale from "./stale.ts"
import { type Books, subjectOf } from "./triggers.ts"

type Call<A> = Effect.Effect<A, ApiError.ApiError>

/** What the loop reads and writes. */
export interface Ports extends Controllers.Ports {
  readonly budgets: Readable<PodDisruptionBudget>
  readonly pods: Readable<Pod>
  readonly updateStatus: (budget: PodDisruptionBudget) => Call<PodDisruptionBudget>
  readonly patchPodStatus: (pod: Pod, patch: Patch.Patch) => Call<Pod>
  readonly events: EventSink
}

const writes = Family.counter(
  "disruption_controller_status_writes_total",
  "Writes of the status of disruption budgets, by the reason of its condition",
  ["reason"]
)

const resets = Family.counter(
  "disruption_controller_stale_disruptions_total",
  "Pods that were told to go and did not, whose condition was taken back"
)

export const families = [writes, resets]

const wrote = (reason: string): Effect.Effect<void> => writes.add(1, { reason })

const takenBack: Effect.Effect<void> = resets.add(1)

type Failure = ApiError.ApiError | Controllers.Uncountable

export const sync =
  (ports: Ports, books: Books) =>
  (key: Key.Key): Effect.Effect<Reconcile.Outcome, Failure> => {
    const subject = subjectOf(key)
    switch (subject._tag) {
      case "Budget":
        return budget(ports, books, subject.key)
      case "Shared":
        return Effect.as(tellShared(ports, books, subject.key), Reconcile.done)
      case "Stale":
        return takeBack(ports, subject.key)
    }
  }

const budget = (ports: Ports, books: Books, key: Key.Key): Effect.Effect<Reconcile.Outcome, Failure> => {
  const found = ports.budgets.get(key)
  if (found === undefined) return Effect.succeed(Reconcile.done)
  return attempt(ports, books, found).pipe(
    Effect.catchIf(
      isSomebodyElses,
      // What the cache lacks may be our own last write: it is to ask again when it is seen, however long the next try would wait.
      (error) =>
        Effect.andThen(
          Effect.sync(() => books.written.delete(key)),
          Effect.fail(error)
        ),
      (error) => Effect.andThen(keepSafe(ports, books, found, error), Effect.fail(error))
    ),
    // It is gone, and its event is on the way.
    Effect.catchIf(isGone, () => Effect.succeed(Reconcile.done))
  )
}

/** Another writer was faster, or leads: nothing is wrong with the count. */
const isSomebodyElses = (error: Failure): boolean =>
  error._tag === "ApiError" && ApiError.hasReason(error, "Conflict", "LeaderFenced", "NotFound")

const isGone = (error: Failure): boolean => error._tag === "ApiError" && ApiError.hasReason(error, "NotFound")

const attempt = Effect.fnUntraced(function* (ports: Ports, books: Books, found: PodDisruptionBudget) {
  const { events } = ports
  const pods = yield* podsOf(ports, books, found)
  if (pods.length === 0) yield* events.normal(found, "NoPods", "No matching pods found")
  const { desired, expected } = yield* Effect.tapError(expectation(ports, found, pods), (error) => {
    const why = `Failed to calculate the number of expected pods: ${textOf(error)}`
    return events.warning(found, "CalculateExpectedPodCountFailed", why)
  })
  const now = yield* Clock.currentTimeMillis
  const { expired, recheck, status } = Plan.plan({ budget: found, pods, expected, desired, now })
  for (const pod of expired) {
    yield* events.warning(pod, "NotDeleted", `Pod was expected by PDB ${Key.of(found)} to be deleted but it wasn't`)
  }
  if (status !== undefined) yield* write(ports, books, found, status)
  return recheck === undefined ? Reconcile.done : Reconcile.after(recheck)
})

/** By name, so that the same pods are told of in the same way. */
const podsOf = (ports: Ports, { coverage }: Books, found: PodDisruptionBudget) => {
  const selector = Coverage.selectorOf(found)
  if (selector !== undefined && Result.isFailure(selector)) {
    const why = selector.failure
    return Effect.andThen(
      ports.events.warning(found, "NoPods", `Failed to get pods: ${why}`),
      Effect.fail(new Controllers.Uncountable({ why }))
    )
  }
  const pods: Array<Pod> = []
  for (const key of [...coverage.podsOf(Key.of(found))].sort()) {
    const pod = ports.pods.get(key)
    if (pod !== undefined) pods.push(pod)
  }
  return Effect.succeed(pods)
}

const expectation = Effect.fnUntraced(function* (ports: Ports, found: PodDisruptionBudget, pods: ReadonlyArray<Pod>) {
  const { spec } = found
  const { scale, unmanaged } = Expectation.needsScale(spec)
    ? yield* Controllers.count(ports, pods)
    : { scale: 0, unmanaged: [] }
  const counted = yield* Effect.mapError(
    Effect.fromResult(Expectation.of(spec, { pods: pods.length, scale })),
    (why) => new Controllers.Uncountable({ why })
  )
  if (unmanaged.length > 0) yield* ports.events.warning(found, "UnmanagedPods", unmanagedText(found))
  return counted
})

const unmanagedText = ({ spec }: PodDisruptionBudget): string =>
  `Pods selected by this PodDisruptionBudget (selector: ${Controllers.goText(spec?.selector)}) were found to be unmanaged. ` +
  "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
  'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'

/** What the server said, without what was asked. */
const textOf = (error: Failure): string => (error._tag === "ApiError" ? error.detail : error.message)

const write = Effect.fnUntraced(function* (
  ports: Ports,
  { written }: Books,
  found: PodDisruptionBudget,
  status: Plan.Status
) {
  const { metadata } = yield* ports.updateStatus({ ...found, status })
  if (metadata.resourceVersion !== undefined) written.set(Key.of(found), metadata.resourceVersion)
  const condition = status.conditions?.find(({ type }) => type === "DisruptionAllowed")
  yield* wrote(condition?.reason ?? "")
  yield* Effect.annotateLogs(Effect.logDebug("Wrote how many disruptions a budget allows"), {
    allowed: status.disruptionsAllowed,
    healthy: status.currentHealthy,
    desired: status.desiredHealthy,
    expected: status.expectedPods,
    reason: condition?.reason
  })
})

/** Best effort: what fails here is told of with what failed before. */
const keepSafe = Effect.fnUntraced(function* (ports: Ports, books: Books, found: PodDisruptionBudget, error: Failure) {
  const status = Plan.failSafe(found, textOf(error), yield* Clock.currentTimeMillis)
  if (status !== undefined) yield* write(ports, books, found, status)
})

const tellShared = (ports: Ports, { coverage }: Books, key: Key.Key): Effect.Effect<void> => {
  const pod = ports.pods.get(key)
  if (pod === undefined) return Effect.void
  const [first, ...others] = coverage.of(pod)
  if (first === undefined || others.length === 0) return Effect.void
  const { name, namespace = "" } = pod.metadata
  const chosen = JSON.stringify(Key.parse(first).name)
  const who = `${JSON.stringify(namespace)}/${JSON.stringify(name)}`
  return ports.events.warning(
    pod,
    "MultiplePodDisruptionBudgets",
    `Pod ${who} matches multiple PodDisruptionBudgets.  Chose ${chosen} arbitrarily.`
  )
}

const takeBack = Effect.fnUntraced(function* (
  ports: Ports,
  key: Key.Key
): Effect.fn.Return<Reconcile.Outcome, Failure> {
  const pod = ports.pods.get(key)
  const due = pod === undefined ? undefined : Stale.due(pod)
  if (pod === undefined || due === undefined) return Reconcile.done
  const now = yield* Clock.currentTimeMillis
  if (due > now) return Reconcile.after(due - now)
  const done = yield* Effect.result(ports.patchPodStatus(pod, Stale.reset(pod, now)))
  if (Result.isFailure(done)) return isGone(done.failure) ? Reconcile.done : yield* done.failure
  yield* takenBack
  yield* Effect.annotateLogs(Effect.logInfo("Took back that a pod is to go, because it stayed"), { pod: key })
  return Reconcile.done
})
