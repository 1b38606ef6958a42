/** ReplicaSets and ReplicationControllers on the embedded API server: requests, objects and events. Source: pkg/controller/replicaset: replica_set_test.go. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Patch from "../../src/kube/Patch.ts"
import { Pod, ReplicaSet } from "../../src/kube/resources.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Harness from "./shared/workload/harness.ts"

for (const kind of Harness.kinds) {
  const plural = kind.name === "ReplicaSet" ? "replicasets.apps" : "replicationcontrollers"
  const terminating = (count: number) => (kind.countsTerminating ? { terminatingReplicas: count } : {})

  describe(`${kind.name}: pods`, () => {
    it.effect("creates missing pods from the template in batches of 1 and 2, with an event for each", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          const calls = yield* Harness.recording()
          const template = {
            metadata: { labels: { app: "web", tier: "front" }, annotations: { a: "b" }, finalizers: ["example.com/f"] },
            spec: Harness.podSpec
          }
          const [owner] = yield* Harness.apply(Harness.owner(kind, { template }))
          const requests = calls.filter(({ context }) => context.verb === "create")
          const body = {
            apiVersion: "v1",
            kind: "Pod",
            metadata: {
              generateName: "web-",
              ...template.metadata,
              ownerReferences: [Harness.reference(kind, owner ?? assert.fail())]
            }
          }
          assert.strictEqual(requests.length, 3)
          for (const request of requests) {
            const { spec, ...rest } = request.body as { spec: object }
            assert.deepStrictEqual(rest, body)
            assert.deepInclude(spec, { restartPolicy: "Always" })
          }
          const events = yield* Harness.events()
          assert.sameMembers(
            events.map(({ text }) => text),
            (yield* Harness.podNames).map((name) => `Normal SuccessfulCreate Created pod: ${name}`)
          )
          for (const event of events) assert.deepInclude(event, { component: kind.component, count: 1 })
        })
      )
    )

    it.effect("deletes surplus pods without preconditions or grace period, with an event for each", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.apply(Harness.owner(kind))
          const before = yield* Harness.podNames
          const [first] = before
          yield* Harness.ready(String(first))
          const calls = yield* Harness.recording()
          yield* Harness.scale(kind, 1)
          yield* Harness.settle
          assert.deepStrictEqual(yield* Harness.podNames, [first])
          const deletes = calls.filter(({ context }) => context.verb === "delete")
          assert.sameMembers(
            deletes.map(({ context }) => context.name),
            before.slice(1)
          )
          for (const { body } of deletes)
            assert.deepStrictEqual(JSON.parse(JSON.stringify(body)), { apiVersion: "v1", kind: "DeleteOptions" })
          const events = (yield* Harness.events()).map(({ text }) => text)
          for (const name of before.slice(1)) assert.include(events, `Normal SuccessfulDelete Deleted pod: ${name}`)
        })
      )
    )

    for (const crowded of [0, 1])
      it.effect(
        `deletes first the pod on the node where a ReplicaSet of the same owner has pods, too: pod ${crowded} of two`,
        () =>
          Harness.withLoop(
            kind,
            Effect.gen(function* () {
              const parent = {
                apiVersion: "example.com/v1",
                kind: "Rollout",
                name: "r",
                uid: "uid-r",
                controller: true
              }
              const other = { app: "old" }
              yield* Harness.apply(
                Harness.owner(kind, { replicas: 2 }, { ownerReferences: [parent] }),
                Harness.owner(
                  kind,
                  {
                    replicas: 1,
                    selector: kind.selector(other),
                    template: { metadata: { labels: other }, spec: Harness.podSpec }
                  },
                  { name: "old", ownerReferences: [parent] }
                )
              )
              const named = (prefix: string) =>
                Effect.map(Harness.podNames, (names) => names.filter((name) => name.startsWith(prefix)))
              const own = yield* named("web-")
              for (const [i, name] of own.entries()) yield* Harness.bind(name, `n${i}`)
              for (const name of yield* named("old-")) yield* Harness.bind(name, `n${crowded}`)
              yield* Harness.scale(kind, 1)
              yield* Harness.settle
              const going = (yield* Harness.pods).filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
              assert.deepStrictEqual(
                going.map(({ metadata }) => metadata.name),
                [own[crowded]]
              )
            })
          )
      )

    it.effect("replaces a terminating pod at once, and counts each deletion once", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.apply(Harness.owner(kind))
          const before = yield* Harness.podNames
          for (const name of before) yield* Harness.bind(name)
          yield* Harness.remove(Pod, String(before[0]))
          yield* Harness.settle
          assert.strictEqual((yield* Harness.podNames).length, 4)
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 3, ...terminating(1) })
          // The DELETED event of the pod is the second event of one deletion.
          yield* Harness.remove(Pod, String(before[0]), { gracePeriodSeconds: 0 })
          yield* Harness.settle
          assert.strictEqual((yield* Harness.podNames).length, 3)
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 3, ...terminating(0) })
        })
      )
    )

    it.effect("scales up again while deleted pods are still terminating", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.apply(Harness.owner(kind))
          for (const name of yield* Harness.podNames) yield* Harness.bind(name)
          yield* Harness.scale(kind, 1)
          yield* Harness.settle
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 1, ...terminating(2) })
          const calls = yield* Harness.recording()
          yield* Harness.scale(kind, 2)
          yield* Harness.settle
          assert.strictEqual(calls.filter(({ context }) => context.verb === "create").length, 1)
          for (const { metadata } of yield* Harness.pods) {
            if (metadata.deletionTimestamp !== undefined)
              yield* Harness.remove(Pod, metadata.name, { gracePeriodSeconds: 0 })
          }
          yield* Harness.settle
          assert.strictEqual(calls.filter(({ context }) => context.verb === "create").length, 1)
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 2, ...terminating(0) })
        })
      )
    )

    it.effect("replaces a terminated pod and does not delete it", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.apply(Harness.owner(kind))
          const [first] = yield* Harness.podNames
          yield* Harness.phase(String(first), "Failed")
          yield* Harness.settle
          const names = yield* Harness.podNames
          assert.strictEqual(names.length, 4)
          assert.include(names, first)
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 3, ...terminating(0) })
        })
      )
    )

    it.effect("creates at most 500 pods in one sync, and the rest in the next", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          const calls = yield* Harness.recording()
          yield* Harness.apply(Harness.owner(kind, { replicas: 510 }))
          assert.strictEqual((yield* Harness.pods).length, 510)
          const lines = calls.map(({ context }) => context.verb)
          const created = lines.flatMap((verb, i) => (verb === "create" ? [i] : []))
          const between = lines.slice(created[499], created[500])
          assert.include(between, "update")
          assert.notInclude(lines.slice(created[0], created[499]), "update")
          yield* Harness.scale(kind, 0)
          yield* Harness.settle
          assert.deepStrictEqual(yield* Harness.pods, [])
        })
      )
    )
  })

  describe(`${kind.name}: status`, () => {
    it.effect("counts ready, available and fully labelled pods for the observed generation", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          const template = { metadata: { labels: { app: "web", tier: "front" } }, spec: Harness.podSpec }
          yield* Harness.apply(Harness.owner(kind, { template }))
          const [a, b] = yield* Harness.podNames
          yield* Harness.ready(String(a))
          yield* Harness.patch(Pod, String(b), { metadata: { labels: { tier: null } } })
          yield* Harness.scale(kind, 3)
          yield* Harness.patch(kind.resource, "web", { spec: { minReadySeconds: 0 } })
          yield* Harness.settle
          assert.deepInclude(yield* Harness.statusOf(kind), {
            replicas: 3,
            fullyLabeledReplicas: 2,
            readyReplicas: 1,
            availableReplicas: 1,
            observedGeneration: 1
          })
          yield* Harness.patch(kind.resource, "web", { spec: { minReadySeconds: 1 } })
          yield* Harness.settle
          assert.deepInclude(yield* Harness.statusOf(kind), { observedGeneration: 2 })
        })
      )
    )

    it.effect("counts a pod as available after minReadySeconds, without another event", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.apply(Harness.owner(kind, { replicas: 2, minReadySeconds: 10 }))
          const [a, b] = yield* Harness.podNames
          yield* Harness.ready(String(a))
          yield* Harness.advance("4 seconds")
          yield* Harness.ready(String(b))
          yield* Harness.settle
          assert.deepInclude(yield* Harness.statusOf(kind), { readyReplicas: 2 })
          const available = Effect.map(Harness.statusOf(kind), (status) => status?.availableReplicas ?? 0)
          yield* Harness.advance("5999 millis")
          assert.strictEqual(yield* available, 0)
          yield* Harness.advance("1 millis")
          assert.strictEqual(yield* available, 1)
          yield* Harness.advance("3999 millis")
          assert.strictEqual(yield* available, 1)
          yield* Harness.advance("1 millis")
          assert.strictEqual(yield* available, 2)
        })
      )
    )

    it.effect("is retried once on the live object after a conflict", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          const calls = yield* Harness.recording([
            { match: { verb: "update", resource: `${plural}/status` }, fault: { _tag: "Conflict" }, times: 1 }
          ])
          yield* Harness.apply(Harness.owner(kind, { replicas: 0 }))
          assert.deepStrictEqual(calls.map(Harness.line).slice(-3), [
            `update ${plural}/status web`,
            `get ${plural} web`,
            `update ${plural}/status web`
          ])
          assert.deepInclude(yield* Harness.statusOf(kind), { observedGeneration: 1 })
        })
      )
    )

    it.effect("rejected twice fails the sync, and the key backs off", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          const calls = yield* Harness.recording([
            { match: { verb: "update", resource: `${plural}/status` }, fault: { _tag: "Conflict" }, times: 2 }
          ])
          yield* Harness.apply(Harness.owner(kind, { replicas: 0 }))
          const updates = () => calls.filter(({ context }) => context.verb === "update").length
          assert.strictEqual(updates(), 2)
          yield* Harness.advance("4 millis")
          assert.strictEqual(updates(), 2)
          yield* Harness.advance("1 millis")
          assert.strictEqual(updates(), 3)
          assert.deepInclude(yield* Harness.statusOf(kind), { observedGeneration: 1 })
        })
      )
    )

    it.effect("is not written again while nothing changes: one hour without a request", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.apply(Harness.owner(kind, { minReadySeconds: 5 }))
          for (const name of yield* Harness.podNames) yield* Harness.ready(name)
          yield* Harness.advance("10 seconds")
          const calls = yield* Harness.recording()
          yield* Harness.advance("1 hour")
          assert.deepStrictEqual(calls.map(Harness.line), [])
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 3, readyReplicas: 3, availableReplicas: 3 })
        })
      )
    )
  })
}

for (const kind of Harness.kinds) {
  it.effect(
    `${kind.name}: sorting_deletion_age_ratio observes how much older than the youngest the chosen pods are`,
    () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          const ratios = Effect.map(Metric.snapshot, (all) => {
            const found = all.find(({ id }) => id === "replicaset_controller_sorting_deletion_age_ratio")
            return found !== undefined && "sum" in found.state ? [found.state.count, found.state.sum] : []
          })
          yield* Harness.apply(Harness.owner(kind, { replicas: 1 }))
          const [old = ""] = yield* Harness.podNames
          yield* Harness.advance("100 seconds")
          yield* Harness.scale(kind, 4)
          yield* Harness.settle
          for (const name of (yield* Harness.podNames).slice(0, -1)) yield* Harness.ready(name)
          yield* Harness.ready(old)
          yield* Harness.advance("50 seconds")
          const cost = { metadata: { annotations: { "controller.kubernetes.io/pod-deletion-cost": "-1" } } }
          yield* (yield* KubeClient).patch(Pod, { namespace: "default", name: old }, Patch.merge(cost))
          yield* Harness.settle
          // The pod that is not ready is deleted first and not observed. Then the old one: 150 s to 50 s.
          yield* Harness.scale(kind, 2)
          yield* Harness.settle
          assert.notInclude(yield* Harness.podNames, old)
          assert.deepStrictEqual(yield* ratios, [1, 3])
          // All pods are deleted, so none was chosen.
          yield* Harness.scale(kind, 0)
          yield* Harness.settle
          assert.deepStrictEqual(yield* ratios, [1, 3])
        })
      ).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )
}

it.effect("a ReplicaSet whose manager did not count terminating pods gets the count once", () =>
  Harness.withLoop(
    Harness.replicaSet,
    Effect.gen(function* () {
      yield* Harness.apply(Harness.owner(Harness.replicaSet))
      const calls = yield* Harness.recording()
      const client = yield* KubeClient
      const target = { namespace: "default", name: "web", subresource: "status" }
      const older = Patch.merge({ status: { terminatingReplicas: null } })
      yield* client.patch(ReplicaSet, target, older)
      yield* Harness.settle
      assert.deepStrictEqual(calls.map(Harness.line), [
        "patch replicasets.apps/status web",
        "update replicasets.apps/status web"
      ])
      assert.deepInclude(yield* Harness.statusOf(Harness.replicaSet), { terminatingReplicas: 0 })
    })
  )
)
