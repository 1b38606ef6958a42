/**
 * Signals: the first SIGINT, SIGTERM or SIGHUP begins an orderly stop; another SIGINT or SIGTERM ends the process at once. A stop that exceeds its
 * time limit is ended as well, whatever blocks it: a finalizer, a socket, a thread. Work that was given up is named in one line, and the exit code
 * is 1. Nested scopes determine the stop order.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Shutdown from "../../layers/Shutdown.ts"
import * as Host from "./Host.ts"

/**
 * The exit code that a stop sets. It is not an error of the program, because an interrupted effect ends as interrupted whatever its finalizers
 * find.
 */
export interface Verdict {
  code: 0 | 1
}

export const Verdict = Context.Reference<Verdict>("effect-controller-manager/manager/Verdict", {
  defaultValue: () => ({ code: 0 })
})

/** `npm start` forwards a signal that the terminal has sent to both processes: a second signal within this time is the forwarded one. */
const echo = "1 second"

/** The time limit of a stop, and the program's name for messages. */
export interface Options extends Shutdown.Options {
  readonly name: string
}

type Complain = (text: string) => void

interface Edge {
  readonly host: Host.Host
  readonly complain: Complain
}

/** Runs a program until it ends or a signal stops it, within the time of `options`. */
export const orderly =
  (host: Host.Host, options: Options) =>
  <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.gen(function* () {
      const limit = Shutdown.limitsOf(options).end
      const complain: Complain = (text) => Host.complain(host, options.name, text)
      const shutdown = yield* Shutdown.make(options)
      yield* watchSignals(host, shutdown)
      yield* Effect.forkDetach(end({ host, complain }, shutdown, limit))
      return yield* program.pipe(
        Effect.provideService(Shutdown.Shutdown, shutdown),
        Effect.ensuring(judge(complain, shutdown, limit))
      )
    })

/** The program is interrupted by its caller. */
const watchSignals = (host: Host.Host, shutdown: Shutdown.Shutdown) =>
  Effect.map(Effect.context(), (context) => {
    const fork = Effect.runForkWith(context)
    let received = 0
    let echoing = host.env["npm_lifecycle_event"] === "start"
    const onSignal = () => {
      if (++received > 1) return echoing ? undefined : host.exit(1)
      fork(Effect.andThen(shutdown.begin, Effect.logInfo("Stopping; a second signal ends the process at once")))
      if (echoing) fork(Effect.andThen(Effect.sleep(echo), () => Effect.sync(() => void (echoing = false))))
    }
    host.on("SIGINT", onSignal)
    host.on("SIGTERM", onSignal)
    // A terminal that closes may send SIGHUP more than once, so SIGHUP never forces the end.
    host.on("SIGHUP", () => void (received === 0 && host.emit("SIGTERM")))
  })

/** Never interrupted: later finalizers must not block the process either. */
const end = Effect.fnUntraced(function* ({ complain, host }: Edge, shutdown: Shutdown.Shutdown, limit: number) {
  yield* shutdown.begun
  if (limit === Infinity) return
  yield* Effect.sleep(limit)
  const running = shutdown.runningUnsafe()
  const what = running.length > 0 ? `still running: ${running.join(", ")}` : "not everything was closed"
  complain(`the stop took longer than ${format(limit)}; ${what}`)
  host.exit(1)
})

/** Runs after everything inside has closed. */
const judge = (complain: Complain, shutdown: Shutdown.Shutdown, limit: number): Effect.Effect<void> =>
  Effect.map(Verdict, (verdict) => {
    const givenUp = shutdown.givenUpUnsafe()
    if (givenUp.length === 0) return
    verdict.code = 1
    const allowed = `the stop may take ${format(limit)}, which was not enough`
    complain(`${allowed}; given up: ${givenUp.join(", ")}`)
  })

const format = (millis: number): string => Duration.format(Duration.millis(millis))
