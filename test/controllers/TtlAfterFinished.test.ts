/** ttl-after-finished on the embedded API server: finished Jobs are deleted when their TTL has expired. Source: pkg/controller/ttlafterfinished. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TtlAfterFinished from "../../src/controllers/TtlAfterFinished.ts"
import { Job } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import * as Harness from "./job/harness.ts"

const jobNames = Effect.flatMap(ClusterTest, (cluster) =>
  Effect.map(cluster.snapshot(Job), (jobs) => jobs.map(({ metadata }) => metadata.name))
)

const run = Effect.flatMap(ClusterTest, (cluster) => cluster.run(TtlAfterFinished.make()))

describe("ttl-after-finished", () => {
  it.effect("deletes a Job ttlSecondsAfterFinished after its end, with foreground propagation", () =>
    Effect.gen(function* () {
      yield* run
      yield* Harness.start
      yield* Harness.apply(Harness.job({ ttlSecondsAfterFinished: 30 }))
      yield* Harness.endSome(1, 0)
      yield* Harness.advance("1 second")
      assert.deepStrictEqual(yield* Harness.conditions, ["SuccessCriteriaMet", "Complete"])
      yield* Harness.advance("29 seconds")
      assert.deepStrictEqual((yield* Harness.get()).metadata.deletionTimestamp, undefined)
      const calls = yield* Harness.recording()
      yield* Harness.advance("1 second")
      const { metadata } = yield* Harness.get()
      assert.isDefined(metadata.deletionTimestamp)
      // No garbage collector runs here, so the finalizer stays.
      assert.deepStrictEqual(metadata.finalizers, ["foregroundDeletion"])
      const [, removal] = calls.filter(({ context }) => context.resource?.startsWith("jobs"))
      assert.deepInclude(removal?.body as object, {
        propagationPolicy: "Foreground",
        preconditions: { uid: metadata.uid }
      })
      yield* Harness.advance("1 hour")
      assert.lengthOf(
        calls.filter(({ context }) => context.verb === "delete"),
        1
      )
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("deletes a Job with TTL zero at once; one without a TTL stays", () =>
    Effect.gen(function* () {
      yield* run
      yield* Harness.apply(
        Harness.job({ ttlSecondsAfterFinished: 0 }, { name: "now" }),
        Harness.job({}, { name: "never" }),
        Harness.job({ ttlSecondsAfterFinished: 0 }, { name: "running" })
      )
      for (const name of ["now", "never"])
        yield* Harness.patch(Job, name, Harness.ended("Failed", "1970-01-01T00:00:00Z"), "status")
      yield* Harness.advance("1 hour")
      const now = yield* Harness.get("now")
      assert.isDefined(now.metadata.deletionTimestamp)
      for (const name of ["never", "running"]) assert.isUndefined((yield* Harness.get(name)).metadata.deletionTimestamp)
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("retries after a failed read and a failed deletion", () =>
    Effect.gen(function* () {
      yield* run
      yield* Harness.apply(Harness.job({ ttlSecondsAfterFinished: 0 }))
      yield* (yield* ApiServer).setFaults([
        { match: { verb: "get", resource: "jobs.batch" }, fault: { _tag: "Status", code: 403 }, times: 1 },
        { match: { verb: "delete", resource: "jobs.batch" }, fault: { _tag: "Status", code: 500 }, times: 1 }
      ])
      yield* Harness.patch(Job, "work", Harness.ended("Failed", "1970-01-01T00:00:00Z"), "status")
      yield* Harness.advance("1 minute")
      assert.isDefined((yield* Harness.get()).metadata.deletionTimestamp)
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("applies a TTL that is changed after the end of the Job", () =>
    Effect.gen(function* () {
      yield* run
      yield* Harness.apply(Harness.job({ ttlSecondsAfterFinished: 60 }))
      yield* Harness.patch(Job, "work", Harness.ended("Complete", "1970-01-01T00:00:00Z"), "status")
      yield* Harness.patch(Job, "work", { spec: { ttlSecondsAfterFinished: 3600 } })
      yield* Harness.advance("30 minutes")
      assert.deepStrictEqual(yield* jobNames, ["work"])
      assert.isUndefined((yield* Harness.get()).metadata.deletionTimestamp)
      yield* Harness.patch(Job, "work", { spec: { ttlSecondsAfterFinished: 1 } })
      yield* Harness.settle
      assert.isDefined((yield* Harness.get()).metadata.deletionTimestamp)
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )
})
