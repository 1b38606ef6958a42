/**
 * One run of an exploration, on a cluster of its own in virtual time: the controllers start, the scenario happens, then the cluster has time to converge,
 * and after that nothing should be written. Two runs with the same perturbations and seed are equal.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { ApiServer } from "../../apiserver/ApiServer.ts"
import type { ApiRequest, User } from "../../apiserver/Api.ts"
import * as ApiTransport from "../../apiserver/transport.ts"
import * as Crd from "../../kube/crd/Crd.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"
import { Discovery } from "../../layers/Discovery.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import { ClusterTest } from "../ClusterTest.ts"
import * as Collector from "./collector.ts"
import type { Declared } from "./Exploration.ts"
import * as Injection from "./Injection.ts"
import { messageOf } from "./messageOf.ts"
import type { Case } from "./perturbation.ts"
import * as Processes from "./Processes.ts"
import type * as Record from "./record.ts"
import * as Steps from "./steps.ts"

/** What one run has shown. */
export interface Outcome {
  readonly case: Case
  readonly entries: ReadonlyArray<Record.Entry>
  /** How many of the entries there were when the cluster had had its time to converge. */
  readonly converged: number
  /** All objects then that the controllers, the scenario or anything else has written. */
  readonly objects: ReadonlyArray<KubeObject>
  /** The objects that a user has annotated just before a write. */
  readonly edits: ReadonlyArray<Injection.Edit>
  /** As in `Injection`. */
  readonly kinds: ReadonlyMap<string, string>
  /** The first violation of each invariant. */
  readonly violations: ReadonlyArray<Violation>
  /** Why a step of the scenario failed. */
  readonly scenarioError: string | undefined
  /** What the user's own check of convergence found missing. */
  readonly notConverged: string | undefined
}

/** An invariant did not hold. */
export interface Violation {
  readonly invariant: string
  readonly message: string
  /** Of the write that broke it. */
  readonly revision: number
}

/** Settings of a run. */
export interface Settings {
  readonly seed: number | string
  /** True: users edit objects a second after the write, when the controllers are idle, and not just before it. */
  readonly isReference?: boolean | undefined
  /** The most calls and runs of the controllers; they are stopped when they make more. Default: 5000. */
  readonly most?: number | undefined
}

/** Never fails: what the controllers, the scenario or an invariant do wrong is a part of the outcome. */
export const run = (
  exploration: Declared,
  of: Case,
  { isReference = false, most = 5000, seed }: Settings
): Effect.Effect<Outcome> => {
  const { cluster = {}, services = Layer.empty } = exploration.options
  return once(exploration, of, { isReference, most }).pipe(
    Effect.scoped,
    Effect.provide(
      services.pipe(
        Layer.provideMerge(ClusterTest.layer({ ...cluster, crds: definitionsOf(exploration), seed })),
        Layer.provideMerge(Logger.layer([])),
        // On any computer, the next sleeper is woken when the work of the previous one is done, and not after a second.
        Layer.provideMerge(TestClock.layer({ warningDelay: "1 hour" }))
      )
    ),
    Effect.orDie
  )
}

const known = new WeakMap<Declared["options"], ReadonlyArray<object>>()

/** The definitions of an exploration, which are made once for all its runs. */
const definitionsOf = (exploration: Declared): ReadonlyArray<object> => {
  const found = known.get(exploration.options) ?? definitions(exploration)
  known.set(exploration.options, found)
  return found
}

/** Those of the controllers' custom kinds, and the user's. A kind that no definition can express is a mistake of the user. */
const definitions = ({ options }: Declared): ReadonlyArray<object> => {
  const { crds = [] } = options.cluster ?? {}
  const resources = options.controllers.flatMap(({ access }) => access.map(({ resource }) => resource))
  const custom = new Map(resources.filter(Resource.isCustom).map((resource) => [resource.id, resource]))
  return [...[...custom.values()].map((resource) => Result.getOrThrow(Crd.make(resource))), ...crds]
}

const once = Effect.fnUntraced(function* (
  { options }: Declared,
  of: Case,
  { isReference, most }: { readonly isReference: boolean; readonly most: number }
) {
  const { perturbations, until = Infinity } = of
  const { controllers, converged, environment = [], invariants = [], scenario, within = "5 minutes" } = options
  const { advance, run: runBeside, settle } = yield* ClusterTest
  const server = yield* ApiServer
  const clock = yield* Clock.Clock
  const base = yield* server.revision
  const writes: Array<number> = []
  const revision = () => writes.at(-1) ?? base
  const asExplored = { ...server, handle: (request: ApiRequest) => server.handle({ ...request, user: explored }) }
  const raw = ApiTransport.make(asExplored, server.faults, server.revision)
  const injection = Injection.make(raw, revision, clock, perturbations, { isReference, mostCalls: most })
  const { entries, now } = injection
  const violations: Array<Violation> = []
  const state = { list: server.snapshotUnsafe }
  // An explored garbage collector has to do this itself.
  const isOwn = controllers.some(({ name }) => name === "garbagecollector")
  const collect = isOwn ? () => {} : yield* collector

  yield* server.onWrite((request, at) => {
    if (isAside(request.path)) return
    writes.push(at)
    if (request.user !== explored) {
      entries.push({ type: "other", at: now(), verb: request.method.toLowerCase(), path: request.path, revision: at })
    }
    for (const { name, violation } of invariants) {
      if (violations.some(({ invariant }) => invariant === name)) continue
      const message = messageIn(() => violation(state))
      if (message !== undefined) violations.push({ invariant: name, message, revision: at })
    }
    collect()
  })

  const wall = jumpingClock(clock)
  const jumps = perturbations.some(({ kind }) => kind === "jump-ahead" || kind === "jump-back")
  for (const controller of environment) yield* runBeside(controller)
  yield* Processes.start({
    controllers,
    injection,
    mostRuns: most,
    revisionBefore: (count) => writes[writes.length - 1 - count] ?? base,
    clock: jumps ? wall.clock : undefined
  })
  yield* settle
  const ended = yield* Deferred.make<void>()
  const end = Effect.andThen(Deferred.succeed(ended, undefined), Effect.never)
  const cluster = yield* Steps.make({ injection, jump: wall.jump, until, end })
  const done = yield* Effect.exit(Effect.raceFirst(scenario?.(cluster) ?? Effect.void, Deferred.await(ended)))
  yield* advance(within)
  const length = entries.length
  const objects = yield* server.writtenAfter(base)
  const checked = yield* Effect.exit(converged?.(cluster) ?? Effect.void)
  yield* advance(within)
  return {
    case: of,
    entries,
    converged: length,
    objects,
    edits: injection.edits,
    kinds: injection.kinds,
    violations,
    scenarioError: errorOf(done),
    notConverged: errorOf(checked)
  } satisfies Outcome
})

const explored: User = { name: "explored", groups: ["system:masters", "system:authenticated"] }

/** Events and Leases: no part of what a controller brings about. */
const isAside = (path: string): boolean => /\/(events|leases)(\/|$)/.test(path)

const errorOf = (exit: Exit.Exit<unknown, unknown>): string | undefined =>
  Exit.isFailure(exit) ? messageOf(Cause.squash(exit.cause)) : undefined

const messageIn = (violation: () => string | undefined): string | undefined => {
  try {
    return violation()
  } catch (error) {
    return `the invariant itself failed: ${messageOf(error)}`
  }
}

/** How long after a write garbage is collected, in milliseconds. */
const collectAfter = { least: 500, most: 4000 }

/**
 * Collects garbage after a write, in the background of the run. While it finds some each time it waits longer: a controller with a stale cache
 * creates children of an owner that is gone as fast as they are collected.
 */
const collector = Effect.gen(function* () {
  const client = yield* KubeClient
  const discovery = yield* Discovery
  const server = yield* ApiServer
  const scope = yield* Effect.scope
  const fork = Effect.runForkWith(yield* Effect.context())
  let isDue = false
  let delay = collectAfter.least
  const pass = Effect.gen(function* () {
    isDue = false
    const hasFound = yield* Collector.collect(client, discovery, yield* server.writtenAfter(0))
    delay = hasFound ? Math.min(2 * delay, collectAfter.most) : collectAfter.least
  })
  return () => {
    if (isDue) return
    isDue = true
    fork(
      Effect.forkIn(
        Effect.delay(
          Effect.suspend(() => pass),
          delay
        ),
        scope
      )
    )
  }
})

/** A wall clock that jumps. What waits is not affected: waiting is by the monotonic clock. */
const jumpingClock = (clock: Clock.Clock) => {
  let offset = 0
  const millis = () => clock.currentTimeMillisUnsafe() + offset
  const nanos = () => clock.currentTimeNanosUnsafe() + BigInt(offset) * 1_000_000n
  const jumping: Clock.Clock = {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
  return { clock: jumping, jump: (by: number): void => void (offset += by) }
}
