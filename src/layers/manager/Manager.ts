/**
 * Runs controllers for as long as it is running itself: keeps every kind they read warm, waits for its turn to lead, builds
 * their layers one after another into the term's scope, and ends when a supervised fiber fails, when leadership is lost, or when
 * it is interrupted. Start and stop order are the nesting of scopes; there is no list of phases.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Resource from "../../kube/Resource.ts"
import { Cache } from "../Cache.ts"
import * as Fence from "../fence.ts"
import { KubeClient } from "../KubeClient.ts"
import type { Descriptor, Services } from "../Controller.ts"
import { Leadership } from "../Leadership.ts"
import { type SupervisedFailure, Supervisor } from "../Supervisor.ts"
import * as Preflight from "./preflight.ts"

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
  /** Those that do not: each group contends by itself, and losing any of the leases ends the manager. */
  readonly groups?: ReadonlyArray<Group<R>> | undefined
  /** How long to wait at the start for the server to answer, and for a refusal to be taken back. Default 10 s. */
  readonly patience?: Duration.Input | undefined
  /** Default true: a standby keeps its caches filled. False: kinds are subscribed to when the term begins. */
  readonly warm?: boolean | undefined
}

export const run = <R>(
  options: Options<R>
): Effect.Effect<never, ManagerError | Preflight.PreflightError | SupervisedFailure, Services | Leadership | R> =>
  Effect.gen(function* () {
    const patience = options.patience ?? "10 seconds"
    const supervisor = yield* Supervisor
    yield* Preflight.reachable(patience)
    const groups = [{ leadership: yield* Leadership, controllers: options.controllers }, ...(options.groups ?? [])]
    const controllers = groups.flatMap((group) => group.controllers)
    const kinds = kindsOf(controllers)
    if (options.warm !== false) {
      const cache = yield* Cache
      for (const resource of kinds) yield* cache.subscribe(resource)
      yield* Preflight.permitted(kinds, patience)
    }
    const work = Effect.gen(function* () {
      yield* build(
        controllers.filter((one) => !one.needsLeader),
        yield* Effect.scope
      )
      return yield* Effect.raceAllFirst([Effect.never, ...groups.map(term)])
    })
    return yield* Effect.raceFirst(supervisor.failure, work)
  }).pipe(
    // The user gets one sentence; whoever looks for a bug gets the rest.
    Effect.tapCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logDebug("The manager has ended", cause)
    ),
    Effect.scoped
  )

/** One term of leadership. Until the manager can rejoin, losing it ends the process. */
const term = <R>({ controllers, leadership }: Group<R>) =>
  Effect.gen(function* () {
    const leaders = controllers.filter((one) => one.needsLeader)
    // A lease that nobody works under is not contended for.
    if (leaders.length === 0) return yield* Effect.never
    const outcome = yield* Leadership.run((held) =>
      Effect.gen(function* () {
        const client = Fence.client(yield* KubeClient, held)
        yield* Effect.provideService(build(leaders, yield* Effect.scope), KubeClient, client)
        return yield* Effect.never
      })
    ).pipe(Effect.provideService(Leadership, leadership))
    return yield* new ManagerError({
      message: outcome._tag === "Lost" ? `leader election lost: ${outcome.reason.message}` : "the term ended by itself"
    })
  })

/** One after another, so that they stop in the reverse order. */
const build = <R>(controllers: ReadonlyArray<Descriptor<R>>, scope: Scope.Scope) =>
  Effect.forEach(
    controllers,
    (controller) =>
      Effect.andThen(
        Effect.annotateLogs(Effect.logInfo("Starting Controller"), { controller: controller.name }),
        Layer.buildWithScope(controller.layer, scope)
      ),
    { discard: true }
  )

const kindsOf = (controllers: ReadonlyArray<Descriptor<unknown>>): ReadonlyArray<Resource.Any> => [
  ...new Map(controllers.flatMap((one) => one.reads.map((resource) => [resource.id, resource] as const))).values()
]
