/** The command that takes kube-controller-manager's place: its loops, with its command line. */
import * as Effect from "effect/Effect"
import { InformerName } from "../layers/cache/metrics.ts"
import * as Loops from "../manager/inPlace/loops.ts"
import * as Own from "../manager/inPlace/settings.ts"
import type { Host } from "../manager/process/Host.ts"
import * as Versions from "../manager/metrics/versions.ts"
import { Program } from "../manager/Program.ts"
import * as Sources from "../manager/setting/sources.ts"
import * as LoopMetrics from "../streams/reconcile/loopMetrics.ts"
import * as Limits from "./limits.ts"
import * as Run from "./run.ts"

type Resolved = Sources.Resolved<ReturnType<typeof Own.settingsOf>>

/** `notes`: what is to be said of the command line, one sentence each. */
export const run = Effect.fnUntraced(function* (host: Host, resolved: Resolved, notes: ReadonlyArray<string>) {
  const program = yield* Program
  const wrong = Own.contradiction(resolved)
  if (wrong !== undefined) return yield* new Sources.SettingError({ message: wrong })
  const all = Own.asOwn(resolved, resolved.values.controllers)
  const { note, patterns } = Loops.choose(program.table(all), resolved.values.controllers)
  const table: typeof program.table = (settings) => Loops.table(program.table(settings))
  const said = note === undefined ? notes : [...notes, note]
  yield* Versions.publish(program)
  return yield* Run.run(host, Own.asOwn(resolved, patterns), said).pipe(
    Effect.provideService(Program, { ...program, table }),
    Effect.provideService(LoopMetrics.Labelling, "client-go"),
    Effect.provideService(InformerName, "kube-controller-manager"),
    Effect.provideService(Limits.Sharing, "each")
  )
})
