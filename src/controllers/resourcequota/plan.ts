/**
 * The status of a quota: its limits, and the usage of each. Pure and total; quantities are compared by value, not by text. Source:
 * pkg/controller/resourcequota: syncResourceQuota.
 */
import * as Equality from "../../kube/equality.ts"
import * as Quantity from "../../kube/quantity.ts"
import * as Names from "../../kube/quota/names.ts"
import type { ResourceQuota } from "../../kube/resources.ts"

export interface Snapshot {
  readonly quota: ResourceQuota
  /** The usage of a resource name; undefined while unknown. */
  readonly usedOf: (name: string) => Quantity.Quantity | undefined
  /**
   * Whether usage may be lowered: only after a deletion or lower usage was observed. The admission plugin adds usage before the new object is in the
   * cache, so a lower sum alone is no reason.
   */
  readonly mayFree: boolean
}

/** Why a status is written: it has other limits, it lacks an amount, or the usage is more or less than its amount. */
export type Reason = "limits" | "unknown" | "more" | "less"

type Amounts = Readonly<Record<string, string>>

export type Plan =
  | { readonly _tag: "Done" }
  | { readonly _tag: "Write"; readonly quota: ResourceQuota; readonly reasons: ReadonlyArray<Reason> }

const own = (amounts: Amounts | undefined, name: string): string | undefined =>
  amounts !== undefined && Object.hasOwn(amounts, name) ? amounts[name] : undefined

/** The usage to write for a name, and the reason if it differs. */
const next = (
  before: string | undefined,
  now: Quantity.Quantity | undefined,
  mayFree: boolean
): readonly [used: string | undefined, reason: Reason | undefined] => {
  // Unknown usage keeps the last known amount.
  if (now === undefined) return [before, undefined]
  const known = Quantity.parse(before)
  if (known === undefined) return [Quantity.canonical(now), "unknown"]
  if (known.nanos === now.nanos || (known.nanos > now.nanos && !mayFree)) return [before, undefined]
  return [Quantity.canonical(now), known.nanos < now.nanos ? "more" : "less"]
}

export const plan = ({ mayFree, quota, usedOf }: Snapshot): Plan => {
  const { spec, status } = quota
  const hard = spec?.hard ?? {}
  const used: Record<string, string> = {}
  const reasons = new Set<Reason>()
  if (!Equality.equal({ hard }, { hard: status?.hard ?? {} })) reasons.add("limits")
  // Names without a limit are not reported.
  if (Object.keys(status?.used ?? {}).some((name) => own(hard, name) === undefined)) reasons.add("limits")
  for (const name of Object.keys(hard)) {
    const [amount, reason] = next(own(status?.used, name), usedOf(name), mayFree)
    if (amount !== undefined) used[name] = amount
    if (reason !== undefined) reasons.add(reason)
  }
  return reasons.size === 0
    ? { _tag: "Done" }
    : { _tag: "Write", quota: { ...quota, status: { hard, used } }, reasons: [...reasons] }
}

/** Whether the status lacks limits or usage, so that admission rejects all creations. */
export const isIncomplete = ({ spec, status }: ResourceQuota): boolean =>
  !Equality.equal({ hard: spec?.hard ?? {} }, { hard: status?.hard ?? {} }) ||
  Object.keys(status?.hard ?? {}).some(
    (name) => own(status?.used, name) === undefined && Names.kindsOf(name).length > 0
  )
