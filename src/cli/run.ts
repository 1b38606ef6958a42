/** The program without a command: it runs the chosen controllers until a signal. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { ClusterName } from "../layers/ClusterAuthority.ts"
import { Defaults } from "../layers/controller/defaults.ts"
import * as RequestMetrics from "../platform/http/requestMetrics.ts"
import * as IdleMemory from "../platform/idleMemory.ts"
import { Leadership } from "../layers/Leadership.ts"
import { Timeline } from "../layers/Timeline.ts"
import { complain, type Host } from "../manager/process/Host.ts"
import * as Manager from "../manager/Manager.ts"
import { Program } from "../manager/Program.ts"
import { orderly } from "../manager/process/orderlyStop.ts"
import * as Cloud from "../manager/runnables/cloud.ts"
import type * as Settings from "../manager/settings.ts"
import { restriction } from "../manager/settings/cache.ts"
import { loops } from "../manager/settings/controllers.ts"
import { identities } from "./identities.ts"
import * as Leases from "./leases.ts"
import { connect, readersOf } from "./connect.ts"
import * as Console from "./console.ts"
import { ledBy, type Resolved, type Selection, sentence, tableOf } from "./selection.ts"
import { servers } from "./servers.ts"
import * as Shards from "./shards.ts"
import { services } from "./services.ts"
import { webhooks } from "./webhooks.ts"

/** `notes`: further log lines about the settings. */
export const run = Effect.fnUntraced(function* (host: Host, resolved: Resolved, notes: ReadonlyArray<string> = []) {
  const { name } = yield* Program
  return yield* work(host, resolved, notes).pipe(
    Effect.scoped,
    Effect.provideService(ClusterName, resolved.values.clusterName),
    Effect.provideService(RequestMetrics.Wanted, resolved.values.clientMetrics === "all"),
    Effect.provide(telemetry(host, resolved.values)),
    // The outermost effect, so that the time limit of a stop covers everything.
    orderly(host, { name, timeout: resolved.values.shutdownTimeout, mode: resolved.values.shutdownMode })
  )
})

/** Closed last, so that the collector also gets the last log lines. */
const telemetry = (host: Host, { otlpEndpoint }: Settings.Settings) =>
  Option.match(otlpEndpoint, {
    onNone: () => Layer.empty,
    onSome: (endpoint) =>
      Layer.unwrap(
        Effect.gen(function* () {
          const { name, version } = yield* Program
          const Otlp = yield* Effect.promise(() => import("../manager/telemetry/Otlp.ts"))
          return Otlp.layer({ endpoint, env: host.env, name, version })
        })
      )
  })

const work = (host: Host, resolved: Resolved, notes: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const heap = IdleMemory.thisHeap()
    if (heap !== undefined) yield* Effect.forkScoped(IdleMemory.release(heap))
    const table = yield* tableOf(resolved)
    const connected = yield* connect(host, resolved, table, "program")
    const timeline = yield* Console.timeline(resolved, connected.cluster)
    return yield* Effect.provideService(lead(host, resolved, notes, { ...connected, table }), Timeline, timeline)
  })

/** The cluster, and the controllers that were selected of all in the table. */
interface Connected extends Effect.Success<ReturnType<typeof connect>> {
  readonly table: Effect.Success<ReturnType<typeof tableOf>>
}

const lead = (host: Host, resolved: Resolved, notes: ReadonlyArray<string>, { cluster, selection, table }: Connected) =>
  Effect.gen(function* () {
    const program = yield* Program
    const settings = resolved.values
    yield* Shards.checked(settings, cluster, selection, readersOf(settings, selection, program.kinds))
    const address = yield* Console.start(resolved, cluster, selection)
    if (address !== undefined) host.stdout.write(`${address}\n`)
    if (cluster.hint !== undefined) host.stdout.write(`${cluster.hint}\n`)
    yield* Effect.forEach(notes, (note) => Effect.logWarning(note), { discard: true })
    yield* Effect.forEach(selection.disabled, disabled(selection), { discard: true })
    const left = sentence(table, restriction(resolved))
    if (left !== undefined) yield* Effect.logInfo(left)
    yield* servers(host, resolved, cluster, selection)
    const identify = yield* identities(settings, cluster, selection)
    return yield* Effect.flatMap(Leases.leadership(settings, cluster), ({ core, own }) =>
      Effect.gen(function* () {
        const keepers = yield* webhooks(resolved, cluster, { selection, table })
        return yield* Manager.run({
          controllers: [...keepers, ...ledBy(selection, undefined)],
          groups: [{ leadership: core, controllers: ledBy(selection, "core") }],
          warm: settings.warm,
          onLost: settings.onLost,
          onStuck: (message) => Effect.sync(() => abandon(host, program.name, message)),
          startInterval: settings.startInterval,
          missingKinds: settings.missingKinds,
          isolation: settings.isolation,
          syncTimeout: settings.syncTimeout,
          identify
        })
      }).pipe(
        // Webhooks close before the services that they use.
        Effect.scoped,
        // Locks of shards are released after the controllers have ended.
        Effect.provide(Shards.layer(settings, cluster)),
        Effect.provideService(Leadership, own),
        Effect.provideService(Defaults, loops(settings))
      )
    ).pipe(
      Effect.provide(
        Layer.provideMerge(
          program.services(resolved),
          Layer.mergeAll(Cloud.layerOf(settings), cluster.authority, services(settings, cluster))
        )
      )
    )
  })

const disabled =
  ({ unmet }: Selection) =>
  (name: string) => {
    const why = unmet.get(name)
    return why === undefined
      ? Effect.logInfo(`"${name}" is disabled`)
      : Effect.logWarning(`"${name}" is disabled: ${why}`)
  }

/** Ends the process although controllers have not ended. */
const abandon = (host: Host, name: string, message: string): void => {
  complain(host, name, message)
  host.exit(1)
}
