/** The progress of the start: how many of the kinds that the controllers read have synced, from the status of their informers. Pure. */
import type { InformerStatus } from "../../layers/Cache.ts"
import { count, type State } from "./render.ts"

/** The most kinds that a line names. */
const mostNamed = 3

/**
 * Undefined: the start is over, because each kind has synced or has failed; the logs name the failed ones. `kinds`: their qualified names, once each.
 */
export const stateOf = (kinds: ReadonlySet<string>, informers: ReadonlyArray<InformerStatus>): State | undefined => {
  const byKind = new Map<string, { isSynced: boolean; hasFailed: boolean; objects: number }>()
  for (const { lastError, objects, resource, synced } of informers) {
    const known = byKind.get(resource)
    if (!kinds.has(resource)) continue
    byKind.set(resource, {
      isSynced: synced && known?.isSynced !== false,
      hasFailed: lastError !== undefined || known?.hasFailed === true,
      objects: objects + (known?.objects ?? 0)
    })
  }
  const synced = [...byKind].filter(([, { isSynced }]) => isSynced)
  const waiting = [...kinds].filter((kind) => byKind.get(kind)?.isSynced !== true).sort()
  if (waiting.every((kind) => byKind.get(kind)?.hasFailed === true)) return undefined
  const largest = synced
    .filter(([, { objects }]) => objects > 0)
    .sort(([, a], [, b]) => b.objects - a.objects)
    .map(([kind, { objects }]) => `${kind} ${count(objects)} ${objects === 1 ? "object" : "objects"}`)
  const detail = [named(largest), `waiting for ${named(waiting)}`].filter((part) => part !== "").join("; ")
  return { verb: "Synced", done: synced.length, total: kinds.size, unit: "kinds", detail }
}

const named = (all: ReadonlyArray<string>): string =>
  all.slice(0, mostNamed).join(", ") + (all.length > mostNamed ? ", …" : "")
