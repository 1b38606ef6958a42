/** Tokens that are unused for the period are marked, and deleted after another. Source: pkg/controller/serviceaccount: LegacySATokenCleaner. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as LegacyTokenCleaner from "../../src/controllers/LegacyTokenCleaner.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ConfigMap, Pod, Secret, ServiceAccount } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"

const namespace = "default"
const lastUsed = "kubernetes.io/legacy-token-last-used"
const invalidSince = "kubernetes.io/legacy-token-invalid-since"

const annotations = { "kubernetes.io/service-account.name": "robot" }

const secret = (name: string) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(Secret, {
      metadata: { namespace, name, annotations },
      type: "kubernetes.io/service-account-token"
    })
  )

const secrets = Effect.flatMap(ClusterTest, (cluster) =>
  Effect.map(cluster.snapshot(Secret), (all) =>
    Object.fromEntries(all.map(({ metadata }) => [metadata.name, metadata.labels?.[invalidSince] ?? ""]))
  )
)

/** An account that lists all these Secrets except `by-hand`; `since` is the first day of tracking. */
const prepared = Effect.fnUntraced(function* (names: ReadonlyArray<string>, since = "1970-01-01") {
  const client = yield* KubeClient
  yield* client.create(ServiceAccount, {
    metadata: { namespace, name: "robot" },
    secrets: names.filter((name) => name !== "by-hand").map((name) => ({ name }))
  })
  yield* Effect.forEach(names, secret, { discard: true })
  yield* client.create(ConfigMap, {
    metadata: { namespace: "kube-system", name: "kube-apiserver-legacy-service-account-token-tracking" },
    data: { since }
  })
  return { client, cluster: yield* ClusterTest }
})

const label = (name: string, labels: Readonly<Record<string, string | null>>) =>
  Effect.flatMap(KubeClient, (client) =>
    client.patch(Secret, { namespace, name }, Patch.merge({ metadata: { labels } }))
  )

const toA = { verb: "patch", path: `/api/v1/namespaces/${namespace}/secrets/a` } as const

/** Instead of a year. */
const period = Duration.days(2)

/** Starts the controller, which runs once at its start, and stops it. */
const runOnce = Effect.gen(function* () {
  const cluster = yield* ClusterTest
  const running = yield* cluster.run(LegacyTokenCleaner.make({ period }))
  yield* cluster.settle
  yield* running.stop()
})

const where = ClusterTest.layer()

describe("legacy-serviceaccount-token-cleaner", () => {
  it.effect("marks tokens that were unused for the period, and deletes them after another", () =>
    Effect.gen(function* () {
      const { cluster } = yield* prepared(["a"])
      yield* runOnce
      yield* cluster.advance("2 days")
      yield* runOnce
      assert.deepStrictEqual(yield* secrets, { a: "" })
      yield* cluster.advance("1 day")
      yield* runOnce
      assert.deepStrictEqual(yield* secrets, { a: "1970-01-04" })
      yield* cluster.advance("2 days")
      yield* runOnce
      assert.deepStrictEqual(yield* secrets, { a: "1970-01-04" })
      yield* cluster.advance("1 day")
      yield* runOnce
      assert.deepStrictEqual(yield* secrets, {})
    }).pipe(Effect.scoped, Effect.provide(where))
  )

  it.effect("runs once a day", () =>
    Effect.gen(function* () {
      const { cluster } = yield* prepared(["a"])
      yield* cluster.run(LegacyTokenCleaner.make({ period: Duration.days(1) }))
      yield* cluster.advance("47 hours")
      assert.deepStrictEqual(yield* secrets, { a: "" })
      yield* cluster.advance("1 hour")
      assert.deepStrictEqual(yield* secrets, { a: "1970-01-03" })
    }).pipe(Effect.scoped, Effect.provide(where))
  )

  it.effect("keeps tokens in use, tokens that a pod mounts, and tokens that a user created", () =>
    Effect.gen(function* () {
      const { client, cluster } = yield* prepared(["used", "mounted", "by-hand", "idle"])
      yield* client.create(Pod, {
        metadata: { namespace, name: "p" },
        spec: {
          containers: [{ name: "main", image: "example.test/main:1" }],
          volumes: [{ name: "v", secret: { secretName: "mounted" } }]
        }
      })
      yield* cluster.advance("5 days")
      yield* label("used", { [lastUsed]: "1970-01-05" })
      yield* runOnce
      assert.deepStrictEqual(yield* secrets, { used: "", mounted: "", "by-hand": "", idle: "1970-01-06" })
      yield* client.delete(Pod, { namespace, name: "p" }, { gracePeriodSeconds: 0 })
      yield* cluster.advance("1 day")
      yield* runOnce
      assert.strictEqual((yield* secrets)["mounted"], "1970-01-07")
    }).pipe(Effect.scoped, Effect.provide(where))
  )

  it.effect("keeps a token for another period when it is used, or when a user removes its mark", () =>
    Effect.gen(function* () {
      const { cluster } = yield* prepared(["a"])
      yield* cluster.advance("5 days")
      yield* runOnce
      assert.deepStrictEqual(yield* secrets, { a: "1970-01-06" })
      yield* label("a", { [invalidSince]: null, [lastUsed]: "1970-01-06" })
      yield* cluster.advance("2 days")
      yield* runOnce
      assert.deepStrictEqual(yield* secrets, { a: "" })
      yield* cluster.advance("1 day")
      yield* runOnce
      assert.deepStrictEqual(yield* secrets, { a: "1970-01-09" })
    }).pipe(Effect.scoped, Effect.provide(where))
  )

  it.effect("changes nothing where the server does not track use, or not for long enough", () =>
    Effect.gen(function* () {
      const { client, cluster } = yield* prepared(["a"], "1970-01-04")
      yield* cluster.advance("5 days")
      yield* runOnce
      assert.deepStrictEqual(yield* secrets, { a: "" })
      yield* client.delete(ConfigMap, {
        namespace: "kube-system",
        name: "kube-apiserver-legacy-service-account-token-tracking"
      })
      yield* cluster.advance("5 days")
      yield* runOnce
      assert.deepStrictEqual(yield* secrets, { a: "" })
    }).pipe(Effect.scoped, Effect.provide(where))
  )

  it.effect("continues after a rejected write, and repeats the write in the next run", () =>
    Effect.gen(function* () {
      const { cluster } = yield* prepared(["a", "b"])
      const { setFaults } = yield* ApiServer
      yield* cluster.advance("5 days")
      yield* setFaults([{ match: toA, fault: { _tag: "Status", code: 403 } }])
      yield* runOnce
      assert.deepStrictEqual(yield* secrets, { a: "", b: "1970-01-06" })
      yield* setFaults([])
      yield* runOnce
      assert.deepStrictEqual(yield* secrets, { a: "1970-01-06", b: "1970-01-06" })
    }).pipe(Effect.scoped, Effect.provide(where))
  )

  it.effect("keeps a token that is used during the run", () =>
    Effect.gen(function* () {
      const { cluster } = yield* prepared(["a"])
      yield* cluster.advance("5 days")
      yield* (yield* ApiServer).setFaults([{ match: toA, fault: { _tag: "Delay", millis: 10_000 }, times: 1 }])
      yield* cluster.run(LegacyTokenCleaner.make({ period }))
      yield* cluster.advance("5 seconds")
      yield* label("a", { [lastUsed]: "1970-01-06" })
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* secrets, { a: "" })
    }).pipe(Effect.scoped, Effect.provide(where))
  )

  it.effect("reaches the same result after a lost response or a crash", () =>
    Effect.gen(function* () {
      const { cluster } = yield* prepared(["a", "b", "c"])
      yield* cluster.advance("5 days")
      yield* (yield* ApiServer).setFaults([
        { match: { verb: "patch", resource: "secrets" }, fault: { _tag: "DropAnswer" }, times: 2 }
      ])
      yield* runOnce
      yield* runOnce
      assert.deepStrictEqual(yield* secrets, { a: "1970-01-06", b: "1970-01-06", c: "1970-01-06" })
    }).pipe(Effect.scoped, Effect.provide(where))
  )

  it.effect("writes nothing while there is nothing to clean, and counts its actions", () =>
    Effect.gen(function* () {
      const { cluster } = yield* prepared(["a", "by-hand"])
      yield* cluster.advance("5 days")
      yield* runOnce
      yield* cluster.advance("5 days")
      yield* runOnce
      assert.deepStrictEqual(yield* secrets, { "by-hand": "" })
      const { revision } = yield* ApiServer
      const before = yield* revision
      yield* cluster.advance("5 days")
      yield* runOnce
      assert.strictEqual(yield* revision, before)
      const counted = (yield* Metric.snapshot).flatMap(({ attributes, id }) =>
        id === "legacy_service_account_token_cleaner_tokens_total" ? [attributes?.["action"]] : []
      )
      assert.sameMembers(counted, ["invalidated", "deleted"])
    }).pipe(Effect.scoped, Effect.provide(where))
  )
})
