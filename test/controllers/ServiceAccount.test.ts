import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as ServiceAccounts from "../../src/controllers/ServiceAccount.ts"
import { Namespace, Pod, ServiceAccount } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import * as Faults from "../../src/apiserver/faults.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { pod } from "../conformance/Case.ts"

const controller = ServiceAccounts.make()

/** `namespace/name` of every account. */
const accounts = Effect.flatMap(ClusterTest, (cluster) =>
  Effect.map(cluster.snapshot(ServiceAccount), (all) =>
    all.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
  )
)

const remove = (namespace: string, name = "default") =>
  Effect.flatMap(KubeClient, (client) => client.delete(ServiceAccount, { namespace, name }))

const standard = ["default", "kube-node-lease", "kube-public", "kube-system"].map((name) => `${name}/default`)

/** Counts creates of accounts without a fault. */
const counting = (count: { creations: number }): Faults.Rule => ({
  match: ({ context, method }) => {
    if (method === "POST" && context.resource === "serviceaccounts") count.creations++
    return false
  },
  fault: { _tag: "Drop" }
})

describe("serviceaccount", () => {
  it.effect("creates the account in every existing and every new namespace", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(controller)
      yield* cluster.settle
      assert.deepStrictEqual(yield* accounts, standard)
      yield* (yield* KubeClient).create(Namespace, { metadata: { name: "app" } })
      yield* cluster.settle
      assert.deepStrictEqual(yield* accounts, ["app/default", ...standard])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("recreates a deleted account, and ignores other accounts", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* client.create(ServiceAccount, { metadata: { namespace: "default", name: "other" } })
      yield* cluster.run(controller)
      yield* cluster.settle
      const [before] = yield* cluster.snapshot(ServiceAccount)
      yield* remove("default")
      yield* remove("default", "other")
      yield* cluster.settle
      const [after] = yield* cluster.snapshot(ServiceAccount)
      assert.deepStrictEqual(yield* accounts, standard)
      assert.notStrictEqual(after?.metadata.uid, before?.metadata.uid)
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("creates nothing in a terminating namespace", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* client.create(Namespace, { metadata: { name: "app" } })
      yield* cluster.run(controller)
      yield* cluster.settle
      const count = { creations: 0 }
      yield* (yield* ApiServer).setFaults([counting(count)])
      yield* client.delete(Namespace, { name: "app" })
      yield* cluster.settle
      yield* remove("app")
      yield* cluster.advance("1 hour")
      assert.deepStrictEqual([yield* accounts, count.creations], [standard, 0])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("does not retry when the namespace is terminating or the account exists", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* client.create(Namespace, { metadata: { name: "app" } })
      const count = { creations: 0 }
      // The watch delivers the five existing namespaces and the end of the initial list, and then no more events.
      yield* (yield* ApiServer).setFaults([
        {
          match: Faults.on({ verb: "watch", resource: "namespaces" }),
          fault: { _tag: "CutWatch", after: 6, how: "silence" }
        },
        counting(count)
      ])
      yield* cluster.run(controller)
      yield* cluster.settle
      assert.strictEqual(count.creations, 5)
      yield* client.delete(Namespace, { name: "app" })
      yield* remove("app")
      yield* cluster.settle
      yield* cluster.advance("30 seconds")
      assert.deepStrictEqual([yield* accounts, count.creations], [standard, 6])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("retries after a failure, without delaying other namespaces", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* (yield* ApiServer).setFaults([
        {
          match: Faults.on({ verb: "create", path: "/api/v1/namespaces/default/serviceaccounts" }),
          fault: { _tag: "Status", code: 403 },
          times: 3
        }
      ])
      yield* cluster.run(controller)
      yield* cluster.settle
      assert.deepStrictEqual(yield* accounts, standard.slice(1))
      // 5 + 10 + 20 ms
      yield* cluster.advance("34 millis")
      assert.deepStrictEqual(yield* accounts, standard.slice(1))
      yield* cluster.advance("1 millis")
      assert.deepStrictEqual(yield* accounts, standard)
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("recreates an account that was deleted while the watch was broken", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const server = yield* ApiServer
      yield* cluster.run(controller)
      yield* cluster.settle
      yield* server.setFaults([{ match: Faults.on({ verb: "watch" }), fault: { _tag: "Drop" } }])
      yield* server.setUnavailable(true)
      yield* server.setUnavailable(false)
      yield* cluster.advance("1 second")
      yield* remove("kube-system")
      yield* server.compact()
      yield* cluster.advance("1 second")
      assert.notInclude(yield* accounts, "kube-system/default")
      yield* server.setFaults([])
      yield* cluster.eventually(Effect.map(accounts, (all) => assert.deepStrictEqual(all, standard)))
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("writes nothing while nothing changes", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const server = yield* ApiServer
      yield* cluster.run(controller)
      yield* cluster.settle
      const before = yield* server.revision
      yield* cluster.advance("1 day")
      assert.strictEqual(yield* server.revision, before)
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("with admission on, a pod in a new namespace waits for its account and gets it", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* cluster.run(controller)
      yield* client.create(Namespace, { metadata: { name: "app" } })
      const creating = yield* Effect.forkChild(client.create(Pod, pod("a"), { namespace: "app" }), {
        startImmediately: true
      })
      yield* cluster.advance("200 millis")
      assert.strictEqual((yield* Fiber.join(creating)).spec?.serviceAccountName, "default")
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ admission: { serviceAccount: true } })))
  )
})
