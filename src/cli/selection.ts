/**
 * Which controllers are to run on which cluster. Whatever can be wrong with the settings is found before a cluster is started or
 * spoken to.
 */
import * as Effect from "effect/Effect"
import { type Available, Program } from "../manager/Program.ts"
import { restricted } from "../manager/roster/restricted.ts"
import * as Roster from "../manager/roster.ts"
import * as Cloud from "../manager/roster/cloud.ts"
import * as Concurrency from "../manager/roster/concurrency.ts"
import * as SettingSources from "../manager/setting/sources.ts"
import * as Settings from "../manager/settings.ts"
import { restriction } from "../manager/settings/cache.ts"
import * as Election from "../leader/Election.ts"
import * as Leases from "./leases.ts"

export type Resolved = SettingSources.Resolved<typeof Settings.common>

export type Table = ReadonlyArray<Roster.Entry<Available>>
export type Selection = Roster.Selection<Available>

/** All controllers there are, set as the settings say; fails when they cannot be meant. */
export const tableOf = Effect.fnUntraced(function* (resolved: Resolved) {
  const settings = resolved.values
  const contradiction = Settings.contradiction(resolved)
  if (contradiction !== undefined) return yield* new SettingSources.SettingError({ message: contradiction })
  const all = (yield* Program).table(resolved)
  yield* Effect.fromResult(Roster.check(all, settings.controllers))
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

export const ledBy = (selection: Selection, group: Roster.Entry["group"]) =>
  selection.chosen.filter((entry) => entry.group === group).map((entry) => entry.controller)
