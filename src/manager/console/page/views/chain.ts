/** The order of a timeline: what has a cause in it stands below that cause, and what led to an entry or followed from it. */
import type { TimelineEntry } from "../../protocol.ts"

/** A change, a reconcile with its writes and events, or an entry whose cause was dropped. */
export interface Step {
  readonly entry: TimelineEntry
  /** Writes and events, oldest first. */
  readonly results: ReadonlyArray<TimelineEntry>
}

const causesOf = (entry: TimelineEntry): ReadonlyArray<number> =>
  entry.type === "change" ? [] : entry.causes.flatMap((id) => id ?? [])

/** The steps, newest first. */
export const stepsOf = (timeline: ReadonlyArray<TimelineEntry>): ReadonlyArray<Step> => {
  const results = new Map<number, Array<TimelineEntry>>()
  for (const entry of timeline) if (entry.type === "reconcile") results.set(entry.id, [])
  const steps: Array<Step> = []
  for (const entry of timeline) {
    const isResult = entry.type === "write" || entry.type === "event"
    const cause = isResult ? entry.causes.find((id) => results.has(id)) : undefined
    if (cause === undefined) steps.push({ entry, results: results.get(entry.id) ?? [] })
    else results.get(cause)?.push(entry)
  }
  return steps.toReversed()
}

/** The ids of the entry, of what led to it and of what followed from it, among the entries of the timeline. */
export const chainOf = (timeline: ReadonlyArray<TimelineEntry>, id: number): ReadonlySet<number> => {
  const causes = new Map(timeline.map((entry) => [entry.id, causesOf(entry)]))
  const effects = new Map<number, Array<number>>()
  for (const [effect, ids] of causes) {
    for (const cause of ids) {
      const known = effects.get(cause)
      if (known === undefined) effects.set(cause, [effect])
      else known.push(effect)
    }
  }
  const reach = (next: ReadonlyMap<number, ReadonlyArray<number>>) => {
    const found = new Set([id])
    const open = [id]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const other of next.get(at) ?? []) {
        if (found.has(other) || !causes.has(other)) continue
        found.add(other)
        open.push(other)
      }
    }
    return found
  }
  return new Set([...reach(causes), ...reach(effects)])
}
