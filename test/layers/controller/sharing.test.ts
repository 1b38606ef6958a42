/** Controllers share informers: a kind has one watch for all of them, and reads with the client are requests. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Access from "../../../src/kube/Access.ts"
import { ConfigMap, Pod, Secret } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { isWatch } from "../../../src/apiserver/faults.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Leadership } from "../../../src/layers/Leadership.ts"
import * as Manager from "../../../src/manager/Manager.ts"
import * as Cluster from "../../support/cluster.ts"

const alone = Layer.merge(Cluster.layer, Leadership.layerAlways)

/** The requests from now on, `watch pods`. */
const requestsFromNow = Effect.gen(function* () {
  const lines: Array<string> = []
  yield* (yield* ApiServer).setFaults([
    {
      match: (request) => {
        lines.push(`${isWatch(request) ? "watch" : request.context.verb} ${request.context.resource}`)
        return false
      },
      fault: { _tag: "Drop" }
    }
  ])
  return lines
})

const createPod = Effect.flatMap(KubeClient, (client) =>
  client.create(Pod, {
    metadata: { name: "a", namespace: "default" },
    spec: { containers: [{ name: "main", image: "web:1" }] }
  })
)

describe("controllers of one manager", () => {
  it.effect("three controllers of pods share one watch, and each receives every pod once", () =>
    Effect.gen(function* () {
      yield* createPod
      const lines = yield* requestsFromNow
      const seen: Array<string> = []
      const controllers = ["one", "two", "three"].map((name) =>
        Controller.make({ name, for: Pod, reconcile: ({ key }) => Effect.sync(() => void seen.push(`${name} ${key}`)) })
      )
      const fiber = yield* Effect.forkChild(Manager.run({ controllers }))
      yield* Cluster.settle
      const ofPods = lines.filter((line) => line.endsWith(" pods"))
      assert.lengthOf(
        ofPods.filter((line) => line === "watch pods"),
        1
      )
      // With a streaming list the watch is also the list.
      assert.isAtMost(ofPods.length, 2)
      assert.deepStrictEqual(
        (yield* (yield* Cache).status).map(({ resource }) => resource),
        ["pods"]
      )
      assert.sameMembers(seen, ["one default/a", "two default/a", "three default/a"])
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(alone))
  )

  it.effect("a kind that is read with the client costs a request for each read, and is not watched", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      yield* client.create(Secret, { metadata: { name: "s", namespace: "default" } })
      yield* client.create(ConfigMap, { metadata: { name: "a", namespace: "default" } })
      const lines = yield* requestsFromNow
      let found = 0
      const controller = Controller.make({
        name: "live",
        for: ConfigMap,
        access: [Access.get(Secret)],
        reconcile: (_, tools) =>
          Effect.map(tools.client.get(Secret, { namespace: "default", name: "s" }), () => void found++)
      })
      const fiber = yield* Effect.forkChild(Manager.run({ controllers: [controller] }))
      yield* Cluster.settle
      yield* client.create(ConfigMap, { metadata: { name: "b", namespace: "default" } })
      yield* Cluster.settle
      assert.strictEqual(found, 2)
      assert.deepStrictEqual(
        lines.filter((line) => line.endsWith(" secrets")),
        ["get secrets", "get secrets"]
      )
      assert.deepStrictEqual(
        (yield* (yield* Cache).status).map(({ resource }) => resource),
        ["configmaps"]
      )
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(alone))
  )
})
