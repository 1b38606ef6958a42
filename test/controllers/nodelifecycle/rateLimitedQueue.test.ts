import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as RateLimitedQueue from "../../../src/controllers/nodelifecycle/rateLimitedQueue.ts"
import { checkProperty, int, oneOf, type ValueOf } from "../../support/property.ts"
const actions = Arbitrary.array(
  Arbitrary.all({
    after: oneOf(0, 100, 1_000, 5_000, 9_999, 10_000, 30_000, 200_000),
    what: oneOf("add", "add", "add", "add", "remove", "take", "through", "through", "rate", "drop"),
    zone: oneOf("a", "a", "a", "b"),
    node: int(0, 5),
    rate: oneOf(0, 0.01, 0.1, 1)
  }),
  { maxLength: 30 }
)

type Actions = ValueOf<typeof actions>

/** Runs the actions, then takes all queued nodes as time passes. `observe` is called after each step. */
const run = (
  script: Actions,
  observe: (visit: {
    readonly now: number
    readonly taken: ReadonlyArray<string>
    readonly zones: ReadonlyMap<string, string>
    readonly rates: ReadonlyMap<string, number>
    readonly next: number | undefined
  }) => boolean
): boolean => {
  const queue = new RateLimitedQueue.RateLimitedQueue(0.1)
  const zones = new Map<string, string>()
  const rates = new Map<string, number>()
  let now = 1_000
  return script.every(({ after, node: number, rate, what, zone }) => {
    const node = `node-${number}`
    now += after
    let taken: ReadonlyArray<string> = []
    switch (what) {
      case "add":
        if (queue.add(zone, node, now) === (zones.get(node) === zone)) return false
        if (zones.get(node) !== zone) {
          zones.delete(node)
          zones.set(node, zone)
        }
        if (!rates.has(zone)) rates.set(zone, 0.1)
        break
      case "remove":
        queue.remove(node)
        zones.delete(node)
        break
      case "take":
      case "through":
        taken = queue.take(now)
        if (what === "through") for (const one of taken) queue.remove(one)
        break
      case "rate":
        queue.setRate(zone, rate, now)
        rates.set(zone, rate)
        break
      case "drop":
        queue.drop(zone)
        for (const [one, its] of zones) if (its === zone) zones.delete(one)
        rates.delete(zone)
    }
    const isFine = observe({ now, taken, zones, rates, next: queue.next(now) })
    if (what === "through") for (const one of taken) zones.delete(one)
    return isFine
  })
}
const changes = Arbitrary.array(
  Arbitrary.all({ after: oneOf(0, 1_000, 5_000, 9_999, 20_000), rate: oneOf(0, 0.01, 0.1, 0.1) }),
  { minLength: 2, maxLength: 10 }
)
describe("RateLimitedQueue", () => {
  checkProperty("takes the first node of a zone's queue, and no other", actions, (all) =>
    run(all, ({ taken, zones }) => {
      const firsts = new Map<string, string>()
      for (const [node, zone] of zones) if (!firsts.has(zone)) firsts.set(zone, node)
      return new Set(taken).size === taken.length && taken.every((one) => firsts.get(zones.get(one) ?? "") === one)
    })
  )

  checkProperty("a zone returns no more nodes than its rate allows", actions, (all) => {
    const last = new Map<string, { at: number; rate: number }>()
    return run(all, ({ now, rates, taken, zones }) => {
      for (const [zone, before] of last) {
        // A zone that was removed starts with a full token when it is added again.
        if (!rates.has(zone)) last.delete(zone)
        else before.rate = Math.max(before.rate, rates.get(zone) ?? 0)
      }
      return taken.every((node) => {
        const zone = zones.get(node) ?? ""
        const rate = rates.get(zone) ?? 0
        const before = last.get(zone)
        last.set(zone, { at: now, rate })
        return rate > 0 && (before === undefined || now - before.at >= 1000 / before.rate - 1)
      })
    })
  })

  checkProperty("take returns a node exactly when next has announced one", actions, (all) => {
    const queue = new RateLimitedQueue.RateLimitedQueue(0.1)
    let now = 0
    for (const { after, node, rate, what, zone } of all) {
      now += after
      if (what === "rate") queue.setRate(zone, rate, now)
      else if (what === "add") queue.add(zone, `node-${node}`, now)
      else if (what === "drop") queue.drop(zone)
      else {
        const next = queue.next(now)
        if (next === undefined || next > 1) {
          if (queue.take(now).length > 0) return false
        }
        if (next === undefined) continue
        now += next
        const taken = queue.take(now)
        if (taken.length === 0) return false
        for (const one of taken) queue.remove(one)
      }
    }
    return true
  })

  checkProperty("a changing rate allows no more than the highest one", changes, (all) => {
    const queue = new RateLimitedQueue.RateLimitedQueue(0.1)
    let now = 0
    let through = 0
    for (let i = 0; i < 20; i++) queue.add("a", `node-${i}`, now)
    return all.every(({ after, rate }) => {
      now += after
      queue.setRate("a", rate, now)
      for (const one of queue.take(now)) {
        through++
        queue.remove(one)
      }
      return through <= 1 + (now * 0.1) / 1000 + 1e-6
    })
  })
})
