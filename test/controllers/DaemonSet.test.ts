/**
 * The DaemonSet controller on the embedded API server: pods on nodes, their content, replacement of failed pods, and
 * the status.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import * as Harness from "./daemonset/harness.ts"

const counts = (desired: number, more: object = {}) => ({
  currentNumberScheduled: desired,
  numberMisscheduled: 0,
  desiredNumberScheduled: desired,
  numberReady: desired,
  updatedNumberScheduled: desired,
  numberAvailable: desired,
  observedGeneration: 1,
  ...more
})

const running = (spec: object = {}) =>
  Effect.gen(function* () {
    yield* Harness.create(Harness.DaemonSet, Harness.daemonSet(spec))
    yield* Harness.advance("40 seconds")
  })

Harness.scenario(
  "creates one pod on every eligible node, reports it, and writes nothing more",
  2,
  Effect.gen(function* () {
    yield* running()
    assert.deepStrictEqual(yield* Harness.places, ["worker-1", "worker-2"])
    assert.deepStrictEqual(yield* Harness.status, counts(2))
    const made = (yield* Harness.living).map(({ metadata }) => `Normal SuccessfulCreate Created pod: ${metadata.name}`)
    assert.sameMembers([...(yield* Harness.events)], made)
    const calls = yield* Harness.recording()
    yield* Harness.patch(Harness.DaemonSet, "log", { metadata: { annotations: { note: "seen" } } })
    yield* Harness.patch(Harness.Node, "worker-1", { metadata: { labels: { note: "seen" } } })
    yield* Harness.advance("10 minutes")
    assert.deepStrictEqual(
      calls.map(Harness.line).filter((line) => line.includes("daemonsets/") || line.includes("revisions")),
      []
    )
    assert.isFalse(calls.some(({ context }) => context.verb === "create" || context.verb === "delete"))
  })
)

Harness.scenario(
  "adds affinity, tolerations and labels to its pods",
  1,
  Effect.gen(function* () {
    const tolerations = [
      { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 },
      { key: "mine", operator: "Exists" }
    ]
    const preferred = [{ weight: 1, preference: { matchExpressions: [{ key: "disk", operator: "Exists" }] } }]
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: preferred }
    const spec = { ...Harness.podSpec(), hostNetwork: true, tolerations, affinity: { nodeAffinity } }
    yield* running({ template: { metadata: { labels: Harness.labels, annotations: { a: "b" } }, spec } })
    const pod = yield* Harness.podOn("worker-1")
    const [revision] = yield* Harness.revisions
    const hash = revision?.metadata.labels?.["controller-revision-hash"] ?? ""
    assert.strictEqual(revision?.metadata.name, `log-${hash}`)
    assert.match(pod.metadata.name, /^log-[a-z0-9]{5}$/)
    assert.deepStrictEqual(pod.metadata.labels, {
      ...Harness.labels,
      "controller-revision-hash": hash,
      "pod-template-generation": "1"
    })
    assert.deepStrictEqual(pod.metadata.annotations, { a: "b" })
    const [owner] = pod.metadata.ownerReferences ?? []
    assert.deepInclude(owner, { kind: "DaemonSet", name: "log", controller: true, blockOwnerDeletion: true })
    const known = (name: string, effect: string) => ({ key: `node.kubernetes.io/${name}`, operator: "Exists", effect })
    assert.deepStrictEqual(pod.spec?.tolerations, [
      known("not-ready", "NoExecute"),
      { key: "mine", operator: "Exists" },
      known("unreachable", "NoExecute"),
      known("disk-pressure", "NoSchedule"),
      known("memory-pressure", "NoSchedule"),
      known("pid-pressure", "NoSchedule"),
      known("unschedulable", "NoSchedule"),
      known("network-unavailable", "NoSchedule")
    ])
    const terms = [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["worker-1"] }] }]
    assert.deepStrictEqual(pod.spec?.affinity, {
      nodeAffinity: { ...nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } }
    })
  })
)

Harness.scenario(
  "replaces a deleted pod when it is gone",
  1,
  Effect.gen(function* () {
    yield* running()
    const { metadata } = yield* Harness.podOn("worker-1")
    yield* Harness.remove(Harness.Pod, metadata.name)
    assert.deepStrictEqual(
      (yield* Harness.pods).map(({ metadata }) => metadata.name),
      [metadata.name]
    )
    yield* Harness.advance("40 seconds")
    const next = yield* Harness.podOn("worker-1")
    assert.notStrictEqual(next.metadata.name, metadata.name)
    assert.strictEqual((yield* Harness.pods).length, 1)
  })
)

Harness.scenario(
  "replaces a failed pod, with a delay that doubles",
  1,
  Effect.gen(function* () {
    yield* running()
    const machines = yield* Nodes.Nodes
    const failing = Effect.gen(function* () {
      const { metadata } = yield* Harness.podOn("worker-1")
      yield* machines.evict({ name: metadata.name })
      yield* Harness.settle
      return metadata.name
    })
    const goesAfter = (name: string, seconds: number) =>
      Effect.gen(function* () {
        if (seconds > 0) {
          yield* Harness.advance(`${seconds * 1000 - 1} millis`)
          const still = yield* Harness.living
          assert.include(
            still.map(({ metadata }) => metadata.name),
            name
          )
          yield* Harness.advance("1 millis")
        }
        assert.notInclude(
          (yield* Harness.living).map(({ metadata }) => metadata.name),
          name
        )
      })
    const first = yield* failing
    yield* goesAfter(first, 0)
    const text = `Found failed daemon pod default/${first} on node worker-1, will try to kill it`
    assert.include(yield* Harness.events, `Warning FailedDaemonPod ${text}`)
    const second = yield* failing
    yield* goesAfter(second, 1)
    const third = yield* failing
    yield* goesAfter(third, 2)
    const fourth = yield* failing
    yield* goesAfter(fourth, 4)
    yield* Harness.advance("1 minute")
    assert.strictEqual((yield* Harness.status)?.numberAvailable, 1)
  })
)

Harness.scenario(
  "replaces a succeeded pod at once",
  1,
  Effect.gen(function* () {
    yield* running()
    const { metadata } = yield* Harness.podOn("worker-1")
    yield* Harness.patch(Harness.Pod, metadata.name, { status: { phase: "Succeeded" } }, "status")
    const text = `Found succeeded daemon pod default/${metadata.name} on node worker-1, will try to delete it`
    assert.include(yield* Harness.events, `Normal SucceededDaemonPod ${text}`)
    yield* Harness.advance("1 minute")
    assert.notStrictEqual((yield* Harness.podOn("worker-1")).metadata.name, metadata.name)
  })
)

Harness.scenario(
  "keeps the oldest of several pods on a node",
  1,
  Effect.gen(function* () {
    yield* running()
    const first = yield* Harness.podOn("worker-1")
    yield* Harness.create(Harness.Pod, {
      metadata: { name: "second", namespace: "default", labels: Harness.labels },
      spec: { ...Harness.podSpec(), nodeName: "worker-1" }
    })
    yield* Harness.advance("1 minute")
    assert.deepStrictEqual(
      (yield* Harness.pods).map(({ metadata }) => metadata.name),
      [first.metadata.name]
    )
    assert.include(yield* Harness.events, "Normal SuccessfulDelete Deleted pod: second")
  })
)

Harness.scenario(
  "adopts pods and revisions that an earlier DaemonSet orphaned",
  2,
  Effect.gen(function* () {
    yield* running()
    const before = (yield* Harness.living).map(({ metadata }) => metadata.name)
    yield* Harness.remove(Harness.DaemonSet, "log", { propagationPolicy: "Orphan" })
    // No garbage collector runs, so its deletions are done here.
    for (const name of before) yield* Harness.patch(Harness.Pod, name, { metadata: { ownerReferences: null } })
    for (const { metadata } of yield* Harness.revisions)
      yield* Harness.patch(Harness.ControllerRevision, metadata.name, { metadata: { ownerReferences: null } })
    yield* Harness.patch(Harness.DaemonSet, "log", { metadata: { finalizers: null } })
    yield* running()
    const { metadata } = yield* Harness.get
    const owners = [...(yield* Harness.living), ...(yield* Harness.revisions)].map(
      (one) => one.metadata.ownerReferences?.[0]?.uid
    )
    assert.deepStrictEqual(owners, [metadata.uid, metadata.uid, metadata.uid])
    assert.sameMembers(
      (yield* Harness.living).map((one) => one.metadata.name),
      before
    )
  })
)

Harness.scenario(
  "creates nothing for a DaemonSet that is being deleted",
  1,
  Effect.gen(function* () {
    yield* running()
    yield* Harness.remove(Harness.DaemonSet, "log", { propagationPolicy: "Foreground" })
    const calls = yield* Harness.recording()
    yield* Harness.remove(Harness.Pod, (yield* Harness.podOn("worker-1")).metadata.name)
    yield* Harness.advance("2 minutes")
    assert.deepStrictEqual(
      calls.map(Harness.line).filter((line) => line.startsWith("create")),
      []
    )
  })
)

Harness.scenario(
  "counts a pod as available after minReadySeconds",
  1,
  Effect.gen(function* () {
    yield* Harness.create(Harness.DaemonSet, Harness.daemonSet({ minReadySeconds: 60 }))
    yield* Harness.advance("30 seconds")
    const early = yield* Harness.status
    assert.deepStrictEqual([early?.numberReady, early?.numberAvailable ?? 0, early?.numberUnavailable], [1, 0, 1])
    yield* Harness.advance("60 seconds")
    const late = yield* Harness.status
    assert.deepStrictEqual([late?.numberReady, late?.numberAvailable, late?.numberUnavailable ?? 0], [1, 1, 0])
  })
)

Harness.scenario(
  "keeps conditions of other writers",
  1,
  Effect.gen(function* () {
    yield* running()
    const conditions = [
      { type: "Mine", status: "True", reason: "R", message: "m", lastTransitionTime: "2020-01-01T00:00:00Z" }
    ]
    yield* Harness.patch(Harness.DaemonSet, "log", { status: { conditions } }, "status")
    yield* Harness.useImage("log:2")
    yield* Harness.advance("2 minutes")
    const status = yield* Harness.status
    assert.deepStrictEqual(status?.conditions, conditions)
    assert.strictEqual(status?.updatedNumberScheduled, 1)
  })
)

Harness.scenario(
  "records an event for a refused creation and retries; retries a conflict of the status at once",
  1,
  Effect.gen(function* () {
    const refused = { _tag: "Status", code: 403, reason: "Forbidden", message: "quota" } as const
    yield* (yield* ApiServer).setFaults([
      { match: { verb: "create", resource: "pods" }, fault: refused, times: 1 },
      { match: { verb: "update", resource: "daemonsets.apps" }, fault: { _tag: "Conflict" }, times: 1 }
    ])
    yield* running()
    assert.include(yield* Harness.events, "Warning FailedCreate Error creating: quota")
    assert.deepStrictEqual(yield* Harness.places, ["worker-1"])
    assert.deepStrictEqual(yield* Harness.status, counts(1))
  })
)

it.effect("without nodes desires nothing and reports that", () =>
  Effect.gen(function* () {
    yield* Harness.start
    yield* running()
    assert.deepStrictEqual((yield* Harness.status)?.observedGeneration, 1)
    assert.deepStrictEqual(yield* Harness.pods, [])
  }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
)
