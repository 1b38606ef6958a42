/** The scenario of clusterrole-aggregation. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ClusterRoleAggregation from "../../src/controllers/ClusterRoleAggregation.ts"
import { ClusterRole } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Scenario from "./scenario.ts"

const labels = { "example.test/aggregate": "true" }

const rules = [{ apiGroups: ["example.test"], resources: ["things"], verbs: ["get"] }]

export const scenarios = Scenario.make(
  "a ClusterRole gets the rules of the roles that it selects, which the controller itself does not have",
  { cache: { streamingList: "never" } },
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    yield* client.create(ClusterRole, {
      metadata: { name: "taker" },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] }
    })
    yield* client.create(ClusterRole, { metadata: { name: "a", labels }, rules })
    yield* cluster.run(ClusterRoleAggregation.make())
    yield* cluster.advance("1 minute")
    assert.deepStrictEqual((yield* client.get(ClusterRole, { name: "taker" })).rules, rules)
    // A server without server-side apply gets an update of the whole role.
    yield* (yield* ApiServer).setFaults([
      {
        match: { verb: "patch", resource: "clusterroles.rbac.authorization.k8s.io" },
        fault: { _tag: "Status", code: 415 },
        times: 1
      }
    ])
    yield* client.create(ClusterRole, { metadata: { name: "b", labels }, rules: [{ ...rules[0], verbs: ["list"] }] })
    yield* cluster.advance("1 minute")
    assert.strictEqual((yield* client.get(ClusterRole, { name: "taker" })).rules?.length, 2)
  })
)
