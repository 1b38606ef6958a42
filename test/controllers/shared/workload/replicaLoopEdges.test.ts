/** Single syncs of the replica loop against stubs: objects that no server stores, and events between two calls. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Indexes from "../../../../src/controllers/shared/workload/indexes.ts"
import * as ReplicaLoop from "../../../../src/controllers/shared/workload/replicaLoop.ts"
import * as Selectors from "../../../../src/controllers/shared/workload/selectors.ts"
import * as ApiError from "../../../../src/kube/ApiError.ts"
import type { KubeObject } from "../../../../src/kube/Meta.ts"
import * as Owner from "../../../../src/kube/Owner.ts"
import { type Pod, ReplicaSet } from "../../../../src/kube/resources.ts"
import * as Reconcile from "../../../../src/streams/reconcile/Reconcile.ts"
import * as Store from "../../../../src/streams/store/Store.ts"

const labels = { app: "web" }

const owner = (change: Partial<ReplicaSet> = {}, uid = "u1"): ReplicaSet => ({
  metadata: { name: "web", namespace: "ns", uid, generation: 1 },
  spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels } } },
  ...change
})

const pod = (name: string, ...owners: ReadonlyArray<KubeObject>): Pod => ({
  metadata: {
    name,
    namespace: "ns",
    uid: name,
    labels,
    ownerReferences: owners.map((one) => Owner.reference(ReplicaSet, one))
  }
})

const failure = (message: string) =>
  ApiError.fromStatus({ context: { verb: "update", path: "/" }, status: 409, body: message })

const storeOf = <A extends KubeObject>(...objects: ReadonlyArray<A>): Store.Store<A> => {
  const store = Store.make<A>()
  for (const index of Indexes.both) store.addIndex(index.name, index.of)
  store.apply({ _tag: "Restarted" })
  store.apply({ _tag: "Listed", objects })
  store.apply({ _tag: "Synced", resourceVersion: "1" })
  return store
}

/** A loop over these objects, and its calls as lines. */
const harness = (
  owners: ReadonlyArray<ReplicaSet>,
  pods: ReadonlyArray<Pod>,
  change: Partial<ReplicaLoop.Deps<ReplicaSet>> = {}
) => {
  const done: Array<string> = []
  const say = (line: string) => Effect.sync(() => void done.push(line))
  const deps: ReplicaLoop.Deps<ReplicaSet> = {
    owners: storeOf(...owners),
    pods: storeOf(...pods),
    live: (object) => Effect.as(say("live"), object),
    updateStatus: (object) => Effect.as(say(`status ${object.metadata.uid} ${object.status?.replicas}`), object),
    create: () => Effect.as(say("create"), pod("new")),
    remove: ({ metadata }) => say(`delete ${metadata.name}`),
    patch: (object) => Effect.as(say(`patch ${object.metadata.name}`), object),
    events: { event: () => Effect.void, normal: () => Effect.void, warning: () => Effect.void },
    queue: { addWithUnsafe: (key, { after }) => void done.push(`again ${key} in ${JSON.stringify(after)}`) },
    ...change
  }
  const kind: ReplicaLoop.Kind<ReplicaSet> = {
    resource: ReplicaSet,
    selector: ({ spec }) => Selectors.usable(spec?.selector),
    countsTerminating: true
  }
  return { loop: ReplicaLoop.make(kind, deps), done }
}

const key = "ns/web"

describe("a single sync of the replica loop", () => {
  it.effect("does nothing for an owner whose selector selects nothing or everything", () =>
    Effect.gen(function* () {
      for (const matchLabels of [undefined, {}]) {
        const broken = owner({ spec: { selector: matchLabels === undefined ? {} : { matchLabels } } })
        const { done, loop } = harness([broken], [pod("a")])
        yield* loop.sync({ key })
        assert.deepStrictEqual(done, [])
      }
    })
  )

  it.effect("does nothing for an owner that does not exist", () =>
    Effect.gen(function* () {
      const { done, loop } = harness([], [])
      yield* loop.sync({ key })
      assert.deepStrictEqual(done, [])
    })
  )

  it.effect("treats a pod with two controllers, which no server stores, as owned by the first", () =>
    Effect.gen(function* () {
      const other = owner({}, "u2")
      const first = harness([owner()], [pod("a", owner(), other)])
      yield* first.loop.sync({ key })
      assert.deepStrictEqual(first.done, ["status u1 1"])
      const second = harness([owner()], [pod("a", other, owner())])
      yield* second.loop.sync({ key })
      assert.deepStrictEqual(second.done, ["create", "status u1 0"])
      const delta = { _tag: "Deleted", object: pod("a", other, owner()), stateUnknown: false } as const
      assert.deepStrictEqual([first.loop.onPod(delta), second.loop.onPod(delta)], [[], []])
    })
  )

  it.effect("does not write the status of a new owner with the same name", () =>
    Effect.gen(function* () {
      const error = failure("too late")
      const { done, loop } = harness([owner()], [pod("a", owner())], {
        updateStatus: () => Effect.fail(error),
        live: () => Effect.succeed(owner({}, "u2"))
      })
      assert.strictEqual(yield* Effect.flip(loop.sync({ key })), error)
      assert.deepStrictEqual(done, [])
    })
  )

  /** Written by a controller manager that does not count terminating pods. */
  const uncounted = {
    replicas: 1,
    fullyLabeledReplicas: 1,
    observedGeneration: 1
  }

  it.effect("writes terminatingReplicas 0 where the status has none", () =>
    Effect.gen(function* () {
      const taken = owner({ status: uncounted })
      const { done, loop } = harness([taken], [pod("a", taken)])
      yield* loop.sync({ key })
      assert.deepStrictEqual(done, ["status u1 1"])
      const written = owner({ status: { ...uncounted, terminatingReplicas: 0 } })
      const next = harness([written], [pod("a", written)])
      yield* next.loop.sync({ key })
      assert.deepStrictEqual(next.done, [])
    })
  )

  it.effect("writes terminatingReplicas once to a server that drops it, and again when the server keeps it", () =>
    Effect.gen(function* () {
      const taken = owner({ status: uncounted })
      const owners = storeOf(taken)
      const answers: Array<object> = [uncounted, uncounted, { ...uncounted, terminatingReplicas: 0 }]
      let writes = 0
      const { loop } = harness([], [pod("a", taken)], {
        owners,
        updateStatus: (object) => Effect.sync(() => ({ ...object, status: answers[writes++] as never }))
      })
      const show = (object: ReplicaSet) =>
        owners.apply({ _tag: "Changed", events: [{ type: "MODIFIED", object }], resourceVersion: "2" })
      yield* loop.sync({ key })
      yield* loop.sync({ key })
      assert.strictEqual(writes, 1)
      show(owner({ status: { ...uncounted, replicas: 2 } }))
      yield* loop.sync({ key })
      show(taken)
      yield* loop.sync({ key })
      assert.strictEqual(writes, 2)
      show(owner({ status: { ...uncounted, replicas: 2 } }))
      yield* loop.sync({ key })
      show(taken)
      yield* loop.sync({ key })
      assert.strictEqual(writes, 4)
    })
  )

  it.effect("writes the status although pods could not be created, and then fails", () =>
    Effect.gen(function* () {
      const { done, loop } = harness([owner()], [], { create: () => Effect.fail(failure("no room")) })
      const error = yield* Effect.flip(loop.sync({ key }))
      assert.strictEqual(error.message, "HTTP status 409: no room")
      assert.deepStrictEqual(done, ["status u1 0"])
    })
  )

  it.effect("syncs again when expectations expire, without an event", () =>
    Effect.gen(function* () {
      const { done, loop } = harness([owner()], [])
      assert.deepStrictEqual(yield* loop.sync({ key }), Reconcile.after("5 minutes"))
      assert.deepStrictEqual(yield* loop.sync({ key }), Reconcile.after("5 minutes"))
      assert.deepStrictEqual(done, ["create", "status u1 0", "status u1 0"])
    })
  )

  it("enqueues the owner minReadySeconds after a pod has become ready", () => {
    const slow = owner({ spec: { minReadySeconds: 7, selector: { matchLabels: labels } } })
    const { done, loop } = harness([slow], [])
    const before = pod("a", slow)
    const ready = { ...before, status: { conditions: [{ type: "Ready", status: "True" }] } }
    assert.deepStrictEqual(loop.onPod({ _tag: "Updated", previous: before, object: ready }), [key])
    assert.deepStrictEqual(done, [`again ${key} in 7000`])
    assert.deepStrictEqual(loop.onPod({ _tag: "Updated", previous: ready, object: { ...ready } }), [key])
    assert.strictEqual(done.length, 1)
  })

  it("a deleted owner leaves no expectations to a new one of its name", () =>
    Effect.runSync(
      Effect.gen(function* () {
        const { done, loop } = harness([owner()], [])
        yield* loop.sync({ key })
        assert.deepStrictEqual(loop.onOwner({ _tag: "Deleted", object: owner(), stateUnknown: false }), [key])
        yield* loop.sync({ key })
        assert.strictEqual(done.filter((line) => line === "create").length, 2)
      })
    ))
})
