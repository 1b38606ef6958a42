/**
 * What the objects of one namespace take of its quotas, kept as sums: a change of an object moves them by what it changes, and a quota is read
 * without looking at any object. Plain and synchronous; it reads no clock. Invariant: each sum of a quota is that of all objects there are that
 * match its scopes, each with what it takes at the time it was last looked at; `expire` looks at those whose time is over.
 */
import type { Key } from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type { Quantity } from "../../kube/quantity.ts"
import * as Names from "../../kube/quota/names.ts"
import * as Scopes from "../../kube/quota/scopes.ts"
import * as Usage from "../../kube/quota/usage.ts"
import { DueHeap, type Item } from "../../streams/dueHeap.ts"
import * as Sums from "./sums.ts"

/** What a quota wants counted. */
export interface Wanted {
  readonly scopes: ReadonlyArray<Scopes.Scope>
  /** The names in its `hard`. */
  readonly names: ReadonlyArray<string>
}

/** Quotas of which something takes less, or something takes more and nothing less. */
export interface Moved {
  readonly less: ReadonlyArray<Key>
  readonly more: ReadonlyArray<Key>
}

interface Account {
  readonly key: Key
  readonly scopes: ReadonlyArray<Scopes.Scope>
  /** Ids of the kinds that its names are counted from. */
  readonly kinds: ReadonlySet<string>
  /** By name, of the kinds that are measured. */
  readonly sums: Map<string, Sums.Sum>
}

/** An object, and how it was counted. `due` is when it will have to be looked at, and it is in the heap only if it will. */
interface Entry extends Item {
  readonly kind: Names.Counted
  readonly key: Key
  readonly object: KubeObject
  readonly isCharged: boolean
}

/** The objects of a kind that are there, by their keys. */
export type Contents = (kind: Names.Counted) => Iterable<readonly [Key, KubeObject]>

const nothing: Usage.Usage = new Map()

export class Ledger {
  private readonly accounts = new Map<Key, Account>()
  /** By kind, for exactly the measured kinds that some account names: every object that is there. */
  private readonly entries = new Map<string, Map<Key, Entry>>()
  /** Exactly the entries that will take less by time alone. */
  private readonly expiring = new DueHeap<Entry>()

  get isEmpty(): boolean {
    return this.accounts.size === 0
  }

  /** Milliseconds since 1970 at which `expire` will find something, if there is such a time. */
  get nextExpiry(): number | undefined {
    return this.expiring.peek()?.due
  }

  /** Counts for the quota from now on, in place of what it wanted before. */
  open(key: Key, { names, scopes }: Wanted, contents: Contents, now: number): void {
    const kinds = names.flatMap((name) => Names.kindOf(name) ?? [])
    const measured = names.filter((name) => {
      const kind = Names.kindOf(name)
      return kind !== undefined && Usage.isMeasured(kind)
    })
    const account: Account = {
      key,
      scopes,
      kinds: new Set(kinds.map(Names.idOf)),
      sums: new Map(measured.map((name) => [name, Sums.empty()]))
    }
    this.accounts.set(key, account)
    for (const kind of Usage.measured) {
      const id = Names.idOf(kind)
      if (!account.kinds.has(id)) continue
      const known = this.entries.get(id)
      if (known === undefined) this.entries.set(id, new Map())
      else for (const entry of known.values()) this.move([account], undefined, entry)
    }
    for (const kind of Usage.measured)
      for (const [one, object] of this.entries.get(Names.idOf(kind))?.size === 0 ? contents(kind) : [])
        this.observe(kind, one, object, now)
    this.trim()
  }

  close(key: Key): void {
    this.accounts.delete(key)
    this.trim()
  }

  /** Counts everything anew, from what is there. */
  recount(contents: Contents, now: number): void {
    this.expiring.clear()
    for (const { sums } of this.accounts.values()) for (const name of sums.keys()) sums.set(name, Sums.empty())
    for (const kind of Usage.measured) {
      const entries = this.entries.get(Names.idOf(kind))
      if (entries === undefined) continue
      entries.clear()
      for (const [key, object] of contents(kind)) this.observe(kind, key, object, now)
    }
  }

  /** An object is as it is now, or is not there any more. */
  observe(kind: Names.Counted, key: Key, object: KubeObject | undefined, now: number): Moved {
    const entries = this.entries.get(Names.idOf(kind))
    if (entries === undefined) return { less: [], more: [] }
    const before = entries.get(key)
    if (before !== undefined) this.expiring.remove(before)
    if (object === undefined) {
      entries.delete(key)
      return this.move(this.accounts.values(), before, undefined)
    }
    const until = Usage.until(kind, object)
    const after: Entry = { kind, key, object, isCharged: now <= until, due: until, slot: -1, rank: 0 }
    entries.set(key, after)
    // It is over only when that millisecond has passed.
    if (after.isCharged && until !== Infinity) this.expiring.insert(after, until + 1)
    return this.move(this.accounts.values(), before, after)
  }

  /** Looks at every object whose time is over. */
  expire(now: number): ReadonlyArray<Key> {
    const less = new Set<Key>()
    for (let next = this.expiring.peek(); next !== undefined && next.due <= now; next = this.expiring.peek()) {
      this.expiring.remove(next)
      for (const key of this.observe(next.kind, next.key, next.object, now).less) less.add(key)
    }
    return [...less]
  }

  /** What is taken of a name that is counted from a measured kind. */
  used(key: Key, name: string): Quantity | undefined {
    const sum = this.accounts.get(key)?.sums.get(name)
    return sum === undefined ? undefined : Sums.read(sum)
  }

  /** The quotas that count objects of a kind in any way. */
  interested(kind: Names.Counted): ReadonlyArray<Key> {
    const id = Names.idOf(kind)
    return [...this.accounts.values()].flatMap(({ key, kinds }) => (kinds.has(id) ? [key] : []))
  }

  private move(accounts: Iterable<Account>, before: Entry | undefined, after: Entry | undefined): Moved {
    const moved = { less: new Array<Key>(), more: new Array<Key>() }
    const [was, is] = [usageOf(before), usageOf(after)]
    for (const account of accounts) {
      const direction = shift(account, matches(account, before) ? was : nothing, matches(account, after) ? is : nothing)
      if (direction !== undefined) moved[direction].push(account.key)
    }
    return moved
  }

  /** Forgets the objects of kinds that no account names any more. */
  private trim(): void {
    for (const [id, entries] of this.entries) {
      if ([...this.accounts.values()].some(({ kinds }) => kinds.has(id))) continue
      for (const entry of entries.values()) this.expiring.remove(entry)
      this.entries.delete(id)
    }
  }
}

const usageOf = (entry: Entry | undefined): Usage.Usage =>
  entry === undefined ? nothing : Usage.of(entry.kind, entry.object, entry.isCharged)

const matches = ({ scopes }: Account, entry: Entry | undefined): boolean =>
  entry !== undefined && Scopes.match(scopes, entry.kind, entry.object)

/** Takes one usage from the sums and adds the other; says whether some of them became less, or else some more. */
const shift = ({ sums }: Account, was: Usage.Usage, is: Usage.Usage): "less" | "more" | undefined => {
  let direction: "less" | "more" | undefined
  for (const [name, amount] of was) {
    const sum = sums.get(name)
    if (sum === undefined) continue
    Sums.take(sum, amount)
    if ((is.get(name)?.nanos ?? 0n) < amount.nanos) direction = "less"
  }
  for (const [name, amount] of is) {
    const sum = sums.get(name)
    if (sum === undefined) continue
    Sums.add(sum, amount)
    if ((was.get(name)?.nanos ?? 0n) < amount.nanos) direction ??= "more"
  }
  return direction
}
