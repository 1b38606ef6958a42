/** Values in the order of their ids, with a limit on their size: the oldest are dropped. Plain and synchronous. */

export class Ring<A> {
  /** The values from `head` on are kept; those before it have been dropped and are removed now and then. */
  private values: Array<A | undefined> = []
  private sizes: Array<number> = []
  private head = 0
  /** The id of `values[0]`. */
  private base = 0
  /** The sum of the sizes of the values that are kept; at most `limit`. */
  private total = 0
  private readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  /** The id that the next value gets. Ids begin at 0 and have no gaps. */
  get next(): number {
    return this.base + this.values.length
  }

  get size(): number {
    return this.total
  }

  /** The id of the oldest value that is kept; all before it have been dropped. */
  get first(): number {
    return this.base + this.head
  }

  /** A value that exceeds the limit alone is dropped at once. */
  push(value: A, size: number): void {
    this.values.push(value)
    this.sizes.push(size)
    this.total += size
    while (this.total > this.limit) this.drop()
  }

  /** The value takes more than was said; no effect if it was dropped. */
  grow(id: number, size: number): void {
    const at = id - this.base
    if (at < this.head) return
    this.sizes[at] = (this.sizes[at] as number) + size
    this.total += size
    while (this.total > this.limit) this.drop()
  }

  get(id: number): A | undefined {
    return this.values[id - this.base]
  }

  private drop(): void {
    this.total -= this.sizes[this.head] as number
    this.values[this.head] = undefined
    this.head++
    if (this.head < 1024 || this.head * 2 < this.values.length) return
    this.values = this.values.slice(this.head)
    this.sizes = this.sizes.slice(this.head)
    this.base += this.head
    this.head = 0
  }
}
