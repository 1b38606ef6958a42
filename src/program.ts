/**
 * argv → settings → layers → run. This is the one place that knows every room; it decides nothing that a room could decide. Usage
 * errors end with exit code 2 and one line, every other failure with 1 and one line, a signal with 0.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Context from "effect/Context"
import * as Command from "effect/cli/Command"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { hostname } from "node:os"
import { roster } from "./controllers/roster.ts"
import { Cache } from "./layers/Cache.ts"
import { Defaults } from "./layers/controller/defaults.ts"
import { Discovery } from "./layers/Discovery.ts"
import { KubeClient } from "./layers/KubeClient.ts"
import { Leadership } from "./layers/Leadership.ts"
import * as Check from "./layers/manager/check/Check.ts"
import * as CheckTable from "./layers/manager/check/table.ts"
import * as Clusters from "./layers/manager/clusters.ts"
import * as CommandLine from "./layers/manager/commandLine.ts"
import * as ConfigFile from "./layers/manager/configFile.ts"
import * as DryRun from "./layers/manager/dryRun.ts"
import * as Help from "./layers/manager/help.ts"
import { type Host, watchSignals } from "./layers/manager/Host.ts"
import * as Manager from "./layers/manager/Manager.ts"
import * as Manifests from "./layers/manager/manifests/command.ts"
import * as Roster from "./layers/manager/roster.ts"
import type * as Setting from "./layers/manager/setting.ts"
import * as SettingFlags from "./layers/manager/setting/flags.ts"
import * as SettingSources from "./layers/manager/setting/sources.ts"
import * as Settings from "./layers/manager/settings.ts"
import { gates, loops } from "./layers/manager/settings/controllers.ts"
import * as Logs from "./layers/manager/settings/logs.ts"
import * as StandAlone from "./layers/manager/standAlone.ts"
import * as Terminal from "./layers/manager/Terminal.ts"
import * as Throttle from "./layers/manager/throttle.ts"
import { Recorder } from "./layers/Recorder.ts"
import * as Schedules from "./layers/Schedules.ts"
import { Supervisor } from "./layers/Supervisor.ts"
import { Transport } from "./layers/Transport.ts"
import * as Election from "./leader/Election.ts"
import { ElectionConfigError } from "./leader/lease.ts"
import * as Renewer from "./renewer/Renewer.ts"
import { version } from "./version.ts"

/** Runs the program in this process; it sets the exit code. `entry`: the file to start a thread of the program from. */
export const main = (host: Host, entry?: URL): void => {
  // Whoever reads what we say may go away, as in `… | head`: then lines are lost, and the work goes on.
  for (const output of [host.stdout, host.stderr]) output.on("error", () => {})
  const effect = cli(host)(CommandLine.normalize(host.argv.slice(2), everything)).pipe(
    Effect.provide(Layer.merge(NodeServices.layer, Terminal.layer(host, everything))),
    Effect.tapCause((cause) => Effect.sync(() => Terminal.report(host, cause))),
    Effect.provideService(Renewer.Entry, entry)
  )
  NodeRuntime.runMain(effect, { disableErrorReporting: true, teardown: Terminal.exitCode(usageErrors) })
}

/** What the user can only mend by saying something else. */
const usageErrors = [SettingSources.SettingError, ElectionConfigError, Roster.RosterError]

/** The settings of all commands. */
const everything: Setting.Settings = {
  ...Manifests.settings,
  ...StandAlone.apiserverSettings,
  ...StandAlone.nodesSettings
}

const cli = (host: Host) =>
  Command.runWith(
    command(host, "effect-controller-manager", description, Settings.settings, (resolved) => run(host, resolved)).pipe(
      Command.withSubcommands([
        command(
          host,
          "check",
          "Asks the cluster whether the controllers could work on it, changes nothing, and prints a table; exits 1 when they could not",
          Settings.settings,
          (resolved) => check(host, resolved)
        ),
        command(
          host,
          "manifests",
          "Prints what a cluster needs to run the chosen controllers, with exactly the rights that they declare, as YAML to apply",
          Manifests.settings,
          (resolved) => manifests(host, resolved)
        ),
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
        )
      ])
    ),
    { version }
  )

/** A command with its settings, from wherever they were said; what it logs is at their level. */
const command = <S extends Setting.Settings & typeof Logs.settings, E>(
  host: Host,
  name: string,
  summary: string,
  settings: S,
  handle: (resolved: SettingSources.Resolved<S>) => Effect.Effect<void, E>
) =>
  Command.make(name, SettingFlags.of(settings), (parsed) =>
    Effect.gen(function* () {
      const config = "config" in settings ? Settings.settings.config : undefined
      const sources = yield* ConfigFile.load(config, { flags: SettingFlags.given(parsed), env: host.env })
      const resolved = yield* Effect.fromResult(SettingSources.resolve(settings, sources))
      const level = Logs.levelOf(resolved.values)
      return yield* Effect.provideService(handle(resolved), References.MinimumLogLevel, level)
    })
  ).pipe(Command.withDescription(summary))

/** Starts something, says the line that it answers with, and goes on until a signal. */
const serve = <E>(host: Host, start: Effect.Effect<string, E, Scope.Scope>) =>
  Effect.gen(function* () {
    yield* watchSignals(host, { shutdownTimeout: Duration.seconds(10) })
    host.stdout.write(`${yield* start}\n`)
    return yield* Effect.never
  }).pipe(Effect.scoped)

/** Only what is known of the controllers without running them. */
const description = Help.describe(roster({ podCount: { schedule: Schedule.forever, nodeSelector: undefined } }), gates)

type Resolved = SettingSources.Resolved<typeof Settings.settings>

/** Whatever can be wrong with the command line is found before a cluster is started or spoken to. */
const tableOf = Effect.fnUntraced(function* (resolved: Resolved) {
  const settings = resolved.values
  const contradiction = Settings.contradiction(resolved)
  if (contradiction !== undefined) return yield* new SettingSources.SettingError({ message: contradiction })
  const table = roster({ ...settings, podCount: podCount(settings) })
  yield* Effect.fromResult(Roster.check(table, settings.controllers))
  if (mayLead(settings)) yield* Effect.fromResult(Election.settingsOf(election(settings, "checked")))
  return table
})

/** The cluster, and the controllers that are to run on it. */
const connect = Effect.fnUntraced(function* (host: Host, resolved: Resolved, table: ReturnType<typeof roster>) {
  const { controllers } = resolved.values
  const embedded = yield* Effect.fromResult(Roster.select(table, controllers, { embedded: true }))
  const cluster = yield* Clusters.connect(resolved, host.env, {
    serviceAccounts: embedded.chosen.some((entry) => entry.controller.name === "serviceaccount")
  })
  return { cluster, selection: yield* Effect.fromResult(Roster.select(table, controllers, cluster)) }
})

const ledBy = (selection: Roster.Selection<Discovery | KubeClient>, group: Roster.Entry["group"]) =>
  selection.chosen.filter((entry) => entry.group === group).map((entry) => entry.controller)

const run = (host: Host, resolved: Resolved) =>
  Effect.gen(function* () {
    const settings = resolved.values
    const table = yield* tableOf(resolved)
    yield* watchSignals(host, settings)
    const { cluster, selection } = yield* connect(host, resolved, table)
    if (cluster.hint !== undefined) host.stdout.write(`${cluster.hint}\n`)
    yield* Effect.forEach(selection.disabled, (name) => Effect.logInfo(`"${name}" is disabled`), { discard: true })
    yield* servers(resolved, cluster, selection)
    const controllers = ledBy(selection, undefined)
    return yield* Effect.flatMap(leadership(settings, cluster), ({ core, own }) =>
      Manager.run({
        controllers,
        groups: [{ leadership: core, controllers: ledBy(selection, "core") }],
        warm: settings.warm,
        onLost: settings.onLost,
        onStuck: (message) => Effect.sync(() => abandon(host, message)),
        startInterval: settings.startInterval
      }).pipe(Effect.provideService(Leadership, own), Effect.provideService(Defaults, loops(settings)))
    ).pipe(Effect.provide(services(settings, cluster)))
  }).pipe(Effect.scoped)

/** There is nothing left to wait for. */
const abandon = (host: Host, message: string): void => {
  host.stderr.write(`effect-controller-manager: ${message}\n`)
  host.exit(1)
}

/** Outside of everything that talks to the cluster: they answer before it and close after it. */
const servers = Effect.fnUntraced(function* (
  { origins, values }: Resolved,
  { embedded, transport }: Clusters.Connected,
  { chosen }: Roster.Selection<Discovery | KubeClient>
) {
  if (values.probeAddress === undefined && values.metricsAddress === undefined) return
  const Servers = yield* Effect.promise(() => import("./layers/manager/servers.ts"))
  const place = (setting: "probeAddress" | "metricsAddress") =>
    Servers.place(values[setting], { byDefault: origins[setting]._tag === "Default", embedded })
  yield* Servers.start({
    probes: place("probeAddress"),
    metrics: place("metricsAddress"),
    secure: values.metricsSecure
      ? {
          transport,
          files: Option.getOrUndefined(
            Option.map(values.metricsCertPath, (directory) => ({
              directory,
              cert: values.metricsCertName,
              key: values.metricsCertKey
            }))
          )
        }
      : undefined,
    controllers: chosen.map(({ controller }) => controller.name)
  })
})

/** The controllers could not work as things are; the table has said why. */
class CheckFailed extends Data.TaggedError("CheckFailed")<{ readonly message: string }> {}

/** The same settings and the same cluster as `run`, but only questions. */
const check = (host: Host, resolved: Resolved) =>
  Effect.gen(function* () {
    const table = yield* tableOf(resolved)
    const { cluster, selection } = yield* connect(host, resolved, table)
    const { core, own } = leasesOf(resolved.values, cluster)
    const contended = (lease: Lease, group: Roster.Entry["group"]) =>
      lease.isElected && ledBy(selection, group).some((controller) => controller.needsLeader) ? [lease] : []
    const findings = yield* Check.run({
      server: cluster.server,
      controllers: selection.chosen.map(({ controller }) => ({ who: controller.name, access: controller.access })),
      leases: [...contended(core, "core"), ...contended(own, undefined)]
    }).pipe(
      Effect.provide(Discovery.layer.pipe(Layer.provideMerge(KubeClient.layer), Layer.provideMerge(cluster.transport)))
    )
    host.stdout.write(`${CheckTable.render(findings)}\n`)
    const verdict = CheckTable.verdict(findings)
    if (verdict !== undefined) return yield* new CheckFailed({ message: verdict })
  }).pipe(Effect.scoped)

/** For a cluster that has a controller manager of its own; nothing is asked of any. */
const manifests = Effect.fnUntraced(function* (
  host: Host,
  resolved: SettingSources.Resolved<typeof Manifests.settings>
) {
  const table = yield* tableOf(resolved)
  const { chosen } = yield* Effect.fromResult(Roster.select(table, resolved.values.controllers, { embedded: false }))
  const { stringify } = yield* Effect.promise(() => import("yaml"))
  const controllers = chosen.map(({ controller: { access, name, needsLeader }, group }) => ({
    who: name,
    access,
    needsLeader,
    isCore: group === "core"
  }))
  const documents = Manifests.manifests(resolved, controllers)
  host.stdout.write(documents.map((one) => stringify(one, { aliasDuplicateObjects: false })).join("---\n"))
})

const podCount = (settings: Settings.Settings) => ({
  schedule:
    settings.podCountSchedule === "spaced"
      ? Schedule.spaced(settings.podCountInterval)
      : Schedules.nonSliding(settings.podCountInterval),
  nodeSelector: Option.getOrUndefined(settings.podCountNodes)
})

/** From the outside in; closed from the inside out. */
const services = (settings: Settings.Settings, cluster: Clusters.Connected) =>
  Recorder.layerWith({ instance: hostname() }).pipe(
    Layer.provideMerge(Layer.merge(Cache.layer({ streamingList: settings.watchList }), Discovery.layer)),
    Layer.provideMerge(Layer.provide(KubeClient.layer, door(settings))),
    Layer.provideMerge(cluster.transport),
    Layer.provideMerge(Supervisor.layer)
  )

/** What stands between the controllers and the server, because somebody asked for it. */
const door = ({ burst, dryRun, qps }: Settings.Settings) =>
  Layer.effect(
    Transport,
    Effect.gen(function* () {
      const transport = yield* Transport
      const paced =
        qps < 0
          ? transport
          : yield* Throttle.through(transport, { perSecond: qps, burst: burst === 0 ? Math.max(1, 2 * qps) : burst })
      return dryRun ? DryRun.through(paced) : paced
    })
  )

/** Whether an election is possible, on whichever cluster: then its settings must make sense. */
const mayLead = ({ leaderElect }: Settings.Settings): boolean => Option.getOrElse(leaderElect, () => true)

interface Lease {
  readonly namespace: string
  readonly name: string
  /** Otherwise whoever would contend for it leads at once. */
  readonly isElected: boolean
}

/**
 * Our own controllers lead if asked to. Core loops would fight another controller manager, so on a real cluster they lead under
 * that program's lease unless it is explicitly turned off; the embedded cluster has no other. Source: architecture, decision 6.
 */
const leasesOf = (settings: Settings.Settings, cluster: Clusters.Connected): Record<"own" | "core", Lease> => ({
  own: {
    namespace: Option.getOrElse(settings.leaseNamespace, () => cluster.namespace),
    name: settings.leaseName,
    isElected: Option.getOrElse(settings.leaderElect, () => false)
  },
  core: {
    namespace: "kube-system",
    name: settings.coreLeaseName,
    isElected: Option.getOrElse(settings.leaderElect, () => !cluster.embedded)
  }
})

/** A lease is held by being written in time: its client passes neither door. It is made here, and shared with nobody. */
const leadership = Effect.fnUntraced(function* (settings: Settings.Settings, cluster: Clusters.Connected) {
  const identity = yield* Clusters.identity(hostname())
  const keeper = yield* Renewer.find(cluster.endpoint, `effect-controller-manager/${version} leader-election`)
  const layerOf = ({ isElected, name, namespace }: Lease) =>
    isElected
      ? Layer.provide(
          Election.layer({ ...election(settings, identity), name, namespace, keeper }),
          KubeClient.layerWith({})
        )
      : Leadership.layerAlways
  const { core, own } = leasesOf(settings, cluster)
  const leader = Context.get(yield* Layer.build(layerOf(own)), Leadership)
  return {
    // What runs on a schedule would otherwise find the embedded cluster empty, and not look again for a while.
    own: Leadership.of({ ...leader, acquire: Effect.andThen(cluster.populated, leader.acquire) }),
    core: Context.get(yield* Layer.build(layerOf(core)), Leadership)
  }
})

const election = (settings: Settings.Settings, identity: string): Election.Options => ({
  identity,
  name: settings.leaseName,
  namespace: "default",
  leaseDuration: settings.leaseDuration,
  renewDeadline: settings.renewDeadline,
  retryPeriod: settings.retryPeriod,
  releaseOnStop: settings.leaseRelease
})
