import { describe } from "@effect/vitest"
/** When a finished Job is deleted. Source: pkg/controller/ttlafterfinished: processTTL. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Plan from "../../../src/controllers/ttlafterfinished/plan.ts"
import type { Job } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { checkProperty } from "../../support/property.ts"
const seconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 }))
const Life = Schema.Struct({
  type: Schema.Literals(["Complete", "Failed", "Suspended", "FailureTarget"]),
  holds: Schema.Literals(["True", "False"]),
  ttl: Schema.UndefinedOr(seconds),
  end: Schema.UndefinedOr(seconds),
  isLeaving: Schema.Boolean,
  now: seconds
})

type Life = typeof Life.Type

const lives = Arbitrary.schema(Life)

const jobOf = ({ end, holds, isLeaving, ttl, type }: Life): Job => ({
  metadata: { name: "a", namespace: "b", ...(isLeaving ? { deletionTimestamp: Time.format(0) } : {}) },
  spec: { template: {}, ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }) },
  status: {
    conditions: [{ type, status: holds, ...(end === undefined ? {} : { lastTransitionTime: Time.format(end * 1000) }) }]
  }
})

const isOver = ({ holds, isLeaving, ttl, type }: Life): boolean =>
  !isLeaving && ttl !== undefined && holds === "True" && (type === "Complete" || type === "Failed")

describe("Plan", () => {
  checkProperty("keeps Jobs that have not finished, have no TTL, or are being deleted", lives, (life) =>
    isOver(life)
      ? Plan.plan(jobOf(life), life.now * 1000)._tag !== "Keep"
      : Plan.plan(jobOf(life), life.now * 1000)._tag === "Keep"
  )

  checkProperty("deletes when the TTL has expired, and waits exactly until then", lives, (life) => {
    if (!isOver(life)) return true
    const decided = Plan.plan(jobOf(life), life.now * 1000)
    if (life.end === undefined) return decided._tag === "Timeless" && decided.condition === life.type
    const left = (life.end + (life.ttl ?? 0) - life.now) * 1000
    return decided._tag === "Wait" ? decided.millis === left && left > 0 : decided._tag === "Delete" && left <= 0
  })

  checkProperty("reports a finish time in the future", lives, (life) => {
    const decided = Plan.plan(jobOf(life), life.now * 1000)
    return decided._tag !== "Wait" || decided.isAhead === (life.end ?? 0) > life.now
  })

  checkProperty("measures the delay since the TTL expired", lives, (life) => {
    if (!isOver(life) || life.end === undefined) return true
    return Plan.overdue(jobOf(life), life.now * 1000) === Math.max(0, life.now - life.end - (life.ttl ?? 0)) * 1000
  })
})
