/** The scenario of resourcequota. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ResourceQuotas from "../../src/controllers/ResourceQuota.ts"
import { ResourceQuota, Secret } from "../../src/kube/resources.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Scenario from "./scenario.ts"

const namespace = "default"

const quotas = Scenario.make(
  "the status of a quota shows usage, also after a deletion",
  { cache: { streamingList: "never" } },
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    const used = Effect.map(client.get(ResourceQuota, { namespace, name: "q" }), ({ status }) => status?.used)
    yield* client.create(Secret, { metadata: { namespace, name: "a" } })
    yield* client.create(ResourceQuota, { metadata: { namespace, name: "q" }, spec: { hard: { secrets: "2" } } })
    yield* cluster.run(ResourceQuotas.make())
    yield* cluster.advance("1 minute")
    assert.deepStrictEqual(yield* used, { secrets: "1" })
    yield* client.delete(Secret, { namespace, name: "a" })
    yield* cluster.settle
    assert.deepStrictEqual(yield* used, { secrets: "0" })
  })
)

export const scenarios: ReadonlyArray<Scenario.Scenario> = quotas
