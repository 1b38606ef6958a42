import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { TestClock } from "effect/testing"
import * as Access from "../../../../src/kube/Access.ts"
import * as ApiError from "../../../../src/kube/ApiError.ts"
import * as Conditions from "../../../../src/kube/conditions.ts"
import * as Owner from "../../../../src/kube/Owner.ts"
import { ConfigMap, Pod, Secret } from "../../../../src/kube/resources.ts"
import { ClusterTest } from "../../../../src/testing/ClusterTest.ts"
import * as Controller from "../../../../src/layers/Controller.ts"
import { applier } from "../../../../src/layers/controller/writes/apply.ts"
import { createOrUpdate } from "../../../../src/layers/controller/writes/createOrUpdate.ts"
import { finalize } from "../../../../src/layers/controller/writes/finalize.ts"
import { retryOnConflict } from "../../../../src/layers/controller/writes/calls.ts"
import { KubeClient } from "../../../../src/layers/KubeClient.ts"
import * as Reconcile from "../../../../src/streams/reconcile/Reconcile.ts"

const name = "settings"
const namespace = "default"
const create = (data: Record<string, string> = {}) =>
  Effect.flatMap(KubeClient, (client) => client.create(ConfigMap, { metadata: { name, namespace }, data }))

describe("createOrUpdate", () => {
  /** A secret with the data of its config map. */
  const mirror = (results: Array<string>) =>
    Controller.make({
      name: "mirror",
      for: ConfigMap,
      owns: [Secret],
      access: [Access.create(Secret), Access.update(Secret)],
      reconcile: ({ key }, tools) =>
        Effect.gen(function* () {
          const configMap = yield* tools.cache.get(ConfigMap, key)
          if (configMap === undefined) return
          const draft = { metadata: { name, namespace, labels: configMap.data ?? {} } }
          const owned = yield* Effect.fromResult(Owner.set(draft, { resource: ConfigMap, owner: configMap }))
          const mutate = (current: Secret | undefined) => ({ ...current, ...owned })
          results.push((yield* createOrUpdate(tools, { resource: Secret, name, namespace, mutate })).result)
        })
    })

  it.effect("creates, updates, reverts the changes of another writer, and writes nothing when nothing differs", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      const results: Array<string> = []
      const configMap = yield* create({ colour: "blue" })
      yield* cluster.run(mirror(results))
      yield* cluster.settle
      // Its own write queues the owner again.
      assert.deepStrictEqual(results, ["created", "unchanged"])
      yield* client.update(ConfigMap, { ...configMap, data: { colour: "red" } })
      yield* cluster.settle
      assert.deepStrictEqual(results.slice(2), ["updated", "unchanged"])
      const [secret] = yield* cluster.snapshot(Secret)
      assert.deepStrictEqual(secret?.metadata.labels, { colour: "red" })
      assert.strictEqual(Owner.controllerOf(secret!)?.uid, configMap.metadata.uid)
      yield* client.update(Secret, {
        ...secret!,
        metadata: { ...secret!.metadata, labels: {}, annotations: { a: "b" } }
      })
      yield* cluster.settle
      assert.deepStrictEqual(results.slice(4), ["updated", "unchanged"])
      assert.deepInclude((yield* cluster.snapshot(Secret))[0]?.metadata, {
        labels: { colour: "red" },
        annotations: { a: "b" }
      })
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("a mutate that changes the name is reported once and not retried", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* create()
      const failures: Array<unknown> = []
      yield* cluster.run(
        Controller.make({
          name: "renaming",
          for: ConfigMap,
          access: [Access.create(Secret), Access.update(Secret), Access.read(Secret)],
          reconcile: (_, tools) =>
            createOrUpdate(tools, {
              resource: Secret,
              name,
              namespace,
              mutate: () => ({ metadata: { name: "other" } })
            }).pipe(
              Effect.asVoid,
              Effect.tapError((error) => Effect.sync(() => void failures.push(error)))
            )
        })
      )
      yield* cluster.advance("1 hour")
      assert.strictEqual(failures.length, 1)
      assert.instanceOf(failures[0], Reconcile.TerminalError)
      assert.match((failures[0] as Error).message, /mutate made default\/other of default\/settings/)
      assert.deepStrictEqual(yield* cluster.snapshot(Secret), [])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )
})

describe("finalize", () => {
  it.effect("an object is deleted after its cleanup, whatever failed before, and the cleanup runs once", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* create()
      const seen: Array<string> = []
      let broken = true
      yield* cluster.run(
        Controller.make({
          name: "finalizing",
          for: ConfigMap,
          access: [Access.patch(ConfigMap)],
          reconcile: ({ key }, tools) =>
            Effect.gen(function* () {
              const configMap = yield* tools.cache.get(ConfigMap, key)
              if (configMap === undefined) return
              const object = yield* finalize(tools.client, {
                resource: ConfigMap,
                object: configMap,
                finalizers: {
                  "example.com/door": () => Effect.sync(() => void seen.push("door")),
                  "example.com/light": () => (broken ? Effect.fail("no") : Effect.sync(() => void seen.push("light")))
                }
              })
              seen.push(object === undefined ? "nothing" : (object.metadata.finalizers ?? []).join(" "))
            })
        })
      )
      yield* cluster.settle
      assert.strictEqual(seen[0], "example.com/door example.com/light")
      seen.length = 0
      yield* client.delete(ConfigMap, { namespace, name })
      yield* cluster.advance("10 seconds")
      assert.deepStrictEqual(seen, ["door"])
      assert.deepStrictEqual((yield* cluster.snapshot(ConfigMap))[0]?.metadata.finalizers, ["example.com/light"])
      broken = false
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(seen, ["door", "light", "nothing"])
      assert.deepStrictEqual(yield* cluster.snapshot(ConfigMap), [])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )
})

describe("applier", () => {
  const tell = (seen: Array<string>) =>
    Controller.make({
      name: "telling",
      for: Pod,
      access: [Access.patch(Pod), Access.patch(Pod, "status"), Access.create(ConfigMap), Access.patch(ConfigMap)],
      reconcile: ({ key }, { cache, client }) =>
        Effect.gen(function* () {
          const pod = yield* cache.get(Pod, key)
          if (pod === undefined) return
          const { apply, applyStatus } = applier(client, { fieldManager: "telling" })
          const now = yield* Clock.currentTimeMillis
          const config = yield* apply(ConfigMap, {
            metadata: { name: "applied", namespace },
            data: { pod: pod.metadata.name }
          })
          const claim = { type: "example.com/Told", status: true, reason: "Told" }
          const known = (pod.status?.conditions ?? []).filter(
            ({ type }) => type === claim.type
          ) as Conditions.Conditions
          const conditions = Conditions.set(known, claim, now)
          const told = yield* applyStatus(Pod, pod, { conditions })
          seen.push(`${config.data?.["pod"]} ${told.status?.conditions?.map(({ type }) => type).join(" ")}`)
        })
    })

  it.effect("applies objects and status with one field manager, takes over fields, and is idempotent", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* client.create(ConfigMap, {
        metadata: { name: "applied", namespace },
        data: { pod: "theirs", mine: "kept" }
      })
      yield* client.create(Pod, {
        metadata: { name: "web", namespace },
        spec: { containers: [{ name: "web", image: "example.test/web:1" }] }
      })
      const seen: Array<string> = []
      yield* cluster.run(tell(seen))
      yield* cluster.advance("1 minute")
      // Once for the pod, once for its new status; the second apply changes nothing, so there is no third.
      assert.deepStrictEqual(seen, ["web example.com/Told", "web example.com/Told"])
      const [configMap] = yield* cluster.snapshot(ConfigMap)
      assert.deepStrictEqual(configMap?.data, { pod: "web", mine: "kept" })
      assert.isTrue(configMap?.metadata.managedFields?.some(({ manager }) => manager === "telling"))
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )
})

describe("retryOnConflict", () => {
  const failing = (code: number, times: number) => {
    const at: Array<number> = []
    const effect = Effect.flatMap(Clock.currentTimeMillis, (now) => {
      at.push(now)
      return at.length <= times
        ? Effect.fail(ApiError.fromStatus({ context: { verb: "update", path: "/x" }, status: code, body: "" }))
        : Effect.succeed(at.length)
    })
    return { at, effect }
  }

  it.effect("makes five attempts, 9 to 11 ms apart, and then fails with the last error", () =>
    Effect.gen(function* () {
      const { at, effect } = failing(409, 99)
      const fiber = yield* Effect.forkChild(Effect.result(retryOnConflict(effect)), { startImmediately: true })
      for (let millis = 0; millis < 100; millis++) yield* TestClock.adjust("1 millis")
      const result = yield* Fiber.join(fiber)
      assert.isTrue(Result.isFailure(result) && ApiError.hasReason(result.failure, "Conflict"))
      assert.strictEqual(at.length, 5)
      const gaps = at.slice(1).map((time, i) => time - (at[i] ?? 0))
      assert.isTrue(
        gaps.every((gap) => gap >= 9 && gap <= 12),
        gaps.join(" ")
      )
    })
  )

  it.effect("stops at a success, and does not retry other errors", () =>
    Effect.gen(function* () {
      const lucky = failing(409, 2)
      const fiber = yield* Effect.forkChild(retryOnConflict(lucky.effect), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(fiber), 3)
      const other = failing(500, 99)
      yield* Effect.flip(retryOnConflict(other.effect))
      assert.strictEqual(other.at.length, 1)
    })
  )
})
