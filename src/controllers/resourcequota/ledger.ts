/**
 * The usage of one namespace, as sums by quota: a change of an object changes the sums by the difference, so a sync reads no objects. Plain and
 * synchronous; it reads no clock. Invariant: each sum of a quota is that of all present objects that match its scopes, each with its usage when it
 * was last evaluated; `expire` evaluates those whose usage changes with time.
 */
import { type Key, make, parse } from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Quantity from "../../kube/quantity.ts"
import * as Devices from "../../kube/quota/devices.ts"
import * as Names from "../../kube/quota/names.ts"
import * as Scopes from "../../kube/quota/scopes.ts"
import * as Usage from "../../kube/quota/usage.ts"
import { DueHeap, type Item } from "../../streams/queue/dueHeap.ts"

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
  readonly sums: Map<string, Sum>
}

/** An object, and how it was counted. `due` is when it will have to be looked at, and it is in the heap only if it will. */
interface Entry extends Item {
  readonly kind: Names.Counted
  readonly key: Key
  readonly object: KubeObject
  readonly isCharged: boolean
  /** Of a claim for devices, which takes more or less when its pod, another claim or a class of devices changes, too. */
  readonly usage: Usage.Usage | undefined
}

/** What an object was counted as, and what it is; undefined where there is none. */
interface Change {
  readonly before: Entry | undefined
  readonly after: Entry | undefined
}

/** The objects of a kind that are there, by their keys. */
export type Contents = (kind: Names.Counted) => Iterable<readonly [Key, KubeObject]>

const nothing: Usage.Usage = new Map()

const podsId = Names.idOf(Names.pods)
const claimsId = Names.idOf(Names.resourceClaims)

export class Ledger {
  private readonly extendedResource: Usage.Around["extendedResource"]
  private readonly accounts = new Map<Key, Account>()
  /** By kind, for exactly the measured kinds that some account names: every object that is there. */
  private readonly entries = new Map<string, Map<Key, Entry>>()
  /** Exactly the entries that will take less by time alone. */
  private readonly expiring = new DueHeap<Entry>()
  /** By uid of a pod, never empty: keys of exactly the claims among the entries that are for its extended resources. */
  private readonly claimsOfPods = new Map<string, Set<Key>>()

  constructor(extendedResource: Usage.Around["extendedResource"] = () => undefined) {
    this.extendedResource = extendedResource
  }

  get isEmpty(): boolean {
    return this.accounts.size === 0
  }

  /** Milliseconds since 1970 at which `expire` will find something, if there is such a time. */
  get nextExpiry(): number | undefined {
    return this.expiring.peek()?.due
  }

  /** Counts for the quota from now on, in place of what it wanted before. */
  open(key: Key, { names, scopes }: Wanted, contents: Contents, now: number): void {
    const kinds = names.flatMap(Names.kindsOf)
    const measured = names.filter((name) => Names.kindsOf(name).some(Usage.isMeasured))
    const account: Account = {
      key,
      scopes,
      kinds: new Set(kinds.map(Names.idOf)),
      sums: new Map(measured.map((name) => [name, empty()]))
    }
    this.accounts.set(key, account)
    for (const kind of Usage.measured) {
      const id = Names.idOf(kind)
      if (!account.kinds.has(id)) continue
      const known = this.entries.get(id)
      if (known === undefined) this.entries.set(id, new Map())
      else for (const after of known.values()) this.move([account], [{ before: undefined, after }])
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
    this.claimsOfPods.clear()
    for (const { sums } of this.accounts.values()) for (const name of sums.keys()) sums.set(name, empty())
    for (const kind of Usage.measured) {
      const entries = this.entries.get(Names.idOf(kind))
      if (entries === undefined) continue
      entries.clear()
      for (const [key, object] of contents(kind)) this.observe(kind, key, object, now)
    }
  }

  /** An object is as it is now, or is not there any more. */
  observe(kind: Names.Counted, key: Key, object: KubeObject | undefined, now: number): Moved {
    const id = Names.idOf(kind)
    const entries = this.entries.get(id)
    if (entries === undefined) return unmoved
    const before = entries.get(key)
    if (before !== undefined) this.expiring.remove(before)
    if (object === undefined) entries.delete(key)
    const uids = id === claimsId ? this.indexClaim(key, before?.object, object) : []
    const after = object === undefined ? undefined : this.entryOf(kind, key, object, now)
    if (after !== undefined) entries.set(key, after)
    if (id === podsId && this.claimsOfPods.size > 0) uids.push(...uidsOf(before?.object, object))
    const others = uids.flatMap((uid) => this.recounted(this.claimsOf(uid)))
    return this.move(this.accounts.values(), [{ before, after }, ...others])
  }

  /** Classes of devices are of other extended resources than they were. */
  reclassify(): Moved {
    return this.move(this.accounts.values(), this.recounted(this.entries.get(claimsId)?.values() ?? []))
  }

  private entryOf(kind: Names.Counted, key: Key, object: KubeObject, now: number): Entry {
    const until = Usage.until(kind, object)
    const usage = Names.idOf(kind) === claimsId ? Usage.of(kind, object, true, this.around(key)) : undefined
    const entry: Entry = { kind, key, object, isCharged: now <= until, usage, due: until, slot: -1, rank: 0 }
    // It is over only when that millisecond has passed.
    if (entry.isCharged && until !== Infinity) this.expiring.insert(entry, until + 1)
    return entry
  }

  /** What the usage of the claim with that key depends on. */
  private around(claim: Key): Usage.Around {
    const { namespace } = parse(claim)
    return {
      extendedResource: this.extendedResource,
      pod: (name) => {
        const entry = this.entries.get(podsId)?.get(make(namespace, name))
        return entry === undefined ? undefined : { pod: entry.object, usage: usageOf(entry) }
      },
      claimsOf: (uid) => Array.from(this.claimsOf(uid), ({ object }) => object)
    }
  }

  private *claimsOf(uid: string): Iterable<Entry> {
    for (const key of this.claimsOfPods.get(uid) ?? []) {
      const entry = this.entries.get(claimsId)?.get(key)
      if (entry !== undefined) yield entry
    }
  }

  /** Notes for which pods a claim was and is; their uids. */
  private indexClaim(key: Key, before: KubeObject | undefined, after: KubeObject | undefined): Array<string> {
    const [was, is] = [before, after].map((claim) => (claim === undefined ? undefined : Devices.podOf(claim)?.uid))
    if (was !== undefined && was !== is) {
      const keys = this.claimsOfPods.get(was)
      keys?.delete(key)
      if (keys?.size === 0) this.claimsOfPods.delete(was)
    }
    if (is !== undefined) this.claimsOfPods.set(is, (this.claimsOfPods.get(is) ?? new Set()).add(key))
    return [was, is].filter((uid) => uid !== undefined)
  }

  /** Claims as they are counted now, by what is around them. */
  private recounted(claims: Iterable<Entry>): ReadonlyArray<Change> {
    return Array.from(claims, (before) => {
      const after = { ...before, usage: Usage.of(before.kind, before.object, true, this.around(before.key)) }
      this.entries.get(claimsId)?.set(after.key, after)
      return { before, after }
    })
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
  used(key: Key, name: string): Quantity.Quantity | undefined {
    const sum = this.accounts.get(key)?.sums.get(name)
    return sum === undefined ? undefined : read(sum)
  }

  /** The quotas that count objects of a kind in any way. */
  interested(kind: Names.Counted): ReadonlyArray<Key> {
    const id = Names.idOf(kind)
    return [...this.accounts.values()].flatMap(({ key, kinds }) => (kinds.has(id) ? [key] : []))
  }

  private move(accounts: Iterable<Account>, changes: ReadonlyArray<Change>): Moved {
    const moved = { less: new Array<Key>(), more: new Array<Key>() }
    const usages = changes.map(({ after, before }) => ({ before, was: usageOf(before), after, is: usageOf(after) }))
    for (const account of accounts) {
      const was = usages.flatMap((one) => (matches(account, one.before) ? one.was : []))
      const is = usages.flatMap((one) => (matches(account, one.after) ? one.is : []))
      const direction = shift(account, was, is)
      if (direction !== undefined) moved[direction].push(account.key)
    }
    return moved
  }

  /** Forgets the objects of kinds that no account names any more. */
  private trim(): void {
    for (const [id, entries] of this.entries) {
      if ([...this.accounts.values()].some(({ kinds }) => kinds.has(id))) continue
      for (const entry of entries.values()) this.expiring.remove(entry)
      if (id === claimsId) this.claimsOfPods.clear()
      this.entries.delete(id)
    }
  }
}

const usageOf = (entry: Entry | undefined): Usage.Usage =>
  entry === undefined ? nothing : (entry.usage ?? Usage.of(entry.kind, entry.object, entry.isCharged))

const unmoved: Moved = { less: [], more: [] }

/** Of the pod that was there and of the one that is. */
const uidsOf = (...pods: ReadonlyArray<KubeObject | undefined>): ReadonlyArray<string> => [
  ...new Set(pods.flatMap((pod) => pod?.metadata.uid ?? []))
]

const matches = ({ scopes }: Account, entry: Entry | undefined): boolean =>
  entry !== undefined && Scopes.match(scopes, entry.kind, entry.object)

/** Takes some usages from the sums and adds others; says whether some of the sums became less, or else some more. */
const shift = (
  { sums }: Account,
  was: ReadonlyArray<Usage.Usage>,
  is: ReadonlyArray<Usage.Usage>
): "less" | "more" | undefined => {
  const changes = new Map<string, bigint>()
  for (const usage of was)
    for (const [name, amount] of usage) {
      const sum = sums.get(name)
      if (sum === undefined) continue
      take(sum, amount)
      changes.set(name, (changes.get(name) ?? 0n) - amount.nanos)
    }
  for (const usage of is)
    for (const [name, amount] of usage) {
      const sum = sums.get(name)
      if (sum === undefined) continue
      add(sum, amount)
      changes.set(name, (changes.get(name) ?? 0n) + amount.nanos)
    }
  let direction: "less" | "more" | undefined
  for (const change of changes.values()) {
    if (change < 0n) return "less"
    if (change > 0n) direction = "more"
  }
  return direction
}

/** An exact sum, written in the form of its parts, however often it changes: decimal where there is no other. */
interface Sum {
  nanos: bigint
  /** How many amounts of each form are in it; those of zero have none. */
  readonly forms: Record<Quantity.Quantity["form"], number>
}

const empty = (): Sum => ({ nanos: 0n, forms: { binary: 0, decimal: 0, exponent: 0 } })

const add = (sum: Sum, { form, nanos }: Quantity.Quantity): void => {
  sum.nanos += nanos
  if (nanos !== 0n) sum.forms[form]++
}

const take = (sum: Sum, { form, nanos }: Quantity.Quantity): void => {
  sum.nanos -= nanos
  if (nanos !== 0n) sum.forms[form]--
}

const read = ({ forms, nanos }: Sum): Quantity.Quantity => ({
  nanos,
  form: forms.binary > 0 ? "binary" : forms.exponent > 0 && forms.decimal === 0 ? "exponent" : "decimal"
})
