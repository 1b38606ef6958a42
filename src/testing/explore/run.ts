/**
 * One run of an exploration, on a cluster of its own in virtual time: the controllers start, the scenario happens, then the cluster has time to converge,
 * and after that nothing should be written. Two runs with the same perturbations and seed are equal.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { ApiServer } from "../../apiserver/ApiServer.ts"
import * as ApiTransport from "../../apiserver/transport.ts"
import * as Crd from "../../kube/crd/Crd.ts"
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Patch from "../../kube/Patch.ts"
import * as Resource from "../../kube/Resource.ts"
import { Cache } from "../../layers/Cache.ts"
import { Discovery } from "../../layers/Discovery.ts"
import * as Fence from "../../layers/fence.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import { CurrentTerm, LeaderLost, type Term } from "../../layers/Leadership.ts"
import { Recorder } from "../../layers/Recorder.ts"
import { Supervisor } from "../../layers/Supervisor.ts"
import { Timeline } from "../../layers/Timeline.ts"
import { Transport } from "../../layers/Transport.ts"
import { ClusterTest } from "../ClusterTest.ts"
import * as Collector from "./collector.ts"
import type { Cluster, Declared } from "./Exploration.ts"
import * as Injection from "./Injection.ts"
import type { Kind, Perturbation } from "./perturbation.ts"
import type * as Record from "./record.ts"
import { recorder } from "./timeline.ts"

/** What one run has shown. */
export interface Outcome {
  readonly perturbations: ReadonlyArray<Perturbation>
  readonly entries: ReadonlyArray<Record.Entry>
  /** How many of the entries there were when the cluster had had its time to converge. */
  readonly converged: number
  /** All objects then that the controllers, the scenario or anything else has written. */
  readonly objects: ReadonlyArray<KubeObject>
  /** The objects that a user has annotated just before a write. */
  readonly edits: ReadonlyArray<Injection.Edit>
  /** The first violation of each invariant. */
  readonly violations: ReadonlyArray<{ readonly invariant: string; readonly message: string; readonly entry: number }>
  /** Why a step of the scenario failed. */
  readonly scenarioError: string | undefined
  /** What the user's own check of convergence found missing. */
  readonly notConverged: string | undefined
}

/** The most virtual time in one `adjust`: the collector and restarts take turns with it. */
const limit = (exploration: Declared): Duration.Duration =>
  Duration.fromInputUnsafe(exploration.options.within ?? "5 minutes")

/** Settings of a run. */
export interface Settings {
  readonly seed: number | string
  /** True: users edit objects a second after the write, when the controllers are idle, and not just before it. */
  readonly isReference?: boolean | undefined
}

export const run = (
  exploration: Declared,
  perturbations: ReadonlyArray<Perturbation>,
  { isReference = false, seed }: Settings
): Effect.Effect<Outcome> => {
  const { options } = exploration
  const kinds = definitions(exploration)
  const cluster = ClusterTest.layer({
    ...options.cluster,
    crds: kinds,
    seed
  })
  return once(exploration, perturbations, isReference).pipe(
    Effect.scoped,
    Effect.provide(options.services ?? Layer.empty),
    Effect.provide(cluster),
    Effect.provide(Logger.layer([])),
    Effect.provide(TestClock.layer()),
    Effect.orDie
  )
}

/** Custom resources that the controllers work with; a kind that cannot be expressed as a definition is a mistake of the user. */
const definitions = ({ options }: Declared): ReadonlyArray<object> => {
  const { crds } = options.cluster ?? {}
  const resources = options.controllers.flatMap(({ access }) => access.map(({ resource }) => resource))
  const custom = new Map(resources.filter(Resource.isCustom).map((resource) => [resource.id, resource]))
  const own = [...custom.values()].map((resource) => Result.getOrThrow(Crd.make(resource)))
  return [...own, ...(typeof crds === "string" ? [] : (crds ?? []))]
}

const gone = new LeaderLost({ reason: "Stolen", message: "the process is gone" })

const once = Effect.fnUntraced(function* (
  exploration: Declared,
  perturbations: ReadonlyArray<Perturbation>,
  isReference: boolean
) {
  const { options } = exploration
  const test = yield* ClusterTest
  const server = yield* ApiServer
  const discovery = yield* Discovery
  const client = yield* KubeClient
  const clock = yield* Clock.Clock
  const runScope = yield* Effect.scope
  const raw = ApiTransport.make(
    { ...server, handle: (request) => server.handle({ ...request, user: explored }) },
    server.faults,
    server.revision
  )
  let revision = yield* server.revision
  const base = revision
  const commits: Array<number> = []
  const injection = Injection.make(raw, () => revision, clock, perturbations, isReference)
  const { entries, now } = injection
  const violations: Array<Outcome["violations"][number]> = []
  const fork = (effect: Effect.Effect<unknown>) => Effect.asVoid(Effect.forkIn(effect, runScope))

  // What anything writes.
  const state = {
    list: <A extends KubeObject>(resource: Resource.Resource<A>) =>
      Effect.runSync(server.snapshot(resource)) as unknown as ReadonlyArray<A>
  }
  const check = () => {
    for (const { name, violation } of options.invariants ?? []) {
      if (violations.some(({ invariant }) => invariant === name)) continue
      const message = violation(state)
      if (message !== undefined) violations.push({ invariant: name, message, entry: entries.length - 1 })
    }
  }
  let collects = false
  const collection: Effect.Effect<void> = Effect.gen(function* () {
    collects = false
    const objects = yield* server.writtenAfter(0)
    yield* Collector.collect(client, discovery, objects)
  })
  const context = yield* Effect.context()
  yield* server.onWrite((request, at) => {
    revision = at
    const isEvent = /\/events(\/|$)/.test(request.path)
    if (!isEvent) commits.push(at)
    if (request.user !== explored) {
      entries.push({ type: "other", at: now(), verb: request.method.toLowerCase(), path: request.path, revision: at })
    }
    if (isEvent) return
    check()
    if (collects) return
    collects = true
    Effect.runForkWith(context)(Effect.forkIn(Effect.delay(collection, "500 millis"), runScope))
  })

  // The controllers' processes.
  let processes = 0
  let offset = 0
  const jumping = (): Clock.Clock => ({
    ...clock,
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + offset,
    currentTimeMillis: Effect.sync(() => clock.currentTimeMillisUnsafe() + offset)
  })
  const jumps = perturbations.some(({ kind }) => kind === "jump-ahead" || kind === "jump-back")
  const running = new Map<number, Effect.Effect<void>>()
  const start = (why: string, stale?: Injection.Process["stale"]): Effect.Effect<void> =>
    Effect.gen(function* () {
      const lost = yield* Deferred.make<LeaderLost>()
      const process: Injection.Process = { id: ++processes, hasEnded: false, hasLostTerm: false, stale }
      const hasStopped = () => process.hasEnded || process.hasLostTerm
      const scope = yield* Scope.fork(runScope)
      entries.push({ type: "start", at: now(), process: process.id, why })
      running.set(process.id, Effect.andThen(Deferred.succeed(lost, gone), Scope.close(scope, Exit.fail(gone))))
      const term: Term = { lost: Deferred.await(lost), isValidUnsafe: () => !process.hasLostTerm }
      const transport = injection.transport(process, control)
      const perturbed = Layer.effect(
        KubeClient,
        Effect.map(KubeClient, (own) => KubeClient.of(own.through((one) => one, injection.around(process, control))))
      ).pipe(Layer.provide(KubeClient.layer), Layer.provide(Layer.succeed(Transport, transport)))
      const shared = Layer.mergeAll(
        Cache.layer({ streamingList: "never" }),
        Discovery.layer,
        Recorder.layer,
        Supervisor.layer
      )
      const services = yield* Layer.buildWithScope(Layer.fresh(Layer.provideMerge(shared, perturbed)), scope)
      const fenced = Fence.client(Context.get(services, KubeClient), Effect.succeed(term))
      yield* Effect.forkIn(
        Effect.catch(Context.get(services, Supervisor).failure, (failure) =>
          Effect.sync(() => {
            entries.push({ type: "problem", at: now(), process: process.id, message: failure.message })
          })
        ),
        scope
      )
      const own = services.pipe(Context.add(KubeClient, fenced), Context.add(CurrentTerm, term))
      const timeline = recorder(entries, now, process.id, hasStopped)
      for (const controller of options.controllers) {
        yield* Layer.buildWithScope(controller.layer, scope).pipe(
          Effect.provideService(Timeline, timeline),
          Effect.provideContext(own as Context.Context<any>)
        )
      }
    }).pipe(
      Effect.provideService(Cache.Frozen, true),
      jumps ? Effect.provideService(Clock.Clock, jumping()) : (one) => one,
      Effect.provideContext(context as Context.Context<any>)
    ) as Effect.Effect<void>
  const stop = (process: Injection.Process, why: string) => {
    entries.push({ type: "end", at: now(), process: process.id, why })
    return fork(running.get(process.id) ?? Effect.void)
  }
  const control: Injection.Control = {
    fork,
    crash: (process, why) =>
      Effect.suspend(() => {
        process.hasEnded = true
        const stale = laggingBy(lags[why], commits, base)
        const next = Effect.suspend(() =>
          start("restart", stale === undefined ? undefined : { revision: stale, until: now() + 30_000 })
        )
        return Effect.andThen(stop(process, why), fork(Effect.delay(next, "1 second")))
      }),
    handoff: (process) =>
      Effect.suspend(() => {
        process.hasLostTerm = true
        return Effect.andThen(stop(process, "handoff"), fork(start("took over")))
      })
  }

  // The scenario.
  let steps = 0
  const step: Cluster["step"] = (text, change) =>
    Effect.suspend(() => {
      const n = ++steps
      const perturbed = injection.at("step", n)
      if (perturbed.includes("jump-ahead")) offset += hour
      if (perturbed.includes("jump-back")) offset -= hour
      entries.push({ type: "step", at: now(), n, text, ...(perturbed.length === 0 ? {} : { perturbed }) })
      return change
    })
  const cluster: Cluster = {
    step,
    apply: (objects) => step(`apply ${describeObjects(objects)}`, test.apply(objects)),
    edit: (resource, target, change) =>
      step(
        `edit ${Resource.qualifiedName(resource)} ${Key.make(target.namespace, target.name)}: ${JSON.stringify(change)}`,
        client.patch(resource, target, Patch.merge(change))
      ),
    delete: (resource, target, deleteOptions) =>
      step(
        `delete ${Resource.qualifiedName(resource)} ${Key.make(target.namespace, target.name)}`,
        Effect.asVoid(client.delete(resource, target, deleteOptions))
      ),
    advance: test.advance,
    snapshot: test.snapshot,
    client
  }

  for (const controller of options.environment ?? []) yield* test.run(controller)
  yield* start("start")
  yield* test.settle
  const result = yield* Effect.exit(options.scenario?.(cluster) as Effect.Effect<unknown>)
  yield* test.advance(limit(exploration))
  const converged = entries.length
  const objects = yield* server.writtenAfter(base)
  const checked = options.converged === undefined ? Exit.void : yield* Effect.exit(options.converged(cluster))
  yield* test.advance(limit(exploration))
  return {
    perturbations,
    entries,
    converged,
    objects,
    edits: injection.edits,
    violations,
    scenarioError: Exit.isFailure(result) ? messageOf(result.cause) : undefined,
    notConverged: Exit.isFailure(checked) ? messageOf(checked.cause) : undefined
  } satisfies Outcome
})

const hour = 3_600_000

const explored = { name: "explored", groups: ["system:masters", "system:authenticated"] }

/** By how many writes the cache of the next process lags. */
const lags: Partial<Record<Kind, number>> = { "travel-1": 1, "travel-2": 2, "travel-4": 4 }

const laggingBy = (writes: number | undefined, commits: ReadonlyArray<number>, base: number): number | undefined =>
  writes === undefined ? undefined : (commits[commits.length - 1 - writes] ?? base)

const messageOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}

const describeObjects = (objects: string | ReadonlyArray<object>): string =>
  typeof objects === "string"
    ? objects.replaceAll(/\s+/g, " ").trim().slice(0, 200)
    : (objects as ReadonlyArray<KubeObject>).map((one) => `${one.kind} ${Key.of(one)}`).join(", ")
