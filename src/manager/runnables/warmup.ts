/**
 * Warmup of all selected controllers, whether their group leads or not: starts the informers of a controller while the server serves all its kinds,
 * logs an error if they do not sync in time, and logs one warning if the controller waits for a kind or is skipped. A kind that only such a
 * controller reads has no informer, so it does not affect readiness. Never ends by itself.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { Cache } from "../../layers/Cache.ts"
import type { Descriptor } from "../../layers/Controller.ts"
import { Supervisor } from "../../layers/Supervisor.ts"
import * as Runnables from "./runnables.ts"
import * as Kinds from "./kinds.ts"
import { States } from "./states.ts"
import * as SyncLimit from "./syncLimit.ts"

/** The fields of a controller that its warmup needs. */
export type Member = Pick<Descriptor<unknown>, "name" | "reads" | "requires">

export interface Options {
  readonly members: ReadonlyArray<Member>
  readonly kinds: Kinds.Kinds
  readonly waits: boolean
  /** False: no informers are started. */
  readonly warm: boolean
  readonly limit: SyncLimit.SyncLimit
}

export const run = Effect.fnUntraced(function* (options: Options) {
  const cache = yield* Cache
  const supervisor = yield* Supervisor
  const { kinds, members, warm, waits } = options
  const warming = Runnables.run({
    members: warm ? members.map(({ name, reads, requires }) => ({ name, reads, requires })) : [],
    kinds,
    waits,
    interval: Duration.zero,
    open: Effect.fnUntraced(function* (member) {
      for (const resource of member.reads) yield* cache.subscribe(resource)
      yield* supervisor.fork(member.name, SyncLimit.watch(member, options.limit))
    }),
    leaving: () => Effect.void
  })
  return yield* Effect.raceFirst(warming, notices(options))
})

/** Logs which kinds a controller lacks, when that changes. */
const notices = Effect.fnUntraced(function* ({ kinds, members, waits }: Options) {
  const states = yield* States
  const told = new Map<string, string>()
  while (true) {
    const absent = kinds.absent()
    for (const member of members) {
      const missing = Kinds.missing(absent, member)
      states.lacks(member.name, missing, waits)
      const what = missing.join(", ")
      if (what === (told.get(member.name) ?? "")) continue
      told.set(member.name, what)
      yield* Effect.annotateLogs(notice(what, waits), { controller: member.name })
    }
    yield* kinds.after(absent)
  }
})

const notice = (missing: string, waits: boolean): Effect.Effect<void> =>
  missing === ""
    ? Effect.logInfo("Every kind that the controller needs is served now")
    : waits
      ? Effect.logWarning(
          `Skipping Controller until the server serves ${missing}: is the CustomResourceDefinition installed?`
        )
      : Effect.logWarning(`Skipping Controller: the server does not serve ${missing}`)
