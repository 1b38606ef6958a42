/** When a Job goes that has ended: spec D.12. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Plan from "../../../src/controllers/ttlafterfinished/plan.ts"
import type { Job } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { law, prove } from "../../support/laws.ts"

type Module = typeof Plan

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

prove<Module>({
  path: "controllers/ttlafterfinished/plan.ts",
  module: Plan,
  laws: [
    law("keeps what has not ended, has no time, or goes already", lives, ({ plan }, life) =>
      isOver(life)
        ? plan(jobOf(life), life.now * 1000)._tag !== "Keep"
        : plan(jobOf(life), life.now * 1000)._tag === "Keep"
    ),
    law("deletes when the time is over, and waits exactly until then", lives, ({ plan }, life) => {
      if (!isOver(life)) return true
      const decided = plan(jobOf(life), life.now * 1000)
      if (life.end === undefined) return decided._tag === "Timeless" && decided.condition === life.type
      const left = (life.end + (life.ttl ?? 0) - life.now) * 1000
      return decided._tag === "Wait" ? decided.millis === left && left > 0 : decided._tag === "Delete" && left <= 0
    }),
    law("tells of an end that lies ahead", lives, ({ plan }, life) => {
      const decided = plan(jobOf(life), life.now * 1000)
      return decided._tag !== "Wait" || decided.isAhead === (life.end ?? 0) > life.now
    }),
    law("is late by what has passed since", lives, ({ overdue }, life) => {
      if (!isOver(life) || life.end === undefined) return true
      return overdue(jobOf(life), life.now * 1000) === Math.max(0, life.now - life.end - (life.ttl ?? 0)) * 1000
    })
  ],
  mutants: [
    { title: "deletes what is being deleted", find: "|| metadata.deletionTimestamp !== undefined", replace: "" },
    {
      title: "any condition is an end",
      find: '(condition.type === "Complete" || condition.type === "Failed") &&',
      replace: ""
    },
    { title: "what does not hold is an end", find: ' && condition.status === "True"', replace: "" },
    { title: "the time is in minutes", find: "end + seconds * 1000", replace: "end + seconds * 60_000" },
    { title: "one moment too late", find: "millis > 0 ?", replace: "millis >= 0 ?" },
    { title: "ends are never ahead", find: "isAhead: end > now", replace: "isAhead: end > now + 1e9" }
  ]
})
