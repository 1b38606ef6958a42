/** When a finished Job is deleted. Source: pkg/controller/ttlafterfinished: processTTL. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Plan from "../../../src/controllers/ttlafterfinished/plan.ts"
import type { Job } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { checkProperty } from "../../support/property.ts"

const seconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 }))
const Facts = Schema.Struct({
  type: Schema.Literals(["Complete", "Failed", "Suspended", "FailureTarget"]),
  holds: Schema.Literals(["True", "False"]),
  ttl: Schema.UndefinedOr(seconds),
  end: Schema.UndefinedOr(seconds),
  isBeingDeleted: Schema.Boolean,
  now: seconds
})

type Facts = typeof Facts.Type

const facts = Arbitrary.schema(Facts)

const jobOf = ({ end, holds, isBeingDeleted, ttl, type }: Facts): Job => ({
  metadata: { name: "a", namespace: "b", ...(isBeingDeleted ? { deletionTimestamp: Time.format(0) } : {}) },
  spec: { template: {}, ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }) },
  status: {
    conditions: [{ type, status: holds, ...(end === undefined ? {} : { lastTransitionTime: Time.format(end * 1000) }) }]
  }
})

const expires = ({ holds, isBeingDeleted, ttl, type }: Facts): boolean =>
  !isBeingDeleted && ttl !== undefined && holds === "True" && (type === "Complete" || type === "Failed")

describe("Plan", () => {
  checkProperty("keeps Jobs that have not finished, have no TTL, or are being deleted", facts, (one) =>
    expires(one)
      ? Plan.plan(jobOf(one), one.now * 1000)._tag !== "Keep"
      : Plan.plan(jobOf(one), one.now * 1000)._tag === "Keep"
  )

  checkProperty("deletes when the TTL has expired, and waits exactly until then", facts, (one) => {
    if (!expires(one)) return true
    const decided = Plan.plan(jobOf(one), one.now * 1000)
    if (one.end === undefined) return decided._tag === "Timeless" && decided.condition === one.type
    const left = (one.end + (one.ttl ?? 0) - one.now) * 1000
    return decided._tag === "Wait" ? decided.millis === left && left > 0 : decided._tag === "Delete" && left <= 0
  })

  checkProperty("says whether the finish time lies in the future", facts, (one) => {
    const decided = Plan.plan(jobOf(one), one.now * 1000)
    return decided._tag !== "Wait" || decided.isAhead === (one.end ?? 0) > one.now
  })

  checkProperty("measures the delay since the TTL expired", facts, (one) => {
    if (!expires(one) || one.end === undefined) return true
    return Plan.overdue(jobOf(one), one.now * 1000) === Math.max(0, one.now - one.end - (one.ttl ?? 0)) * 1000
  })
})
