import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Harness from "./harness.ts"

const { Pod, scenario } = Harness

const recreate = { strategy: { type: "Recreate", rollingUpdate: null } }

/** A pod of the set, as the ReplicaSet controller would create it. */
const podOf = (set: Harness.Set, name: string) =>
  Harness.create(Pod, {
    metadata: {
      name,
      namespace: "default",
      labels: set.spec?.template?.metadata?.labels,
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "ReplicaSet", name: set.metadata.name, uid: set.metadata.uid, controller: true }
      ]
    },
    spec: Harness.podSpec()
  })

describe("Recreate", () => {
  scenario(
    "starts with a set of full size",
    Effect.gen(function* () {
      yield* Harness.running({ replicas: 4, ...recreate })
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 4/4"])
      const [set] = yield* Harness.sets
      assert.isDefined(set)
      assert.strictEqual(Harness.note(set, "max-replicas"), "4")
    })
  )

  scenario(
    "creates no new pods for a rollback: the target set stays empty until the old pods are gone",
    Effect.gen(function* () {
      yield* Harness.running({ replicas: 2, ...recreate })
      yield* podOf(yield* Harness.setOf("web:1"), "one")
      yield* Harness.patch(Harness.Deployment, "web", {
        metadata: { annotations: { "deprecated.deployment.rollback.to": "9" } },
        spec: { template: { spec: Harness.podSpec("web:2") } }
      })
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/2", "web:2 0/0"])
      yield* Harness.completeReplicaSet("web:1")
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/0", "web:2 0/0"])
      yield* Harness.remove(Pod, "one")
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/0", "web:2 2/0"])
    })
  )

  scenario(
    "scales down all old pods, waits until the last is gone, and creates all new ones",
    Effect.gen(function* () {
      yield* Harness.running({ replicas: 2, ...recreate })
      const old = yield* Harness.setOf("web:1")
      yield* podOf(old, "one")
      yield* podOf(old, "two")
      yield* Harness.useImage("web:2")
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/2"])
      assert.include((yield* Harness.events).at(-1), `Scaled down replica set ${old.metadata.name} from 2 to 0`)
      yield* Harness.completeReplicaSet("web:1")
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/0"])
      const calls = yield* Harness.recording()
      yield* Harness.remove(Pod, "one")
      assert.deepStrictEqual(calls.map(Harness.line), ["delete pods one"])
      yield* Harness.remove(Pod, "two")
      const [, second] = yield* Harness.sets
      assert.deepStrictEqual(calls.map(Harness.line).slice(1), [
        "delete pods two",
        `create replicasets.apps ${second?.metadata.name}`,
        "update deployments.apps/status web",
        "update deployments.apps/status web"
      ])
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/0", "web:2 2/0"])
      assert.include((yield* Harness.events).at(-1), `Scaled up replica set ${second?.metadata.name} from 0 to 2`)
    })
  )

  scenario(
    "does not wait for terminal pods",
    Effect.gen(function* () {
      yield* Harness.running({ replicas: 1, ...recreate })
      const old = yield* Harness.setOf("web:1")
      yield* podOf(old, "ended")
      yield* Harness.patch(Pod, "ended", { status: { phase: "Failed" } }, "status")
      yield* podOf(old, "lost")
      yield* Harness.patch(Pod, "lost", { status: { phase: "Unknown" } }, "status")
      yield* Harness.useImage("web:2")
      yield* Harness.completeReplicaSet("web:1")
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/0"])
      yield* Harness.remove(Pod, "lost")
      // The terminal pod still exists, so its set does not report zero; the next event does.
      yield* Harness.annotate({ any: "event" })
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/0", "web:2 1/0"])
    })
  )

  scenario(
    "back to a template that has a set scales it up again",
    Effect.gen(function* () {
      yield* Harness.running({ replicas: 2, ...recreate })
      yield* Harness.useImage("web:2")
      yield* Harness.completeReplicaSet("web:1")
      yield* Harness.completeReplicaSet("web:2")
      yield* Harness.useImage("web:1")
      yield* Harness.completeReplicaSet("web:2")
      assert.deepStrictEqual(yield* Harness.shape, ["web:2 0/0", "web:1 2/0"])
      assert.deepStrictEqual((yield* Harness.sets).map(Harness.revisionOf), ["2", "3"])
    })
  )
})
