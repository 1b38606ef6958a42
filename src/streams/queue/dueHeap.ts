/**
 * A binary min-heap of items by due time. Each item stores its slot, so that its due time can be changed, or the item removed, in O(log n)
 * without a search. Items due at the same time are returned in the order in which they were inserted. Plain and synchronous.
 */

export interface Item {
  /** Milliseconds on the monotonic clock. Change it only through `insert`. */
  due: number
  /** Index in the heap, -1 while outside. Only the heap writes it. */
  slot: number
  /** Orders items due at the same time. Only the heap writes it. */
  rank: number
}

const before = (a: Item, b: Item): boolean => a.due < b.due || (a.due === b.due && a.rank < b.rank)

export class DueHeap<I extends Item> {
  /** No child is before its parent, and `items[i].slot === i` for every i. */
  private readonly items: Array<I> = []
  /** Grows with every `insert`. */
  private rank = 0

  get size(): number {
    return this.items.length
  }

  /** The item due first, which stays in the heap. */
  peek(): I | undefined {
    return this.items[0]
  }

  /** At most `limit` items in the order of their due times; they stay in the heap. The cost depends on `limit`, not on the size. */
  first(limit: number): ReadonlyArray<I> {
    const found: Array<I> = []
    /** Items whose parents have all been found; the next one is among them. */
    const border = this.items.slice(0, 1)
    while (found.length < limit && border.length > 0) {
      const next = border.reduce((best, item) => (before(item, best) ? item : best))
      border.splice(border.indexOf(next), 1, ...this.items.slice(2 * next.slot + 1, 2 * next.slot + 3))
      found.push(next)
    }
    return found
  }

  /** Inserts the item with this due time, or moves it if it is already in the heap. */
  insert(item: I, due: number): void {
    item.due = due
    item.rank = ++this.rank
    if (item.slot === -1) {
      item.slot = this.items.length
      this.items.push(item)
    }
    this.settle(item)
  }

  remove(item: I): void {
    const slot = item.slot
    if (slot === -1) return
    item.slot = -1
    const last = this.items.pop()
    if (last === undefined || last === item) return
    last.slot = slot
    this.items[slot] = last
    this.settle(last)
  }

  clear(): void {
    for (const item of this.items) item.slot = -1
    this.items.length = 0
  }

  private settle(item: I): void {
    this.rise(item)
    this.sink(item)
  }

  private rise(item: I): void {
    const items = this.items
    let slot = item.slot
    while (slot > 0) {
      const above = (slot - 1) >> 1
      const parent = items[above] as I
      if (!before(item, parent)) break
      items[slot] = parent
      parent.slot = slot
      slot = above
    }
    items[slot] = item
    item.slot = slot
  }

  private sink(item: I): void {
    const items = this.items
    const size = items.length
    let slot = item.slot
    for (;;) {
      let below = slot * 2 + 1
      if (below >= size) break
      if (below + 1 < size && before(items[below + 1] as I, items[below] as I)) below++
      const child = items[below] as I
      if (!before(child, item)) break
      items[slot] = child
      child.slot = slot
      slot = below
    }
    items[slot] = item
    item.slot = slot
  }
}
