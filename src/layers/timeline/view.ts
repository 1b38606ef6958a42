/** Which entries of a timeline concern one object, and how they are shown. Pure. */
import { type Asked, type Going, mostShown, type OfObject } from "../Timeline.ts"
import { oneLine } from "../../kube/printable.ts"
import type { ChangeEntry, Entry, EventEntry, WriteEntry } from "./entries.ts"

/** What is kept of a write or an event has the same fields, in the same order, whatever they are, and refers to texts that are there already. */
interface Made {
  /** The id of the run that made it. */
  readonly run: number | undefined
}

interface KeptWrite extends Omit<WriteEntry, "causes" | "resource" | "subresource" | "error">, Made {
  /** `deployments.apps/status`. */
  readonly path: string
  readonly error: string | undefined
}

/** The object has a kind, and its resource is found when it is shown. */
interface KeptEvent extends Omit<EventEntry, "causes" | "resource">, Made {
  readonly apiVersion: string
  readonly objectKind: string
}

export type Kept = ChangeEntry | Going | KeptWrite | KeptEvent

/** What a view needs of the ring. */
export interface Entries {
  /** The ids from `first` to the one before `next` are kept. */
  readonly first: number
  readonly next: number
  readonly get: (id: number) => Kept | undefined
}

/**
 * Changes of the object, the runs that they caused and the runs for it, with all writes and events of these runs; writes to the object and events
 * about it; and what caused any of these. Causes come before their effects, so one pass finds the effects.
 */
export const of = (entries: Entries, asked: Asked): OfObject => {
  const chosen = new Set<number>()
  /** What caused an entry about the object; its other effects are about other objects. */
  const context = new Set<number>()
  for (let id = entries.first; id < entries.next; id++) {
    const entry = entries.get(id)
    if (entry === undefined) continue
    const isAbout = entry.key === asked.key && resourceOf(entry, asked) === asked.resource
    if (!isAbout && !isCausedBy(entry, chosen)) continue
    chosen.add(id)
    if (isAbout) for (const cause of causesOf(entry)) context.add(cause)
  }
  const all = Array.from(new Set([...chosen, ...context]))
    .sort((a, b) => a - b)
    .flatMap((id) => entries.get(id) ?? [])
  /** The last run of each controller for each key: a retry follows it. */
  const runs = new Map<string, number>()
  const shown = all.slice(-mostShown).map((entry) => {
    if (entry.type !== "reconcile") return show(entries, entry, asked, undefined)
    const id = `${entry.controller} ${entry.key}`
    const before = runs.get(id)
    runs.set(id, entry.id)
    return show(entries, entry, asked, before)
  })
  return { entries: shown, truncated: entries.first > 0 || shown.length < all.length }
}

const resourceOf = (entry: Kept, asked: Asked): string | undefined => {
  switch (entry.type) {
    case "write":
      return resourceAndSubresource(entry.path)[0]
    case "event":
      return asked.resourceOf(groupOf(entry.apiVersion), entry.objectKind)
    default:
      return entry.resource
  }
}

const resourceAndSubresource = (path: string): readonly [string, string?] => {
  const slash = path.indexOf("/")
  return slash < 0 ? [path] : [path.slice(0, slash), path.slice(slash + 1)]
}

const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf("/")))

/** Makes nothing, because it is called for every entry that is kept. */
const isCausedBy = (entry: Kept, chosen: ReadonlySet<number>): boolean => {
  if (entry.type === "change" || chosen.size === 0) return false
  if (entry.type !== "reconcile") return entry.run !== undefined && chosen.has(entry.run)
  for (const cause of entry.causes) if (typeof cause === "number" && chosen.has(cause)) return true
  return false
}

const causesOf = (entry: Kept): ReadonlyArray<number> => {
  if (entry.type === "change") return none
  if (entry.type === "reconcile") return entry.causes.filter((cause) => typeof cause === "number")
  return entry.run === undefined ? none : [entry.run]
}

const none: ReadonlyArray<never> = []

/** `before`: the run of the same controller and key before the entry. */
const show = (entries: Entries, entry: Kept, asked: Asked, before: number | undefined): Entry => {
  switch (entry.type) {
    case "change":
      return entry
    case "write": {
      const { error, path, run: _, ...rest } = entry
      const [resource, subresource] = resourceAndSubresource(path)
      return {
        ...rest,
        causes: causesOf(entry),
        resource,
        ...(subresource === undefined ? {} : { subresource }),
        ...(error === undefined ? {} : { error })
      }
    }
    case "event": {
      const { apiVersion: _, objectKind: __, run: ___, ...rest } = entry
      return {
        ...rest,
        causes: causesOf(entry),
        resource: resourceOf(entry, asked) ?? "",
        message: oneLine(entry.message)
      }
    }
    case "reconcile": {
      const { attempt, due, error, ...rest } = entry
      const changes = causesOf(entry)
        .flatMap((id) => entries.get(id) ?? [])
        .filter(({ type }) => type === "change")
      return {
        ...rest,
        causes: entry.causes.map((cause) =>
          typeof cause === "number" ? cause : typeof cause === "string" ? null : (before ?? null)
        ),
        reasons: entry.causes.map((cause) => reasonOf(entries, entry, cause)),
        waited: Math.max(0, ...changes.map(({ at }) => entry.at - at)),
        ...(error === undefined ? {} : { error }),
        ...(attempt === undefined ? {} : { attempt }),
        ...(due === undefined ? {} : { due })
      }
    }
  }
}

const reasonOf = (entries: Entries, run: Going, cause: Going["causes"][number]): string => {
  if (typeof cause === "string") return cause
  if (typeof cause === "object") return cause.retry
  const entry = entries.get(cause)
  if (entry?.type === "reconcile") {
    return entry.key === run.key
      ? "the run before asked for it"
      : `found in the run of ${entry.controller} for ${entry.key}`
  }
  if (entry?.type !== "change") return "a change or a run that is not in memory any more"
  const { change, key, kind, paths } = entry
  return paths.length === 0 ? `${kind} ${key} ${change}` : `${kind} ${key} ${change}: ${paths.join(", ")}`
}
