/**
 * The main thread's side of the thread that renews leases. The thread is started once and renews every lease that it is given until a stop message.
 * Meanwhile the main thread sends a heartbeat at a fixed interval and passes on changed credentials. If the thread fails, `keep` ends, and the
 * election renews in the main thread.
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { Worker } from "node:worker_threads"
import type { Endpoint, Identity } from "../../layers/Endpoint.ts"
import type * as Renewal from "../../leader/renewal.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import * as Protocol from "./protocol.ts"

interface Options {
  /** The program's entry file, which runs the thread's code if it is started as a thread. */
  readonly entry: URL
  readonly endpoint: Endpoint["Service"]
  readonly userAgent: string
}

type News = Queue.Queue<Renewal.Heard, Cause.Done>

interface Thread {
  readonly endpoint: Endpoint["Service"]
  readonly post: (message: Protocol.ToThread) => void
  /** The queue of results of each job. */
  readonly jobs: Map<number, News>
  /** The credentials of the thread; undefined before the first message. */
  identity: Identity | undefined
  /** Why the thread has ended. */
  over: string | undefined
}

/** The entry file of the thread. A library user may have none, and tests set another. */
export const Entry = Context.Reference<URL | undefined>("effect-controller-manager/Entry", {
  defaultValue: () => undefined
})

/** A keeper for the leases of a cluster. Undefined without an entry file, and without an endpoint if the cluster runs in this process. */
export const find = Effect.fnUntraced(function* (endpoint: Endpoint["Service"] | undefined, userAgent: string) {
  const entry = yield* Entry
  return entry === undefined || endpoint === undefined ? undefined : yield* make({ entry, endpoint, userAgent })
})

/** The thread starts with the first election, and ends with the scope. */
const make = Effect.fnUntraced(function* (options: Options) {
  const fork = Effect.runForkWith(yield* Effect.context())
  let started: { readonly thread: Thread; readonly worker: Worker } | undefined
  const begin = (): Thread => (started ??= start(options, (effect) => void fork(effect))).thread
  yield* Effect.addFinalizer(() =>
    started === undefined ? Effect.void : Effect.promise(() => started?.worker.terminate() ?? Promise.resolve(0))
  )
  let jobs = 0
  const keeper: Renewal.Keeper = {
    prepare: Effect.sync(() => void begin()),
    keep: (holding) => keep(begin(), jobs++, holding)
  }
  return keeper
})

/**
 * The thread needs memory for a lease and a connection only. Without a limit Node would give it as much young generation as the program, and fill
 * it before a collection. A thread that needs more ends, and the main thread renews.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 }

const start = ({ endpoint, entry, userAgent }: Options, fork: (effect: Effect.Effect<void>) => void) => {
  const worker = new Worker(entry, { workerData: Protocol.role, name: Protocol.role, resourceLimits })
  const thread: Thread = {
    endpoint,
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have an origin, threads do not
    post: (message) => worker.postMessage(message),
    jobs: new Map(),
    identity: undefined,
    over: undefined
  }
  const end = (why: string) => {
    thread.over ??= why
    for (const news of thread.jobs.values()) Queue.endUnsafe(news)
  }
  worker.on("error", (error) => end(String(error)))
  worker.on("exit", (code) => end(`it ended with ${code}`))
  worker.on("message", (message: Protocol.FromThread) => {
    if (message._tag === "Rejected") return fork(replaceIdentity(thread))
    const news = thread.jobs.get(message.job)
    if (news !== undefined) Queue.offerUnsafe(news, message.heard)
  })
  const proxy = endpoint.proxy === undefined ? undefined : Redacted.value(endpoint.proxy)
  thread.post({ _tag: "Connect", server: endpoint.server, proxy, userAgent })
  return { thread, worker }
}

const keep = (thread: Thread, job: number, holding: Renewal.Holding): Renewal.Keeping => {
  const memory = new Protocol.Memory()
  memory.provenAt = holding.sentAt
  return {
    provenUnsafe: () => memory.provenAt,
    run: (heard) =>
      Effect.gen(function* () {
        const now = Monotonic.millis(yield* Clock.Clock)
        const news: News = yield* Queue.unbounded<Renewal.Heard, Cause.Done>()
        if (thread.over !== undefined) return yield* logEnd(thread)
        memory.heartbeatAt = now()
        yield* passIdentity(thread)
        thread.jobs.set(job, news)
        thread.post({ _tag: "Keep", job, holding, memory: memory.buffer })
        const heartbeats = Effect.sync(() => (memory.heartbeatAt = now())).pipe(
          Effect.andThen(passIdentity(thread)),
          Effect.andThen(Effect.sleep(pace(holding.settings.renewDeadline))),
          Effect.forever
        )
        yield* Effect.raceFirst(heartbeats, Stream.runForEach(Stream.fromQueue(news), heard))
        yield* logEnd(thread)
      }).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            if (thread.jobs.delete(job)) thread.post({ _tag: "Stop", job })
          })
        )
      )
  }
}

/** Milliseconds between two heartbeats: several in each renew deadline. */
const pace = (renewDeadline: number): number => Math.min(500, renewDeadline / 8)

const logEnd = ({ over }: Thread) => Effect.logWarning(`the thread that renews leases has ended: ${over ?? "unknown"}`)

/** If the credentials cannot be read, the thread keeps those that it has until the next heartbeat. */
const passIdentity = (thread: Thread): Effect.Effect<void> =>
  thread.endpoint.identity.pipe(
    Effect.map((identity) => {
      if (identity === thread.identity) return
      thread.identity = identity
      thread.post({ _tag: "Identity", identity: Protocol.toPlain(identity) })
    }),
    Effect.ignore
  )

const replaceIdentity = (thread: Thread): Effect.Effect<void> =>
  thread.identity === undefined
    ? Effect.void
    : Effect.andThen(Effect.ignore(thread.endpoint.renew(thread.identity)), passIdentity(thread))
