/**
 * The thread that renews leases, from the outside: started once, it renews every lease it is given, until a stop message. While a
 * lease is kept, this thread shows at a steady pace that it is alive, and passes on credentials that have changed. When the
 * thread cannot be had, `keep` ends, and the elector renews by itself.
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
  /** The program's entry, which serves as the thread when it finds itself in one. */
  readonly entry: URL
  readonly endpoint: Endpoint["Service"]
  readonly userAgent: string
}

type News = Queue.Queue<Renewal.Heard, Cause.Done>

interface Thread {
  readonly endpoint: Endpoint["Service"]
  readonly post: (message: Protocol.ToThread) => void
  /** Who listens to which job. */
  readonly jobs: Map<number, News>
  /** What the thread presents; undefined before the first. */
  identity: Identity | undefined
  /** Why there is no thread any more. */
  over: string | undefined
}

/** The program's own entry, if it has one: a library's user may have none, and a test has another. */
export const Entry = Context.Reference<URL | undefined>("effect-controller-manager/Entry", {
  defaultValue: () => undefined
})

/** A keeper for the leases of a cluster; undefined without an entry, and without an endpoint, when the cluster is in this very process. */
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
 * It holds a lease and a connection. Without a limit Node gives a thread as much young generation as a program, which it
 * would fill before a collection. A thread that needs more ends, and the main thread renews by itself.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 }

const start = ({ endpoint, entry, userAgent }: Options, fork: (effect: Effect.Effect<void>) => void) => {
  const worker = new Worker(entry, { workerData: Protocol.role, name: Protocol.role, resourceLimits })
  const thread: Thread = {
    endpoint,
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin, only windows have
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
        if (thread.over !== undefined) return yield* gone(thread)
        memory.beatenAt = now()
        yield* passIdentity(thread)
        thread.jobs.set(job, news)
        thread.post({ _tag: "Keep", job, holding, memory: memory.buffer })
        const beating = Effect.sync(() => (memory.beatenAt = now())).pipe(
          Effect.andThen(passIdentity(thread)),
          Effect.andThen(Effect.sleep(pace(holding.settings.renewDeadline))),
          Effect.forever
        )
        yield* Effect.raceFirst(beating, Stream.runForEach(Stream.fromQueue(news), heard))
        yield* gone(thread)
      }).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            if (thread.jobs.delete(job)) thread.post({ _tag: "Stop", job })
          })
        )
      )
  }
}

/** Milliseconds between two signs of life: several in each deadline. */
const pace = (renewDeadline: number): number => Math.min(500, renewDeadline / 8)

const gone = ({ over }: Thread) => Effect.logWarning(`the thread that renews leases has ended: ${over ?? "unknown"}`)

/** If credentials cannot be read now, the thread goes on with those it has until the next time. */
const passIdentity = (thread: Thread): Effect.Effect<void> =>
  thread.endpoint.identity.pipe(
    Effect.map((identity) => {
      if (identity === thread.identity) return
      thread.identity = identity
      thread.post({ _tag: "Identity", identity: Protocol.bare(identity) })
    }),
    Effect.ignore
  )

const replaceIdentity = (thread: Thread): Effect.Effect<void> =>
  thread.identity === undefined
    ? Effect.void
    : Effect.andThen(Effect.ignore(thread.endpoint.renew(thread.identity)), passIdentity(thread))
