/** Properties of the planned status, for any limits, status and known usage. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Original from "../../../src/controllers/resourcequota/plan.ts"
import * as Quantity from "../../../src/kube/quantity.ts"
import type { ResourceQuota } from "../../../src/kube/resources.ts"
import { checkProperty, oneOf } from "../../support/property.ts"
/** Some texts are equal amounts; the empty text is no amount. */
const amount = oneOf("", "1", "1000m", "1024Mi", "1Gi")
const names = ["cpu", "pods"] as const
const amounts = Arbitrary.all({ cpu: amount, pods: amount })
const given = Arbitrary.all({
  hard: amounts,
  former: amounts,
  used: amounts,
  known: amounts,
  mayFree: oneOf(true, false),
  isNew: oneOf(true, false)
})

type Given = typeof given extends Arbitrary.Arbitrary<infer A> ? A : never
type Amounts = Given["hard"]

const some = (from: Amounts): Record<string, string> =>
  Object.fromEntries(Object.entries(from).filter(([, text]) => text !== ""))

const quotaOf = ({ hard, isNew, former, used }: Given): ResourceQuota => ({
  metadata: { name: "q", namespace: "default" },
  spec: { hard: some(hard) },
  ...(isNew ? {} : { status: { hard: some(former), used: some(used) } })
})

const usedOf =
  ({ known }: Given) =>
  (name: string) =>
    Quantity.parse(some(known)[name])

const run = (value: Given, quota = quotaOf(value), mayFree = value.mayFree) =>
  Original.plan({ quota, usedOf: usedOf(value), mayFree })

const after = (value: Given): ResourceQuota => {
  const plan = run(value)
  return plan._tag === "Done" ? quotaOf(value) : plan.quota
}

const same = (a: string | undefined, b: string | undefined): boolean =>
  a === undefined || b === undefined ? a === b : Quantity.compare(a, b) === 0

describe("Plan", () => {
  checkProperty("afterwards there is nothing left to write", given, (value) => run(value, after(value))._tag === "Done")

  checkProperty("the limits of the status are those of the spec", given, (value) => {
    const { spec, status } = after(value)
    return names.every((name) => same(spec?.hard?.[name], status?.hard?.[name]))
  })

  checkProperty("the usage has the limited resources, as far as it is known", given, (value) => {
    const { spec, status } = after(value)
    return names.every((name) => {
      const isLimited = spec?.hard?.[name] !== undefined
      const known = some(value.known)[name]
      const before = value.isNew ? undefined : some(value.used)[name]
      const former = status?.used?.[name]
      if (!isLimited) return former === undefined
      if (known === undefined) return same(former, before)
      const isLess = before !== undefined && Quantity.compare(known, before) === -1
      return same(former, isLess && !value.mayFree ? before : known)
    })
  })

  checkProperty("equal quantities in different notation cause no write", given, (value) => {
    const plan = run(value)
    if (plan._tag === "Done") return true
    const { status } = quotaOf(value)
    return (["hard", "used"] as const).some((part) =>
      names.some((name) => !same(status?.[part]?.[name], plan.quota.status?.[part]?.[name]))
    )
  })

  checkProperty("a write has its reasons", given, (value) => {
    const plan = run(value)
    return plan._tag === "Done" || plan.reasons.length > 0
  })
})

describe("a quota", () => {
  it("without limits is written once, and never again", () => {
    const quota: ResourceQuota = { metadata: { name: "q" }, spec: { hard: {} } }
    assert.deepStrictEqual(run({ known: {} } as Given, quota, true), { _tag: "Done" })
  })

  it("is incomplete until its status has the limits, and the usage of all countable ones", () => {
    const quota = (status: object) => ({ metadata: { name: "q" }, spec: { hard: { pods: "1", nodes: "2" } }, status })
    const hard = { pods: "1000m", nodes: "2" }
    assert.deepStrictEqual(
      [{}, { hard: { pods: "1" } }, { hard }, { hard, used: { pods: "0" } }].map((status) =>
        Original.isIncomplete(quota(status))
      ),
      [true, true, true, false]
    )
  })
})
