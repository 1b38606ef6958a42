/**
 * Exact sums that things are added to and taken from one by one. The form in which a sum is written is that of what it is made of, however
 * often it changes: decimal where there is no other.
 */
import type * as Quantity from "../../kube/quantity.ts"

export interface Sum {
  nanos: bigint
  /** How many amounts of each form are in it; those of zero have none. */
  readonly forms: Record<Quantity.Quantity["form"], number>
}

export const empty = (): Sum => ({ nanos: 0n, forms: { binary: 0, decimal: 0, exponent: 0 } })

export const add = (sum: Sum, { form, nanos }: Quantity.Quantity): void => {
  sum.nanos += nanos
  if (nanos !== 0n) sum.forms[form]++
}

export const take = (sum: Sum, { form, nanos }: Quantity.Quantity): void => {
  sum.nanos -= nanos
  if (nanos !== 0n) sum.forms[form]--
}

export const read = ({ forms, nanos }: Sum): Quantity.Quantity => ({
  nanos,
  form: forms.binary > 0 ? "binary" : forms.exponent > 0 && forms.decimal === 0 ? "exponent" : "decimal"
})
