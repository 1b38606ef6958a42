/**
 * argv → settings → layers → run: the command line of any program of controllers, and which command does what. It decides nothing that
 * a single module could decide. Usage errors end with exit code 2 and one line, every other failure with 1 and one line, a signal with 0.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import process from "node:process"
import { check } from "./commands/check.ts"
import type * as Create from "./create/command.ts"
import { InvalidNames } from "./create/names.ts"
import * as Crds from "./commands/crds.ts"
import { manifests } from "./commands/manifests.ts"
import * as Run from "./run.ts"
import * as CommandLine from "../manager/process/commandLine.ts"
import * as ConfigFile from "../manager/configFile.ts"
import * as Help from "../manager/process/help.ts"
import type { Host } from "../manager/process/Host.ts"
import * as Logs from "../manager/logs/Logs.ts"
import * as Program from "../manager/Program.ts"
import * as Registry from "../manager/registry.ts"
import { orderly, Verdict } from "../manager/process/orderlyStop.ts"
import type * as Setting from "../manager/setting.ts"
import * as SettingFlags from "../manager/setting/flags.ts"
import * as SettingSources from "../manager/setting/sources.ts"
import * as Settings from "../manager/settings.ts"
import { gates } from "../manager/settings/controllers.ts"
import * as LogSettings from "../manager/settings/logs.ts"
import * as StandAlone from "../manager/cluster/standAlone.ts"
import * as Terminal from "../manager/process/Terminal.ts"
import { ElectionConfigError } from "../leader/lease.ts"
import * as Renewer from "../manager/renewal/Renewer.ts"

/**
 * Runs a program in this process, with the command line of all programs: its controllers, `check`, `manifests`, `crds` and the embedded
 * cluster. It sets the exit code: 0 stopped by a signal, 1 failed or lost the lease, 2 a wrong command line or configuration.
 */
export const run = <S extends Setting.Settings = {}, R = never, E = never>(
  options: Program.Options<S, R, E>,
  host: Host = process
): void => start(Result.map(Program.make(options), plain), host, thread)

/** What a program is, and which commands it has that others do not. */
export interface Whole {
  readonly program: Program.Program["Service"]
  /** Their settings, too. */
  readonly settings: Setting.Settings
  readonly commands: (host: Host) => ReadonlyArray<Subcommand>
  /** Rewrites the command line before it is parsed. Default: nothing. */
  readonly prepare?: ((argv: ReadonlyArray<string>) => ReadonlyArray<string>) | undefined
}

/** One of the program, or another that needs no more than it. */
type Subcommand = ReturnType<typeof Create.command> | ReturnType<typeof command>

const plain = (program: Program.Program["Service"]): Whole => ({ program, settings: {}, commands: () => [] })

/** Where the thread that renews leases begins, in sources and in what is built of them. */
const thread = new URL(`../manager/renewal/entry.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url)

/** The same for what has been checked already. `entry`: the file to start a thread of the program from. */
export const start = (whole: Result.Result<Whole, Program.InvalidProgram>, host: Host, entry?: URL): void => {
  // The reader of the output may close it, as in `… | head`: then lines are lost, and the program goes on.
  for (const output of [host.stdout, host.stderr]) output.on("error", () => {})
  const verdict: Verdict = { code: 0 }
  const name = Result.match(whole, { onFailure: () => "program", onSuccess: ({ program }) => program.name })
  const effect = Effect.flatMap(Effect.fromResult(whole), (one) => {
    const settings = {
      ...one.program.manifests,
      ...StandAlone.apiserverSettings,
      ...StandAlone.nodesSettings,
      ...one.settings
    }
    return cli(
      host,
      one
    )(CommandLine.normalize(one.prepare?.(host.argv.slice(2)) ?? host.argv.slice(2), settings)).pipe(
      Effect.provide(Layer.merge(NodeServices.layer, Terminal.layer(host, { name, settings }))),
      Effect.provideService(Program.Program, one.program)
    )
  }).pipe(
    Effect.tapCause((cause) => Effect.sync(() => Terminal.report(host, name, cause))),
    Effect.provideService(Renewer.Entry, entry),
    Effect.provideService(Verdict, verdict)
  )
  const ending = Terminal.exitCode(usageErrors)
  NodeRuntime.runMain(effect, {
    disableErrorReporting: true,
    teardown: (exit, onExit) => ending(exit, (code) => onExit(code === 0 ? verdict.code : code))
  })
}

/** What the user can only mend by saying something else. */
const usageErrors = [
  SettingSources.SettingError,
  ElectionConfigError,
  Registry.RegistryError,
  Program.InvalidProgram,
  InvalidNames
]

const cli = (host: Host, { commands, program }: Whole) =>
  Command.runWith(
    command(host, program.name, description(program), program.settings, (resolved) => Run.run(host, resolved)).pipe(
      Command.withSubcommands([
        command(
          host,
          "check",
          "Asks the cluster whether the controllers could work on it, changes nothing, and prints a table; exits 1 when they could not",
          program.settings,
          (resolved) => check(host, resolved)
        ),
        command(
          host,
          "manifests",
          "Prints what a cluster needs to run the chosen controllers, with exactly the rights that they declare, as YAML to apply",
          program.manifests,
          (resolved) => manifests(host, resolved)
        ),
        crds(host, program),
        command(
          host,
          "apiserver",
          "Runs the embedded API server alone and prints how to reach it",
          StandAlone.apiserverSettings,
          ({ values }) => serve(host, StandAlone.apiserver(values))
        ),
        command(
          host,
          "nodes",
          "Runs simulated nodes in the cluster of a kubeconfig",
          StandAlone.nodesSettings,
          (resolved) => serve(host, StandAlone.nodes(resolved, host.env))
        ),
        ...commands(host)
      ])
    ),
    { version: program.version }
  )

const crds = (host: Host, { manifests: { out }, settings }: Program.Program["Service"]) =>
  Command.make("crds").pipe(
    Command.withDescription(
      "Prints, installs or compares the definitions of the kinds that the chosen controllers declare"
    ),
    Command.withSubcommands([
      command(host, "print", "Prints the definitions as YAML to apply", { ...settings, out }, (resolved) =>
        Crds.print(host, resolved)
      ),
      command(
        host,
        "install",
        "Puts the definitions into the cluster and waits until the kinds are served",
        settings,
        (resolved) => Crds.install(host, resolved)
      ),
      command(
        host,
        "diff",
        "Says what installing would change and which stored objects would suffer; exits 1 when there is something",
        settings,
        (resolved) => Crds.diff(host, resolved)
      )
    ])
  )

/** A command with its settings, from all sources; its logs follow them. */
export const command = <S extends Setting.Settings & typeof LogSettings.settings, E>(
  host: Host,
  name: string,
  summary: string,
  settings: S,
  handle: (resolved: SettingSources.Resolved<S>) => Effect.Effect<void, E, Program.Program>
) =>
  Command.make(name, SettingFlags.of(settings), (parsed) =>
    Effect.gen(function* () {
      const config = "config" in settings ? Settings.settings.config : undefined
      const sources = yield* ConfigFile.load(config, { flags: SettingFlags.given(parsed), env: host.env })
      const resolved = yield* Effect.fromResult(SettingSources.resolve(settings, sources))
      return yield* Effect.provide(handle(resolved), Logs.layer(host, LogSettings.optionsOf(resolved)))
    })
  ).pipe(Command.withDescription(summary))

/** Starts a service, prints its line, and waits for a signal. */
const serve = <E>(host: Host, begin: Effect.Effect<string, E, Scope.Scope>) =>
  Effect.gen(function* () {
    const { name } = yield* Program.Program
    return yield* Effect.gen(function* () {
      host.stdout.write(`${yield* begin}\n`)
      return yield* Effect.never
    }).pipe(Effect.scoped, orderly(host, { name, timeout: "10 seconds" }))
  })

/** Only what is known of the controllers without running them, with the default settings. */
const description = ({ description: summary, settings, table }: Program.Program["Service"]): string => {
  const unsaid = SettingSources.resolve(settings, { flags: new Map(), env: {} })
  return Help.describe(summary, Result.isSuccess(unsaid) ? table(unsaid.success) : [], gates)
}
