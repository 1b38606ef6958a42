/** Whatever Secrets there are, only those are touched that were made long ago, are listed by their account, and are of no use to anybody. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Plan from "../../../src/controllers/legacytokencleaner/plan.ts"
import type { Pod, Secret, ServiceAccount } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { checkProperty } from "../../support/property.ts"
const day = 86_400_000
const now = Date.parse("2026-03-01T12:00:00Z")
const period = 10 * day

/** So many days before today, or a text that is no day. */
const Day = Schema.Literals([0, 9, 10, 11, 30, "2026-02-30", ""])

const Facts = Schema.Struct({
  since: Schema.Literals([0, 10, 11, 12, 40, "yesterday", "none"]),
  created: Schema.Literals([0, 9, 11, 30]),
  used: Schema.Union([Day, Schema.Literal("never")]),
  marked: Schema.Union([Day, Schema.Literal("never")]),
  isToken: Schema.Boolean,
  isListed: Schema.Boolean,
  hasAccount: Schema.Boolean,
  uid: Schema.Literals(["", "u1", "u2"]),
  isMounted: Schema.Boolean,
  isGoing: Schema.Boolean
})

type Facts = typeof Facts.Type

const dateOf = (days: number | string): string =>
  typeof days === "string" ? days : Time.format(now - days * day).slice(0, 10)

const secretOf = ({ created, isGoing, isToken, marked, uid, used }: Facts): Secret => ({
  metadata: {
    namespace: "app",
    name: "robot-token-x",
    uid: "s1",
    resourceVersion: "7",
    creationTimestamp: Time.format(now - created * day),
    ...(isGoing ? { deletionTimestamp: Time.format(now) } : {}),
    labels: {
      ...(used === "never" ? {} : { "kubernetes.io/legacy-token-last-used": dateOf(used) }),
      ...(marked === "never" ? {} : { "kubernetes.io/legacy-token-invalid-since": dateOf(marked) })
    },
    annotations: { "kubernetes.io/service-account.name": "robot", "kubernetes.io/service-account.uid": uid }
  },
  type: isToken ? "kubernetes.io/service-account-token" : "Opaque"
})

const accountOf = ({ isListed }: Facts): ServiceAccount => ({
  metadata: { namespace: "app", name: "robot", uid: "u1" },
  secrets: isListed ? [{ name: "other" }, { name: "robot-token-x" }] : [{ name: "other" }]
})

/** The name counts in the pod's own namespace only. */
const podOf = ({ isMounted }: Facts): Pod => ({
  metadata: { namespace: isMounted ? "app" : "elsewhere", name: "p" },
  spec: { containers: [], volumes: [{ name: "v", secret: { secretName: "robot-token-x" } }] }
})

const look = (facts: Facts): Plan.Look => ({
  now,
  periodMillis: period,
  since: facts.since === "none" ? undefined : dateOf(facts.since),
  secrets: [secretOf(facts)],
  accounts: facts.hasAccount ? [accountOf(facts)] : [],
  pods: [podOf(facts)]
})

const isDay = (value: number | string): value is number => typeof value === "number"

/** Nothing but use and mark can keep it. */
const ripe = {
  since: 40,
  created: 30,
  isToken: true,
  isListed: true,
  hasAccount: true,
  uid: "u1",
  isMounted: false,
  isGoing: false
} as const

/** What becomes of it, in one long sentence. */
const expected = (one: Facts): string => {
  const isOurs = one.isToken && one.hasAccount && one.isListed && one.uid !== "u2"
  // The whole first day is left out, and twelve hours of today have passed: eleven days before is long enough by half a day.
  const isTracked = isDay(one.since) && one.since >= 11
  const isOld = one.created > 10 && !one.isGoing && (one.used === "never" || (isDay(one.used) && one.used > 10))
  if (!isTracked || !isOurs || !isOld || one.isMounted) return "stays"
  if (!isDay(one.marked)) return "Mark 2026-03-01"
  return one.marked > 10 ? "Delete" : "stays"
}

const said = (plan: Plan.Plan): string => {
  if (plan._tag === "Untracked") return "stays"
  const [deed] = plan.deeds
  if (deed === undefined) return "stays"
  return deed._tag === "Mark" ? `Mark ${deed.since}` : "Delete"
}

/** What is there after the deed was done. */
const after = (facts: Facts, plan: Plan.Plan): Facts =>
  said(plan).startsWith("Mark") ? { ...facts, marked: 0 } : facts

const facts = Arbitrary.schema(Facts)

describe("Plan", () => {
  checkProperty(
    "each token is marked, deleted or kept by the rules",
    facts,
    (one) => said(Plan.plan(look(one))) === expected(one)
  )

  checkProperty("last use and mark decide about an old, listed and unmounted token", facts, (one) => {
    const old = { ...one, ...ripe }
    return said(Plan.plan(look(old))) === expected(old)
  })

  checkProperty("a token in use or created by a user is never changed", facts, (one) =>
    one.isMounted || !one.isListed || one.used === 0 ? said(Plan.plan(look(one))) === "stays" : true
  )

  checkProperty("a token that was just marked is kept", facts, (one) => {
    const first = Plan.plan(look(one))
    return !said(first).startsWith("Mark") || said(Plan.plan(look(after(one, first)))) === "stays"
  })
})

describe("why nothing is cleaned", () => {
  const base = { now, periodMillis: period, secrets: [], accounts: [], pods: [] }

  it("is said", () => {
    assert.deepStrictEqual(Plan.plan({ ...base, since: undefined }), {
      _tag: "Untracked",
      why: "The server does not tell since when it has noted the use of tokens"
    })
    assert.deepStrictEqual(Plan.plan({ ...base, since: "2026-02-20" }), {
      _tag: "Untracked",
      why: "The server has noted the use of tokens since 2026-02-20, which is not long enough"
    })
  })
})
