/** Updates and rollbacks of a DaemonSet. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Harness from "./harness.ts"

const running = (spec: object = {}) =>
  Effect.gen(function* () {
    yield* Harness.create(Harness.DaemonSet, Harness.daemonSet(spec))
    yield* Harness.advance("40 seconds")
  })

const rolling = (rollingUpdate: object) => ({ updateStrategy: { type: "RollingUpdate", rollingUpdate } })

const isReady = ({ status }: Harness.Pod): boolean =>
  status?.conditions?.some(({ status, type }) => type === "Ready" && status === "True") === true

/** Fewest nodes with a ready pod, and most pods that are not terminating, during the time. */
const watched = (seconds: number) =>
  Effect.gen(function* () {
    let available = Infinity
    let most = 0
    for (let i = 0; i < seconds * 2; i++) {
      yield* Harness.advance("500 millis")
      const living = yield* Harness.living
      available = Math.min(available, new Set(living.filter(isReady).map(Harness.nodeOf)).size)
      most = Math.max(most, living.length)
    }
    return { available, most }
  })

const all = (image: string, count = 3) => Array.from({ length: count }, (_, i) => `worker-${i + 1} ${image}`)

Harness.scenario(
  "updates node by node, with at most maxUnavailable nodes without a pod",
  3,
  Effect.gen(function* () {
    yield* running()
    yield* Harness.useImage("log:2")
    const seen = yield* watched(150)
    assert.deepStrictEqual(yield* Harness.shape, all("log:2"))
    assert.deepStrictEqual(seen, { available: 2, most: 3 })
    const status = yield* Harness.status
    assert.deepStrictEqual([status?.observedGeneration, status?.updatedNumberScheduled], [2, 3])
  })
)

Harness.scenario(
  "takes percentages of the nodes, rounded up",
  3,
  Effect.gen(function* () {
    yield* running(rolling({ maxUnavailable: "34%" }))
    yield* Harness.useImage("log:2")
    assert.strictEqual((yield* Harness.living).length, 1)
    yield* Harness.advance("3 minutes")
    assert.deepStrictEqual(yield* Harness.shape, all("log:2"))
  })
)

Harness.scenario(
  "stops at the first node when the new pods do not become ready, and rolls back",
  3,
  Effect.gen(function* () {
    yield* running()
    yield* Harness.useImage("log:404")
    yield* Harness.advance("5 minutes")
    assert.deepStrictEqual((yield* Harness.shape).filter((line) => line.endsWith("log:1")).length, 2)
    const stuck = yield* Harness.status
    assert.deepStrictEqual([stuck?.numberAvailable, stuck?.numberUnavailable, stuck?.updatedNumberScheduled], [2, 1, 1])
    yield* Harness.useImage("log:1")
    yield* Harness.advance("2 minutes")
    assert.deepStrictEqual(yield* Harness.shape, all("log:1"))
    assert.deepStrictEqual(
      (yield* Harness.revisions).map(({ revision }) => revision),
      [2, 3]
    )
  })
)

Harness.scenario(
  "surges: the new pod is available before the old one is deleted",
  3,
  Effect.gen(function* () {
    yield* running(rolling({ maxSurge: 1, maxUnavailable: 0 }))
    yield* Harness.useImage("log:2")
    const seen = yield* watched(150)
    assert.deepStrictEqual(yield* Harness.shape, all("log:2"))
    assert.deepStrictEqual(seen, { available: 3, most: 4 })
  })
)

Harness.scenario(
  "surges with minReadySeconds: an old pod is deleted when the new one has been ready for that long",
  2,
  Effect.gen(function* () {
    yield* running({ ...rolling({ maxSurge: 1, maxUnavailable: 0 }), minReadySeconds: 30 })
    yield* Harness.useImage("log:2")
    yield* Harness.advance("25 seconds")
    const both = yield* Harness.shape
    assert.strictEqual(both.length, 3, both.join())
    const first = both.find((line) => line.endsWith("log:2")) ?? ""
    assert.isTrue((yield* Harness.living).every(isReady))
    const waiting = yield* Harness.status
    // A node counts by the oldest of its pods.
    assert.deepStrictEqual([waiting?.numberAvailable, waiting?.updatedNumberScheduled ?? 0], [2, 0])
    yield* Harness.advance("10 seconds")
    const after = yield* Harness.shape
    assert.notInclude(after, first.replace("log:2", "log:1"))
    // The second node is no faster for that.
    assert.include(after.join(), "log:1")
    const seen = yield* watched(60)
    assert.deepStrictEqual(yield* Harness.shape, all("log:2", 2))
    assert.deepStrictEqual(seen, { available: 2, most: 3 })
  })
)

Harness.scenario(
  "surges no further than one node when the new pods do not become ready",
  3,
  Effect.gen(function* () {
    yield* running(rolling({ maxSurge: 1, maxUnavailable: 0 }))
    yield* Harness.useImage("log:404")
    yield* Harness.advance("5 minutes")
    const shape = yield* Harness.shape
    assert.strictEqual(shape.filter((line) => line.endsWith("log:1")).length, 3)
    assert.strictEqual(shape.length, 4)
    assert.strictEqual((yield* Harness.status)?.numberAvailable, 3)
  })
)

Harness.scenario(
  "OnDelete: a node gets the new template when its pod is deleted",
  2,
  Effect.gen(function* () {
    yield* running({ updateStrategy: { type: "OnDelete" } })
    yield* Harness.useImage("log:2")
    yield* Harness.advance("5 minutes")
    assert.deepStrictEqual(yield* Harness.shape, all("log:1", 2))
    const status = yield* Harness.status
    assert.deepStrictEqual([status?.observedGeneration, status?.updatedNumberScheduled ?? 0], [2, 0])
    yield* Harness.remove(Harness.Pod, (yield* Harness.podOn("worker-2")).metadata.name)
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(yield* Harness.shape, ["worker-1 log:1", "worker-2 log:2"])
    assert.strictEqual((yield* Harness.status)?.updatedNumberScheduled, 1)
  })
)

Harness.scenario(
  "keeps revisionHistoryLimit old revisions, and those that pods use",
  1,
  Effect.gen(function* () {
    yield* running({ revisionHistoryLimit: 1, updateStrategy: { type: "OnDelete" } })
    for (const image of ["log:2", "log:3", "log:4"]) {
      yield* Harness.useImage(image)
      yield* Harness.advance("10 seconds")
    }
    // The first is in use and counts.
    assert.deepStrictEqual(
      (yield* Harness.revisions).map(({ revision }) => revision),
      [1, 4]
    )
  })
)

Harness.scenario(
  "merges revisions of one template, and labels revisions without a hash",
  1,
  Effect.gen(function* () {
    yield* running()
    const [first] = yield* Harness.revisions
    const { metadata } = yield* Harness.get
    const reference = {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      name: "log",
      uid: metadata.uid,
      controller: true,
      blockOwnerDeletion: true
    }
    yield* Harness.create(Harness.ControllerRevision, {
      metadata: { name: "log-other", namespace: "default", labels: Harness.labels, ownerReferences: [reference] },
      data: first?.data,
      revision: 7
    })
    // With the next sync: a revision of another owner does not count.
    yield* Harness.advance("1 minute")
    assert.strictEqual((yield* Harness.revisions).length, 2)
    yield* Harness.patch(Harness.DaemonSet, "log", { metadata: { annotations: { note: "seen" } } })
    yield* Harness.advance("1 minute")
    const left = yield* Harness.revisions
    assert.deepStrictEqual(
      left.map(({ metadata, revision }) => [metadata.name, revision]),
      [["log-other", 7]]
    )
    const hashes = [...left, ...(yield* Harness.living)].map((one) => one.metadata.labels?.["controller-revision-hash"])
    assert.deepStrictEqual(hashes, ["log-other", "log-other"])
    assert.strictEqual((yield* Harness.status)?.updatedNumberScheduled, 1)
  })
)

Harness.scenario(
  "uses another name where the first is taken by another template",
  1,
  Effect.gen(function* () {
    yield* running()
    const [first] = yield* Harness.revisions
    yield* Harness.remove(Harness.DaemonSet, "log")
    for (const { metadata } of yield* Harness.living) yield* Harness.remove(Harness.Pod, metadata.name)
    yield* Harness.advance("1 minute")
    yield* Harness.remove(Harness.ControllerRevision, first?.metadata.name ?? "")
    yield* Harness.create(Harness.ControllerRevision, {
      metadata: { name: first?.metadata.name, namespace: "default" },
      data: { spec: {} },
      revision: 1
    })
    yield* running()
    assert.strictEqual((yield* Harness.status)?.collisionCount, 1)
    assert.strictEqual((yield* Harness.revisions).length, 2)
    assert.deepStrictEqual(yield* Harness.places, ["worker-1"])
  })
)
