import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Harness from "./deployment/harness.ts"

const { Deployment, ReplicaSet, scenario } = Harness

const named = (text: string, names: Readonly<Record<string, string>>) =>
  Object.entries(names).reduce((out, [name, alias]) => out.replaceAll(name, alias), text)

describe("a new Deployment", () => {
  scenario(
    "gets a ReplicaSet, then a condition with its revision, then a status",
    Effect.gen(function* () {
      yield* Harness.start
      const calls = yield* Harness.recording()
      yield* Harness.create(Deployment, Harness.deployment({ minReadySeconds: 5 }, { annotations: { note: "n" } }))
      const [set] = yield* Harness.sets
      const name = set?.metadata.name ?? ""
      assert.deepStrictEqual(calls.map(Harness.line), [
        "create deployments.apps web",
        `create replicasets.apps ${name}`,
        "update deployments.apps/status web",
        "update deployments.apps/status web"
      ])
      const time = "1970-01-01T00:00:00Z"
      const progressing = {
        type: "Progressing",
        status: "True",
        lastUpdateTime: time,
        lastTransitionTime: time,
        reason: "NewReplicaSetCreated",
        message: `Created new replica set "${name}"`
      }
      const available = {
        type: "Available",
        status: "False",
        lastUpdateTime: time,
        lastTransitionTime: time,
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability."
      }
      const [first, second] = calls.slice(2).map(Harness.body)
      assert.deepStrictEqual(first?.status, { conditions: [progressing] })
      assert.deepStrictEqual(first?.metadata.annotations, { note: "n", "deployment.kubernetes.io/revision": "1" })
      assert.deepStrictEqual(second?.status, {
        observedGeneration: 1,
        unavailableReplicas: 3,
        terminatingReplicas: 0,
        conditions: [progressing, available]
      })
      assert.deepStrictEqual(yield* Harness.events, [
        `Normal ScalingReplicaSet Scaled up replica set ${name} from 0 to 3`
      ])
    })
  )

  scenario(
    "names and labels its ReplicaSet by the template",
    Effect.gen(function* () {
      yield* Harness.start
      yield* Harness.create(
        Deployment,
        Harness.deployment(
          { minReadySeconds: 5 },
          {
            annotations: {
              note: "n",
              "kubectl.kubernetes.io/last-applied-configuration": "{}",
              "deployment.kubernetes.io/max-replicas": "99"
            }
          }
        )
      )
      const [set] = yield* Harness.sets
      const hash = set?.metadata.labels?.["pod-template-hash"] ?? ""
      const labels = { app: "web", "pod-template-hash": hash }
      assert.match(hash, /^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/)
      assert.deepInclude(set?.metadata, {
        name: `web-${hash}`,
        labels,
        annotations: {
          note: "n",
          "deployment.kubernetes.io/revision": "1",
          "deployment.kubernetes.io/desired-replicas": "3",
          "deployment.kubernetes.io/max-replicas": "4"
        }
      })
      const { metadata } = yield* Harness.get(Deployment)
      assert.deepStrictEqual(set?.metadata.ownerReferences, [
        {
          apiVersion: "apps/v1",
          kind: "Deployment",
          name: "web",
          uid: metadata.uid ?? "",
          controller: true,
          blockOwnerDeletion: true
        }
      ])
      assert.deepInclude(set?.spec, { replicas: 3, minReadySeconds: 5, selector: { matchLabels: labels } })
      assert.deepStrictEqual(set?.spec?.template?.metadata?.labels, labels)
    })
  )

  scenario(
    "reports its progress: progressing, available, complete",
    Effect.gen(function* () {
      yield* Harness.start
      yield* Harness.create(Deployment, Harness.deployment())
      const [set] = yield* Harness.sets
      assert.isDefined(set)
      const name = set.metadata.name
      yield* Harness.advance("10 seconds")
      yield* Harness.setReplicaSetStatus(set, 3, 0)
      assert.deepStrictEqual(yield* Harness.conditionTexts, [
        "Available=False MinimumReplicasUnavailable: Deployment does not have minimum availability.",
        `Progressing=True ReplicaSetUpdated: ReplicaSet "${name}" is progressing.`
      ])
      yield* Harness.advance("10 seconds")
      yield* Harness.setReplicaSetStatus(set, 3, 2)
      const updated = yield* Harness.condition("Progressing")
      assert.deepInclude(updated, {
        reason: "ReplicaSetUpdated",
        lastUpdateTime: "1970-01-01T00:00:20Z",
        lastTransitionTime: "1970-01-01T00:00:00Z"
      })
      yield* Harness.advance("10 seconds")
      yield* Harness.setReplicaSetStatus(set, 3, 3)
      const { status } = yield* Harness.get(Deployment)
      const { conditions: _, ...counts } = status ?? {}
      assert.deepStrictEqual(counts, {
        observedGeneration: 1,
        replicas: 3,
        updatedReplicas: 3,
        readyReplicas: 3,
        availableReplicas: 3,
        terminatingReplicas: 0
      })
      assert.deepStrictEqual(yield* Harness.conditionTexts, [
        "Available=True MinimumReplicasAvailable: Deployment has minimum availability.",
        `Progressing=True NewReplicaSetAvailable: ReplicaSet "${name}" has successfully progressed.`
      ])
      const calls = yield* Harness.recording()
      yield* Harness.advance("1 hour")
      assert.deepStrictEqual(calls, [])
    })
  )

  scenario(
    "with no replicas gets an empty ReplicaSet, without an event",
    Effect.gen(function* () {
      yield* Harness.start
      yield* Harness.create(Deployment, Harness.deployment({ replicas: 0 }))
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/0"])
      assert.deepStrictEqual(yield* Harness.events, [])
      assert.deepStrictEqual(
        (yield* Harness.conditionTexts).map((text) => text.split(":")[0]),
        ["Available=True MinimumReplicasAvailable", "Progressing=True NewReplicaSetAvailable"]
      )
    })
  )
})

describe("a rolling update", () => {
  scenario(
    "scales up the new set within maxSurge and down the old one within maxUnavailable, and ends with the new one alone",
    Effect.gen(function* () {
      yield* Harness.start
      const rollingUpdate = { maxSurge: 3, maxUnavailable: 2 }
      yield* Harness.create(Deployment, Harness.deployment({ replicas: 10, strategy: { rollingUpdate } }))
      yield* Harness.completeReplicaSet("web:1")
      yield* Harness.advance("1 minute")
      const shapes: Array<ReadonlyArray<string>> = []
      yield* Harness.useImage("web:2")
      shapes.push(yield* Harness.shape)
      yield* Harness.completeReplicaSet("web:1")
      shapes.push(yield* Harness.shape)
      yield* Harness.completeReplicaSet("web:2")
      shapes.push(yield* Harness.shape)
      yield* Harness.completeReplicaSet("web:1")
      yield* Harness.completeReplicaSet("web:2")
      shapes.push(yield* Harness.shape)
      yield* Harness.completeReplicaSet("web:1")
      yield* Harness.completeReplicaSet("web:2")
      shapes.push(yield* Harness.shape)
      assert.deepStrictEqual(shapes, [
        ["web:1 8/10", "web:2 5/0"],
        ["web:1 8/8", "web:2 5/0"],
        ["web:1 3/8", "web:2 10/5"],
        ["web:1 0/3", "web:2 10/10"],
        ["web:1 0/0", "web:2 10/10"]
      ])
      const [one, two] = [yield* Harness.setOf("web:1"), yield* Harness.setOf("web:2")].map((set) => set.metadata.name)
      assert.deepStrictEqual(
        (yield* Harness.events).map((text) => named(text, { [one ?? ""]: "old", [two ?? ""]: "new" })),
        [
          "Normal ScalingReplicaSet Scaled up replica set old from 0 to 10",
          "Normal ScalingReplicaSet Scaled up replica set new from 0 to 3",
          "Normal ScalingReplicaSet Scaled down replica set old from 10 to 8",
          "Normal ScalingReplicaSet Scaled up replica set new from 3 to 5",
          "Normal ScalingReplicaSet Scaled down replica set old from 8 to 3",
          "Normal ScalingReplicaSet Scaled up replica set new from 5 to 10",
          "Normal ScalingReplicaSet Scaled down replica set old from 3 to 0"
        ]
      )
      assert.deepStrictEqual(
        (yield* Harness.sets).map((set) => [Harness.revisionOf(set), Harness.note(set, "max-replicas")]),
        [
          ["1", "13"],
          ["2", "13"]
        ]
      )
      assert.strictEqual(Harness.revisionOf(yield* Harness.get(Deployment)), "2")
    })
  )

  scenario(
    "removes unavailable pods first",
    Effect.gen(function* () {
      yield* Harness.start
      const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 }
      yield* Harness.create(Deployment, Harness.deployment({ replicas: 4, strategy: { rollingUpdate } }))
      yield* Harness.completeReplicaSet("web:1")
      yield* Harness.advance("1 minute")
      yield* Harness.useImage("web:2")
      yield* Harness.setReplicaSetStatus(yield* Harness.setOf("web:1"), 4, 2)
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 4/2", "web:2 1/0"])
      // The pod of web:2 may still become available, so nothing is removed. For web:3 it counts as unavailable, and of
      // those the oldest is removed.
      yield* Harness.advance("1 minute")
      yield* Harness.useImage("web:3")
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 3/2", "web:2 1/0", "web:3 1/0"])
    })
  )

  scenario(
    "writes the status and is retried when an old set cannot be written",
    Effect.gen(function* () {
      yield* Harness.start
      yield* Harness.create(Deployment, Harness.deployment({ replicas: 4 }))
      yield* Harness.completeReplicaSet("web:1")
      yield* Harness.advance("1 minute")
      const calls = yield* Harness.recording([
        { match: { verb: "update", resource: "replicasets.apps" }, fault: { _tag: "Conflict" }, times: 1 }
      ])
      yield* Harness.useImage("web:2")
      const old = (yield* Harness.setOf("web:1")).metadata.name
      yield* Harness.advance("100 millis")
      const tried = calls.map(Harness.line)
      const first = tried.indexOf(`update replicasets.apps ${old}`)
      assert.isAbove(first, -1)
      assert.strictEqual(tried[first + 1], "update deployments.apps/status web")
      assert.strictEqual(tried.lastIndexOf(`update replicasets.apps ${old}`) > first, true)
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 3/4", "web:2 2/0"])
    })
  )

  scenario(
    "back to an old template renumbers its set and keeps the former number in the history",
    Effect.gen(function* () {
      yield* Harness.start
      yield* Harness.create(Deployment, Harness.deployment({ replicas: 1 }, { annotations: { cause: "one" } }))
      yield* Harness.completeReplicaSet("web:1")
      yield* Harness.advance("1 minute")
      yield* Harness.useImage("web:2")
      yield* Harness.completeReplicaSet("web:2")
      const first = yield* Harness.setOf("web:1")
      const calls = yield* Harness.recording()
      yield* Harness.annotate({ cause: "two" })
      yield* Harness.useImage("web:1")
      assert.include(calls.map(Harness.line), `update replicasets.apps ${first.metadata.name}`)
      const back = yield* Harness.setOf("web:1")
      assert.strictEqual(back.metadata.uid, first.metadata.uid)
      assert.deepStrictEqual(
        [Harness.revisionOf(back), Harness.note(back, "revision-history"), back.metadata.annotations?.["cause"]],
        ["3", "1", "two"]
      )
      assert.strictEqual(Harness.revisionOf(yield* Harness.get(Deployment)), "3")
      assert.strictEqual((yield* Harness.sets).length, 2)
    })
  )

  scenario(
    "counts revisions beyond the range of a double",
    Effect.gen(function* () {
      yield* Harness.start
      yield* Harness.create(Deployment, Harness.deployment({ replicas: 1 }))
      const [set] = yield* Harness.sets
      yield* Harness.patch(ReplicaSet, set?.metadata.name ?? "", {
        metadata: { annotations: { "deployment.kubernetes.io/revision": "3546343826724305832" } }
      })
      assert.strictEqual(Harness.revisionOf(yield* Harness.get(Deployment)), "3546343826724305832")
      yield* Harness.useImage("web:2")
      assert.strictEqual(Harness.revisionOf(yield* Harness.setOf("web:2")), "3546343826724305833")
      assert.strictEqual(Harness.revisionOf(yield* Harness.get(Deployment)), "3546343826724305833")
    })
  )
})

describe("annotations and readiness", () => {
  /** Creates the Deployment and returns the name of its ReplicaSet. */
  const created = Effect.gen(function* () {
    yield* Harness.start
    yield* Harness.create(Deployment, Harness.deployment())
    const [set] = yield* Harness.sets
    return set?.metadata.name ?? ""
  })

  scenario(
    "are copied to the new set before anything else is written",
    Effect.gen(function* () {
      const name = yield* created
      const calls = yield* Harness.recording()
      yield* Harness.patch(Deployment, "web", {
        metadata: { annotations: { note: "n", "kubectl.kubernetes.io/last-applied-configuration": "{}" } },
        spec: { minReadySeconds: 9 }
      })
      assert.deepStrictEqual(calls.map(Harness.line), [
        "patch deployments.apps web",
        `update replicasets.apps ${name}`,
        "update deployments.apps/status web"
      ])
      const after = yield* Harness.get(ReplicaSet, name)
      assert.deepStrictEqual(
        [
          after.metadata.annotations?.["note"],
          after.spec?.minReadySeconds,
          Object.keys(after.metadata.annotations ?? {}).length
        ],
        ["n", 9, 4]
      )
      yield* Harness.annotate({ note: null })
      assert.strictEqual((yield* Harness.get(ReplicaSet, name)).metadata.annotations?.["note"], "n")
    })
  )

  scenario(
    "that cannot be parsed are left, and start no rollback",
    Effect.gen(function* () {
      const name = yield* created
      const nonsense = {
        "deployment.kubernetes.io/revision": "first",
        "deployment.kubernetes.io/desired-replicas": "all",
        "deployment.kubernetes.io/max-replicas": "more"
      }
      yield* Harness.patch(ReplicaSet, name, { metadata: { annotations: nonsense } })
      yield* Harness.annotate({ "deprecated.deployment.rollback.to": "the last one" })
      assert.deepInclude((yield* Harness.get(ReplicaSet, name)).metadata.annotations, nonsense)
      yield* Harness.useImage("web:2")
      assert.strictEqual(Harness.revisionOf(yield* Harness.setOf("web:2")), "1")
      assert.deepStrictEqual(yield* Harness.shape, ["web:1 3/0", "web:2 1/0"])
    })
  )
})
