/** Which pods are evicted from a tainted node, when, and which events are recorded. Source: pkg/controller/tainteviction. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TaintEviction from "../../src/controllers/TaintEviction.ts"
import { Node, Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import type { Request } from "../../src/layers/Transport.ts"
import * as Harness from "./shared/nodes/harness.ts"

const taint = (...keys: ReadonlyArray<string>) =>
  Harness.patchNode("a", { spec: { taints: keys.map((key) => ({ key, effect: "NoExecute" })) } })

const untaint = Effect.gen(function* () {
  const client = yield* KubeClient
  const node = yield* client.get(Node, { name: "a" })
  yield* client.update(Node, { ...node, spec: {} })
})

const tolerating = (key: string, tolerationSeconds?: number) => ({
  tolerations: [
    { key, operator: "Exists", effect: "NoExecute", ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }) }
  ]
})

const advance = (time: `${number} seconds`) => Effect.flatMap(ClusterTest, (cluster) => cluster.advance(time))

/** A node, its pods, and the controller, on a server that removes pods as soon as they are deleted. */
const harness = <A, E, R>(pods: Readonly<Record<string, object>>, body: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    yield* Harness.createNode("a")
    yield* Harness.createNode("b")
    for (const [name, spec] of Object.entries(pods)) {
      yield* Harness.runningPod(name, "a", { terminationGracePeriodSeconds: 0, ...spec })
    }
    yield* (yield* ClusterTest).run(TaintEviction.make())
    yield* body
  }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))

const recordedEvents = Harness.recordedEvents("taint-eviction-controller")

describe("taint-eviction", () => {
  it.effect("deletes pods without toleration at once, others after tolerationSeconds, or never", () =>
    harness(
      {
        never: {},
        short: tolerating("k", 10),
        zero: tolerating("k", 0),
        long: tolerating("k", 600),
        always: tolerating("k"),
        other: tolerating("other")
      },
      Effect.gen(function* () {
        yield* taint("k")
        yield* advance("0 seconds")
        assert.deepStrictEqual(yield* Harness.podNames, ["always", "long", "short"])
        yield* advance("9 seconds")
        assert.deepStrictEqual(yield* Harness.podNames, ["always", "long", "short"])
        yield* advance("1 seconds")
        assert.deepStrictEqual(yield* Harness.podNames, ["always", "long"])
        yield* advance("590 seconds")
        assert.deepStrictEqual(yield* Harness.podNames, ["always"])
        assert.deepStrictEqual(
          (yield* recordedEvents).toSorted(),
          ["long", "never", "other", "short", "zero"].map(
            (name) => `Normal TaintManagerEviction Marking for deletion Pod default/${name}`
          )
        )
      })
    )
  )

  it.effect("sets the condition DisruptionTarget once", () =>
    harness(
      { p: {} },
      Effect.gen(function* () {
        const client = yield* KubeClient
        yield* client.patch(
          Pod,
          { namespace: Harness.namespace, name: "p" },
          { type: "merge", body: { metadata: { finalizers: ["example.test/held"] } } }
        )
        yield* taint("k")
        yield* advance("1 seconds")
        const pod = yield* Harness.getPod("p")
        assert.isDefined(pod.metadata.deletionTimestamp)
        assert.deepInclude(
          pod.status?.conditions?.find(({ type }) => type === "DisruptionTarget"),
          {
            status: "True",
            reason: "DeletionByTaintManager",
            message: "Taint manager: deleting due to NoExecute taint",
            lastTransitionTime: "1970-01-01T00:00:00Z"
          }
        )
        yield* taint("k", "l")
        yield* advance("3600 seconds")
        assert.strictEqual((yield* Harness.getPod("p")).metadata.resourceVersion, pod.metadata.resourceVersion)
        assert.lengthOf(yield* recordedEvents, 1)
      })
    )
  )

  it.effect("cancels a scheduled eviction with an event when the taint is removed", () =>
    harness(
      { p: tolerating("k", 10), q: tolerating("k") },
      Effect.gen(function* () {
        yield* taint("k")
        yield* advance("5 seconds")
        yield* untaint
        yield* advance("60 seconds")
        assert.deepStrictEqual(yield* Harness.podNames, ["p", "q"])
        assert.deepStrictEqual(yield* recordedEvents, [
          "Normal TaintManagerEviction Cancelling deletion of Pod default/p"
        ])
        // A new taint starts a new period.
        yield* taint("k")
        yield* advance("9 seconds")
        assert.deepStrictEqual(yield* Harness.podNames, ["p", "q"])
        yield* advance("1 seconds")
        assert.deepStrictEqual(yield* Harness.podNames, ["q"])
      })
    )
  )

  it.effect("never postpones a scheduled eviction, whatever tolerations the pod gets", () =>
    harness(
      { p: tolerating("k", 10) },
      Effect.gen(function* () {
        const client = yield* KubeClient
        yield* taint("k")
        yield* advance("5 seconds")
        const pod = yield* Harness.getPod("p")
        const [first] = pod.spec?.tolerations ?? []
        if (pod.spec === undefined || first === undefined) return assert.fail("it tolerates nothing")
        const more = [{ key: "other", operator: "Exists" }, ...(pod.spec.tolerations ?? [])]
        yield* client.update(Pod, { ...pod, spec: { ...pod.spec, tolerations: more } })
        yield* advance("4 seconds")
        assert.deepStrictEqual(yield* Harness.podNames, ["p"])
        yield* advance("1 seconds")
        assert.deepStrictEqual(yield* Harness.podNames, [])
      })
    )
  )

  it.effect("evicts at once when a taint without toleration is added", () =>
    harness(
      { p: tolerating("k", 10) },
      Effect.gen(function* () {
        yield* taint("k")
        yield* advance("5 seconds")
        yield* taint("k", "worse")
        yield* advance("0 seconds")
        assert.deepStrictEqual(yield* Harness.podNames, [])
        assert.deepStrictEqual((yield* recordedEvents).toSorted(), [
          "Normal TaintManagerEviction Cancelling deletion of Pod default/p",
          "Normal TaintManagerEviction Marking for deletion Pod default/p"
        ])
      })
    )
  )

  it.effect("handles pods that are bound later, and removes the schedule of pods that are deleted otherwise", () =>
    harness(
      {},
      Effect.gen(function* () {
        const client = yield* KubeClient
        yield* taint("k")
        yield* Harness.runningPod("late", "a", { terminationGracePeriodSeconds: 0 })
        yield* Harness.runningPod("elsewhere", "b")
        yield* Harness.runningPod("gone", "a", { terminationGracePeriodSeconds: 0, ...tolerating("k", 60) })
        yield* advance("1 seconds")
        assert.deepStrictEqual(yield* Harness.podNames, ["elsewhere", "gone"])
        yield* client.delete(Pod, { namespace: Harness.namespace, name: "gone" }, { gracePeriodSeconds: 0 })
        // A recreated pod of the same name gets its whole period.
        yield* Harness.runningPod("gone", "a", { terminationGracePeriodSeconds: 0, ...tolerating("k", 60) })
        yield* advance("59 seconds")
        assert.deepStrictEqual(yield* Harness.podNames, ["elsewhere", "gone"])
        yield* advance("1 seconds")
        assert.deepStrictEqual(yield* Harness.podNames, ["elsewhere"])
        assert.include(yield* recordedEvents, "Normal TaintManagerEviction Cancelling deletion of Pod default/gone")
      })
    )
  )

  it.effect("evicts as scheduled although the node was deleted", () =>
    harness(
      { p: tolerating("k", 10) },
      Effect.gen(function* () {
        yield* taint("k")
        yield* advance("5 seconds")
        yield* (yield* KubeClient).delete(Node, { name: "a" })
        yield* advance("5 seconds")
        assert.deepStrictEqual(yield* Harness.podNames, [])
      })
    )
  )

  it.effect("handles taints that exist when it starts", () =>
    Effect.gen(function* () {
      yield* Harness.createNode("a")
      yield* Harness.runningPod("p", "a", { terminationGracePeriodSeconds: 0, ...tolerating("k", 10) })
      yield* taint("k")
      yield* (yield* ClusterTest).run(TaintEviction.make())
      yield* advance("10 seconds")
      assert.deepStrictEqual(yield* Harness.podNames, [])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  for (const [what, verb, fault] of [
    ["refused deletions", "delete", { _tag: "Status", code: 500 }],
    ["lost responses to deletions", "delete", { _tag: "DropAnswer" }],
    ["deletions that conflict", "delete", { _tag: "Conflict" }],
    ["refused statuses", "patch", { _tag: "Status", code: 500 }],
    ["statuses that conflict", "patch", { _tag: "Conflict" }],
    ["lost responses to status patches", "patch", { _tag: "DropAnswer" }]
  ] as const) {
    it.effect(`${what}: the eviction is retried, with one event`, () =>
      harness(
        { p: {} },
        Effect.gen(function* () {
          yield* (yield* ApiServer).setFaults([
            { match: (request) => request.context.verb === verb && request.path.includes("/pods/p"), fault, times: 7 }
          ])
          yield* taint("k")
          yield* advance("30 seconds")
          assert.deepStrictEqual(yield* Harness.podNames, [])
          assert.deepStrictEqual(yield* recordedEvents, [
            "Normal TaintManagerEviction Marking for deletion Pod default/p"
          ])
        })
      )
    )
  }

  it.effect("evicts although reading and patching pods is forbidden, as by servers before 1.25", () =>
    harness(
      { p: {}, q: {} },
      Effect.gen(function* () {
        const isForbidden = ({ context, path }: Request) =>
          /\/pods\/[pq]/.test(path) && (context.verb === "get" || context.verb === "patch")
        yield* (yield* ApiServer).setFaults([{ match: isForbidden, fault: { _tag: "Status", code: 403 } }])
        yield* taint("k")
        yield* advance("0 seconds")
        assert.deepStrictEqual(yield* Harness.podNames, [])
      })
    )
  )
})
