/**
 * The property of a watch with a server that fails at random: when the failures are over, the store equals the server; the rate of requests
 * is bounded; two minutes without a failure reset the backoff; no request is sent after the end.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Watch from "../../../src/streams/watch/watch.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import { context, gone, refused, reset, Server, start, state, status, tooLarge, type Watcher } from "./watchServer.ts"

/** One random step; numbers are reduced to the possible range. */
export interface Action {
  readonly kind: number
  readonly name: number
  /** Seconds until the next one. */
  readonly wait: number
}

const errors: ReadonlyArray<() => ApiError.ApiError> = [
  refused,
  gone,
  tooLarge,
  () => status(500, "InternalError"),
  () => status(401, "Unauthorized"),
  () => status(429, "TooManyRequests", { retryAfterSeconds: 7 }),
  () => ApiError.decode(context, "not JSON")
]

/** Makes the server fail new lists, watches or both from now on, or end watches at once. */
const misbehave = (server: Server, which: number, error: (() => ApiError.ApiError) | undefined): void => {
  if (error === undefined) {
    server.onWatch = () => Stream.drain(Stream.fromEffect(Effect.sleep("100 millis")))
    return
  }
  server.onList = which % 3 === 0 ? undefined : () => Effect.fail(error())
  server.onWatch = which % 3 === 1 ? undefined : () => Stream.fail(error())
}

const behave = (server: Server): void => {
  server.onList = undefined
  server.onWatch = undefined
}

const act = (server: Server, { kind, name, wait }: Action): void => {
  switch (kind % 14) {
    case 0:
    case 1:
      return void server.put(`o${name % 8}`)
    case 2:
      return server.remove(`o${name % 8}`)
    case 3:
      server.remove(`o${name % 8}`)
      return void server.put(`o${name % 8}`, { uid: `second-${server.version}` })
    case 4:
      return server.bookmark()
    case 5:
      return server.close(reset())
    case 6:
      return server.close()
    case 7:
      return void server.silence()
    case 8: {
      const silent = server.silence()
      server.remove(`o${name % 8}`)
      server.compact()
      return server.close(wait % 2 === 0 ? gone() : undefined, silent)
    }
    case 9: {
      // The event of a change, malformed: its version can be read, its object cannot.
      const connections = server.silence()
      server.put(`o${name % 8}`)
      return server.send(
        { type: "MODIFIED", object: { metadata: { resourceVersion: `${server.version}` } } },
        connections
      )
    }
    case 10:
      return server.close(ApiError.fromWatchError(context, { kind: "Status", code: 500, message: "etcd" }))
    case 11:
    case 12:
      misbehave(server, name, errors[wait % (errors.length + 1)])
      return server.close(reset())
    default:
      return behave(server)
  }
}

/** Failures whose attempt is not the first, although there was no failure for two minutes. */
interface Log {
  readonly failedAt: Array<{ readonly at: number; readonly attempt: number; readonly quiet: boolean }>
}

/** Undefined if the property holds, otherwise what does not. */
export const check = (plan: {
  readonly actions: ReadonlyArray<Action>
  readonly streaming: boolean
}): Effect.Effect<string | undefined> =>
  Effect.scoped(
    Effect.gen(function* () {
      const server = new Server()
      server.streaming = plan.streaming
      for (let i = 0; i < 5; i++) server.put(`o${i}`)
      const log: Log = { failedAt: [] }
      const observed: typeof Watch.watch = (source, options) =>
        Stream.tap(Watch.watch(source, options), (change) =>
          Effect.map(Clock.currentTimeMillis, (at) => {
            if (change._tag !== "Failed") return
            const last = Math.max(
              -Infinity,
              ...server.requests.map((request) => request.at).filter((time) => time < at)
            )
            log.failedAt.push({ at, attempt: change.attempt, quiet: at - last > 125_000 })
          })
        )
      const watcher = yield* start(server, { pageSize: 3 }, observed)
      for (const action of plan.actions) {
        act(server, action)
        yield* watcher.settle
        yield* TestClock.adjust(`${action.wait % 20} seconds`)
        yield* watcher.settle
      }
      behave(server)
      yield* quietMinutes(server, watcher, 5)
      const wrong = yield* verdict(server, watcher, log)
      yield* watcher.stop
      const requests = server.requests.length
      yield* TestClock.adjust("10 minutes")
      return wrong ?? (server.requests.length === requests && server.open === 0 ? undefined : "a request after the end")
    })
  )

/** Lets time pass as on a healthy server, with a bookmark every minute. */
const quietMinutes = (server: Server, watcher: Watcher, minutes: number) =>
  Effect.gen(function* () {
    for (let i = 0; i < minutes; i++) {
      yield* TestClock.adjust("30 seconds")
      server.bookmark()
      yield* watcher.settle
      yield* TestClock.adjust("30 seconds")
      yield* watcher.settle
    }
  })

const verdict = (server: Server, watcher: Watcher, log: Log) =>
  Effect.gen(function* () {
    if (state(watcher.store.list()).join() !== state(server.objects.values()).join())
      return "the store is not the server"
    if (server.open !== 1) return `${server.open} connections`
    server.close(reset())
    yield* watcher.settle
    yield* TestClock.adjust("3 seconds")
    yield* watcher.settle
    const last = log.failedAt.at(-1)
    if (last === undefined || !last.quiet || last.attempt !== 1) return "the backoff did not start over"
    if (server.open !== 1) return "not resumed"
    const elapsed = yield* Clock.currentTimeMillis
    const starts = server.requests.filter((request) => request.options.continue === undefined).length
    return starts <= 30 + elapsed / 5000 ? undefined : `${starts} requests in ${elapsed} ms`
  })
