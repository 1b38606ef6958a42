/** Which controllers run on which cluster. All errors in the settings are found before a cluster is started or contacted. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Available, Program } from "../manager/Program.ts"
import * as Registry from "../manager/registry.ts"
import * as Cloud from "../manager/runnables/cloud.ts"
import * as Concurrency from "../manager/runnables/concurrency.ts"
import type * as Setting from "../layers/Setting.ts"
import * as SettingSources from "../manager/setting/sources.ts"
import * as Settings from "../manager/settings.ts"
import { restriction } from "../manager/settings/cache.ts"
import * as Election from "../leader/Election.ts"
import * as Leases from "./leases.ts"

/** The settings of every program, and those that a command adds. */
export type Resolved<More extends Setting.Settings = {}> = SettingSources.Resolved<typeof Settings.common & More>

export type Table = ReadonlyArray<Registry.Entry<Available>>
export type Selection = Registry.Selection<Available>

/** All controllers, configured by the settings; fails when the settings are invalid. */
export const tableOf = Effect.fnUntraced(function* (resolved: Resolved) {
  const settings = resolved.values
  const contradiction = Settings.contradiction(resolved)
  if (contradiction !== undefined) return yield* new SettingSources.SettingError({ message: contradiction })
  const all = (yield* Program).table(resolved)
  yield* Effect.fromResult(Registry.check(all, settings.controllers))
  const stranger = Concurrency.unknown(
    settings.concurrencyOf,
    all.map((entry) => entry.controller)
  )
  if (stranger !== undefined) {
    const where = SettingSources.written(resolved.origins.concurrencyOf)
    return yield* new SettingSources.SettingError({ message: `${where}: ${stranger}` })
  }
  const here = yield* Effect.fromResult(Cloud.among(all, settings.controllers, settings))
  const table = yield* Effect.fromResult(restricted(here, settings.controllers, restriction(resolved)))
  if (Leases.mayLead(settings)) yield* Effect.fromResult(Election.settingsOf(Leases.election(settings, "checked")))
  return table
})

export const ledBy = (selection: Selection, group: Registry.Entry["group"]) =>
  selection.chosen.filter((entry) => entry.group === group).map((entry) => entry.controller)

/**
 * The table if only some namespaces are watched. A controller that acts on missing objects needs the whole cluster: the garbage collector would
 * take unwatched owners for deleted ones. Such a controller is off, and naming it is an error. `by`: the setting that restricts the namespaces, as
 * the user wrote it; undefined if all namespaces are watched.
 */
export const restricted = <R>(
  table: ReadonlyArray<Registry.Entry<R>>,
  patterns: ReadonlyArray<string>,
  by: string | undefined
): Result.Result<ReadonlyArray<Registry.Entry<R>>, Registry.RegistryError> => {
  if (by === undefined) return Result.succeed(table)
  const wrong = table.find((entry) => entry.needsAllNamespaces === true && Registry.mentioned(entry, patterns) === true)
  if (wrong !== undefined) {
    const message = `"${wrong.controller.name}" needs all namespaces and cannot work with ${by}: leave one of them out`
    return Result.fail(new Registry.RegistryError({ message }))
  }
  return Result.succeed(
    table.map((entry) => (entry.needsAllNamespaces === true ? Object.assign({}, entry, { byDefault: "off" }) : entry))
  )
}

/** One sentence for the start about the controllers that are off for this reason; undefined if there are none. */
export const sentence = (
  entries: ReadonlyArray<Registry.Entry<unknown>>,
  by: string | undefined
): string | undefined => {
  const names = entries
    .filter((entry) => entry.needsAllNamespaces === true)
    .map((entry) => `"${entry.controller.name}"`)
  return by === undefined || names.length === 0
    ? undefined
    : `Only some namespaces are watched (${by}): ${names.join(", ")} ${names.length === 1 ? "needs" : "need"} all of them and ${names.length === 1 ? "stays" : "stay"} off`
}
