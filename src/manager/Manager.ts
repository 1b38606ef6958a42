/**
 * Runs controllers: keeps the caches of all kinds that they read synced, waits for leadership, builds the controllers' layers one after another in
 * the scope of the term, and ends when a supervised fiber fails, when it is interrupted, or when leadership is lost (unless `onLost` is `rejoin`).
 * A controller whose kinds the server does not serve waits for them or is skipped. Nested scopes determine the start and stop order.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Resource from "../kube/Resource.ts"
import { Cache } from "../layers/Cache.ts"
import type { Descriptor, Services } from "../layers/Controller.ts"
import * as Fence from "../layers/fence.ts"
import { Health } from "../layers/Health.ts"
import { type Client, KubeClient } from "../layers/KubeClient.ts"
import { Inspection } from "../layers/Inspection.ts"
import { CurrentTerm, Leadership, type Term } from "../layers/Leadership.ts"
import { Shutdown } from "../layers/Shutdown.ts"
import { isLed, Shards } from "../layers/Shards.ts"
import { type SupervisedFailure, Supervisor } from "../layers/Supervisor.ts"
import * as Preflight from "./preflight.ts"
import * as Progress from "./progress/Progress.ts"
import { stateOf } from "./progress/syncProgress.ts"
import * as Informers from "./probes/informers.ts"
import * as Warmup from "./runnables/warmup.ts"
import * as Runnables from "./runnables/runnables.ts"
import * as FirstPass from "./runnables/firstPass.ts"
import * as Kinds from "./runnables/kinds.ts"
import { States } from "./runnables/states.ts"
import * as SyncLimit from "./runnables/syncLimit.ts"

/** The manager ended without being interrupted; the message is one sentence. */
export class ManagerError extends Data.TaggedError("ManagerError")<{ readonly message: string }> {}

/** Controllers that lead together, under a lease of their own. */
export interface Group<out R> {
  /** The election that the group takes part in. */
  readonly leadership: Leadership["Service"]
  /** The controllers that run while the group leads. */
  readonly controllers: ReadonlyArray<Descriptor<R>>
}

/** What runs, and under which rules. */
export interface Options<out R> {
  /** Those that lead under the `Leadership` of the context. */
  readonly controllers: ReadonlyArray<Descriptor<R>>
  /** Controllers that lead under other leases: each group takes part in an election of its own. */
  readonly groups?: ReadonlyArray<Group<R>> | undefined
  /**
   * What happens when a term ends although the program was not stopped. `exit`, the default: the manager ends, and a supervisor such as the kubelet
   * restarts the process. `rejoin`: the group's layers are closed, and built again when the group leads again; the caches stay synced.
   */
  readonly onLost?: "exit" | "rejoin" | undefined
  /**
   * Runs if a term was lost and its controllers have not ended five seconds later: something in them cannot be interrupted, so neither policy can
   * continue. Their writes are rejected in any case. Default: nothing; a program should end its process.
   */
  readonly onStuck?: ((message: string) => Effect.Effect<void>) | undefined
  /** How long to wait at the start for the server to answer, and for the first lists. Default 10 s. */
  readonly startTimeout?: Duration.Input | undefined
  /** True, the default: a standby keeps its caches synced. False: informers start when the term begins. */
  readonly warm?: boolean | undefined
  /**
   * The least time between the starts of two controllers of a group; the most is twice as long. It spreads their lists. Default: none. Source:
   * cmd/kube-controller-manager/app: ControllerStartJitter.
   */
  readonly startInterval?: Duration.Input | undefined
  /**
   * What happens to a controller if the server does not serve a kind that it needs. `wait`, the default: it starts when the kind is served and
   * stops when it is no longer served. `skip`: it does not run until the process restarts.
   */
  readonly missingKinds?: "wait" | "skip" | undefined
  /**
   * What happens to the other controllers if a kind does not sync. `independent`, the default: they run, and readiness names the kind. `strict`:
   * the manager ends after `syncTimeout`. Source: controller-runtime: Controller.CacheSyncTimeout.
   */
  readonly isolation?: "independent" | "strict" | undefined
  /** How long a controller's kinds may take to sync before an error is logged. Default 2 min. */
  readonly syncTimeout?: Duration.Input | undefined
  /** The client of a controller, with its identity, made from the manager's client. Default: the manager's client. */
  readonly identify?: Identify | undefined
}

/** Gives a controller a client with an identity of its own. Source: cmd/kube-controller-manager/app: ControllerContext.NewClient. */
export type Identify = (controller: Descriptor<unknown>, client: Client) => Effect.Effect<Client>

type Failure = ManagerError | Preflight.PreflightError | SupervisedFailure | FirstPass.NotReady

/** What all groups of one manager share. */
interface Setting {
  readonly kinds: Kinds.Kinds
  readonly waits: boolean
  readonly interval: Duration.Duration
  readonly limit: SyncLimit.SyncLimit
  readonly warm: boolean
  readonly identify: Identify
  /** The work is divided into shards. */
  readonly isDivided: boolean
}

/**
 * Runs the controllers until it is interrupted, which is an orderly stop. It ends by itself only with a failure: leadership was lost, a supervised
 * fiber failed, or the server did not respond at the start. The returned effect can be run once.
 */
export const run = <R>(options: Options<R>): Effect.Effect<never, Failure, Services | Leadership | R> => {
  let isStarted = false
  return Effect.suspend(() => {
    if (isStarted) return Effect.fail(new ManagerError({ message: "the manager was started more than once" }))
    isStarted = true
    return main(options)
  })
}

const main = <R>(options: Options<R>): Effect.Effect<never, Failure, Services | Leadership | R> =>
  Effect.gen(function* () {
    const startTimeout = options.startTimeout ?? "10 seconds"
    const supervisor = yield* Supervisor
    const groups = [{ leadership: yield* Leadership, controllers: options.controllers }, ...(options.groups ?? [])]
    const controllers = groups.flatMap((group) => group.controllers)
    yield* unique(controllers)
    yield* Preflight.reachable(startTimeout)
    const waits = options.missingKinds !== "skip"
    const setting: Setting = {
      kinds: yield* Kinds.make({ controllers, waits, startTimeout }),
      waits,
      interval: Duration.fromInputUnsafe(options.startInterval ?? Duration.zero),
      limit: {
        isolation: options.isolation ?? "independent",
        timeout: Duration.fromInputUnsafe(options.syncTimeout ?? "2 minutes")
      },
      warm: options.warm !== false,
      identify: options.identify ?? ((_, client) => Effect.succeed(client)),
      isDivided: (yield* Shards) !== undefined
    }
    const { checks } = Informers
    const health = yield* Health
    const cache = yield* Cache
    for (const { check, probe } of checks(cache, setting.limit.timeout)) yield* health.register(probe, check)
    const inspection = yield* Inspection
    yield* inspection.informers.show(cache.status)
    yield* inspection.stores.show(cache.informers)
    yield* Effect.forEach(groups, (group) => showGroup(group, setting), { discard: true })
    const states = yield* States
    const failure = Effect.tapError(supervisor.failure, ({ fiber, message }) =>
      Effect.sync(() => {
        if (controllers.some(({ name }) => name === fiber)) states.set(fiber, { _tag: "Failed", message })
      })
    )
    yield* supervisor.fork("warmup", Warmup.run({ ...setting, members: controllers }))
    const readable = Kinds.readable(controllers, setting.kinds.absent())
    if (setting.warm) yield* Effect.forkScoped(Progress.follow(syncing(readable)))
    if (setting.warm) yield* Effect.raceFirst(failure, Preflight.tried(readable, startTimeout))
    return yield* untilFirst(failure, [
      runGroup(
        controllers.filter((one) => !isLed(one, setting.isDivided)),
        setting
      ),
      ...groups.map((group) => terms(group, options, setting))
    ])
  }).pipe(
    // The error is one sentence for the user; the debug log has the whole cause.
    Effect.tapCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logDebug("The manager has ended", cause)
    ),
    Effect.scoped
  )

/** The progress of the first sync; undefined when it is over. */
const syncing = (readable: ReadonlyArray<Resource.Any>) => {
  const kinds = new Set(readable.map(Resource.qualifiedName))
  return Effect.flatMap(Cache, (cache) => Effect.map(cache.status, (all) => stateOf(kinds, all)))
}

/** Names must be unique, because they identify states, metrics and accounts. */
const unique = (controllers: ReadonlyArray<Descriptor<unknown>>): Effect.Effect<void, ManagerError> => {
  const names = controllers.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  return twice === undefined
    ? Effect.void
    : Effect.fail(new ManagerError({ message: `controller ${twice} was started more than once` }))
}

/**
 * Runs all effects until one of them or the supervisor fails, and then interrupts the others. Their errors while stopping are added to the first
 * failure; after an interruption, where there is none, they are logged. Source: controller-runtime: controllerManager.engageStopProcedure.
 */
const untilFirst = <E, E2, R>(failure: Effect.Effect<never, E>, works: ReadonlyArray<Effect.Effect<never, E2, R>>) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const fibers = yield* Effect.forEach(works, (work) => Effect.forkChild(restore(work)))
      const first = yield* Effect.exit(
        restore(Effect.raceAllFirst([failure, ...fibers.map((fiber) => Fiber.join(fiber))]))
      )
      const going = fibers.filter((fiber) => fiber.pollUnsafe() === undefined)
      // Begins the shutdown before the first scope closes, whatever the reason of the end.
      yield* (yield* Shutdown).begin
      yield* Fiber.interruptAll(going)
      const exits = yield* Effect.forEach(going, (fiber) => Fiber.await(fiber))
      const late = exits.flatMap((exit) =>
        Exit.isSuccess(exit) ? [] : exit.cause.reasons.filter(({ _tag }) => _tag !== "Interrupt")
      )
      if (late.length === 0 || Exit.isSuccess(first)) return yield* first
      yield* Effect.logError("Further errors while the controllers were stopped", Cause.fromReasons(late))
      return yield* Cause.hasInterruptsOnly(first.cause)
        ? first
        : Effect.failCause(Cause.fromReasons<E | E2>([...first.cause.reasons, ...late]))
    })
  )

const showGroup = ({ controllers, leadership }: Group<unknown>, { isDivided }: Setting) =>
  Effect.flatMap(Inspection, ({ groups }) =>
    groups.show({
      leadership,
      controllers: controllers.filter((one) => isLed(one, isDivided)).map((one) => one.name)
    })
  )

/** One term of leadership after another, or only one. */
const terms = <R>(
  { controllers, leadership }: Group<R>,
  { onLost, onStuck }: Pick<Options<R>, "onLost" | "onStuck">,
  setting: Setting
) =>
  Effect.gen(function* () {
    const leaders = controllers.filter((one) => isLed(one, setting.isDivided))
    // Without controllers there is no election.
    if (leaders.length === 0) return yield* Effect.never
    while (true) {
      const outcome = yield* Effect.scoped(
        Effect.flatMap(Effect.scope, (around) =>
          Leadership.run((held) =>
            Effect.andThen(Effect.forkIn(stuck(held, onStuck), around), term(leaders, setting)(held))
          )
        )
      ).pipe(Effect.provideService(Leadership, leadership))
      // Cannot happen: the group runs until it is interrupted.
      if (outcome._tag === "Finished") return outcome.value
      const message = `leader election lost: ${outcome.reason.message}`
      if (onLost !== "rejoin") {
        yield* (yield* Shutdown).begin
        return yield* new ManagerError({ message })
      }
      yield* Effect.logWarning(`${message}; contending again`)
    }
  })

/** Watches a lost term. Its scope encloses the scope of the term, so it is still open while the term's controllers have not ended. */
const stuck = (held: Term, onStuck: (message: string) => Effect.Effect<void> = () => Effect.void) =>
  Effect.flatMap(held.lost, ({ message, reason }) =>
    reason === "Released"
      ? Effect.void
      : Effect.delay(onStuck(`leader election lost: ${message}; its work does not end`), "5 seconds")
  )

/** Controllers built here read at any time and write only while the term is valid. */
const term =
  <R>(leaders: ReadonlyArray<Descriptor<R>>, setting: Setting) =>
  (held: Term) =>
    runGroup(leaders, {
      ...setting,
      identify: (controller, client) =>
        Effect.map(setting.identify(controller, client), (own) => Fence.client(own, Effect.succeed(held)))
    }).pipe(Effect.provideService(CurrentTerm, held))

/** Builds controllers in their order while their kinds are served; never ends. */
const runGroup = <R>(members: ReadonlyArray<Descriptor<R>>, setting: Setting) =>
  Effect.gen(function* () {
    const states = yield* States
    const supervisor = yield* Supervisor
    const client = yield* KubeClient
    const { interval, kinds, limit, waits } = setting
    const open = Effect.fnUntraced(function* (controller: Descriptor<R>) {
      const { layer, name, startFirst } = controller
      yield* Effect.addFinalizer(() => Effect.sync(() => states.set(name, { _tag: "Standby" })))
      yield* Effect.annotateLogs(Effect.logInfo("Starting Controller"), { controller: name })
      const ready = startFirst === true ? yield* FirstPass.watch(controller, limit.timeout) : Effect.void
      const own = yield* setting.identify(controller, client)
      yield* Layer.buildWithScope(layer, yield* Effect.scope).pipe(Effect.provideService(KubeClient, own))
      states.set(name, { _tag: "Started" })
      // If caches are kept warm, `Warmup` watches the sync limit.
      if (!setting.warm) yield* supervisor.fork(name, SyncLimit.watch(controller, limit))
      yield* ready
    })
    const leaving = ({ name }: Descriptor<R>) =>
      Effect.andThen(
        Effect.sync(() => states.set(name, { _tag: "Stopping" })),
        Effect.annotateLogs(Effect.logInfo("Stopping Controller"), { controller: name })
      )
    return yield* Runnables.run({ members, kinds, waits, interval, open, leaving })
  })
