/** Renders fibers as text: equal fibers are one entry with their number, the most numerous first, so that a leak is at the top. Pure. */
import type { FiberState } from "../../layers/Process.ts"
import { cut } from "./page.ts"

/** The most entries of a dump, and the most ids of an entry. */
const limits = { entries: 1000, ids: 10 }

export const render = (fibers: ReadonlyArray<FiberState>): string => {
  const groups = new Map<string, Array<FiberState>>()
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

const entry = (group: ReadonlyArray<FiberState>): string => {
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
