/** Scenarios of serviceaccount-token, root-ca-cert-publisher and legacy-serviceaccount-token-cleaner. */
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as LegacyTokenCleaner from "../../src/controllers/LegacyTokenCleaner.ts"
import * as RootCa from "../../src/controllers/RootCa.ts"
import * as ServiceAccountToken from "../../src/controllers/ServiceAccountToken.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ConfigMap, Secret, ServiceAccount } from "../../src/kube/resources.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Scenario from "./scenario.ts"

const namespace = "default"

const tokens = Scenario.makeIn(
  namespace,
  "an account gets tokens, references to deleted ones are removed, and the others are deleted with it",
  Scenario.listing,
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    yield* client.create(ServiceAccount, { metadata: { namespace, name: "robot" }, secrets: [{ name: "a" }] })
    for (const name of ["a", "b"]) {
      const annotations = { "kubernetes.io/service-account.name": "robot" }
      yield* client.create(Secret, {
        metadata: { namespace, name, annotations },
        type: "kubernetes.io/service-account-token"
      })
    }
    yield* cluster.run(ServiceAccountToken.make())
    yield* cluster.advance("1 minute")
    assert.isDefined((yield* client.get(Secret, { namespace, name: "a" })).data?.["token"])
    yield* client.delete(Secret, { namespace, name: "a" })
    yield* cluster.advance("1 minute")
    assert.deepStrictEqual((yield* client.get(ServiceAccount, { namespace, name: "robot" })).secrets ?? [], [])
    yield* client.delete(ServiceAccount, { namespace, name: "robot" })
    yield* cluster.advance("1 minute")
    assert.deepStrictEqual(yield* cluster.snapshot(Secret), [])
  })
)

const authorities = Scenario.make(
  "every namespace has the CA bundle, which is restored after a change",
  Scenario.listing,
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    const target = { namespace, name: "kube-root-ca.crt" }
    yield* cluster.run(RootCa.make())
    const { data } = yield* client.get(ConfigMap, target)
    yield* client.patch(ConfigMap, target, Patch.merge({ data: { "ca.crt": "others" } }))
    yield* cluster.advance("1 minute")
    assert.deepStrictEqual((yield* client.get(ConfigMap, target)).data, data)
  })
)

const cleaned = Scenario.make(
  "unused tokens are marked as invalid, and deleted later",
  Scenario.listing,
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    const annotations = { "kubernetes.io/service-account.name": "robot" }
    yield* client.create(ServiceAccount, { metadata: { namespace, name: "robot" }, secrets: [{ name: "a" }] })
    yield* client.create(Secret, {
      metadata: { namespace, name: "a", annotations },
      type: "kubernetes.io/service-account-token"
    })
    yield* client.create(ConfigMap, {
      metadata: { namespace: "kube-system", name: "kube-apiserver-legacy-service-account-token-tracking" },
      data: { since: "1970-01-01" }
    })
    yield* cluster.advance("5 days")
    // One run, and nothing on the days between two runs.
    const runOnce = Effect.gen(function* () {
      const running = yield* cluster.run(LegacyTokenCleaner.make({ period: Duration.hours(12) }))
      yield* cluster.settle
      yield* running.stop()
    })
    yield* runOnce
    const { metadata } = yield* client.get(Secret, { namespace, name: "a" })
    assert.strictEqual(metadata.labels?.["kubernetes.io/legacy-token-invalid-since"], "1970-01-06")
    yield* cluster.advance("2 days")
    yield* runOnce
    assert.deepStrictEqual(yield* cluster.snapshot(Secret), [])
  })
)

export const scenarios: ReadonlyArray<Scenario.Scenario> = [tokens, authorities, cleaned].flat()
