/**
 * The command line of any program: parses arguments, resolves settings, and runs the command. Usage errors end with exit code 2 and one line, all
 * other failures with 1 and one line, a signal with 0.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import process from "node:process"
import * as Explain from "./commands/explain.ts"
import { check } from "./commands/check.ts"
import type * as Create from "./create/command.ts"
import { InvalidNames } from "./create/names.ts"
import type * as Explore from "./explore/command.ts"
import { InvalidExplorations } from "./explore/files.ts"
import * as Crds from "./commands/crds.ts"
import * as Dashboards from "./commands/dashboards.ts"
import * as CrdTypes from "./commands/crdTypes.ts"
import { leases } from "./commands/leases.ts"
import * as Migrate from "./commands/crdsMigrate.ts"
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
import * as Progress from "../manager/progress/Progress.ts"
import * as StatusLine from "../manager/progress/StatusLine.ts"
import type * as Setting from "../layers/Setting.ts"
import * as SettingFlags from "../manager/setting/flags.ts"
import * as SettingSources from "../manager/setting/sources.ts"
import * as Settings from "../manager/settings.ts"
import * as Output from "../manager/settings/output.ts"
import * as LogSettings from "../manager/settings/logs.ts"
import * as StandAlone from "./cluster/standAlone.ts"
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

/** A program and the additional commands that only it has. */
export interface Whole {
  readonly program: Program.Program["Service"]
  /** The settings of the additional commands. */
  readonly settings: Setting.Settings
  readonly commands: (host: Host) => ReadonlyArray<Offered>
  /** Rewrites the command line before it is parsed. Default: nothing. */
  readonly prepare?: ((argv: ReadonlyArray<string>) => ReadonlyArray<string>) | undefined
}

/** A subcommand; it needs no more services than the program. */
type Subcommand = ReturnType<
  typeof command | typeof crds | typeof Explain.command | typeof Create.command | typeof Explore.command
>

const plain = (program: Program.Program["Service"]): Whole => ({ program, settings: {}, commands: () => [] })

/** The entry file of the thread that renews leases, as TypeScript source or as built JavaScript. */
const thread = new URL(`../manager/renewal/entry.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url)

/** The same for a validated program. `entry`: the entry file of the thread that renews leases. */
export const start = (whole: Result.Result<Whole, Program.InvalidProgram>, given: Host, entry?: URL): void => {
  // The reader may close the output, as in `… | head`: then lines are lost, and the program continues.
  for (const output of [given.stdout, given.stderr]) output.on("error", () => {})
  const { host, status } = StatusLine.attach(given)
  const verdict: Verdict = { code: 0 }
  const name = Result.match(whole, { onFailure: () => "program", onSuccess: ({ program }) => program.name })
  const effect = Effect.flatMap(Effect.fromResult(whole), (one) => {
    const settings = {
      ...one.program.manifests,
      ...StandAlone.apiserverSettings,
      ...StandAlone.nodesSettings,
      ...Explain.settings,
      ...Migrate.settings,
      ...CrdTypes.settings,
      ...one.settings
    }
    const argv = CommandLine.normalize(one.prepare?.(host.argv.slice(2)) ?? host.argv.slice(2), settings)
    return cli(host, one, argv).pipe(
      Effect.provide(Layer.merge(NodeServices.layer, Terminal.layer(host, { name, settings }))),
      Effect.provideService(Program.Program, one.program)
    )
  }).pipe(
    Effect.tapCause((cause) => Effect.sync(() => Terminal.report(host, name, cause))),
    Effect.provideService(Renewer.Entry, entry),
    Effect.provideService(Verdict, verdict),
    Effect.provideService(Progress.Screen, status)
  )
  const ending = Terminal.exitCode(usageErrors)
  NodeRuntime.runMain(effect, {
    disableErrorReporting: true,
    teardown: (exit, onExit) => ending(exit, (code) => onExit(code === 0 ? verdict.code : code))
  })
}

/** Errors that the user can fix only by changing the command line or the configuration. */
const usageErrors = [
  SettingSources.SettingError,
  ElectionConfigError,
  Registry.RegistryError,
  Program.InvalidProgram,
  InvalidNames,
  InvalidExplorations
]

/** What a command is called, and the arguments of the process, which decide which flags it needs. */
export interface About {
  readonly name: string
  readonly summary: string
  readonly argv: ReadonlyArray<string>
}

/** A subcommand before it is built. */
interface Offered extends Omit<About, "argv"> {
  readonly build: (about: About) => Subcommand
}

/**
 * A command with its flags costs as much as a request, so only those that the arguments can mean are built. The others are names for `--help` and
 * for messages about typing errors. Completions list the flags of all.
 */
const subcommands = (offered: ReadonlyArray<Offered>, argv: ReadonlyArray<string>) => {
  const isWhole = argv.some((argument) => argument.startsWith("--completions"))
  return offered.map(({ build, name, summary }) =>
    isWhole || argv.includes(name)
      ? build({ name, summary, argv })
      : Command.make(name).pipe(Command.withDescription(summary))
  )
}

const cli = (host: Host, { commands, program }: Whole, argv: ReadonlyArray<string>) =>
  Command.runWith(
    command(host, { name: program.name, summary: description(program, argv), argv }, program.settings, (resolved) =>
      Run.run(host, resolved)
    ).pipe(Command.withSubcommands(subcommands([...common(host, program), ...commands(host)], argv))),
    { version: program.version }
  )(argv)

/** The subcommands of every program. */
const common = (host: Host, program: Program.Program["Service"]): ReadonlyArray<Offered> => [
  {
    name: "check",
    summary:
      "Checks without changes whether the controllers can run on the cluster, and prints a table; exits with code 1 if they cannot",
    build: (about) =>
      command(host, about, { ...program.settings, ...Output.settings }, (resolved) => check(host, resolved))
  },
  {
    name: "leases",
    summary: "Prints the Leases under which the chosen controllers lead, and which process holds them",
    build: (about) =>
      command(host, about, { ...program.settings, ...Output.settings }, (resolved) => leases(host, resolved))
  },
  {
    name: "manifests",
    summary:
      "Prints the manifests to run the chosen controllers in a cluster, with exactly the permissions that they need, as YAML",
    build: (about) => command(host, about, program.manifests, (resolved) => manifests(host, resolved))
  },
  {
    name: "crds",
    summary:
      "Prints, installs or compares the definitions of the kinds that the chosen controllers declare, migrates stored objects, and writes types for any definition",
    build: (about) => crds(host, program, about)
  },
  {
    name: "dashboards",
    summary:
      "Prints the Grafana dashboards for the metrics of the program and of the chosen controllers, in a ConfigMap",
    build: (about) => {
      const { installNamespace } = program.manifests
      const settings = { ...program.settings, ...Dashboards.settings, installNamespace }
      return command(host, about, settings, (resolved) => Dashboards.dashboards(host, resolved))
    }
  },
  { name: "explain", summary: Explain.summary, build: () => Explain.command(host) },
  {
    name: "apiserver",
    summary: "Runs the embedded API server alone and prints how to reach it",
    build: (about) =>
      command(host, about, StandAlone.apiserverSettings, ({ values }) => serve(host, StandAlone.apiserver(values)))
  },
  {
    name: "nodes",
    summary: "Runs simulated nodes in the cluster of a kubeconfig",
    build: (about) =>
      command(host, about, StandAlone.nodesSettings, (resolved) => serve(host, StandAlone.nodes(resolved, host.env)))
  }
]

const crds = (
  host: Host,
  { manifests: { out }, settings: common }: Program.Program["Service"],
  { argv, name, summary }: About
) => {
  const settings = { ...common, ...Output.settings }
  return Command.make(name).pipe(
    Command.withDescription(summary),
    Command.withSubcommands([
      command(
        host,
        { name: "print", summary: "Prints the definitions as YAML to apply", argv },
        { ...settings, out },
        (resolved) => Crds.print(host, resolved)
      ),
      command(
        host,
        {
          name: "install",
          summary: "Installs the definitions in the cluster and waits until the kinds are served",
          argv
        },
        settings,
        (resolved) => Crds.install(host, resolved)
      ),
      command(
        host,
        {
          name: "diff",
          summary:
            "Prints what installing would change and which stored objects would be rejected or pruned; exits with code 1 if there is anything",
          argv
        },
        settings,
        (resolved) => Crds.diff(host, resolved)
      ),
      migrating(host, common),
      typing(host, common)
    ])
  )
}

const migrating = (host: Host, common: Program.Program["Service"]["settings"]) => {
  const settings = { ...common, ...Migrate.settings }
  const definitions = Argument.variadic(Argument.String("definition"))
  return Command.make("migrate", { definitions, flags: SettingFlags.of(settings) }, ({ definitions, flags }) =>
    handled(host, settings, flags, (resolved) => Migrate.migrate(host, resolved, definitions))
  ).pipe(
    Command.withDescription(
      "Has all objects of the named definitions, or of the kinds of the chosen controllers, stored in the storage version, and removes the other versions from status.storedVersions; exits with code 1 if an object was refused"
    )
  )
}

const typing = (host: Host, common: Program.Program["Service"]["settings"]) => {
  const settings = { ...common, ...CrdTypes.settings }
  const inputs = Argument.variadic(
    Argument.String("file|url|-|name").pipe(
      Argument.withDescription(
        "Files, addresses of HTTPS or - for standard input, with YAML or JSON; with --from-cluster names of definitions"
      )
    )
  )
  return Command.make("types", { inputs, flags: SettingFlags.of(settings) }, ({ flags, inputs }) =>
    handled(host, settings, flags, (resolved) => CrdTypes.types(host, resolved, inputs))
  ).pipe(
    Command.withDescription(
      "Writes TypeScript modules with Effect Schemas for the kinds of any CustomResourceDefinitions"
    )
  )
}

/** A command with its settings, from all sources; its logs follow them. */
export const command = <S extends Setting.Settings & typeof LogSettings.settings, E>(
  host: Host,
  { argv, name, summary }: About,
  settings: S,
  handle: (resolved: SettingSources.Resolved<S>) => Effect.Effect<void, E, Program.Program>
) =>
  Command.make(name, SettingFlags.of(settings, argv), (parsed) => handled(host, settings, parsed, handle)).pipe(
    Command.withDescription(summary)
  )

/** Runs a command with the settings that follow from the parsed flags. */
const handled = Effect.fnUntraced(function* <S extends Setting.Settings & typeof LogSettings.settings, E, R>(
  host: Host,
  settings: S,
  parsed: Parameters<typeof SettingFlags.given>[0],
  handle: (resolved: SettingSources.Resolved<S>) => Effect.Effect<void, E, R>
) {
  const config = "config" in settings ? Settings.common.config : undefined
  const sources = yield* ConfigFile.load(config, { flags: SettingFlags.given(parsed), env: host.env })
  const resolved = yield* Effect.fromResult(SettingSources.resolve(settings, sources))
  return yield* Effect.provide(handle(resolved), Logs.layer(host, LogSettings.optionsOf(resolved)))
})

/** Starts a service, prints its line, and waits for a signal. */
const serve = <E>(host: Host, begin: Effect.Effect<string, E, Scope.Scope>) =>
  Effect.gen(function* () {
    const { name } = yield* Program.Program
    return yield* Effect.gen(function* () {
      host.stdout.write(`${yield* begin}\n`)
      return yield* Effect.never
    }).pipe(Effect.scoped, orderly(host, { name, timeout: "10 seconds" }))
  })

/** The help text, for controllers with default settings; nothing runs. Only the summary, if the arguments do not ask for it. */
const description = (
  { description: summary, gates, settings, table }: Program.Program["Service"],
  argv: ReadonlyArray<string>
): string => {
  if (!argv.some((argument) => /^(?:-h|--help|--completions)/.test(argument))) return summary
  const unsaid = SettingSources.resolve(settings, { flags: new Map(), env: {} })
  return Help.describe(summary, Result.isSuccess(unsaid) ? table(unsaid.success) : [], gates)
}
