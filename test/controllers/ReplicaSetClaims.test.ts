/** Adoption and release of pods, in requests to the API server. Source: pkg/controller: PodControllerRefManager. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import * as Harness from "./shared/workload/harness.ts"

const verbs = ["get", "create", "patch", "delete"]

for (const kind of Harness.kinds) {
  const plural = kind.name === "ReplicaSet" ? "replicasets.apps" : "replicationcontrollers"

  describe(`${kind.name}: claims`, () => {
    it.effect("adopts matching orphans after one live read of the owner, by a patch with each uid", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          const [a, b] = yield* Harness.apply(
            Harness.pod("a"),
            Harness.pod("b"),
            Harness.pod("c", { labels: { app: "other" } })
          )
          const calls = yield* Harness.recording()
          const [owner] = yield* Harness.apply(Harness.owner(kind))
          const own = calls.filter(({ context }) => verbs.includes(context.verb)).slice(1)
          assert.deepStrictEqual(own.map(Harness.line), [
            `get ${plural} web`,
            "patch pods a",
            "patch pods b",
            "create pods"
          ])
          assert.deepStrictEqual(
            own.slice(1, 3).map(({ body, contentType }) => ({ body, contentType })),
            [a, b].map((pod) => ({
              contentType: "application/strategic-merge-patch+json",
              body: {
                metadata: {
                  uid: pod?.metadata.uid,
                  ownerReferences: [Harness.reference(kind, owner ?? assert.fail())]
                }
              }
            }))
          )
          assert.strictEqual((yield* Harness.pods).length, 4)
          assert.isUndefined((yield* Harness.get(Pod, "c")).metadata.ownerReferences)
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 3 })
        })
      )
    )

    it.effect("releases a pod whose labels no longer match, keeps its other owners, and creates a replacement", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          const [owner] = yield* Harness.apply(Harness.owner(kind))
          const [name] = yield* Harness.podNames
          const bystander = { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "uid-x" }
          const { metadata } = yield* Harness.get(Pod, String(name))
          yield* Harness.patch(Pod, String(name), {
            metadata: { ownerReferences: [...(metadata.ownerReferences ?? []), bystander] }
          })
          const calls = yield* Harness.recording()
          yield* Harness.patch(Pod, String(name), { metadata: { labels: { app: "spare" } } })
          yield* Harness.settle
          const patches = calls.filter(({ context }) => context.verb === "patch").slice(1)
          assert.deepStrictEqual(
            patches.map(({ body }) => body),
            [
              {
                metadata: {
                  uid: metadata.uid,
                  ownerReferences: [{ $patch: "delete", uid: owner?.metadata.uid }]
                }
              }
            ]
          )
          assert.deepStrictEqual((yield* Harness.get(Pod, String(name))).metadata.ownerReferences, [bystander])
          assert.strictEqual((yield* Harness.pods).length, 4)
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 3 })
        })
      )
    )

    it.effect("adopts an orphan whose labels change to match, and deletes the surplus", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.apply(Harness.owner(kind), Harness.pod("a", { labels: { app: "other" } }))
          assert.strictEqual((yield* Harness.pods).length, 4)
          yield* Harness.patch(Pod, "a", { metadata: { labels: Harness.labels } })
          yield* Harness.settle
          assert.strictEqual((yield* Harness.pods).length, 3)
        })
      )
    )

    it.effect("does not adopt pods of other owners, terminated or terminating pods, or pods of other namespaces", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          const other = { apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "uid-d", controller: true }
          yield* Harness.apply(
            { apiVersion: "v1", kind: "Namespace", metadata: { name: "elsewhere" } },
            Harness.pod("foreign", { ownerReferences: [other] }),
            Harness.pod("ended"),
            Harness.pod("leaving", { finalizers: ["example.com/f"] }),
            Harness.pod("far", { namespace: "elsewhere" })
          )
          yield* Harness.phase("ended", "Succeeded")
          yield* Harness.remove(Pod, "leaving")
          const calls = yield* Harness.recording()
          yield* Harness.apply(Harness.owner(kind))
          assert.deepStrictEqual(
            calls.map(Harness.line).filter((line) => line.includes("patch pods")),
            []
          )
          assert.strictEqual(calls.filter(({ context }) => context.verb === "create").length, 3)
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 3 })
        })
      )
    )

    it.effect("adopts and creates nothing for an owner that is gone on the server", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.apply(Harness.pod("a"), Harness.pod("b"))
          const calls = yield* Harness.recording([
            { match: { verb: "get", resource: plural }, fault: { _tag: "Status", code: 404 }, times: 1 }
          ])
          yield* Harness.apply(Harness.owner(kind))
          const own = () =>
            calls
              .filter(({ context }) => verbs.includes(context.verb))
              .slice(1)
              .map(Harness.line)
          assert.deepStrictEqual(own(), [`get ${plural} web`])
          yield* Harness.advance("5 millis")
          assert.deepStrictEqual(own().slice(1), [`get ${plural} web`, "patch pods a", "patch pods b", "create pods"])
        })
      )
    )

    it.effect("neither creates nor adopts for an owner that is being deleted, and still writes its status", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.apply(Harness.owner(kind, {}, { finalizers: ["example.com/f"] }))
          const [first] = yield* Harness.podNames
          yield* Harness.remove(kind.resource, "web", { propagationPolicy: "Orphan" })
          yield* Harness.remove(Pod, String(first))
          yield* Harness.apply(Harness.pod("a"))
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 2 })
          assert.strictEqual((yield* Harness.pods).length, 3)
          assert.isUndefined((yield* Harness.get(Pod, "a")).metadata.ownerReferences)
        })
      )
    )

    it.effect("a new owner with the name of a deleted one has neither its expectations nor its pods", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.apply(Harness.owner(kind, { replicas: 2 }))
          const before = yield* Harness.podNames
          yield* Harness.remove(kind.resource, "web", { propagationPolicy: "Background" })
          yield* Harness.apply(Harness.owner(kind, { replicas: 1 }))
          const after = yield* Harness.podNames
          assert.includeMembers(after, before)
          assert.strictEqual(after.length, 3)
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 1 })
        })
      )
    )

    it.effect("a restart creates no pod twice", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.apply(Harness.owner(kind))
          const before = yield* Harness.podNames
          const second = yield* Harness.start(kind)
          yield* second.stop()
          yield* Harness.start(kind)
          yield* Harness.advance("1 minute")
          assert.deepStrictEqual(yield* Harness.podNames, before)
          const revision = yield* (yield* ApiServer).revision
          yield* Harness.advance("10 minutes")
          assert.strictEqual(yield* (yield* ApiServer).revision, revision)
        })
      )
    )
  })
}
