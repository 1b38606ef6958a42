/** The cases for ControllerRevisions from Kubernetes' end-to-end suite: test/e2e/apps/controller_revision.go, and those of daemon_set.go about their data. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ControllerRevision, DaemonSet } from "../../src/kube/resources.ts"
import * as Harness from "./harness.ts"

const labels = { daemon: "log" }

const revisions = Harness.list(ControllerRevision, "daemon=log")

const count = (expected: number) =>
  Harness.until(
    Effect.map(revisions, (all) => assert.strictEqual(all.length, expected)),
    "1 minute"
  )

Harness.scenario(
  "ControllerRevisions can be patched, created and deleted by clients, and the next number continues from theirs",
  Effect.gen(function* () {
    const template = Harness.template(labels, "log:1")
    yield* Harness.create(DaemonSet, {
      metadata: { name: "log", labels },
      spec: { selector: { matchLabels: labels }, template }
    })
    yield* Harness.running("daemon=log", 2)
    yield* Harness.advance("10 seconds")
    const [first] = yield* revisions
    assert.isDefined(first)
    yield* Harness.strategic(ControllerRevision, first.metadata.name, { metadata: { labels: { note: "patched" } } })
    yield* Harness.advance("1 second")
    // The same template again, under another name. Nothing happens to it until the DaemonSet changes.
    yield* Harness.create(ControllerRevision, {
      metadata: {
        name: "log-other",
        labels: { ...labels, "controller-revision-hash": "other" },
        ownerReferences: first.metadata.ownerReferences
      },
      data: first.data,
      revision: first.revision + 1
    })
    yield* Harness.advance("10 seconds")
    yield* count(2)
    yield* Harness.remove(ControllerRevision, first.metadata.name)
    yield* count(1)
    const [second] = yield* revisions
    assert.deepStrictEqual([second?.metadata.name, second?.revision], ["log-other", 2])
    yield* Harness.update(ControllerRevision, "log-other", (found) => ({
      ...found,
      metadata: { ...found.metadata, labels: { ...found.metadata.labels, note: "updated" } }
    }))
    yield* Harness.strategic(DaemonSet, "log", { spec: { template: { spec: { terminationGracePeriodSeconds: 1 } } } })
    yield* count(2)
    yield* Harness.advance("1 minute")
    yield* Harness.removeAll(ControllerRevision, "note=updated")
    yield* count(1)
    assert.deepStrictEqual(
      (yield* revisions).map(({ revision }) => revision),
      [3]
    )
  })
)

Harness.scenario(
  "a ControllerRevision has the template as data, with sorted keys, byte for byte as the original writes it",
  Effect.gen(function* () {
    const template = { metadata: { labels: { z: "1", ...labels } }, spec: Harness.spec("log:1") }
    yield* Harness.create(DaemonSet, {
      metadata: { name: "log", labels },
      spec: { selector: { matchLabels: labels }, template }
    })
    yield* count(1)
    const [revision] = yield* revisions
    const stored = (yield* Harness.get(DaemonSet, "log")).spec?.template
    assert.strictEqual(
      JSON.stringify(revision?.data),
      JSON.stringify(sorted({ spec: { template: { $patch: "replace", ...stored } } }))
    )
  })
)

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).map(([key, one]) => [key, sorted(one)] as const)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}
