import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Deps } from "../../../src/controllers/deployment/deps.ts"
import * as Sync from "../../../src/controllers/deployment/sync.ts"
import * as Indexes from "../../../src/controllers/shared/workload/indexes.ts"
import * as StatusWriter from "../../../src/controllers/shared/workload/statusWriter.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import { Deployment, type Pod, type ReplicaSet } from "../../../src/kube/resources.ts"
import * as Store from "../../../src/streams/store/Store.ts"
import { deployment, replicaSet } from "./objects.ts"

const refusal = (code: number, reason: string) =>
  ApiError.fromStatus({
    context: { verb: "any", path: "/any" },
    status: code,
    body: { kind: "Status", code, reason, message: reason }
  })

const podStore = () => {
  const store = Store.make<Pod>()
  for (const { name, of } of Indexes.both) store.addIndex(name, of)
  return store
}

/** Dependencies that return their argument and record the call; a test may replace some. */
const noting = (others: Partial<Deps> = {}) => {
  const log: Array<string> = []
  const echo =
    (what: string) =>
    <A extends { readonly metadata: object }>(object: A) =>
      Effect.sync(() => (log.push(what), object))
  const made = (draft: Parameters<Deps["createSet"]>[0]): ReplicaSet => ({
    ...draft,
    metadata: { ...draft.metadata, name: draft.metadata.name ?? "" },
    status: { replicas: 0 }
  })
  const deps: Deps = {
    updateStatus: (deployment) =>
      Effect.sync(() => {
        const { conditions = [], ...counts } = deployment.status ?? {}
        log.push(`status ${JSON.stringify(counts)} ${conditions.map(({ reason }) => reason).join(" ")}`.trim())
        return deployment
      }),
    update: echo("update"),
    createSet: (draft) => Effect.map(echo("create")(draft), made),
    updateSet: echo("update set"),
    removeSet: echo("remove set"),
    liveSet: () => Effect.die("there is no such set"),
    events: { event: (_, type, reason) => Effect.sync(() => void log.push(`${type} ${reason}`)) },
    deployments: Store.make(),
    sets: Store.make(),
    pods: podStore(),
    live: () => Effect.die("no Deployment is read from the server"),
    patchSet: () => Effect.die("no set is patched"),
    queue: { addWithUnsafe: () => undefined },
    ...others
  }
  return { log, deps }
}

const judged = { progressDeadlineSeconds: 600 }

const sync = (deps: Deps, given: Deployment, owned: ReadonlyArray<ReplicaSet> = [], field = StatusWriter.keptField()) =>
  Sync.run(deps, field, { deployment: given, owned })

describe("a sync", () => {
  it.effect("of a selector for every pod records a warning, and writes the observed generation once", () =>
    Effect.gen(function* () {
      const { log, deps } = noting()
      const everything = deployment({ spec: { selector: {} }, status: { replicas: 2 } })
      yield* Sync.refuse(deps, everything)
      assert.deepStrictEqual(log, ["Warning SelectingAll", 'status {"replicas":2,"observedGeneration":1}'])
      log.length = 0
      yield* Sync.refuse(deps, { ...everything, status: { observedGeneration: 1 } })
      assert.deepStrictEqual(log, ["Warning SelectingAll"])
    })
  )

  it.effect("of an unknown strategy fails, and updates only the annotations of its set", () =>
    Effect.gen(function* () {
      const { log, deps } = noting()
      const error = yield* Effect.flip(sync(deps, deployment({ strategy: "BlueGreen" })))
      assert.strictEqual(error.message, "unexpected deployment strategy type: BlueGreen")
      assert.deepStrictEqual(log, [])
    })
  )

  it.effect("writes terminatingReplicas once to a server that drops it", () =>
    Effect.gen(function* () {
      let stored = deployment({ spec: { paused: true } })
      let writes = 0
      const { deps } = noting({
        updateStatus: (object) =>
          Effect.sync(() => {
            const { terminatingReplicas: _, ...status } = object.status ?? {}
            writes++
            return (stored = { ...object, status })
          })
      })
      const field = StatusWriter.keptField()
      for (let i = 0; i < 3; i++) yield* sync(deps, stored, [], field)
      const { terminatingReplicas } = stored.status ?? {}
      assert.deepStrictEqual([terminatingReplicas, writes], [undefined, 1])
    })
  )

  it.effect("that finds its own set under the name uses it: a revision, no condition, no event", () =>
    Effect.gen(function* () {
      const given = deployment({ spec: judged, annotations: {} })
      const own = replicaSet({
        name: "web-x",
        image: "web:1",
        size: 3,
        revision: "1",
        metadata: { name: "web-x", uid: "x", ownerReferences: [Owner.reference(Deployment, given)] }
      })
      const { log, deps } = noting({
        createSet: () => Effect.fail(refusal(409, "AlreadyExists")),
        liveSet: () => Effect.succeed(own)
      })
      yield* sync(deps, given)
      const counts = '{"observedGeneration":1,"replicas":3,"updatedReplicas":3,"unavailableReplicas":3}'
      assert.deepStrictEqual(log, ["status {}", `status ${counts} MinimumReplicasUnavailable ReplicaSetUpdated`])
    })
  )

  it.effect("counts a collision and fails with the server's error", () =>
    Effect.gen(function* () {
      const { log, deps } = noting({
        createSet: () => Effect.fail(refusal(409, "AlreadyExists")),
        liveSet: () => Effect.succeed(replicaSet({ name: "web-x", image: "web:1" }))
      })
      const error = yield* Effect.flip(sync(deps, deployment({ status: { collisionCount: 2 } })))
      assert.strictEqual(error._tag === "ApiError" ? error.reason._tag : "", "AlreadyExists")
      assert.deepStrictEqual(log, ['status {"collisionCount":3}'])
    })
  )

  it.effect("records a failed creation even if the status cannot be written", () =>
    Effect.gen(function* () {
      const { log, deps } = noting({
        createSet: () => Effect.fail(refusal(403, "Forbidden")),
        updateStatus: () => Effect.fail(refusal(409, "Conflict"))
      })
      const error = yield* Effect.flip(sync(deps, deployment({ spec: judged })))
      assert.strictEqual(error._tag === "ApiError" ? error.reason._tag : "", "Forbidden")
      assert.deepStrictEqual(log, ["Warning ReplicaSetCreateError"])
    })
  )

  it.effect("records the event of a rollback after the write, and that of an impossible one before", () =>
    Effect.gen(function* () {
      const asking = (revision: string) =>
        deployment({ annotations: { "deprecated.deployment.rollback.to": revision } })
      const owned = [
        replicaSet({ name: "old", revision: "1", image: "web:0", created: 1 }),
        replicaSet({ name: "new", revision: "2", image: "web:1", created: 2 })
      ]
      const fine = noting()
      yield* sync(fine.deps, asking("1"), owned)
      assert.deepStrictEqual(fine.log.slice(-2), ["update", "Normal DeploymentRollback"])
      const broken = noting({ update: () => Effect.fail(refusal(409, "Conflict")) })
      yield* Effect.flip(sync(broken.deps, asking("1"), owned))
      assert.notInclude(broken.log, "Normal DeploymentRollback")
      yield* Effect.flip(sync(broken.deps, asking("7"), owned))
      assert.include(broken.log, "Warning DeploymentRollbackRevisionNotFound")
    })
  )

  it.effect("that writes what the server does not store checks again at the deadline", () =>
    Effect.gen(function* () {
      const conditions = [
        { type: "Progressing", status: "True", reason: "ReplicaSetUpdated", lastUpdateTime: "1970-01-01T00:00:00Z" }
      ]
      const given = deployment({ spec: judged, status: { conditions } })
      const stored = { ...given, metadata: { ...given.metadata, resourceVersion: "7" } }
      const set = replicaSet({ image: "web:1", size: 3, replicas: 0, revision: "1", status: { observedGeneration: 0 } })
      const deaf = noting({ updateStatus: () => Effect.succeed(stored) })
      assert.deepStrictEqual(yield* sync(deaf.deps, stored, [set]), { _tag: "After", millis: 601_000 })
      const changed = { ...stored, metadata: { ...stored.metadata, resourceVersion: "8" } }
      const keen = noting({ updateStatus: () => Effect.succeed(changed) })
      assert.isUndefined(
        yield* sync(
          keen.deps,
          { ...stored, metadata: { ...stored.metadata, annotations: { "deployment.kubernetes.io/revision": "1" } } },
          [set]
        )
      )
    })
  )

  it.effect("continues after a surplus set is already deleted, and stops at any other failure", () =>
    Effect.gen(function* () {
      const complete = deployment({
        replicas: 1,
        annotations: { "deployment.kubernetes.io/revision": "2" },
        spec: { revisionHistoryLimit: 0 },
        status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 }
      })
      const owned = [
        replicaSet({ name: "old", revision: "1", image: "web:0", created: 1 }),
        replicaSet({ name: "new", revision: "2", image: "web:1", created: 2, size: 1, available: 1 })
      ]
      const gone = noting({ removeSet: () => Effect.fail(refusal(404, "NotFound")) })
      yield* sync(gone.deps, complete, owned)
      assert.lengthOf(gone.log, 1)
      const broken = noting({ removeSet: () => Effect.fail(refusal(500, "InternalError")) })
      yield* Effect.flip(sync(broken.deps, complete, owned))
      assert.deepStrictEqual(broken.log, [])
    })
  )
})
