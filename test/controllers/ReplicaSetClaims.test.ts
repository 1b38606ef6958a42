/** Adoption and release as the server sees them, and what is left alone. Rows of the contract's parts A.1 and C.2. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import * as Stand from "./shared/workload/harness.ts"

const verbs = ["get", "create", "patch", "delete"]

for (const kind of Stand.kinds) {
  const plural = kind.name === "ReplicaSet" ? "replicasets.apps" : "replicationcontrollers"

  describe(`${kind.name}: claims`, () => {
    it.effect("adopts orphans that match, after one look at the owner, by a patch that names each by uid", () =>
      Stand.world(
        kind,
        Effect.gen(function* () {
          const [a, b] = yield* Stand.apply(
            Stand.pod("a"),
            Stand.pod("b"),
            Stand.pod("c", { labels: { app: "other" } })
          )
          const calls = yield* Stand.recording()
          const [owner] = yield* Stand.apply(Stand.owner(kind))
          const own = calls.filter(({ context }) => verbs.includes(context.verb)).slice(1)
          assert.deepStrictEqual(own.map(Stand.line), [
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
                  ownerReferences: [Stand.reference(kind, owner ?? assert.fail())]
                }
              }
            }))
          )
          assert.strictEqual((yield* Stand.pods).length, 4)
          assert.isUndefined((yield* Stand.get(Pod, "c")).metadata.ownerReferences)
          assert.deepInclude(yield* Stand.statusOf(kind), { replicas: 3 })
        })
      )
    )

    it.effect(
      "releases a pod whose labels no longer match, keeps its other owners, and makes another in its place",
      () =>
        Stand.world(
          kind,
          Effect.gen(function* () {
            const [owner] = yield* Stand.apply(Stand.owner(kind))
            const [name] = yield* Stand.podNames
            const bystander = { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "uid-x" }
            const { metadata } = yield* Stand.get(Pod, String(name))
            yield* Stand.patch(Pod, String(name), {
              metadata: { ownerReferences: [...(metadata.ownerReferences ?? []), bystander] }
            })
            const calls = yield* Stand.recording()
            yield* Stand.patch(Pod, String(name), { metadata: { labels: { app: "spare" } } })
            yield* Stand.settle
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
            assert.deepStrictEqual((yield* Stand.get(Pod, String(name))).metadata.ownerReferences, [bystander])
            assert.strictEqual((yield* Stand.pods).length, 4)
            assert.deepInclude(yield* Stand.statusOf(kind), { replicas: 3 })
          })
        )
    )

    it.effect("adopts an orphan whose labels come to match, and deletes what is then too much", () =>
      Stand.world(
        kind,
        Effect.gen(function* () {
          yield* Stand.apply(Stand.owner(kind), Stand.pod("a", { labels: { app: "other" } }))
          assert.strictEqual((yield* Stand.pods).length, 4)
          yield* Stand.patch(Pod, "a", { metadata: { labels: Stand.labels } })
          yield* Stand.settle
          assert.strictEqual((yield* Stand.pods).length, 3)
        })
      )
    )

    it.effect("leaves alone what belongs to another, has ended, is on its way out, or is in another namespace", () =>
      Stand.world(
        kind,
        Effect.gen(function* () {
          const other = { apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "uid-d", controller: true }
          yield* Stand.apply(
            { apiVersion: "v1", kind: "Namespace", metadata: { name: "elsewhere" } },
            Stand.pod("foreign", { ownerReferences: [other] }),
            Stand.pod("ended"),
            Stand.pod("leaving", { finalizers: ["example.com/f"] }),
            Stand.pod("far", { namespace: "elsewhere" })
          )
          yield* Stand.phase("ended", "Succeeded")
          yield* Stand.remove(Pod, "leaving")
          const calls = yield* Stand.recording()
          yield* Stand.apply(Stand.owner(kind))
          assert.deepStrictEqual(
            calls.map(Stand.line).filter((line) => line.includes("patch pods")),
            []
          )
          assert.strictEqual(calls.filter(({ context }) => context.verb === "create").length, 3)
          assert.deepInclude(yield* Stand.statusOf(kind), { replicas: 3 })
        })
      )
    )

    it.effect("adopts nothing for an owner that the server says is gone, and makes nothing either", () =>
      Stand.world(
        kind,
        Effect.gen(function* () {
          yield* Stand.apply(Stand.pod("a"), Stand.pod("b"))
          const calls = yield* Stand.recording([
            { match: { verb: "get", resource: plural }, fault: { _tag: "Status", code: 404 }, times: 1 }
          ])
          yield* Stand.apply(Stand.owner(kind))
          const own = () =>
            calls
              .filter(({ context }) => verbs.includes(context.verb))
              .slice(1)
              .map(Stand.line)
          assert.deepStrictEqual(own(), [`get ${plural} web`])
          yield* Stand.advance("5 millis")
          assert.deepStrictEqual(own().slice(1), [`get ${plural} web`, "patch pods a", "patch pods b", "create pods"])
        })
      )
    )

    it.effect("neither makes nor adopts for an owner that is being deleted, and still counts", () =>
      Stand.world(
        kind,
        Effect.gen(function* () {
          yield* Stand.apply(Stand.owner(kind, {}, { finalizers: ["example.com/f"] }))
          const [first] = yield* Stand.podNames
          yield* Stand.remove(kind.resource, "web", { propagationPolicy: "Orphan" })
          yield* Stand.remove(Pod, String(first))
          yield* Stand.apply(Stand.pod("a"))
          assert.deepInclude(yield* Stand.statusOf(kind), { replicas: 2 })
          assert.strictEqual((yield* Stand.pods).length, 3)
          assert.isUndefined((yield* Stand.get(Pod, "a")).metadata.ownerReferences)
        })
      )
    )

    it.effect("a namesake of a deleted owner starts clean, and has its own pods only", () =>
      Stand.world(
        kind,
        Effect.gen(function* () {
          yield* Stand.apply(Stand.owner(kind, { replicas: 2 }))
          const before = yield* Stand.podNames
          yield* Stand.remove(kind.resource, "web", { propagationPolicy: "Background" })
          yield* Stand.apply(Stand.owner(kind, { replicas: 1 }))
          const after = yield* Stand.podNames
          assert.includeMembers(after, before)
          assert.strictEqual(after.length, 3)
          assert.deepInclude(yield* Stand.statusOf(kind), { replicas: 1 })
        })
      )
    )

    it.effect("a restart makes nothing twice", () =>
      Stand.world(
        kind,
        Effect.gen(function* () {
          yield* Stand.apply(Stand.owner(kind))
          const before = yield* Stand.podNames
          const second = yield* Stand.start(kind)
          yield* second.stop()
          yield* Stand.start(kind)
          yield* Stand.advance("1 minute")
          assert.deepStrictEqual(yield* Stand.podNames, before)
          const revision = yield* (yield* ApiServer).revision
          yield* Stand.advance("10 minutes")
          assert.strictEqual(yield* (yield* ApiServer).revision, revision)
        })
      )
    )
  })
}
