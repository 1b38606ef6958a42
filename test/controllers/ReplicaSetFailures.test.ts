/** ReplicaSets and ReplicationControllers when the API server refuses calls, the cache is stale, or objects are invalid. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Namespace, Pod } from "../../src/kube/resources.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import type { Request } from "../../src/layers/Transport.ts"
import * as Harness from "./shared/workload/harness.ts"

const isCreate = ({ context }: Request) => context.verb === "create" && context.resource === "pods"

const quota = `pods "web-" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2`

const refuseCreates = (times?: number) => ({
  match: isCreate,
  fault: { _tag: "Status", code: 403, reason: "Forbidden", message: quota } as const,
  ...(times === undefined ? {} : { times })
})

for (const kind of Harness.kinds) {
  const conditionsOf = Effect.map(Harness.statusOf(kind), (status) => status?.conditions ?? [])

  describe(`${kind.name}: failures`, () => {
    it.effect("an exceeded quota causes one call per sync, an event, a condition, and backoff", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          const calls = yield* Harness.recording([refuseCreates()])
          const tries = () => calls.filter(isCreate).length
          yield* Harness.apply(Harness.owner(kind, { replicas: 20 }))
          // The second sync follows the status write, which changes the owner.
          assert.strictEqual(tries(), 2)
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 0, observedGeneration: 1 })
          assert.deepStrictEqual(yield* conditionsOf, [
            {
              type: "ReplicaFailure",
              status: "True",
              reason: "FailedCreate",
              message: quota,
              lastTransitionTime: "1970-01-01T00:00:00Z"
            }
          ])
          assert.deepInclude(
            (yield* Harness.events()).map(({ text }) => text),
            `Warning FailedCreate Error creating: ${quota}`
          )
          // The delays are 10, 20, 40 … milliseconds, beginning with the second failure.
          const moments: Array<number> = []
          for (let elapsed = 0, seen = tries(); elapsed < 700; elapsed++) {
            yield* Harness.advance("1 millis")
            if (tries() > seen) moments.push(elapsed + 1)
            seen = tries()
          }
          assert.deepStrictEqual(moments, [10, 30, 70, 150, 310, 630])
        })
      )
    )

    it.effect("creates the pods and removes the condition once the quota allows it", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.recording([refuseCreates(4)])
          yield* Harness.apply(Harness.owner(kind))
          assert.strictEqual((yield* conditionsOf).length, 1)
          yield* Harness.advance("10 seconds")
          assert.deepStrictEqual(yield* conditionsOf, [])
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 3 })
        })
      )
    )

    it.effect("a failing owner does not delay other owners", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.recording([
            {
              match: (request) => isCreate(request) && JSON.stringify(request.body).includes(`"generateName":"web-"`),
              fault: { _tag: "Status", code: 403, message: quota }
            }
          ])
          const selector = kind.selector({ app: "good" })
          const template = { metadata: { labels: { app: "good" } }, spec: Harness.podSpec }
          yield* Harness.apply(Harness.owner(kind), Harness.owner(kind, { selector, template }, { name: "good" }))
          yield* Harness.advance("5 seconds")
          assert.deepInclude(yield* Harness.statusOf(kind, "good"), { replicas: 3 })
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 0 })
        })
      )
    )

    it.effect("the condition keeps the message and time of the first failure", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.recording([
            { match: isCreate, fault: { _tag: "Status", code: 403, message: "first" }, times: 1 },
            { match: isCreate, fault: { _tag: "Status", code: 403, message: "second" }, times: 3 }
          ])
          yield* Harness.apply(Harness.owner(kind))
          assert.strictEqual((yield* conditionsOf)[0]?.message, "first")
        })
      )
    )

    it.effect("lowers the expectations for calls that were not made, and creates the rest in later syncs", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          let tries = 0
          const calls = yield* Harness.recording([
            {
              // The third call is one of a batch of two: the other one succeeds, and no batch follows.
              match: (request) => isCreate(request) && ++tries === 3,
              fault: { _tag: "Status", code: 500, message: "etcd is away" }
            }
          ])
          yield* Harness.apply(Harness.owner(kind, { replicas: 10 }))
          yield* Harness.advance("1 minute")
          assert.strictEqual((yield* Harness.pods).length, 10)
          assert.strictEqual(calls.filter(isCreate).length, 11)
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 10 })
        })
      )
    )

    it.effect("a terminating namespace causes no event, no condition, and no retry", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "going" } })
          yield* Harness.apply(Harness.owner(kind, { replicas: 0 }, { namespace: "going" }))
          yield* Harness.remove(Namespace, "going")
          const calls = yield* Harness.recording()
          yield* Harness.scale(kind, 3, "going")
          yield* Harness.advance("1 minute")
          assert.strictEqual(calls.filter(isCreate).length, 3)
          assert.isUndefined((yield* Harness.statusOf(kind, "web", "going"))?.conditions)
          assert.deepStrictEqual(yield* Harness.events(), [])
        })
      )
    )

    it.effect("a failed deletion causes an event, a condition and backoff, and is retried", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.apply(Harness.owner(kind))
          yield* Harness.recording([
            { match: { verb: "delete" }, fault: { _tag: "Status", code: 403, message: "no deletions today" }, times: 6 }
          ])
          yield* Harness.scale(kind, 0)
          yield* Harness.settle
          assert.deepInclude((yield* conditionsOf)[0], {
            type: "ReplicaFailure",
            reason: "FailedDelete",
            message: "unable to delete pods: no deletions today"
          })
          assert.include(
            (yield* Harness.events()).map(({ text }) => text),
            "Warning FailedDelete Error deleting: no deletions today"
          )
          yield* Harness.advance("10 seconds")
          assert.deepStrictEqual(yield* Harness.pods, [])
          assert.deepStrictEqual(yield* conditionsOf, [])
        })
      )
    )

    it.effect("a pod that is already gone is not a failure", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.apply(Harness.owner(kind, { replicas: 1 }))
          yield* Harness.recording([
            { match: { verb: "delete" }, fault: { _tag: "Status", code: 404, reason: "NotFound" }, times: 1 }
          ])
          yield* Harness.scale(kind, 0)
          yield* Harness.settle
          assert.deepStrictEqual(yield* conditionsOf, [])
          assert.notInclude((yield* Harness.events()).map(({ text }) => text).join(), "FailedDelete")
        })
      )
    )

    it.effect(
      "does not create pods twice while the watch is stalled, until expectations expire after five minutes",
      () =>
        Effect.gen(function* () {
          const isPods = ({ context }: Request) => context.resource === "pods" && context.verb === "watch"
          let watches = 0
          const calls = yield* Harness.recording([
            // The first watch delivers no pods and stalls; no other succeeds.
            { match: isPods, fault: { _tag: "CutWatch", after: 1, how: "silence" }, times: 1 },
            { match: (request) => isPods(request) && ++watches > 1, fault: { _tag: "Drop" } }
          ])
          yield* Harness.start(kind)
          yield* Harness.apply(Harness.owner(kind))
          yield* Harness.advance("299 seconds")
          assert.strictEqual(calls.filter(isCreate).length, 3)
          assert.deepInclude(yield* Harness.statusOf(kind), { observedGeneration: 1 })
          yield* Harness.advance("10 seconds")
          assert.strictEqual(calls.filter(isCreate).length, 6)
        }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
    )

    it.effect("an owner of an unknown kind changes nothing", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          const rollout = { apiVersion: "example.com/v1", kind: "Rollout", name: "r", uid: "uid-r", controller: true }
          yield* Harness.apply(Harness.owner(kind, {}, { ownerReferences: [rollout] }))
          assert.strictEqual((yield* Harness.pods).length, 3)
          yield* Harness.scale(kind, 1)
          yield* Harness.settle
          assert.strictEqual((yield* Harness.pods).length, 1)
          assert.deepInclude(yield* Harness.statusOf(kind), { replicas: 1 })
        })
      )
    )

    it.effect("an invalid deletion cost counts as zero", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* Harness.apply(Harness.owner(kind))
          const [a, b, c] = yield* Harness.podNames
          const cost = (name: string | undefined, text: string) =>
            Harness.patch(Pod, String(name), {
              metadata: { annotations: { "controller.kubernetes.io/pod-deletion-cost": text } }
            })
          yield* cost(a, "1")
          yield* cost(c, "1")
          yield* cost(b, "cheap")
          yield* Harness.scale(kind, 2)
          yield* Harness.settle
          assert.sameMembers([...(yield* Harness.podNames)], [a, c])
        })
      )
    )
  })
}
