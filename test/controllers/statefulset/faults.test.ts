/** Fault injection: StatefulSets while writes fail, responses are lost, watches stall and the controller stops. In the end all replicas are up to date. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as StatefulSetController from "../../../src/controllers/StatefulSet.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type { Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { LeaderLost } from "../../../src/layers/Leadership.ts"
import * as Harness from "./harness.ts"

const writes = ["create", "update", "patch", "delete"]

const on = (resource: string, fault: Rule["fault"], times: number): Rule => ({
  match: ({ context }) => context.resource === resource && writes.includes(context.verb),
  fault,
  times
})

const cut = (resource: string): Rule => ({
  match: { verb: "watch", resource },
  fault: { _tag: "CutWatch", after: 2, how: "silence" },
  times: 1
})

const faultRules: Readonly<Record<string, ReadonlyArray<Rule>>> = {
  "writes of statuses conflict": [on("statefulsets.apps/status", { _tag: "Conflict" }, 7)],
  "the server answers with 429": [on("pods", { _tag: "Throttle", retryAfterSeconds: 1 }, 8)],
  "writes of pods fail": [on("pods", { _tag: "Status", code: 500 }, 6)],
  "writes of statuses fail": [on("statefulsets.apps/status", { _tag: "Status", code: 500 }, 5)],
  "writes of claims fail": [on("persistentvolumeclaims", { _tag: "Status", code: 500 }, 5)],
  "writes of revisions fail": [on("controllerrevisions.apps", { _tag: "Status", code: 500 }, 4)],
  "responses to writes of pods are lost": [on("pods", { _tag: "DropAnswer" }, 8)],
  "responses to writes of claims are lost": [on("persistentvolumeclaims", { _tag: "DropAnswer" }, 4)],
  "responses to writes of revisions are lost": [on("controllerrevisions.apps", { _tag: "DropAnswer" }, 2)],
  "responses to writes of statuses are lost": [on("statefulsets.apps/status", { _tag: "DropAnswer" }, 4)],
  "the watch of pods stalls": [cut("pods")],
  "the watch of sets stalls": [cut("statefulsets.apps")],
  "the watch of claims stalls": [cut("persistentvolumeclaims")],
  "pods are listed again": [{ match: { verb: "watch", resource: "pods" }, fault: { _tag: "Gone", after: 1 }, times: 1 }]
}

const retention = { persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Delete" } }

/** Three replicas of the new template, with one revision for each template and no further pods. */
const isDone = Effect.gen(function* () {
  const { currentRevision, updateRevision } = yield* Harness.status
  assert.deepInclude(yield* Harness.status, {
    replicas: 3,
    readyReplicas: 3,
    updatedReplicas: 3,
    currentReplicas: 3,
    collisionCount: 0
  })
  assert.strictEqual(currentRevision, updateRevision)
  assert.deepStrictEqual(yield* Harness.images, ["web:2", "web:2", "web:2"])
  assert.deepStrictEqual(yield* Harness.names, ["web-0", "web-1", "web-2"])
  assert.deepStrictEqual(
    yield* Harness.ownersOfClaims,
    [0, 1, 2].map((ordinal) => `data-web-${ordinal}: StatefulSet web`)
  )
  assert.deepStrictEqual(
    (yield* Harness.revisions).map(({ revision }) => revision),
    [1, 2]
  )
})

describe("three replicas are created and updated", () => {
  for (const podManagementPolicy of ["OrderedReady", "Parallel"]) {
    for (const [title, rules] of Object.entries(faultRules)) {
      it.effect(`although ${title} (${podManagementPolicy})`, () =>
        Effect.gen(function* () {
          const server = yield* ApiServer
          yield* server.setFaults(rules)
          yield* Harness.start
          yield* Harness.running(Harness.withClaims({ podManagementPolicy, ...retention }))
          yield* Harness.advance("6 minutes")
          yield* server.setFaults(rules)
          yield* Harness.useImage("web:2")
          yield* Harness.advance("10 minutes")
          yield* isDone
        }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
      )
    }
  }

  for (const millis of [300, 1_000, 1_700]) {
    it.effect(`although the controller stops every ${millis} ms`, () =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        yield* Harness.create(Harness.StatefulSet, Harness.withClaims(retention))
        for (let stops = 0; stops < 30; stops++) {
          const running = yield* cluster.run(StatefulSetController.make())
          yield* cluster.advance(millis)
          if (stops === 10) yield* Harness.useImage("web:2")
          yield* running.stop(Exit.fail(new LeaderLost({ reason: "Stolen", message: "the process is gone" })))
        }
        yield* Harness.start
        yield* Harness.advance("2 minutes")
        yield* isDone
      }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ nodes: 2 })))
    )
  }
})
