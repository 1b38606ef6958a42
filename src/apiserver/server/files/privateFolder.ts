/**
 * Ensures a folder whose files other users can neither read nor replace. A user who owns a folder, or may write to it, can replace its
 * entries, so every folder and symbolic link on the path is checked before anything is created. Platform edge. Source: the modes that
 * StrictModes of OpenSSH requires, and the sticky bit of chmod(2).
 */
import type { Stats } from "node:fs"
import { lstat, mkdir, readlink, stat } from "node:fs/promises"
import { dirname, isAbsolute, join } from "node:path"

/** Creates the folder where it does not exist. Throws an error whose message is the cause. */
export const ensure = async (folder: string): Promise<void> => {
  // On Windows there is no uid to compare.
  const user = process.getuid?.()
  if (user !== undefined) await walk(isAbsolute(folder) ? folder : `${process.cwd()}/${folder}`, { user, links: 0 })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (user === undefined) return
  const found = await stat(folder)
  if (found.uid !== user) throw foreign(folder, found)
  if ((found.mode & othersWrite) !== 0) throw open(folder, found)
}

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
const walk = async (path: string, { links, user }: WalkState): Promise<string> => {
  if (links > mostLinks) throw new Error(`${path} leads through too many symbolic links`)
  let at = "/"
  for (const part of path.split("/")) {
    if (part === "..") at = dirname(at)
    if (part === "" || part === "." || part === "..") continue
    const next = join(at, part)
    const found = await lstat(next).catch(ifMissing)
    if (found === undefined) return next
    if (found.uid !== user && found.uid !== 0) throw foreign(next, found)
    if (found.isSymbolicLink()) {
      const target = await readlink(next)
      at = await walk(isAbsolute(target) ? target : `${at}/${target}`, { user, links: links + 1 })
    } else {
      if (mayBeSwapped(found)) throw open(next, found)
      at = next
    }
  }
  return at
}

/** With the sticky bit, users may replace only their own entries. The private group of a user has no other members. */
const mayBeSwapped = ({ gid, mode, uid }: Stats): boolean => {
  const isOwnGroup = uid !== 0 && gid === uid
  return (mode & sticky) === 0 && (mode & othersWrite & (isOwnGroup ? ~groupWrites : ~0)) !== 0
}

const ifMissing = (cause: unknown): undefined => {
  if ((cause as { readonly code?: unknown }).code !== "ENOENT") throw cause
}

const foreign = (path: string, { uid }: Stats): Error =>
  new Error(`${path} belongs to another user (${uid}), who could replace what is in it: choose one of your own`)

const open = (path: string, { mode }: Stats): Error =>
  new Error(`${path} may be written to by others (mode 0${(mode & 0o7777).toString(8)}): chmod go-w ${path}`)
