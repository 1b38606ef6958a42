/**
 * argv → settings → layers → run. This is the one place that knows every room; it decides nothing that a room could decide. Usage
 * errors end with exit code 2 and one line, every other failure with 1 and one line, a signal with 0.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import type * as Runtime from "effect/Runtime"
import * as Schedule from "effect/Schedule"
import { hostname } from "node:os"
import { roster } from "./controllers/roster.ts"
import { Cache } from "./layers/Cache.ts"
import * as Clusters from "./layers/manager/clusters.ts"
import { KubeClient } from "./layers/KubeClient.ts"
import { Leadership } from "./layers/Leadership.ts"
import * as Manager from "./layers/manager/Manager.ts"
import * as Roster from "./layers/manager/roster.ts"
import * as Settings from "./layers/manager/settings.ts"
import { Recorder } from "./layers/Recorder.ts"
import * as Schedules from "./layers/Schedules.ts"
import { Supervisor } from "./layers/Supervisor.ts"
import * as Election from "./leader/Election.ts"
import { version } from "./version.ts"

/** A wrong command line; the message is one line. */
class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

/** What the operating system gives the program. */
export interface Host {
  readonly argv: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stderr: { readonly write: (text: string) => unknown }
  readonly on: (signal: "SIGINT" | "SIGTERM", listener: () => void) => unknown
  readonly exit: (code: number) => never
}

/** Runs the program in this process; it sets the exit code. */
export const main = (host: Host): void => {
  const effect = cli(host)(host.argv.slice(2)).pipe(
    Effect.provide(Layer.mergeAll(NodeServices.layer, logs(host), presenter(host), globals)),
    Effect.tapCause((cause) => Effect.sync(() => report(host, cause)))
  )
  NodeRuntime.runMain(effect, { disableErrorReporting: true, teardown: exitCode })
}

/** One line to standard error for whatever ended the program, and none for a signal. */
const report = (host: Host, cause: Cause.Cause<unknown>): void => {
  if (Cause.hasInterruptsOnly(cause)) return
  const error = Cause.squash(cause)
  if (CliError.isCliError(error)) return
  const text = error instanceof Error && error.message !== "" ? error.message : String(error)
  host.stderr.write(`effect-controller-manager: ${text.replace(/\s*\n\s*/g, " ")}\n`)
}

/** 0 for success and for a signal, 2 for a wrong command line, 1 for the rest. */
const exitCode: Runtime.Teardown = (exit, onExit) => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return onExit(0)
  const error = Cause.squash(exit.cause)
  if (CliError.isCliError(error)) return onExit(error._tag === "ShowHelp" && error.errors.length === 0 ? 0 : 2)
  return onExit(error instanceof UsageError || error instanceof Roster.RosterError ? 2 : 1)
}

/** Everything the program says about itself goes to standard error; standard output is for answers. */
const logs = (host: Host) =>
  Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void host.stderr.write(`${line}\n`))])

const globals = Layer.succeed(
  CliConfig.CliConfig,
  CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions, GlobalFlag.LogLevel] })
)

/** Help and version as the library prints them; a wrong command line is one line instead of the whole help. */
const presenter = (host: Host) =>
  CliOutput.layerPresenter({
    present: (event) =>
      event._tag === "InvalidInvocation"
        ? Effect.sync(() => {
            const text = event.errors.map((error) => error.message.replace(/\s*\n\s*/g, " ")).join("; ")
            host.stderr.write(`effect-controller-manager: ${text}; see --help\n`)
          })
        : CliOutput.defaultPresenter.present(event)
  })

const cli = (host: Host) =>
  Command.runWith(
    Command.make("effect-controller-manager", Settings.flags, (settings) => run(host, settings)).pipe(
      Command.withDescription(description)
    ),
    { version }
  )

const description = `Runs Kubernetes controllers: watches an API server, leads if asked to, and reconciles.

Controllers:
${roster({ podCount: { schedule: Schedule.forever, nodeSelector: undefined } })
  .map(({ controller, summary, byDefault }) => `  ${controller.name} (${byDefault}): ${summary}`)
  .join("\n")}

Exit codes: 0 stopped by a signal, 1 failed or lost the lease, 2 wrong command line.`

/** Chooses the controllers first: a wrong name must not start a cluster. */
const run = (host: Host, settings: Settings.Settings) =>
  Effect.gen(function* () {
    yield* watchSignals(host, settings)
    const cluster = yield* Clusters.connect(settings, host.env)
    const selection = yield* Effect.fromResult(
      Roster.select(roster({ podCount: podCount(settings) }), settings.controllers, { embedded: cluster.embedded })
    )
    yield* Effect.forEach(selection.disabled, (name) => Effect.logInfo(`"${name}" is disabled`), { discard: true })
    return yield* Manager.run({ controllers: selection.chosen.map((entry) => entry.controller) }).pipe(
      Effect.provide(services(settings, cluster))
    )
  }).pipe(Effect.scoped)

const podCount = (settings: Settings.Settings) => ({
  schedule:
    settings.podCountSchedule === "spaced"
      ? Schedule.spaced(settings.podCountInterval)
      : Schedules.nonSliding(settings.podCountInterval),
  nodeSelector: Option.getOrUndefined(settings.podCountNodes)
})

/** From the outside in; closed from the inside out. */
const services = (settings: Settings.Settings, cluster: Clusters.Connected) => {
  const leadership = settings.leaderElect
    ? Layer.unwrap(
        Effect.map(Clusters.identity(hostname()), (identity) =>
          Election.layer({
            identity,
            name: settings.leaseName,
            namespace: Option.getOrElse(settings.leaseNamespace, () => cluster.namespace),
            leaseDuration: settings.leaseDuration,
            renewDeadline: settings.renewDeadline,
            retryPeriod: settings.retryPeriod
          })
        )
      )
    : Leadership.layerAlways
  return leadership.pipe(
    Layer.provideMerge(Recorder.layerWith({ instance: hostname() })),
    Layer.provideMerge(Cache.layer()),
    Layer.provideMerge(KubeClient.layer),
    Layer.provideMerge(cluster.transport),
    Layer.provideMerge(Supervisor.layer)
  )
}

/** The first signal asks for an orderly stop, which may take so long and no longer; the second ends the process at once. */
const watchSignals = (host: Host, settings: Settings.Settings) =>
  Effect.map(Effect.context<never>(), (context) => {
    let received = 0
    const onSignal = () => {
      if (++received > 1) host.exit(1)
      const overdue = Effect.andThen(
        Effect.sleep(settings.shutdownTimeout),
        Effect.sync(() => {
          host.stderr.write("effect-controller-manager: the stop took too long; not everything was closed in order\n")
          host.exit(1)
        })
      )
      Effect.runForkWith(context)(overdue)
    }
    host.on("SIGINT", onSignal)
    host.on("SIGTERM", onSignal)
  })
