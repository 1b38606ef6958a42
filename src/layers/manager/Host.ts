/**
 * What the operating system gives the program, as an interface: arguments, environment, standard streams, signals. Nobody else
 * reads them. And what a signal means: the first asks for an orderly stop, the second ends the process.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** A standard stream. */
export interface Output {
  readonly write: (text: string) => unknown
  /** What it has taken and not passed on yet. */
  readonly writableLength?: number | undefined
  readonly on: (event: "error", listener: () => void) => unknown
}

export interface Host {
  readonly argv: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: Output
  readonly stderr: Output
  readonly on: (signal: "SIGINT" | "SIGTERM", listener: () => void) => unknown
  readonly exit: (code: number) => never
}

/** `npm start` passes on a signal that the terminal has sent to both: for so long after the first, another one is its echo. */
const echo = "1 second"

/** The orderly stop may take so long and no longer. */
export const watchSignals = (host: Host, { shutdownTimeout }: { readonly shutdownTimeout: Duration.Duration }) =>
  Effect.map(Effect.context(), (context) => {
    let received = 0
    let echoing = host.env["npm_lifecycle_event"] === "start"
    const overdue = Effect.gen(function* () {
      yield* Effect.logInfo("Stopping; a second signal ends the process at once")
      yield* Effect.sleep(shutdownTimeout)
      const limit = Duration.format(shutdownTimeout)
      host.stderr.write(`effect-controller-manager: the stop took longer than ${limit}; not everything was closed\n`)
      host.exit(1)
    })
    const fork = Effect.runForkWith(context)
    const onSignal = () => {
      if (++received === 1) {
        fork(overdue)
        if (echoing) fork(Effect.andThen(Effect.sleep(echo), () => Effect.sync(() => void (echoing = false))))
      } else if (!echoing) host.exit(1)
    }
    host.on("SIGINT", onSignal)
    host.on("SIGTERM", onSignal)
  })
