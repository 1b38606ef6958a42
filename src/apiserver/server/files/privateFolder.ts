/**
 * Ensures a folder whose files other users can neither read nor replace. A user who owns a folder, or may write to it, can replace its
 * entries, so every folder and symbolic link on the path is checked before anything is created. Platform edge. Source: the modes that
 * StrictModes of OpenSSH requires, and the sticky bit of chmod(2).
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Stats } from "node:fs"
import { lstat, mkdir, readlink, stat } from "node:fs/promises"
import { dirname, isAbsolute, join } from "node:path"

/** The folder cannot be used; the message is the cause. */
export class FolderError extends Data.TaggedError("FolderError")<{ readonly message: string }> {}

const io = <A>(run: () => Promise<A>): Effect.Effect<A, FolderError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new FolderError({ message: cause instanceof Error ? cause.message : String(cause) })
  })

/** Creates the folder where it does not exist. */
export const ensure = Effect.fnUntraced(function* (folder: string): Effect.fn.Return<void, FolderError> {
  // On Windows there is no uid to compare.
  const user = process.getuid?.()
  if (user !== undefined) yield* walk(isAbsolute(folder) ? folder : `${process.cwd()}/${folder}`, { user, links: 0 })
  yield* io(() => mkdir(folder, { recursive: true, mode: 0o700 }))
  if (user === undefined) return
  const found = yield* io(() => stat(folder))
  if (found.uid !== user) return yield* foreign(folder, found)
  if ((found.mode & othersWrite) !== 0) return yield* open(folder, found)
})

interface WalkState {
  readonly user: number
  /** Number of symbolic links that have been followed. */
  readonly links: number
}

/** The limit of Linux. */
const mostLinks = 40

const groupWrites = 0o020
const othersWrite = 0o022
const sticky = 0o1000

/** Resolves an absolute path like the system, as far as it exists, and returns the real path. */
const walk = Effect.fnUntraced(function* (
  path: string,
  { links, user }: WalkState
): Effect.fn.Return<string, FolderError> {
  if (links > mostLinks) return yield* new FolderError({ message: `${path} leads through too many symbolic links` })
  let at = "/"
  for (const part of path.split("/")) {
    if (part === "..") at = dirname(at)
    if (part === "" || part === "." || part === "..") continue
    const next = join(at, part)
    const found = yield* io(() => lstat(next).catch(ifMissing))
    if (found === undefined) return next
    if (found.uid !== user && found.uid !== 0) return yield* foreign(next, found)
    if (found.isSymbolicLink()) {
      const target = yield* io(() => readlink(next))
      at = yield* walk(isAbsolute(target) ? target : `${at}/${target}`, { user, links: links + 1 })
    } else {
      if (mayBeSwapped(found)) return yield* open(next, found)
      at = next
    }
  }
  return at
})

/** With the sticky bit, users may replace only their own entries. The private group of a user has no other members. */
const mayBeSwapped = ({ gid, mode, uid }: Stats): boolean => {
  const isOwnGroup = uid !== 0 && gid === uid
  return (mode & sticky) === 0 && (mode & othersWrite & (isOwnGroup ? ~groupWrites : ~0)) !== 0
}

const ifMissing = (cause: unknown): Promise<undefined> =>
  (cause as { readonly code?: unknown }).code === "ENOENT" ? Promise.resolve(undefined) : Promise.reject(cause)

const foreign = (path: string, { uid }: Stats): FolderError =>
  new FolderError({
    message: `${path} belongs to another user (${uid}), who could replace what is in it: choose one of your own`
  })

const open = (path: string, { mode }: Stats): FolderError =>
  new FolderError({
    message: `${path} may be written to by others (mode 0${(mode & 0o7777).toString(8)}): chmod go-w ${path}`
  })
