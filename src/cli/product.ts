/**
 * The program of this package: its name, its controllers and their settings, and the commands that only it has. Everything else is common to all
 * programs that are built with this library.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import process from "node:process"
import * as Create from "./create/command.ts"
import * as Explore from "./explore/command.ts"
import { registry } from "../controllers/registry.ts"
import * as RootCa from "../controllers/RootCa.ts"
import * as ServiceAccountToken from "../controllers/ServiceAccountToken.ts"
import { InformerName } from "../layers/cache/metrics.ts"
import * as Flags from "../manager/kubeControllerManager/flags.ts"
import * as Loops from "../manager/kubeControllerManager/controllers.ts"
import * as Own from "../manager/kubeControllerManager/settings.ts"
import * as AuthorityFiles from "./cluster/authorityFiles.ts"
import type { Host } from "../manager/process/Host.ts"
import * as Versions from "../manager/metrics/versions.ts"
import * as Program from "../manager/Program.ts"
import { valueOf } from "../manager/registry.ts"
import * as Sources from "../manager/setting/sources.ts"
import * as LoopMetrics from "../streams/reconcile/loopMetrics.ts"
import * as Limits from "./limits.ts"
import * as Run from "./run.ts"
import { command, start } from "./program.ts"
import { version } from "../version.ts"

/** Runs the program in this process; it sets the exit code. `entry`: the file to start a thread of the program from. */
export const main = (host: Host, entry: URL): void =>
  start(
    Result.map(product, (program) => {
      const settings = Own.settingsOf(program.settings)
      let notes: ReadonlyArray<string> = []
      return {
        program,
        settings: { ...Create.settings, ...Explore.settings },
        commands: (host) => [
          {
            name: "create",
            summary: Create.summary,
            build: () => Create.command(host, new URL("../templates/", entry))
          },
          { name: "explore", summary: Explore.summary, build: () => Explore.command(host, entry) },
          {
            name: kubeControllerManager,
            summary: "Runs the controllers of kube-controller-manager in its place, with its command line",
            build: (about) =>
              command(host, about, settings, (resolved) => runKubeControllerManager(host, resolved, notes))
          }
        ],
        prepare: (argv) => {
          if (argv[0] !== kubeControllerManager) return argv
          const translated = Flags.translate(argv, settings, program.gates)
          notes = translated.notes
          return translated.argv
        }
      }
    }),
    host,
    entry
  )

const kubeControllerManager = "kube-controller-manager"

/** Runs the controllers of kube-controller-manager, with its command line. `notes`: remarks on the command line, one sentence each. */
const runKubeControllerManager = Effect.fnUntraced(function* (
  host: Host,
  resolved: Sources.Resolved<ReturnType<typeof Own.settingsOf>>,
  notes: ReadonlyArray<string>
) {
  const program = yield* Program.Program
  const wrong = Own.contradiction(resolved)
  if (wrong !== undefined) return yield* new Sources.SettingError({ message: wrong })
  const all = Own.asOwn(resolved, resolved.values.controllers)
  const { note, patterns } = Loops.choose(program.table(all), resolved.values.controllers)
  const table: typeof program.table = (settings) => Loops.table(program.table(settings))
  const said = note === undefined ? notes : [...notes, note]
  yield* Versions.publish(program, process)
  return yield* Run.run(host, Own.asOwn(resolved, patterns), said).pipe(
    Effect.provideService(Program.Program, { ...program, table }),
    Effect.provideService(LoopMetrics.Labelling, "client-go"),
    Effect.provideService(InformerName, "kube-controller-manager"),
    Effect.provideService(Limits.Sharing, "each")
  )
})

/** The program as a value; the settings are read when it runs. */
export const product = Program.make({
  name: "effect-controller-manager",
  version,
  controllers: registry,
  services: (resolved) =>
    AuthorityFiles.layer({
      key: Option.getOrUndefined(valueOf(resolved, ServiceAccountToken.settings.keyFile)),
      rootCa: Option.getOrUndefined(valueOf(resolved, RootCa.settings.rootCaFile))
    })
})
