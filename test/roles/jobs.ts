/** Scenarios of Jobs, and of their deletion after they finish. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Jobs from "../../src/controllers/Job.ts"
import * as TtlAfterFinished from "../../src/controllers/TtlAfterFinished.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { Job, Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Scenario from "./scenario.ts"

const namespace = "default"
const metadata = { namespace, name: "work" }

const job = (spec: object, command: ReadonlyArray<string>) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata,
  spec: {
    template: {
      metadata: { labels: { app: "work" } },
      spec: { restartPolicy: "Never", containers: [{ name: "main", image: "example.test/work:1", command }] }
    },
    ...spec
  }
})

const types = Effect.flatMap(KubeClient, (client) =>
  Effect.map(client.get(Job, metadata), ({ status }) => (status?.conditions ?? []).map(({ type }) => type))
)

const runs = Scenario.makeIn(
  namespace,
  "a Job adopts a pod, releases another, and completes when enough have succeeded",
  { nodes: 2, ...Scenario.listing },
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    yield* client.create(Pod, {
      metadata: { namespace, name: "orphan", labels: { app: "work" } },
      spec: { containers: [{ name: "main", image: "example.test/work:1" }] }
    })
    yield* cluster.run(Jobs.make())
    const refusal = { _tag: "Status", code: 500 } as const
    yield* (yield* ApiServer).setFaults([{ match: { verb: "create", resource: "pods" }, fault: refusal, times: 3 }])
    const own = { manualSelector: true, selector: { matchLabels: { app: "work" } } }
    yield* cluster.apply([job({ ...own, parallelism: 2, completions: 1 }, ["sleep", "60"])])
    yield* cluster.advance("30 seconds")
    const orphan = yield* client.get(Pod, { namespace, name: "orphan" })
    assert.strictEqual(orphan.metadata.ownerReferences?.[0]?.kind, "Job")
    yield* client.delete(Pod, { namespace, name: "orphan" })
    yield* cluster.advance("2 minutes")
    assert.deepStrictEqual(yield* types, ["SuccessCriteriaMet", "Complete"])
    yield* Scenario.assertCountedEvent()
  })
)

const shrinks = Scenario.makeIn(
  namespace,
  "a Job with lowered parallelism deletes pods",
  { nodes: 2, ...Scenario.listing },
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    yield* cluster.run(Jobs.make())
    yield* cluster.apply([job({ parallelism: 3, completions: 3 }, ["sleep", "infinity"])])
    yield* cluster.advance("10 seconds")
    yield* client.patch(Job, metadata, Patch.merge({ spec: { parallelism: 1 } }))
    yield* cluster.advance("1 minute")
    assert.lengthOf(yield* cluster.snapshot(Pod), 1)
    assert.strictEqual((yield* client.get(Job, metadata)).status?.active, 1)
  })
)

const expires = Scenario.makeIn(
  namespace,
  "a finished Job is deleted when its TTL has expired",
  { nodes: 2, ...Scenario.listing },
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.run(Jobs.make())
    yield* cluster.run(TtlAfterFinished.make())
    yield* cluster.apply([job({ ttlSecondsAfterFinished: 30 }, ["true"])])
    yield* cluster.advance("15 seconds")
    assert.deepStrictEqual(yield* types, ["SuccessCriteriaMet", "Complete"])
    yield* cluster.advance("1 minute")
    const left = yield* cluster.snapshot(Job)
    assert.deepStrictEqual(
      left.filter((one) => one.metadata.deletionTimestamp === undefined),
      []
    )
  })
)

export const scenarios: ReadonlyArray<Scenario.Scenario> = [runs, shrinks, expires].flat()
