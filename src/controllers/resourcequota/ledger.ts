/**
 * The usage of one namespace, as sums by quota: a change of an object changes the sums by the difference, so a sync reads no objects. Plain and
 * synchronous; it reads no clock. Invariant: each sum of a quota is the total of all present objects that match its scopes, each with its usage when
 * it was last evaluated; `expire` evaluates those whose usage changes with time.
 */
import { type Key, make, parse } from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Quantity from "../../kube/quantity.ts"
import * as Devices from "../../kube/quota/devices.ts"
import * as Names from "../../kube/quota/names.ts"
import * as Scopes from "../../kube/quota/scopes.ts"
import * as Usage from "../../kube/quota/usage.ts"
import { DueHeap, type Item } from "../../streams/queue/dueHeap.ts"

/** What a quota limits. */
export interface Wanted {
  readonly scopes: ReadonlyArray<Scopes.Scope>
  /** The names in its `hard`. */
  readonly names: ReadonlyArray<string>
}

/** `less`: quotas with a usage that decreased. `more`: quotas with a usage that increased, and none that decreased. */
export interface Affected {
  readonly less: ReadonlyArray<Key>
  readonly more: ReadonlyArray<Key>
}

interface QuotaUsage {
  readonly key: Key
  readonly scopes: ReadonlyArray<Scopes.Scope>
  /** The ids of the kinds that count for its names. */
  readonly kinds: ReadonlySet<string>
  /** By name; only for kinds that are measured. */
  readonly sums: Map<string, Sum>
}

/** An object and its counted usage. `due` is when its usage changes with time; only then is it in the heap. */
interface Entry extends Item {
  readonly kind: Names.Counted
  readonly key: Key
  readonly object: KubeObject
  readonly isCharged: boolean
  /** Only for a ResourceClaim, whose usage also depends on its pod, on other claims and on DeviceClasses. */
  readonly usage: Usage.Usage | undefined
}

/** An object before and after a change; undefined if it did not exist. */
interface Change {
  readonly before: Entry | undefined
  readonly after: Entry | undefined
}

/** The present objects of a kind, by key. */
export type Contents = (kind: Names.Counted) => Iterable<readonly [Key, KubeObject]>

const nothing: Usage.Usage = new Map()

const podsId = Names.idOf(Names.pods)
const claimsId = Names.idOf(Names.resourceClaims)

export class Ledger {
  private readonly extendedResource: Usage.Lookups["extendedResource"]
  private readonly accounts = new Map<Key, QuotaUsage>()
  /** By id of the kind, for exactly the measured kinds that a quota counts: all present objects. */
  private readonly entries = new Map<string, Map<Key, Entry>>()
  /** Exactly the entries whose usage will decrease with time. */
  private readonly expiring = new DueHeap<Entry>()
  /** By uid of a pod: the keys of the claims for its extended resources. Never holds an empty set. */
  private readonly claimsOfPods = new Map<string, Set<Key>>()

  constructor(extendedResource: Usage.Lookups["extendedResource"] = () => undefined) {
    this.extendedResource = extendedResource
  }

  get isEmpty(): boolean {
    return this.accounts.size === 0
  }

  /** When the next usage changes with time, in milliseconds since 1970; undefined if none does. */
  get nextExpiry(): number | undefined {
    return this.expiring.peek()?.due
  }

  /** Counts for the quota from now on; replaces its former limits. */
  open(key: Key, { names, scopes }: Wanted, contents: Contents, now: number): void {
    const kinds = names.flatMap(Names.kindsOf)
    const measured = names.filter((name) => Names.kindsOf(name).some(Usage.isMeasured))
    const account: QuotaUsage = {
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
      else for (const after of known.values()) this.applyChanges([account], [{ before: undefined, after }])
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

  /** Recounts all usage from the present objects. */
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

  /** An object was created or changed; undefined if it was deleted. */
  observe(kind: Names.Counted, key: Key, object: KubeObject | undefined, now: number): Affected {
    const id = Names.idOf(kind)
    const entries = this.entries.get(id)
    if (entries === undefined) return unaffected
    const before = entries.get(key)
    if (before !== undefined) this.expiring.remove(before)
    if (object === undefined) entries.delete(key)
    const uids = id === claimsId ? this.indexClaim(key, before?.object, object) : []
    const after = object === undefined ? undefined : this.entryOf(kind, key, object, now)
    if (after !== undefined) entries.set(key, after)
    if (id === podsId && this.claimsOfPods.size > 0) uids.push(...uidsOf(before?.object, object))
    const others = uids.flatMap((uid) => this.recounted(this.claimsOf(uid)))
    return this.applyChanges(this.accounts.values(), [{ before, after }, ...others])
  }

  /** The extended resources of DeviceClasses have changed. */
  reclassify(): Affected {
    return this.applyChanges(this.accounts.values(), this.recounted(this.entries.get(claimsId)?.values() ?? []))
  }

  private entryOf(kind: Names.Counted, key: Key, object: KubeObject, now: number): Entry {
    const until = Usage.until(kind, object)
    const usage = Names.idOf(kind) === claimsId ? Usage.of(kind, object, true, this.around(key)) : undefined
    const entry: Entry = { kind, key, object, isCharged: now <= until, usage, due: until, slot: -1, rank: 0 }
    // The usage changes after that millisecond, not during it.
    if (entry.isCharged && until !== Infinity) this.expiring.insert(entry, until + 1)
    return entry
  }

  /** What the usage of a ResourceClaim depends on. */
  private around(claim: Key): Usage.Lookups {
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

  /** Updates the pod of a claim, and returns the uids of its former and its present pod. */
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

  /** Evaluates the usage of these claims again. */
  private recounted(claims: Iterable<Entry>): ReadonlyArray<Change> {
    return Array.from(claims, (before) => {
      const after = { ...before, usage: Usage.of(before.kind, before.object, true, this.around(before.key)) }
      this.entries.get(claimsId)?.set(after.key, after)
      return { before, after }
    })
  }

  /** Evaluates the entries that are due, and returns the quotas whose usage decreased. */
  expire(now: number): ReadonlyArray<Key> {
    const less = new Set<Key>()
    for (let next = this.expiring.peek(); next !== undefined && next.due <= now; next = this.expiring.peek()) {
      this.expiring.remove(next)
      for (const key of this.observe(next.kind, next.key, next.object, now).less) less.add(key)
    }
    return [...less]
  }

  /** The usage of a name whose kind is measured. */
  used(key: Key, name: string): Quantity.Quantity | undefined {
    const sum = this.accounts.get(key)?.sums.get(name)
    return sum === undefined ? undefined : read(sum)
  }

  /** The quotas that count objects of a kind. */
  interested(kind: Names.Counted): ReadonlyArray<Key> {
    const id = Names.idOf(kind)
    return [...this.accounts.values()].flatMap(({ key, kinds }) => (kinds.has(id) ? [key] : []))
  }

  private applyChanges(accounts: Iterable<QuotaUsage>, changes: ReadonlyArray<Change>): Affected {
    const affected = { less: new Array<Key>(), more: new Array<Key>() }
    const usages = changes.map(({ after, before }) => ({ before, was: usageOf(before), after, is: usageOf(after) }))
    for (const account of accounts) {
      const was = usages.flatMap((one) => (matches(account, one.before) ? one.was : []))
      const is = usages.flatMap((one) => (matches(account, one.after) ? one.is : []))
      const direction = adjust(account, was, is)
      if (direction !== undefined) affected[direction].push(account.key)
    }
    return affected
  }

  /** Removes the objects of kinds that no quota counts any more. */
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

const unaffected: Affected = { less: [], more: [] }

/** The distinct uids of a pod before and after a change. */
const uidsOf = (...pods: ReadonlyArray<KubeObject | undefined>): ReadonlyArray<string> => [
  ...new Set(pods.flatMap((pod) => pod?.metadata.uid ?? []))
]

const matches = ({ scopes }: QuotaUsage, entry: Entry | undefined): boolean =>
  entry !== undefined && Scopes.match(scopes, entry.kind, entry.object)

/** Subtracts and adds usages; returns `less` if any sum decreased, else `more` if any increased. */
const adjust = (
  { sums }: QuotaUsage,
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

/** An exact sum. It is formatted like the amounts in it; decimal if there are none. */
interface Sum {
  nanos: bigint
  /** How many amounts other than zero have each format. */
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
