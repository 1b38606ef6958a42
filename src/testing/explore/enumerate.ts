/** The perturbations that a run admits, from its record: each kind at each point where it can make a difference. */
import { type Kind, kinds, type Perturbation } from "./perturbation.ts"
import type * as Record from "./record.ts"

/** In the order of the kinds, then of the points. `from`: only points at entries from that position on. */
export const enumerate = (
  entries: ReadonlyArray<Record.Entry>,
  without: ReadonlySet<Kind>,
  from = 0
): ReadonlyArray<Perturbation> => {
  const found: Array<Perturbation> = []
  for (const kind of Object.keys(kinds) as ReadonlyArray<Kind>) {
    if (without.has(kind)) continue
    for (let i = from; i < entries.length; i++) {
      const entry = entries[i]
      const at = entry === undefined ? undefined : pointOf(kind, entry, entries, i)
      if (at !== undefined) found.push({ kind, at })
    }
  }
  return found
}

/** The number of the point where the kind takes effect at that entry; undefined where it cannot. */
const pointOf = (
  kind: Kind,
  entry: Record.Entry,
  entries: ReadonlyArray<Record.Entry>,
  index: number
): number | undefined => {
  switch (kinds[kind].at) {
    case "step":
      return entry.type === "step" ? entry.n : undefined
    case "event":
      return entry.type === "event" ? entry.n : undefined
    case "call":
      return entry.type === "call" && (kind !== "conflict" || canConflict(entry)) ? entry.n : undefined
    case "write": {
      if (entry.type !== "call" || entry.write === undefined) return undefined
      if (kind === "crash-before" && isAsAfterWriteBefore(entry, entries, index)) return undefined
      return (kind === "touch" || kind === "delete") && !isOfObject(entry) ? undefined : entry.write
    }
  }
}

/** A create fails with AlreadyExists, and only if there is such an object. */
const canConflict = ({ verb, write }: Record.Call): boolean => write !== undefined && verb !== "create"

/** Whether the write names an object that there may be already. */
const isOfObject = ({ verb }: Record.Call): boolean => verb !== "create" && verb !== "deletecollection"

/** Whether nothing but a run has ended since the write before: to the next process a crash then is the same as one after that write. */
const isAsAfterWriteBefore = (
  { at, process }: Record.Call,
  entries: ReadonlyArray<Record.Entry>,
  index: number
): boolean => {
  for (let i = index - 1; i >= 0; i--) {
    const before = entries[i]
    if (before === undefined || before.at !== at || before.type === "other" || before.type === "step") return false
    if (before.type === "call" && before.write !== undefined) return before.process === process
  }
  return false
}
