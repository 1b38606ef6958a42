/**
 * The nodes that are to be given up, in a line for each zone, and how many a second may be. A zone's first is let through at once, the next when
 * the zone's rate has earned it. Plain synchronous state for one term; it reads no clock, times are monotonic milliseconds. Source: spec
 * G.4.2, the reference's RateLimitedTimedQueue with a burst of one.
 */

interface ZoneQueue {
  /** In the order in which they came. */
  readonly waiting: Set<string>
  /** Nodes a second. */
  rate: number
  /** From 0 to 1; a whole one lets a node through. */
  token: number
  /** When `token` was that. */
  at: number
}

/** Sums of fractions miss a whole one by less. */
const whole = 1 - 1e-9

export class RateLimitedQueue {
  private readonly queues = new Map<string, ZoneQueue>()
  /** Of everybody who waits. A node waits in one line. */
  private readonly zones = new Map<string, string>()
  /** Of a zone that nobody has said anything of. */
  private readonly rate: number

  constructor(rate: number) {
    this.rate = rate
  }

  /** Puts the node at the end of the zone's line unless it stands there already; answers whether it did. */
  add(zone: string, node: string, now: number): boolean {
    if (this.zones.get(node) === zone) return false
    this.remove(node)
    this.zones.set(node, zone)
    this.queueOf(zone, now).waiting.add(node)
    return true
  }

  /** It need not wait any more: it is well, gone or through. */
  remove(node: string): void {
    const zone = this.zones.get(node)
    if (zone === undefined) return
    this.zones.delete(node)
    this.queues.get(zone)?.waiting.delete(node)
  }

  /** A token that was earned at the old rate stays; part of one is lost. */
  setRate(zone: string, rate: number, now: number): void {
    const queue = this.queueOf(zone, now)
    if (queue.rate === rate) return
    queue.token = this.earned(queue, now) >= whole && queue.rate > 0 ? 1 : 0
    queue.at = now
    queue.rate = rate
  }

  /** A zone that is no more; its nodes have gone with it. */
  drop(zone: string): void {
    for (const node of this.queues.get(zone)?.waiting ?? []) this.zones.delete(node)
    this.queues.delete(zone)
  }

  /** The first of each zone that may let one through now, each paid for; they keep their places until they are removed. */
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

  /** Milliseconds until somebody may be let through; undefined if time alone does not bring that about. */
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
