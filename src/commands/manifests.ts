/** The command that prints what a cluster needs to run the program. */
import * as Effect from "effect/Effect"
import type { Host } from "../layers/manager/Host.ts"
import * as Manifests from "../layers/manager/manifests/command.ts"
import * as Roster from "../layers/manager/roster.ts"
import type * as SettingSources from "../layers/manager/setting/sources.ts"
import { tableOf } from "./selection.ts"

/** For a cluster that has a controller manager of its own; nothing is asked of any. */
export const manifests = Effect.fnUntraced(function* (
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
