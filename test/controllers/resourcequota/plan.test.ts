/** What a quota's status is to say: laws over any limits, any status and anything that may be known of what is used. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Original from "../../../src/controllers/resourcequota/plan.ts"
import * as Quantity from "../../../src/kube/quantity.ts"
import type { ResourceQuota } from "../../../src/kube/resources.ts"
import { law, oneOf, prove } from "../../support/laws.ts"

type Module = Pick<typeof Original, "plan">

/** Some of them are one amount, written in several ways; the empty text is none. */
const amount = oneOf("", "1", "1000m", "1024Mi", "1Gi")
const names = ["cpu", "pods"] as const
const amounts = Arbitrary.all({ cpu: amount, pods: amount })
const given = Arbitrary.all({
  hard: amounts,
  told: amounts,
  used: amounts,
  known: amounts,
  mayFree: oneOf(true, false),
  isNew: oneOf(true, false)
})

type Given = typeof given extends Arbitrary.Arbitrary<infer A> ? A : never
type Amounts = Given["hard"]

const some = (from: Amounts): Record<string, string> =>
  Object.fromEntries(Object.entries(from).filter(([, text]) => text !== ""))

const quotaOf = ({ hard, isNew, told, used }: Given): ResourceQuota => ({
  metadata: { name: "q", namespace: "default" },
  spec: { hard: some(hard) },
  ...(isNew ? {} : { status: { hard: some(told), used: some(used) } })
})

const usedOf =
  ({ known }: Given) =>
  (name: string) =>
    Quantity.parse(some(known)[name])

const run = ({ plan }: Module, value: Given, quota = quotaOf(value), mayFree = value.mayFree) =>
  plan({ quota, usedOf: usedOf(value), mayFree })

const after = (module: Module, value: Given): ResourceQuota => {
  const plan = run(module, value)
  return plan._tag === "Done" ? quotaOf(value) : plan.quota
}

const same = (a: string | undefined, b: string | undefined): boolean =>
  a === undefined || b === undefined ? a === b : Quantity.compare(a, b) === 0

prove<Module>({
  path: "controllers/resourcequota/plan.ts",
  module: Original,
  laws: [
    law(
      "afterwards there is nothing left to write",
      given,
      (module: Module, value) => run(module, value, after(module, value))._tag === "Done"
    ),
    law("the limits of the status are those of the spec", given, (module: Module, value) => {
      const { spec, status } = after(module, value)
      return names.every((name) => same(spec?.hard?.[name], status?.hard?.[name]))
    }),
    law("what is used is told of what is limited, as far as it is known", given, (module: Module, value) => {
      const { spec, status } = after(module, value)
      return names.every((name) => {
        const isLimited = spec?.hard?.[name] !== undefined
        const known = some(value.known)[name]
        const before = value.isNew ? undefined : some(value.used)[name]
        const told = status?.used?.[name]
        if (!isLimited) return told === undefined
        if (known === undefined) return same(told, before)
        const isLess = before !== undefined && Quantity.compare(known, before) === -1
        return same(told, isLess && !value.mayFree ? before : known)
      })
    }),
    law("nothing is written for the sake of how it is written", given, (module: Module, value) => {
      const plan = run(module, value)
      if (plan._tag === "Done") return true
      const { status } = quotaOf(value)
      return (["hard", "used"] as const).some((part) =>
        names.some((name) => !same(status?.[part]?.[name], plan.quota.status?.[part]?.[name]))
      )
    }),
    law("a write says why", given, (module: Module, value) => {
      const plan = run(module, value)
      return plan._tag === "Done" || plan.reasons.length > 0
    })
  ],
  mutants: [
    { title: "whatever is less is freed", find: "known.nanos > now.nanos && !mayFree", replace: "false" },
    { title: "nothing is ever freed", find: "known.nanos > now.nanos && !mayFree", replace: "known.nanos > now.nanos" },
    {
      title: "what cannot be seen is forgotten",
      find: "return [before, undefined]\n  const",
      replace: "return [undefined, undefined]\n  const"
    },
    {
      title: "limits are told as they were",
      find: "status: { hard, used }",
      replace: "status: { hard: status?.hard ?? hard, used }"
    },
    {
      title: "limits that are written differently are others",
      find: "if (!Equality.equal({ hard }, { hard: status?.hard ?? {} }))",
      replace: "if (JSON.stringify(hard) !== JSON.stringify(status?.hard ?? {}))"
    },
    {
      title: "what is not limited any more stays told",
      find: "if (Object.keys(status?.used ?? {}).some((name) => own(hard, name) === undefined))",
      replace: "if (false)"
    },
    { title: "every look is worth a write", find: "reasons.size === 0", replace: "reasons.size === -1" },
    {
      title: "amounts that are written differently are others",
      find: "if (known.nanos === now.nanos ||",
      replace: "if (before === Quantity.canonical(now) ||"
    }
  ]
})

describe("a quota", () => {
  it("without limits is told of once, and never again", () => {
    const quota: ResourceQuota = { metadata: { name: "q" }, spec: { hard: {} } }
    assert.deepStrictEqual(run(Original, { known: {} } as Given, quota, true), { _tag: "Done" })
  })

  it("is incomplete until its limits are told, and what is used of those that anybody counts", () => {
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
