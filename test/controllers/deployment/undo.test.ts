import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Harness from "./harness.ts"

const { Deployment, scenario } = Harness

describe("the history", () => {
  const upTo = (count: number) =>
    Effect.gen(function* () {
      for (let i = 2; i <= count; i++) {
        yield* Harness.useImage(`web:${i}`)
        yield* Harness.completeReplicaSet(`web:${i}`)
        yield* Harness.completeReplicaSet(`web:${i - 1}`)
        yield* Harness.completeReplicaSet(`web:${i}`)
        yield* Harness.completeReplicaSet(`web:${i - 1}`)
        yield* Harness.completeReplicaSet(`web:${i}`)
        yield* Harness.advance("1 minute")
      }
    })

  const images = Effect.map(Harness.shape, (all) => all.map((text) => text.split(" ")[0]))

  scenario(
    "keeps revisionHistoryLimit old sets, the highest revisions",
    Effect.gen(function* () {
      yield* Harness.running({ replicas: 1, revisionHistoryLimit: 2 })
      yield* upTo(5)
      assert.deepStrictEqual(yield* images, ["web:3", "web:4", "web:5"])
      yield* Harness.useImage("web:3")
      yield* Harness.completeReplicaSet("web:3")
      yield* Harness.completeReplicaSet("web:5")
      yield* Harness.completeReplicaSet("web:3")
      assert.deepStrictEqual(yield* images, ["web:4", "web:5", "web:3"])
      yield* Harness.change({ revisionHistoryLimit: 0 })
      assert.deepStrictEqual(yield* images, ["web:3"])
    })
  )

  scenario(
    "is not shortened before a rollout is complete, and not by a set in use",
    Effect.gen(function* () {
      yield* Harness.running({ replicas: 1, revisionHistoryLimit: 1 })
      yield* upTo(2)
      yield* Harness.setReplicaSetStatus(yield* Harness.setOf("web:1"), 0, 0, { replicas: 1 })
      yield* Harness.useImage("web:3")
      assert.deepStrictEqual(yield* images, ["web:1", "web:2", "web:3"])
      yield* Harness.completeReplicaSet("web:3")
      yield* Harness.completeReplicaSet("web:2")
      yield* Harness.completeReplicaSet("web:3")
      assert.deepStrictEqual(yield* images, ["web:1", "web:2", "web:3"])
      yield* Harness.completeReplicaSet("web:1")
      assert.deepStrictEqual(yield* images, ["web:2", "web:3"])
    })
  )

  scenario(
    "of a paused Deployment is shortened at once, unless a rollback is requested",
    Effect.gen(function* () {
      yield* Harness.running({ replicas: 1, revisionHistoryLimit: 5 })
      yield* upTo(3)
      yield* Harness.patch(Deployment, "web", {
        metadata: { annotations: { "deprecated.deployment.rollback.to": "1" } },
        spec: { paused: true, revisionHistoryLimit: 1 }
      })
      assert.deepStrictEqual(yield* images, ["web:1", "web:2", "web:3"])
      yield* Harness.annotate({ "deprecated.deployment.rollback.to": null })
      assert.deepStrictEqual(yield* images, ["web:2", "web:3"])
    })
  )
})

describe("a rollback by annotation", () => {
  const ask = (revision: string) => Harness.annotate({ "deprecated.deployment.rollback.to": revision })

  const two = Effect.gen(function* () {
    yield* Harness.running({ replicas: 1 })
    yield* Harness.annotate({ cause: "one", "only-one": "x" })
    yield* Harness.patch(Deployment, "web", {
      metadata: { annotations: { cause: "two", "only-one": null } },
      spec: { template: { spec: Harness.podSpec("web:2") } }
    })
    yield* Harness.completeReplicaSet("web:2")
    yield* Harness.completeReplicaSet("web:1")
    yield* Harness.completeReplicaSet("web:2")
    assert.deepStrictEqual(yield* Harness.shape, ["web:1 0/0", "web:2 1/1"])
  })

  const imageOf = Effect.map(Harness.get(Deployment), ({ spec }) => spec?.template.spec?.containers[0]?.image)

  scenario(
    "restores the template and the annotations of the revision, with one update",
    Effect.gen(function* () {
      yield* two
      const calls = yield* Harness.recording()
      yield* ask("1")
      assert.deepStrictEqual(calls.map(Harness.line).slice(0, 2), [
        "patch deployments.apps web",
        "update deployments.apps web"
      ])
      const { metadata, spec } = yield* Harness.get(Deployment)
      assert.deepStrictEqual(spec?.template.metadata?.labels, Harness.labels)
      assert.strictEqual(yield* imageOf, "web:1")
      assert.deepStrictEqual(metadata.annotations, {
        cause: "one",
        "only-one": "x",
        "deployment.kubernetes.io/revision": "3"
      })
      assert.include(yield* Harness.events, 'Normal DeploymentRollback Rolled back deployment "web" to revision 1')
      assert.deepStrictEqual(yield* Harness.shape, ["web:2 1/1", "web:1 1/0"])
    })
  )

  scenario(
    "to zero is to the previous revision",
    Effect.gen(function* () {
      yield* two
      yield* ask("0")
      assert.strictEqual(yield* imageOf, "web:1")
      assert.include(yield* Harness.events, 'Normal DeploymentRollback Rolled back deployment "web" to revision 1')
    })
  )

  for (const [revision, message] of [
    ["9", "DeploymentRollbackRevisionNotFound Unable to find the revision to rollback to."],
    [
      "2",
      'DeploymentRollbackTemplateUnchanged The rollback revision contains the same template as current deployment "web"'
    ]
  ] as const) {
    scenario(
      `to ${revision} fails with a word, and is not asked for again`,
      Effect.gen(function* () {
        yield* two
        yield* ask(revision)
        assert.strictEqual(yield* imageOf, "web:2")
        assert.isUndefined((yield* Harness.get(Deployment)).metadata.annotations?.["deprecated.deployment.rollback.to"])
        assert.include(yield* Harness.events, `Warning ${message}`)
      })
    )
  }

  scenario(
    "to zero without an older revision finds none",
    Effect.gen(function* () {
      yield* Harness.running({ replicas: 1 })
      yield* ask("0")
      assert.include(yield* Harness.events, "Warning DeploymentRollbackRevisionNotFound Unable to find last revision.")
      assert.isUndefined((yield* Harness.get(Deployment)).metadata.annotations?.["deprecated.deployment.rollback.to"])
    })
  )

  scenario(
    "waits while the Deployment is paused",
    Effect.gen(function* () {
      yield* two
      yield* Harness.change({ paused: true })
      yield* ask("1")
      assert.strictEqual(yield* imageOf, "web:2")
      yield* Harness.change({ paused: false })
      assert.strictEqual(yield* imageOf, "web:1")
    })
  )
})
