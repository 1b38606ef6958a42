/** The clusterrole-aggregation controller on the embedded API server. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as ClusterRoleAggregation from "../../src/controllers/ClusterRoleAggregation.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ClusterRole } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"

const label = "rbac.example.test/aggregate-to-monitoring"

const rule = (resource: string) => ({ apiGroups: [""], resources: [resource], verbs: ["get"] })

const role = (name: string, resource: string) => ({
  metadata: { name, labels: { [label]: "true" } },
  rules: [rule(resource)]
})

const taker = {
  metadata: { name: "monitoring" },
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: "true" } }] }
}

const resourcesOf = (name: string) =>
  Effect.flatMap(KubeClient, (client) =>
    Effect.map(client.get(ClusterRole, { name }), ({ rules }) => (rules ?? []).flatMap(({ resources }) => resources))
  )

const started = Effect.gen(function* () {
  const cluster = yield* ClusterTest
  yield* cluster.run(ClusterRoleAggregation.make())
  yield* cluster.settle
  return { cluster, client: yield* KubeClient }
})

const where = ClusterTest.layer()

describe("clusterrole-aggregation", () => {
  it.effect("applies the rules of all selected roles, by role name and without duplicates", () =>
    Effect.gen(function* () {
      const { client, cluster } = yield* started
      yield* client.create(ClusterRole, taker)
      yield* client.create(ClusterRole, role("b", "pods"))
      yield* client.create(ClusterRole, role("a", "services"))
      yield* client.create(ClusterRole, role("c", "pods"))
      yield* cluster.settle
      assert.deepStrictEqual(yield* resourcesOf("monitoring"), ["services", "pods"])
      const { metadata } = yield* client.get(ClusterRole, taker.metadata)
      const manager = metadata.managedFields?.find(({ manager }) => manager === "clusterrole-aggregation-controller")
      assert.strictEqual(manager?.operation, "Apply")
    }).pipe(Effect.scoped, Effect.provide(where))
  )

  it.effect("updates the rules when a selected role changes, is deleted or is relabelled", () =>
    Effect.gen(function* () {
      const { client, cluster } = yield* started
      yield* Effect.forEach([taker, role("a", "pods"), role("b", "nodes"), role("c", "events")], (one) =>
        client.create(ClusterRole, one)
      )
      yield* cluster.settle
      yield* client.patch(ClusterRole, { name: "a" }, Patch.merge({ rules: [rule("secrets")] }))
      yield* client.patch(ClusterRole, { name: "b" }, Patch.merge({ metadata: { labels: { [label]: null } } }))
      yield* client.delete(ClusterRole, { name: "c" })
      yield* cluster.settle
      assert.deepStrictEqual(yield* resourcesOf("monitoring"), ["secrets"])
      yield* client.delete(ClusterRole, { name: "a" })
      yield* cluster.settle
      assert.deepStrictEqual(yield* resourcesOf("monitoring"), [])
    }).pipe(Effect.scoped, Effect.provide(where))
  )

  it.effect("aggregates through roles that aggregate themselves, and never a role's own rules", () =>
    Effect.gen(function* () {
      const { client, cluster } = yield* started
      const labels = { [label]: "true", "example.test/all": "true" }
      const all = { clusterRoleSelectors: [{ matchLabels: { "example.test/all": "true" } }] }
      yield* client.create(ClusterRole, { ...taker, metadata: { name: "monitoring", labels } })
      yield* client.create(ClusterRole, { metadata: { name: "all", labels }, aggregationRule: all })
      yield* client.create(ClusterRole, role("a", "pods"))
      yield* cluster.settle
      assert.deepStrictEqual(yield* resourcesOf("all"), ["pods"])
      assert.deepStrictEqual(yield* resourcesOf("monitoring"), ["pods"])
    }).pipe(Effect.scoped, Effect.provide(where))
  )

  it.effect("reverts rules that a user writes, and leaves roles without an aggregation rule", () =>
    Effect.gen(function* () {
      const { client, cluster } = yield* started
      yield* client.create(ClusterRole, taker)
      yield* client.create(ClusterRole, role("a", "pods"))
      yield* client.create(ClusterRole, { metadata: { name: "plain" }, rules: [rule("nodes")] })
      yield* cluster.settle
      yield* client.patch(ClusterRole, taker.metadata, Patch.merge({ rules: [rule("secrets")] }))
      yield* cluster.settle
      assert.deepStrictEqual(yield* resourcesOf("monitoring"), ["pods"])
      assert.deepStrictEqual(yield* resourcesOf("plain"), ["nodes"])
    }).pipe(Effect.scoped, Effect.provide(where))
  )

  it.effect("writes nothing while nothing changes, and counts its writes", () =>
    Effect.gen(function* () {
      const { client, cluster } = yield* started
      // Other tests of this process count too.
      const counts = Effect.map(Metric.snapshot, (all) =>
        all.flatMap((one) =>
          one.id === "cluster_role_aggregation_writes_total" && one.type === "Counter"
            ? [`${one.attributes?.["method"]} ${one.state.count}`]
            : []
        )
      )
      const countsBefore = yield* counts
      yield* client.create(ClusterRole, taker)
      yield* client.create(ClusterRole, role("a", "pods"))
      yield* cluster.settle
      const { revision } = yield* ApiServer
      const before = yield* revision
      yield* client.create(ClusterRole, { metadata: { name: "plain" }, rules: [rule("nodes")] })
      yield* cluster.advance("1 day")
      assert.strictEqual(BigInt(yield* revision) - BigInt(before), 1n)
      const changed = (yield* counts).filter((one) => !countsBefore.includes(one))
      assert.lengthOf(changed, 1)
      assert.match(changed[0] ?? "", /^apply /)
    }).pipe(Effect.scoped, Effect.provide(where))
  )

  it.effect("updates the whole role on a server without server-side apply", () =>
    Effect.gen(function* () {
      const { client, cluster } = yield* started
      const refusal = { _tag: "Status", code: 415 } as const
      yield* (yield* ApiServer).setFaults([
        { match: { verb: "patch", resource: "clusterroles.rbac.authorization.k8s.io" }, fault: refusal, times: 9 }
      ])
      yield* client.create(ClusterRole, taker)
      yield* client.create(ClusterRole, role("a", "pods"))
      yield* cluster.settle
      assert.deepStrictEqual(yield* resourcesOf("monitoring"), ["pods"])
    }).pipe(Effect.scoped, Effect.provide(where))
  )

  it.effect("does not recreate a role that is deleted during its write", () =>
    Effect.gen(function* () {
      const { client, cluster } = yield* started
      yield* client.create(ClusterRole, taker)
      yield* (yield* ApiServer).setFaults([
        {
          match: { verb: "patch", resource: "clusterroles.rbac.authorization.k8s.io" },
          fault: { _tag: "Delay", millis: 1000 }
        }
      ])
      yield* client.create(ClusterRole, role("a", "pods"))
      yield* cluster.advance("500 millis")
      yield* client.delete(ClusterRole, taker.metadata)
      yield* cluster.advance("1 hour")
      assert.notInclude(
        (yield* cluster.snapshot(ClusterRole)).map(({ metadata }) => metadata.name),
        "monitoring"
      )
    }).pipe(Effect.scoped, Effect.provide(where))
  )

  it.effect("converges under refusals, conflicts and lost responses", () =>
    Effect.gen(function* () {
      const { client, cluster } = yield* started
      const match = { verb: "patch", resource: "clusterroles.rbac.authorization.k8s.io" } as const
      yield* (yield* ApiServer).setFaults([
        { match, fault: { _tag: "Status", code: 500 }, times: 2 },
        { match, fault: { _tag: "Status", code: 409 }, times: 2 },
        { match, fault: { _tag: "DropAnswer" }, times: 2 }
      ])
      yield* client.create(ClusterRole, taker)
      yield* client.create(ClusterRole, role("a", "pods"))
      yield* client.create(ClusterRole, role("b", "nodes"))
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* resourcesOf("monitoring"), ["pods", "nodes"])
    }).pipe(Effect.scoped, Effect.provide(where))
  )
})
