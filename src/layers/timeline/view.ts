/** Which entries of a timeline concern one object, and how they are shown. Pure. */
import type * as Key from "../../kube/Key.ts"
import * as Resource from "../../kube/Resource.ts"
import { type Entry, type Going, type Kept, mostShown } from "../Timeline.ts"

/** What a view needs of the ring. */
export interface Entries extends Iterable<Kept> {
  readonly get: (id: number) => Kept | undefined
}

/**
 * Changes of the object, the runs that they caused and the runs for it, with all writes and events of these runs; writes to the object and events
 * about it; and what caused any of these. Causes come before their effects, so one pass finds the effects.
 */
export const of = (entries: Entries, resource: Resource.Any, key: Key.Key): ReadonlyArray<Entry> => {
  const chosen = new Set<number>()
  /** What caused an entry about the object; its other effects are about other objects. */
  const context = new Set<number>()
  const name = Resource.qualifiedName(resource)
  for (const entry of entries) {
    const isAbout = entry.key === key && isOf(entry, resource, name)
    if (!isAbout && !causesOf(entry).some((cause) => chosen.has(cause))) continue
    chosen.add(entry.id)
    if (isAbout) for (const cause of causesOf(entry)) context.add(cause)
  }
  return Array.from(new Set([...chosen, ...context]))
    .sort((a, b) => a - b)
    .flatMap((id) => entries.get(id) ?? [])
    .slice(-mostShown)
    .map((entry) => show(entries, entry))
}

const isOf = (entry: Kept, { group, kind }: Resource.Any, name: string): boolean =>
  entry.type === "event" ? entry.kind === kind && entry.group === group : entry.resource === name

const causesOf = (entry: Kept): ReadonlyArray<number> => {
  if (entry.type === "change") return none
  return entry.type === "reconcile" ? entry.causes.filter((cause) => typeof cause === "number") : entry.causes
}

const none: ReadonlyArray<never> = []

const show = (entries: Entries, entry: Kept): Entry =>
  entry.type === "reconcile"
    ? { ...entry, causes: causesOf(entry), reasons: entry.causes.map((cause) => reasonOf(entries, cause)) }
    : entry

const reasonOf = (entries: Entries, cause: Going["causes"][number]): string => {
  if (typeof cause === "string") return cause
  const entry = entries.get(cause)
  if (entry?.type !== "change") return "a change that is not in memory any more"
  const { change, key, kind, paths } = entry
  return paths.length === 0 ? `${kind} ${key} ${change}` : `${kind} ${key} ${change}: ${paths.join(", ")}`
}
