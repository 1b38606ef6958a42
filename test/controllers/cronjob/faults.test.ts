/**
 * The CronJob controller under fault injection: failed writes, lost responses, stale caches and restarts. Each time is
 * run once.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Runs from "../../../src/controllers/cronjob/runs.ts"
import * as CronJobs from "../../../src/controllers/CronJob.ts"
import * as Zone from "../../../src/kube/cron/Zone.ts"
import { Job } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type { Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Jobs from "../job/harness.ts"
import { leaderLost } from "../../support/cluster.ts"
import * as Harness from "./harness.ts"

const none: ReadonlyArray<string> = []

const template = {
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work:1", command: ["sleep", "20"] }] }
}

const spec = { concurrencyPolicy: "Forbid", successfulJobsHistoryLimit: 2, jobTemplate: { spec: { template } } }

const on = (
  resource: "jobs.batch" | "cronjobs.batch",
  verb: "create" | "update" | "delete",
  fault: Rule["fault"],
  times: number
): Rule => ({
  match: { verb, resource },
  fault,
  times
})

const stalled = (resource: string): Rule => ({
  match: { verb: "watch", resource },
  fault: { _tag: "CutWatch", after: 3, how: "silence" },
  times: 1
})

const faults: Readonly<Record<string, ReadonlyArray<Rule>>> = {
  "status writes conflict": [on("cronjobs.batch", "update", { _tag: "Conflict" }, 3)],
  "status writes are refused": [on("cronjobs.batch", "update", { _tag: "Status", code: 403 }, 3)],
  "responses to status writes are lost": [on("cronjobs.batch", "update", { _tag: "DropAnswer" }, 3)],
  "creations of Jobs are refused": [on("jobs.batch", "create", { _tag: "Status", code: 403 }, 3)],
  "responses to creations of Jobs are lost": [on("jobs.batch", "create", { _tag: "DropAnswer" }, 3)],
  "deletions of old Jobs are refused": [on("jobs.batch", "delete", { _tag: "Status", code: 403 }, 3)],
  "responses to deletions of Jobs are lost": [on("jobs.batch", "delete", { _tag: "DropAnswer" }, 3)],
  "creations of Jobs are throttled": [on("jobs.batch", "create", { _tag: "Throttle", retryAfterSeconds: 1 }, 5)],
  "the watch of CronJobs stalls": [stalled("cronjobs.batch")],
  "the watch of Jobs stalls": [stalled("jobs.batch")]
}

/** Records the Jobs that are created, and any violation, from now on. */
const followed = Effect.gen(function* () {
  const created = new Set<string>()
  const unfinished = new Set<string>()
  const violations: Array<string> = []
  const client = yield* KubeClient
  yield* client.watch(Job, { namespace: "default" }).pipe(
    Stream.runForEach(({ object, type }) =>
      Effect.sync(() => {
        const { name } = (object as Job).metadata
        if (type === "ADDED" && created.has(name)) violations.push(`${name} is created again`)
        if (type === "ADDED") created.add(name)
        if (type === "DELETED" || Runs.endOf(object as Job) !== undefined) unfinished.delete(name)
        else unfinished.add(name)
        if (unfinished.size > 1) violations.push(`active together: ${[...unfinished].join(", ")}`)
      })
    ),
    Effect.forkScoped
  )
  yield* Harness.settle
  return { created, violations }
})

/** No violation; two finished Jobs are left, none is active, and all ten times were run. */
const isDone = Effect.fnUntraced(function* ({ violations }: { readonly violations: ReadonlyArray<string> }) {
  yield* Harness.change({ suspend: true })
  yield* Harness.advance("15 minutes")
  assert.deepStrictEqual(violations, [])
  assert.lengthOf(yield* Harness.runs, 2)
  assert.deepStrictEqual(yield* Harness.active, [])
  assert.isAtLeast(Date.parse((yield* Harness.statusOf())?.lastScheduleTime ?? ""), 10 * 60_000)
})

describe("a CronJob creates each Job of ten minutes once", () => {
  for (const [title, rules] of Object.entries(faults)) {
    it.effect(`although ${title}`, () =>
      Effect.gen(function* () {
        const record = yield* followed
        yield* (yield* ApiServer).setFaults(rules)
        yield* Harness.start
        yield* Jobs.start
        yield* Harness.apply(Harness.cronJob(spec))
        yield* Harness.advance("10 minutes")
        yield* Harness.advance("30 seconds")
        yield* isDone(record)
        assert.isAtLeast(record.created.size, title.includes("stalls") ? 3 : 10)
      }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
    )
  }

  for (const millis of [700, 20_300, 60_050]) {
    it.effect(`although the controller restarts every ${millis} ms`, () =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        const record = yield* followed
        yield* Jobs.start
        yield* Harness.apply(Harness.cronJob(spec))
        for (let elapsed = 0; elapsed < 10 * 60_000; elapsed += millis) {
          const running = yield* cluster.run(CronJobs.make({ zone: Zone.utc }))
          yield* cluster.advance(millis)
          yield* running.stop(leaderLost)
        }
        yield* Harness.start
        yield* Harness.advance("30 seconds")
        yield* isDone(record)
        assert.isAtLeast(record.created.size, 5)
      }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
    )
  }

  it.effect("although the controller is killed after any write", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const server = yield* ApiServer
      const { violations } = yield* followed
      yield* Jobs.start
      yield* Harness.apply(Harness.cronJob({ ...spec, successfulJobsHistoryLimit: 0 }))
      for (const [resource, verb] of [
        ["jobs.batch", "create"],
        ["cronjobs.batch", "update"],
        ["jobs.batch", "delete"],
        ["cronjobs.batch", "update"]
      ] as const) {
        const running = yield* cluster.run(CronJobs.make({ zone: Zone.utc }))
        // The response arrives after the controller was killed.
        yield* server.setFaults([on(resource, verb, { _tag: "DropAnswer" }, 1000)])
        yield* cluster.advance("62 seconds")
        yield* running.stop(leaderLost)
        yield* server.setFaults([])
      }
      yield* Harness.start
      yield* Harness.advance("3 minutes")
      yield* Harness.change({ suspend: true })
      yield* Harness.advance("2 minutes")
      assert.deepStrictEqual(yield* Harness.runs, none)
      assert.deepStrictEqual(yield* Harness.active, none)
      assert.deepStrictEqual(violations, [])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
  )
})
