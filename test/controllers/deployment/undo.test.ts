import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stand from "./harness.ts"

const { Deployment, scenario } = Stand

describe("the history", () => {
  const upTo = (count: number) =>
    Effect.gen(function* () {
      for (let i = 2; i <= count; i++) {
        yield* Stand.useImage(`web:${i}`)
        yield* Stand.obey(`web:${i}`)
        yield* Stand.obey(`web:${i - 1}`)
        yield* Stand.obey(`web:${i}`)
        yield* Stand.obey(`web:${i - 1}`)
        yield* Stand.obey(`web:${i}`)
        yield* Stand.advance("1 minute")
      }
    })

  const images = Effect.map(Stand.shape, (all) => all.map((text) => text.split(" ")[0]))

  scenario(
    "keeps so many old sets, the highest revisions",
    Effect.gen(function* () {
      yield* Stand.running({ replicas: 1, revisionHistoryLimit: 2 })
      yield* upTo(5)
      assert.deepStrictEqual(yield* images, ["web:3", "web:4", "web:5"])
      yield* Stand.useImage("web:3")
      yield* Stand.obey("web:3")
      yield* Stand.obey("web:5")
      yield* Stand.obey("web:3")
      assert.deepStrictEqual(yield* images, ["web:4", "web:5", "web:3"])
      yield* Stand.change({ revisionHistoryLimit: 0 })
      assert.deepStrictEqual(yield* images, ["web:3"])
    })
  )

  scenario(
    "is not shortened before a rollout is over, and not by a set in use",
    Effect.gen(function* () {
      yield* Stand.running({ replicas: 1, revisionHistoryLimit: 1 })
      yield* upTo(2)
      yield* Stand.tell(yield* Stand.setOf("web:1"), 0, 0, { replicas: 1 })
      yield* Stand.useImage("web:3")
      assert.deepStrictEqual(yield* images, ["web:1", "web:2", "web:3"])
      yield* Stand.obey("web:3")
      yield* Stand.obey("web:2")
      yield* Stand.obey("web:3")
      assert.deepStrictEqual(yield* images, ["web:1", "web:2", "web:3"])
      yield* Stand.obey("web:1")
      assert.deepStrictEqual(yield* images, ["web:2", "web:3"])
    })
  )

  scenario(
    "of a paused Deployment is shortened at once, unless a rollback is asked for",
    Effect.gen(function* () {
      yield* Stand.running({ replicas: 1, revisionHistoryLimit: 5 })
      yield* upTo(3)
      yield* Stand.patch(Deployment, "web", {
        metadata: { annotations: { "deprecated.deployment.rollback.to": "1" } },
        spec: { paused: true, revisionHistoryLimit: 1 }
      })
      assert.deepStrictEqual(yield* images, ["web:1", "web:2", "web:3"])
      yield* Stand.annotate({ "deprecated.deployment.rollback.to": null })
      assert.deepStrictEqual(yield* images, ["web:2", "web:3"])
    })
  )
})

describe("a rollback by annotation", () => {
  const ask = (revision: string) => Stand.annotate({ "deprecated.deployment.rollback.to": revision })

  const two = Effect.gen(function* () {
    yield* Stand.running({ replicas: 1 })
    yield* Stand.annotate({ cause: "one", "only-one": "x" })
    yield* Stand.patch(Deployment, "web", {
      metadata: { annotations: { cause: "two", "only-one": null } },
      spec: { template: { spec: Stand.podSpec("web:2") } }
    })
    yield* Stand.obey("web:2")
    yield* Stand.obey("web:1")
    yield* Stand.obey("web:2")
    assert.deepStrictEqual(yield* Stand.shape, ["web:1 0/0", "web:2 1/1"])
  })

  const imageOf = Effect.map(Stand.get(Deployment), ({ spec }) => spec?.template.spec?.containers[0]?.image)

  scenario(
    "brings back the template and the annotations of the revision, with one update",
    Effect.gen(function* () {
      yield* two
      const calls = yield* Stand.recording()
      yield* ask("1")
      assert.deepStrictEqual(calls.map(Stand.line).slice(0, 2), [
        "patch deployments.apps web",
        "update deployments.apps web"
      ])
      const { metadata, spec } = yield* Stand.get(Deployment)
      assert.deepStrictEqual(spec?.template.metadata?.labels, Stand.labels)
      assert.strictEqual(yield* imageOf, "web:1")
      assert.deepStrictEqual(metadata.annotations, {
        cause: "one",
        "only-one": "x",
        "deployment.kubernetes.io/revision": "3"
      })
      assert.include(yield* Stand.events, 'Normal DeploymentRollback Rolled back deployment "web" to revision 1')
      assert.deepStrictEqual(yield* Stand.shape, ["web:2 1/1", "web:1 1/0"])
    })
  )

  scenario(
    "to zero is to the revision before",
    Effect.gen(function* () {
      yield* two
      yield* ask("0")
      assert.strictEqual(yield* imageOf, "web:1")
      assert.include(yield* Stand.events, 'Normal DeploymentRollback Rolled back deployment "web" to revision 1')
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
        assert.isUndefined((yield* Stand.get(Deployment)).metadata.annotations?.["deprecated.deployment.rollback.to"])
        assert.include(yield* Stand.events, `Warning ${message}`)
      })
    )
  }

  scenario(
    "to zero without an older revision finds none",
    Effect.gen(function* () {
      yield* Stand.running({ replicas: 1 })
      yield* ask("0")
      assert.include(yield* Stand.events, "Warning DeploymentRollbackRevisionNotFound Unable to find last revision.")
      assert.isUndefined((yield* Stand.get(Deployment)).metadata.annotations?.["deprecated.deployment.rollback.to"])
    })
  )

  scenario(
    "waits while the Deployment is paused",
    Effect.gen(function* () {
      yield* two
      yield* Stand.change({ paused: true })
      yield* ask("1")
      assert.strictEqual(yield* imageOf, "web:2")
      yield* Stand.change({ paused: false })
      assert.strictEqual(yield* imageOf, "web:1")
    })
  )
})
