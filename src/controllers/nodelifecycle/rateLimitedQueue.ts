/**
 * One queue of nodes for each zone, with a token bucket of size one: the first node of a zone may be tainted at once, the next when the zone's rate
 * allows it. Plain synchronous state for one leadership term; it reads no clock, times are monotonic milliseconds. Source:
 * pkg/controller/nodelifecycle/scheduler: RateLimitedTimedQueue.
 */

interface ZoneQueue {
  /** In the order in which they were added. */
  readonly waiting: Set<string>
  /** Nodes per second. */
  rate: number
  /** From 0 to 1; 1 allows one node. */
  token: number
  /** The time of `token`. */
  at: number
}

/** Tolerance for rounding in sums of fractions. */
const whole = 1 - 1e-9

export class RateLimitedQueue {
  private readonly queues = new Map<string, ZoneQueue>()
  /** The zone of each queued node. A node is in one queue. */
  private readonly zones = new Map<string, string>()
  /** The rate of a zone until `setRate` is called for it. */
  private readonly rate: number

  constructor(rate: number) {
    this.rate = rate
  }

  /** Adds the node to the end of the zone's queue unless it is queued there already; returns whether it was added. */
  add(zone: string, node: string, now: number): boolean {
    if (this.zones.get(node) === zone) return false
    this.remove(node)
    this.zones.set(node, zone)
    this.queueOf(zone, now).waiting.add(node)
    return true
  }

  /** Removes a node that is ready, gone or tainted. */
  remove(node: string): void {
    const zone = this.zones.get(node)
    if (zone === undefined) return
    this.zones.delete(node)
    this.queues.get(zone)?.waiting.delete(node)
  }

  /** A full token earned at the old rate is kept; a partial one is lost. */
  setRate(zone: string, rate: number, now: number): void {
    const queue = this.queueOf(zone, now)
    if (queue.rate === rate) return
    queue.token = this.earned(queue, now) >= whole && queue.rate > 0 ? 1 : 0
    queue.at = now
    queue.rate = rate
  }

  /** Removes a zone without nodes. */
  drop(zone: string): void {
    for (const node of this.queues.get(zone)?.waiting ?? []) this.zones.delete(node)
    this.queues.delete(zone)
  }

  /** The first node of each zone that has a token, which is spent; nodes stay queued until they are removed. */
  take(now: number): ReadonlyArray<string> {
    const taken: Array<string> = []
    for (const queue of this.queues.values()) {
      const [first] = queue.waiting
      if (first === undefined || queue.rate <= 0 || this.earned(queue, now) < whole) continue
      queue.token = 0
      queue.at = now
      taken.push(first)
    }
    return taken
  }

  /** Milliseconds until `take` returns a node; undefined if none is queued, or no rate allows it. */
  next(now: number): number | undefined {
    let next: number | undefined
    for (const queue of this.queues.values()) {
      if (queue.waiting.size === 0 || queue.rate <= 0) continue
      const left = Math.max(0, Math.ceil(((1 - this.earned(queue, now)) / queue.rate) * 1000 - 1e-6))
      if (next === undefined || left < next) next = left
    }
    return next
  }

  private earned({ at, rate, token }: ZoneQueue, now: number): number {
    return Math.min(1, token + (Math.max(0, now - at) * rate) / 1000)
  }

  private queueOf(zone: string, now: number): ZoneQueue {
    const known = this.queues.get(zone)
    if (known !== undefined) return known
    const queue = { waiting: new Set<string>(), rate: this.rate, token: 1, at: now }
    this.queues.set(zone, queue)
    return queue
  }
}
