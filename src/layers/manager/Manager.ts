/**
 * Runs controllers for as long as it is running itself: keeps every kind they read warm, waits for its turn to lead, builds
 * their layers one after another into the term's scope, and ends when a supervised fiber fails, when it is
 * interrupted, or, unless it is to rejoin, when leadership is lost. Start and stop order are the nesting of scopes; there is no list of phases.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import type * as Resource from "../../kube/Resource.ts"
import { Cache } from "../Cache.ts"
import * as Fence from "../fence.ts"
import { KubeClient } from "../KubeClient.ts"
import type { Descriptor, Services } from "../Controller.ts"
import { Health } from "../Health.ts"
import { Inspection } from "../Inspection.ts"
import { Leadership, type Term } from "../Leadership.ts"
import { type SupervisedFailure, Supervisor } from "../Supervisor.ts"
import * as Preflight from "./preflight.ts"
import * as Informers from "./probes/informers.ts"

/** The manager ended although nobody asked it to; one sentence says why. */
export class ManagerError extends Data.TaggedError("ManagerError")<{ readonly message: string }> {}

/** Controllers that lead together, under a lease of their own. */
export interface Group<out R> {
  readonly leadership: Leadership["Service"]
  readonly controllers: ReadonlyArray<Descriptor<R>>
}

export interface Options<out R> {
  /** Those that lead under the `Leadership` of the context. */
  readonly controllers: ReadonlyArray<Descriptor<R>>
  /** Those that do not: each group contends by itself. */
  readonly groups?: ReadonlyArray<Group<R>> | undefined
  /**
   * What the end of a term means when nobody asked for it. `exit`, the default: the manager ends, and whoever started the process
   * starts it anew. `rejoin`: the group's layers are closed, and built afresh when the group leads again; the caches stay warm.
   */
  readonly onLost?: "exit" | "rejoin" | undefined
  /**
   * Run when a term was lost and its work has not ended five seconds later: something in it cannot be interrupted, and neither policy
   * can go on. The fence holds its writes back all the same. Nothing unless said otherwise; a program ends its process.
   */
  readonly onStuck?: ((message: string) => Effect.Effect<void>) | undefined
  /** How long to wait at the start for the server to answer, and for a refusal to be taken back. Default 10 s. */
  readonly patience?: Duration.Input | undefined
  /** Default true: a standby keeps its caches filled. False: kinds are subscribed to when the term begins. */
  readonly warm?: boolean | undefined
  /**
   * At least so long between the starts of two controllers of a group, at most twice that, so that they do not all list at once.
   * Default none. Source: framework.md K16, kube-controller-manager's ControllerStartInterval with a jitter of one.
   */
  readonly startInterval?: Duration.Input | undefined
}

export const run = <R>(
  options: Options<R>
): Effect.Effect<never, ManagerError | Preflight.PreflightError | SupervisedFailure, Services | Leadership | R> =>
  Effect.gen(function* () {
    const patience = options.patience ?? "10 seconds"
    const supervisor = yield* Supervisor
    const startInterval = Duration.fromInputUnsafe(options.startInterval ?? Duration.zero)
    yield* Preflight.reachable(patience)
    const groups = [{ leadership: yield* Leadership, controllers: options.controllers }, ...(options.groups ?? [])]
    const controllers = groups.flatMap((group) => group.controllers)
    const kinds = kindsOf(controllers)
    const cache = yield* Cache
    if (options.warm !== false) for (const resource of kinds) yield* cache.subscribe(resource)
    const health = yield* Health
    for (const { check, probe } of Informers.checks(cache)) yield* health.register(probe, check)
    yield* (yield* Inspection).informers.show(cache.status)
    yield* Effect.forEach(groups, showGroup, { discard: true })
    if (options.warm !== false) {
      yield* Preflight.permitted(kinds, patience)
    }
    const work = Effect.gen(function* () {
      yield* build(
        controllers.filter((one) => !one.needsLeader),
        yield* Effect.scope,
        startInterval
      )
      return yield* Effect.raceAllFirst([Effect.never, ...groups.map((group) => terms(group, options, startInterval))])
    })
    return yield* Effect.raceFirst(supervisor.failure, work)
  }).pipe(
    // The user gets one sentence; whoever looks for a bug gets the rest.
    Effect.tapCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logDebug("The manager has ended", cause)
    ),
    Effect.scoped
  )

const showGroup = ({ controllers, leadership }: Group<unknown>) =>
  Effect.flatMap(Inspection, ({ groups }) =>
    groups.show({ leadership, controllers: controllers.filter((one) => one.needsLeader).map((one) => one.name) })
  )

/** One term of leadership after another, or only one. */
const terms = <R>(
  { controllers, leadership }: Group<R>,
  { onLost, onStuck }: Pick<Options<R>, "onLost" | "onStuck">,
  startInterval: Duration.Duration
) =>
  Effect.gen(function* () {
    const leaders = controllers.filter((one) => one.needsLeader)
    // A lease that nobody works under is not contended for.
    if (leaders.length === 0) return yield* Effect.never
    while (true) {
      const outcome = yield* Effect.scoped(
        Effect.flatMap(Effect.scope, (around) =>
          Leadership.run((held) =>
            Effect.andThen(Effect.forkIn(stuck(held, onStuck), around), term(leaders, startInterval)(held))
          )
        )
      ).pipe(Effect.provideService(Leadership, leadership))
      // It never does: controllers run for as long as they may.
      if (outcome._tag === "Finished") return outcome.value
      const message = `leader election lost: ${outcome.reason.message}`
      if (onLost !== "rejoin") return yield* new ManagerError({ message })
      yield* Effect.logWarning(`${message}; contending again`)
    }
  })

/** Its scope is around the term's, so it is still there when the term's work does not end. */
const stuck = (held: Term, onStuck: (message: string) => Effect.Effect<void> = () => Effect.void) =>
  Effect.flatMap(held.lost, ({ message, reason }) =>
    reason === "Released"
      ? Effect.void
      : Effect.delay(onStuck(`leader election lost: ${message}; its work does not end`), "5 seconds")
  )

/** What is built here reads as it likes and writes only while the term can be proven. */
const term =
  <R>(leaders: ReadonlyArray<Descriptor<R>>, startInterval: Duration.Duration) =>
  (held: Term) =>
    Effect.gen(function* () {
      const client = Fence.client(yield* KubeClient, held)
      yield* Effect.provideService(build(leaders, yield* Effect.scope, startInterval), KubeClient, client)
      return yield* Effect.never
    })

/** One after another, so that they stop in the reverse order. */
const build = <R>(controllers: ReadonlyArray<Descriptor<R>>, scope: Scope.Scope, startInterval: Duration.Duration) =>
  Effect.forEach(
    controllers,
    (controller, index) =>
      (index === 0 ? Effect.void : gap(startInterval)).pipe(
        Effect.andThen(Effect.annotateLogs(Effect.logInfo("Starting Controller"), { controller: controller.name })),
        Effect.andThen(Layer.buildWithScope(controller.layer, scope))
      ),
    { discard: true }
  )

/** From once to twice the interval. */
const gap = (interval: Duration.Duration): Effect.Effect<void> =>
  Duration.isZero(interval)
    ? Effect.void
    : Effect.flatMap(Random.next, (random) => Effect.sleep(Duration.times(interval, 1 + random)))

const kindsOf = (controllers: ReadonlyArray<Descriptor<unknown>>): ReadonlyArray<Resource.Any> => [
  ...new Map(controllers.flatMap((one) => one.reads.map((resource) => [resource.id, resource] as const))).values()
]
