/**
 * The ready items of a keyed queue, in the order in which they are handed out: higher priorities first, equals in the order in which they
 * became ready. Items with a priority below 0 gain levels of priority while they wait, up to 0, so that a steady stream of normal keys does
 * not starve them; such an item is ordered among items of its new priority by the time at which it became ready.
 *
 * Ageing moves no item. The items of one priority are in the order of their arrival, so the first one of a level has gained most, and only
 * the first items of the levels have to be compared. Plain and synchronous; the caller passes the time.
 */

import { Line, type Neighbours } from "../chain.ts"

export interface Item<I> extends Neighbours<I> {
  priority: number
  /** The order in which items became ready; set by `push`. */
  sequence: number
  /** When it became ready, in milliseconds; kept only below priority 0, where it decides the age. */
  since: number
}

export interface Aging {
  /** Levels gained per interval. */
  readonly levels: number
  /** Milliseconds. */
  readonly interval: number
}

class Level<I extends Item<I>> extends Line<I> {
  readonly priority: number

  constructor(priority: number) {
    super()
    this.priority = priority
  }
}

export class ReadyList<I extends Item<I>> {
  size = 0
  /** Grows with every `push`; smaller means ready earlier. */
  private sequence = 0
  /** The level of priority 0, which has nearly all items; it exists even while empty. */
  private readonly normal = new Level<I>(0)
  /** Every other level that has items, highest priority first; none is empty. */
  private readonly others: Array<Level<I>> = []
  private readonly aging: Aging | undefined
  private readonly now: () => number
  private readonly onLevel: ((priority: number) => void) | undefined

  /** `onLevel` is called with the priority of an item that is pushed to an empty level; never with 0. */
  constructor(aging: Aging | undefined, now: () => number, onLevel?: (priority: number) => void) {
    this.aging = aging
    this.now = now
    this.onLevel = onLevel
  }

  /** Appends the item to the level of its priority. */
  push(item: I): void {
    item.sequence = ++this.sequence
    if (item.priority < 0 && this.aging !== undefined) item.since = this.now()
    const level = item.priority === 0 ? this.normal : this.levelOf(item.priority)
    level.append(item)
    this.size++
  }

  /** Removes and returns the next item. */
  shift(): I | undefined {
    const level = this.others.length === 0 ? this.normal : this.best()
    const item = level.head
    if (item !== undefined) this.unlink(item, level)
    return item
  }

  remove(item: I): void {
    this.unlink(item, item.priority === 0 ? this.normal : this.levelOf(item.priority))
  }

  /** The number of items of each priority. It walks the levels other than 0, so it is not for the hot path. */
  levels(): ReadonlyMap<number, number> {
    const sizes = new Map<number, number>()
    let others = 0
    for (const { head, priority } of this.others) {
      let size = 0
      for (let item = head; item !== undefined; item = item.next) size++
      sizes.set(priority, size)
      others += size
    }
    if (this.size > others) sizes.set(0, this.size - others)
    return sizes
  }

  /** The items that have waited longest, one of each priority. */
  heads(): ReadonlyArray<I> {
    return [this.normal, ...this.others].flatMap(({ head }) => (head === undefined ? [] : [head]))
  }

  /** The first items by priority and arrival, at most `limit`; ageing does not count. */
  first(limit: number): ReadonlyArray<I> {
    const found: Array<I> = []
    for (const level of [...this.others, this.normal].sort((a, b) => b.priority - a.priority)) {
      for (let item = level.head; item !== undefined && found.length < limit; item = item.next) found.push(item)
    }
    return found
  }

  clear(): void {
    this.normal.clear()
    this.others.length = 0
    this.size = 0
  }

  private unlink(item: I, level: Level<I>): void {
    level.remove(item)
    this.size--
    if (level.head === undefined && level !== this.normal) this.others.splice(this.others.indexOf(level), 1)
  }

  /** Finds or makes the level; levels are few, so a scan is enough. */
  private levelOf(priority: number): Level<I> {
    let at = 0
    for (; at < this.others.length; at++) {
      const level = this.others[at] as Level<I>
      if (level.priority === priority) return level
      if (level.priority < priority) break
    }
    const level = new Level<I>(priority)
    this.others.splice(at, 0, level)
    this.onLevel?.(priority)
    return level
  }

  /** The level whose first item comes next. It reads the clock only if ageing could change the order. */
  private best(): Level<I> {
    const first = this.others[0] as Level<I>
    if (first.priority > 0) return first
    let best = this.normal.head === undefined ? first : this.normal
    if (this.aging === undefined || (best === first && this.others.length === 1)) return best
    const now = this.now()
    let rank = this.aged(best, now)
    for (const level of this.others) {
      if (level === best) continue
      const other = this.aged(level, now)
      if (other < rank) continue
      if (other > rank || (level.head as I).sequence < (best.head as I).sequence) {
        best = level
        rank = other
      }
    }
    return best
  }

  /** The priority of the level's first item, with the levels that it has gained by waiting. */
  private aged(level: Level<I>, now: number): number {
    const { aging } = this
    if (level.priority >= 0 || aging === undefined) return level.priority
    const waited = now - (level.head as I).since
    return Math.min(0, level.priority + aging.levels * Math.floor(waited / aging.interval))
  }
}
