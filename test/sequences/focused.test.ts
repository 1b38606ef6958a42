/**
 * Random operation sequences of a few kinds of steps: each list holds the steps between which one rule of the replica set or the Deployment
 * controller matters, so that short sequences reach it often. The bookkeeping of expectations has tests of its own, with a cache that lags
 * without bounds (`controllers/shared/workload/replicaLoop.test.ts`), and so has proportional scaling (`controllers/deployment/plan/scaling.test.ts`).
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { longRuns } from "../support/runs.ts"
import * as Steps from "./steps.ts"
import * as Suite from "./suite.ts"

const of = (tags: ReadonlyArray<Steps.Do["_tag"]>) => {
  const members = Steps.Do.members.filter((member) => tags.includes(member.fields._tag.schema.literal))
  return Arbitrary.schema(
    Schema.Struct({
      replicas: Steps.Sequence.fields.replicas,
      inherits: Steps.Sequence.fields.inherits,
      steps: Schema.Array(Schema.Struct({ do: Schema.Union(members), wait: Steps.Step.fields.wait }))
    })
  )
}

const focuses: ReadonlyArray<readonly [title: string, tags: ReadonlyArray<Steps.Do["_tag"]>]> = [
  ["pods come and go while the cache lags", ["Scale", "DeletePod", "Stale", "Slow", "SetImage"]],
  ["pods are deleted while responses are slow", ["Slow", "DeletePod"]],
  ["a replica set is deleted and its pods stay, while responses are slow", ["OrphanSet", "Slow"]],
  ["templates change and come back", ["SetImage", "Rollback", "Scale"]]
]

describe("Deployment and ReplicaSet converge and then write nothing", () => {
  for (const [title, tags] of focuses) {
    it.effect(
      `when ${title}`,
      () =>
        Effect.gen(function* () {
          const result = yield* Suite.check(of(tags), Suite.always, { runs: longRuns(20) })
          assert.isUndefined(Arbitrary.formatCheckFailure(result))
        }),
      600_000
    )
  }
})
