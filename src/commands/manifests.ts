/** The command that prints what a cluster needs to run the program, or writes it to a directory. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Host } from "../layers/manager/process/Host.ts"
import * as Manifests from "../layers/manager/manifests/command.ts"
import { files } from "../layers/manager/manifests/files.ts"
import type { settings } from "../layers/manager/manifests/settings.ts"
import * as Roster from "../layers/manager/roster.ts"
import type * as SettingSources from "../layers/manager/setting/sources.ts"
import { accountOf } from "./identities.ts"
import { tableOf } from "./selection.ts"

/** A file could not be written; the message says which and why. */
class WriteFailed extends Data.TaggedError("WriteFailed")<{ readonly message: string }> {}

/** For a cluster that has a controller manager of its own; nothing is asked of any. */
export const manifests = Effect.fnUntraced(function* (host: Host, resolved: SettingSources.Resolved<typeof settings>) {
  const table = yield* tableOf(resolved)
  const { chosen } = yield* Effect.fromResult(Roster.select(table, resolved.values.controllers, { embedded: false }))
  const { stringify } = yield* Effect.promise(() => import("yaml"))
  const controllers = chosen.map((entry) => ({
    who: entry.controller.name,
    access: entry.controller.access,
    account: accountOf(resolved.values, entry),
    needsLeader: entry.controller.needsLeader,
    isCore: entry.group === "core"
  }))
  const documents = Manifests.manifests(resolved, controllers)
  const text = (all: ReadonlyArray<object>): string =>
    all.map((one) => stringify(one, { aliasDuplicateObjects: false })).join("---\n")
  if (Option.isNone(resolved.values.out)) return void host.stdout.write(text(documents))
  const directory = resolved.values.out.value
  yield* attempt(directory, () => mkdir(directory, { recursive: true }))
  for (const { documents: all, name } of files(documents)) {
    const path = join(directory, name)
    yield* attempt(path, () => writeFile(path, text(all)))
    host.stdout.write(`${path}\n`)
  }
})

const attempt = (path: string, write: () => Promise<unknown>) =>
  Effect.tryPromise({
    try: write,
    catch: (cause) =>
      new WriteFailed({ message: `cannot write ${path}: ${cause instanceof Error ? cause.message : String(cause)}` })
  })
