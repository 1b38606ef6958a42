import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { TestClock } from "effect/testing"
import * as PodCount from "../../src/controllers/PodCount.ts"
import { Event, Node, Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { isWatch } from "../../src/apiserver/faults.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import { Transport } from "../../src/layers/Transport.ts"
import * as Cluster from "../support/cluster.ts"

const controller = PodCount.make({ schedule: Schedule.spaced("10 seconds") })

const createNode = (name: string, labels: Record<string, string>) =>
  Effect.flatMap(KubeClient, (client) => client.create(Node, { metadata: { name, labels } }))

const createPod = (name: string, namespace = "default") =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(Pod, {
      metadata: { name, namespace },
      spec: { containers: [{ name: "main", image: "web:1" }] }
    })
  )

const countOn = (name: string) =>
  Effect.flatMap(KubeClient, (client) =>
    Effect.map(client.get(Node, { name }), (node) => node.metadata.labels?.[PodCount.label])
  )

const eventsOf = (name: string) =>
  Effect.gen(function* () {
    yield* (yield* Recorder).drained
    const client = yield* KubeClient
    return (yield* client.list(Event, { fieldSelector: `involvedObject.name=${name}` })).items
  })

const controlPlane = createNode("control-plane", { "node-role.kubernetes.io/control-plane": "" })

describe("pod-count", () => {
  it.effect("writes the number of pods on the control-plane nodes, at once and within 10 s of a change", () =>
    Effect.gen(function* () {
      yield* controlPlane
      yield* createNode("old-master", { "node-role.kubernetes.io/master": "" })
      yield* createNode("worker", {})
      yield* createPod("a")
      yield* createPod("b", "kube-system")
      const { stop } = yield* Cluster.start(controller)
      assert.deepStrictEqual([yield* countOn("control-plane"), yield* countOn("old-master")], ["2", "2"])
      assert.isUndefined(yield* countOn("worker"))
      yield* createPod("c")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* countOn("control-plane"), "3")
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("records the event 'pod count is N' on each pod, counted up while N stays", () =>
    Effect.gen(function* () {
      yield* controlPlane
      const pod = yield* createPod("a")
      const { stop } = yield* Cluster.start(controller)
      yield* TestClock.adjust("20 seconds")
      const events = yield* eventsOf("a")
      assert.strictEqual(events.length, 1)
      const [event] = events
      assert.deepInclude(event, {
        type: "Normal",
        reason: "SuccessCalculatePod",
        message: "pod count is 1",
        count: 3,
        source: { component: "pod_controller" }
      })
      assert.strictEqual(event?.involvedObject.uid, pod.metadata.uid)
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("sends no read once synced, and no write while nothing changes", () =>
    Effect.gen(function* () {
      yield* controlPlane
      yield* createPod("a")
      const { stop } = yield* Cluster.start(controller)
      yield* (yield* Recorder).drained
      const server = yield* ApiServer
      const calls: Array<string> = []
      yield* server.setFaults([
        {
          match: (request) => {
            if (request.context.resource !== "events" && !isWatch(request)) calls.push(request.context.verb)
            return false
          },
          fault: { _tag: "Drop" }
        }
      ])
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(calls, [])
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("a failed write of one node affects neither other nodes nor events", () =>
    Effect.gen(function* () {
      yield* createNode("a-broken", { "node-role.kubernetes.io/control-plane": "" })
      yield* controlPlane
      yield* createPod("a")
      const server = yield* ApiServer
      yield* server.setFaults([
        {
          match: (request) => request.path === "/api/v1/nodes/a-broken",
          fault: { _tag: "Status", code: 403 },
          times: 1
        }
      ])
      const { stop } = yield* Cluster.start(controller)
      assert.strictEqual(yield* countOn("control-plane"), "1")
      assert.isUndefined(yield* countOn("a-broken"))
      assert.strictEqual((yield* eventsOf("a")).length, 1)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* countOn("a-broken"), "1")
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("a configured selector replaces the two role labels", () =>
    Effect.gen(function* () {
      yield* controlPlane
      yield* createNode("edge", { tier: "edge" })
      const { stop } = yield* Cluster.start(
        PodCount.make({
          schedule: Schedule.spaced("10 seconds"),
          nodeSelector: [{ key: "tier", operator: "In", values: ["edge"] }]
        })
      )
      assert.strictEqual(yield* countOn("edge"), "0")
      assert.isUndefined(yield* countOn("control-plane"))
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("writes nothing before the first sync, however long the list fails", () =>
    Effect.gen(function* () {
      yield* controlPlane
      const server = yield* ApiServer
      yield* server.setFaults([
        { match: (request) => request.context.resource === "pods", fault: { _tag: "Status", code: 403 } }
      ])
      const { stop } = yield* Cluster.start(controller)
      yield* TestClock.adjust("5 minutes")
      assert.isUndefined(yield* countOn("control-plane"))
      yield* server.setFaults([])
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* countOn("control-plane"), "0")
      yield* stop()
    }).pipe(Effect.provide(Cluster.layer))
  )

  it.effect("stops with its scope: no request is sent afterwards", () =>
    Effect.gen(function* () {
      yield* controlPlane
      const { stop } = yield* Cluster.start(controller)
      yield* stop()
      yield* TestClock.adjust("1 minute")
      yield* createPod("late")
      const before = yield* (yield* ApiServer).revision
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* (yield* ApiServer).revision, before)
      yield* (yield* Transport).send({
        method: "GET",
        path: "/version",
        context: { verb: "get", path: "/version" }
      })
    }).pipe(Effect.provide(Cluster.layer))
  )
})
