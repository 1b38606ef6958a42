/** Only tokens that are old, unused, listed by their account and not mounted are marked or deleted, for any Secrets. */
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

/** Days before today, or a text that is not a date. */
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

/** A pod mounts only Secrets of its own namespace. */
const podOf = ({ isMounted }: Facts): Pod => ({
  metadata: { namespace: isMounted ? "app" : "elsewhere", name: "p" },
  spec: { containers: [], volumes: [{ name: "v", secret: { secretName: "robot-token-x" } }] }
})

const snapshotOf = (facts: Facts): Plan.Snapshot => ({
  now,
  periodMillis: period,
  since: facts.since === "none" ? undefined : dateOf(facts.since),
  secrets: [secretOf(facts)],
  accounts: facts.hasAccount ? [accountOf(facts)] : [],
  pods: [podOf(facts)]
})

const isDay = (value: number | string): value is number => typeof value === "number"

/** Only its use or its mark can keep this token. */
const cleanable = {
  since: 40,
  created: 30,
  isToken: true,
  isListed: true,
  hasAccount: true,
  uid: "u1",
  isMounted: false,
  isGoing: false
} as const

/** The expected action, or `stays`. */
const expected = (one: Facts): string => {
  const isOurs = one.isToken && one.hasAccount && one.isListed && one.uid !== "u2"
  // The first day of tracking does not count, and it is noon: with tracking since eleven days ago, ten and a half days count.
  const isTracked = isDay(one.since) && one.since >= 11
  const isOld = one.created > 10 && !one.isGoing && (one.used === "never" || (isDay(one.used) && one.used > 10))
  if (!isTracked || !isOurs || !isOld || one.isMounted) return "stays"
  if (!isDay(one.marked)) return "Mark 2026-03-01"
  return one.marked > 10 ? "Delete" : "stays"
}

const actionOf = (plan: Plan.Plan): string => {
  if (plan._tag === "Untracked") return "stays"
  const [action] = plan.actions
  if (action === undefined) return "stays"
  return action._tag === "Mark" ? `Mark ${action.since}` : "Delete"
}

/** The facts after the plan is applied. */
const after = (facts: Facts, plan: Plan.Plan): Facts =>
  actionOf(plan).startsWith("Mark") ? { ...facts, marked: 0 } : facts

const facts = Arbitrary.schema(Facts)

describe("Plan", () => {
  checkProperty(
    "each token is marked, deleted or kept by the rules",
    facts,
    (one) => actionOf(Plan.plan(snapshotOf(one))) === expected(one)
  )

  checkProperty("last use and mark decide about an old, listed and unmounted token", facts, (one) => {
    const old = { ...one, ...cleanable }
    return actionOf(Plan.plan(snapshotOf(old))) === expected(old)
  })

  checkProperty("a token in use or created by a user is never changed", facts, (one) =>
    one.isMounted || !one.isListed || one.used === 0 ? actionOf(Plan.plan(snapshotOf(one))) === "stays" : true
  )

  checkProperty("a token that was just marked is kept", facts, (one) => {
    const first = Plan.plan(snapshotOf(one))
    return !actionOf(first).startsWith("Mark") || actionOf(Plan.plan(snapshotOf(after(one, first)))) === "stays"
  })
})

describe("a plan without a sufficient tracking period", () => {
  const base = { now, periodMillis: period, secrets: [], accounts: [], pods: [] }

  it("gives the reason", () => {
    assert.deepStrictEqual(Plan.plan({ ...base, since: undefined }), {
      _tag: "Untracked",
      why: "The API server has not published since when it tracks the use of tokens"
    })
    assert.deepStrictEqual(Plan.plan({ ...base, since: "2026-02-20" }), {
      _tag: "Untracked",
      why: "The API server has tracked the use of tokens since 2026-02-20, which is not long enough"
    })
  })
})
