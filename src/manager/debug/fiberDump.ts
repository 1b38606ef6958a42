/**
 * Fibers as a text: those that are alike are one entry with their number, the most numerous first, so that a leak stands at the top.
 * Pure.
 */
import { cut } from "./page.ts"

/** What is known of a fiber that has not ended. */
export interface Seen {
  readonly id: number
  /** Of its log lines: `controller=deployment`. */
  readonly annotations: ReadonlyArray<string>
  /** Names of the calls it is in, the innermost first; only calls that were given a name are known. */
  readonly calls: ReadonlyArray<string>
}

/** Entries of a dump, and identifiers that each of them names. */
const limits = { entries: 1000, ids: 10 }

export const render = (fibers: ReadonlyArray<Seen>): string => {
  const groups = new Map<string, Array<Seen>>()
  for (const fiber of fibers) {
    const key = JSON.stringify([fiber.annotations, fiber.calls])
    groups.set(key, [...(groups.get(key) ?? []), fiber])
  }
  const { items, omitted } = cut(
    Array.from(groups.values()).sort((a, b) => b.length - a.length),
    limits.entries
  )
  return [
    `${fibers.length} fibers that have not ended`,
    ...items.map(entry),
    ...(omitted === undefined ? [] : [`${omitted} more sorts of fibers are not shown`]),
    ""
  ].join("\n\n")
}

const entry = (group: ReadonlyArray<Seen>): string => {
  const [first] = group
  const ids = cut(
    group.map(({ id }) => `#${id}`),
    limits.ids
  )
  const more = ids.omitted === undefined ? "" : " ..."
  return [
    `${group.length} x ${[`${ids.items.join(" ")}${more}`, ...(first?.annotations ?? [])].join("  ")}`,
    ...(first?.calls ?? []).map((call) => `    in ${call}`)
  ].join("\n")
}
