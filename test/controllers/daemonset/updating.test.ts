/** How a new template comes to the nodes, and how an old one comes back. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stand from "./harness.ts"

const running = (spec: object = {}) =>
  Effect.gen(function* () {
    yield* Stand.create(Stand.DaemonSet, Stand.daemonSet(spec))
    yield* Stand.advance("40 seconds")
  })

const rolling = (rollingUpdate: object) => ({ updateStrategy: { type: "RollingUpdate", rollingUpdate } })

const isReady = ({ status }: Stand.Pod): boolean =>
  status?.conditions?.some(({ status, type }) => type === "Ready" && status === "True") === true

/** Fewest nodes with a ready pod, and most pods that are not being deleted, in the time. */
const watched = (seconds: number) =>
  Effect.gen(function* () {
    let available = Infinity
    let most = 0
    for (let i = 0; i < seconds * 2; i++) {
      yield* Stand.advance("500 millis")
      const living = yield* Stand.living
      available = Math.min(available, new Set(living.filter(isReady).map(Stand.nodeOf)).size)
      most = Math.max(most, living.length)
    }
    return { available, most }
  })

const all = (image: string, count = 3) => Array.from({ length: count }, (_, i) => `worker-${i + 1} ${image}`)

Stand.scenario(
  "updates node by node, never more without their pod than allowed",
  3,
  Effect.gen(function* () {
    yield* running()
    yield* Stand.useImage("log:2")
    const seen = yield* watched(150)
    assert.deepStrictEqual(yield* Stand.shape, all("log:2"))
    assert.deepStrictEqual(seen, { available: 2, most: 3 })
    const status = yield* Stand.status
    assert.deepStrictEqual([status?.observedGeneration, status?.updatedNumberScheduled], [2, 3])
  })
)

Stand.scenario(
  "takes shares of the nodes, rounded up",
  3,
  Effect.gen(function* () {
    yield* running(rolling({ maxUnavailable: "34%" }))
    yield* Stand.useImage("log:2")
    assert.strictEqual((yield* Stand.living).length, 1)
    yield* Stand.advance("3 minutes")
    assert.deepStrictEqual(yield* Stand.shape, all("log:2"))
  })
)

Stand.scenario(
  "stops at the first node when the new pods do not work, and comes back",
  3,
  Effect.gen(function* () {
    yield* running()
    yield* Stand.useImage("log:404")
    yield* Stand.advance("5 minutes")
    assert.deepStrictEqual((yield* Stand.shape).filter((line) => line.endsWith("log:1")).length, 2)
    const stuck = yield* Stand.status
    assert.deepStrictEqual([stuck?.numberAvailable, stuck?.numberUnavailable, stuck?.updatedNumberScheduled], [2, 1, 1])
    yield* Stand.useImage("log:1")
    yield* Stand.advance("2 minutes")
    assert.deepStrictEqual(yield* Stand.shape, all("log:1"))
    assert.deepStrictEqual(
      (yield* Stand.revisions).map(({ revision }) => revision),
      [2, 3]
    )
  })
)

Stand.scenario(
  "surges: the new pod works before the old one goes",
  3,
  Effect.gen(function* () {
    yield* running(rolling({ maxSurge: 1, maxUnavailable: 0 }))
    yield* Stand.useImage("log:2")
    const seen = yield* watched(150)
    assert.deepStrictEqual(yield* Stand.shape, all("log:2"))
    assert.deepStrictEqual(seen, { available: 3, most: 4 })
  })
)

Stand.scenario(
  "surges with patience: an old pod goes when the new one beside it has been ready for long enough",
  2,
  Effect.gen(function* () {
    yield* running({ ...rolling({ maxSurge: 1, maxUnavailable: 0 }), minReadySeconds: 30 })
    yield* Stand.useImage("log:2")
    yield* Stand.advance("25 seconds")
    const both = yield* Stand.shape
    assert.strictEqual(both.length, 3, both.join())
    const first = both.find((line) => line.endsWith("log:2")) ?? ""
    assert.isTrue((yield* Stand.living).every(isReady))
    const waiting = yield* Stand.status
    // A node counts by the oldest of its pods.
    assert.deepStrictEqual([waiting?.numberAvailable, waiting?.updatedNumberScheduled ?? 0], [2, 0])
    yield* Stand.advance("10 seconds")
    const after = yield* Stand.shape
    assert.notInclude(after, first.replace("log:2", "log:1"))
    // The second node is no faster for that.
    assert.include(after.join(), "log:1")
    const seen = yield* watched(60)
    assert.deepStrictEqual(yield* Stand.shape, all("log:2", 2))
    assert.deepStrictEqual(seen, { available: 2, most: 3 })
  })
)

Stand.scenario(
  "surges no further than one node when the new pods do not work",
  3,
  Effect.gen(function* () {
    yield* running(rolling({ maxSurge: 1, maxUnavailable: 0 }))
    yield* Stand.useImage("log:404")
    yield* Stand.advance("5 minutes")
    const shape = yield* Stand.shape
    assert.strictEqual(shape.filter((line) => line.endsWith("log:1")).length, 3)
    assert.strictEqual(shape.length, 4)
    assert.strictEqual((yield* Stand.status)?.numberAvailable, 3)
  })
)

Stand.scenario(
  "OnDelete: a node gets the new template when its pod is deleted",
  2,
  Effect.gen(function* () {
    yield* running({ updateStrategy: { type: "OnDelete" } })
    yield* Stand.useImage("log:2")
    yield* Stand.advance("5 minutes")
    assert.deepStrictEqual(yield* Stand.shape, all("log:1", 2))
    const status = yield* Stand.status
    assert.deepStrictEqual([status?.observedGeneration, status?.updatedNumberScheduled ?? 0], [2, 0])
    yield* Stand.remove(Stand.Pod, (yield* Stand.podOn("worker-2")).metadata.name)
    yield* Stand.advance("1 minute")
    assert.deepStrictEqual(yield* Stand.shape, ["worker-1 log:1", "worker-2 log:2"])
    assert.strictEqual((yield* Stand.status)?.updatedNumberScheduled, 1)
  })
)

Stand.scenario(
  "keeps so many old revisions as it is told, and those that pods are of",
  1,
  Effect.gen(function* () {
    yield* running({ revisionHistoryLimit: 1, updateStrategy: { type: "OnDelete" } })
    for (const image of ["log:2", "log:3", "log:4"]) {
      yield* Stand.useImage(image)
      yield* Stand.advance("10 seconds")
    }
    // The first is in use and counts.
    assert.deepStrictEqual(
      (yield* Stand.revisions).map(({ revision }) => revision),
      [1, 4]
    )
  })
)

Stand.scenario(
  "merges revisions of one template, labels those that nobody has labelled",
  1,
  Effect.gen(function* () {
    yield* running()
    const [first] = yield* Stand.revisions
    const { metadata } = yield* Stand.get
    const reference = {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      name: "log",
      uid: metadata.uid,
      controller: true,
      blockOwnerDeletion: true
    }
    yield* Stand.create(Stand.ControllerRevision, {
      metadata: { name: "log-other", namespace: "default", labels: Stand.labels, ownerReferences: [reference] },
      data: first?.data,
      revision: 7
    })
    // At the next occasion: somebody else's revision is none.
    yield* Stand.advance("1 minute")
    assert.strictEqual((yield* Stand.revisions).length, 2)
    yield* Stand.patch(Stand.DaemonSet, "log", { metadata: { annotations: { note: "seen" } } })
    yield* Stand.advance("1 minute")
    const left = yield* Stand.revisions
    assert.deepStrictEqual(
      left.map(({ metadata, revision }) => [metadata.name, revision]),
      [["log-other", 7]]
    )
    const hashes = [...left, ...(yield* Stand.living)].map((one) => one.metadata.labels?.["controller-revision-hash"])
    assert.deepStrictEqual(hashes, ["log-other", "log-other"])
    assert.strictEqual((yield* Stand.status)?.updatedNumberScheduled, 1)
  })
)

Stand.scenario(
  "takes another name where the first is taken by another template",
  1,
  Effect.gen(function* () {
    yield* running()
    const [first] = yield* Stand.revisions
    yield* Stand.remove(Stand.DaemonSet, "log")
    for (const { metadata } of yield* Stand.living) yield* Stand.remove(Stand.Pod, metadata.name)
    yield* Stand.advance("1 minute")
    yield* Stand.remove(Stand.ControllerRevision, first?.metadata.name ?? "")
    yield* Stand.create(Stand.ControllerRevision, {
      metadata: { name: first?.metadata.name, namespace: "default" },
      data: { spec: {} },
      revision: 1
    })
    yield* running()
    assert.strictEqual((yield* Stand.status)?.collisionCount, 1)
    assert.strictEqual((yield* Stand.revisions).length, 2)
    assert.deepStrictEqual(yield* Stand.places, ["worker-1"])
  })
)
