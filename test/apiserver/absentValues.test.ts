/**
 * Empty and absent values, beyond the conformance suite: every kind can be updated as read, and a field that is not stored is not
 * written twice.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { get, layer, patch, post, put, same } from "./client.ts"
import { objects } from "./defaultsObjects.ts"

const apply = (path: string, body: object) => patch(path, "apply", body, { fieldManager: "one", force: true })

describe("objects", () => {
  it.effect("of every kind do not change when they are updated as read", () =>
    Effect.gen(function* () {
      for (const { body, clusterScoped, path } of objects) {
        const parts = `/${path}`.split("/")
        const at = clusterScoped === true ? `/${path}` : parts.toSpliced(-1, 0, "namespaces", "default").join("/")
        const made = yield* post(at, body)
        const own = `${at}/${made.metadata.name}`
        same(yield* get(own), made)
        same(yield* put(own, made), made)
        same(yield* patch(own, "merge", {}), made)
        same(yield* patch(own, "json", []), made)
      }
      assert.isAbove(objects.length, 30)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("make no revision when fields that are not stored are applied again", () =>
    Effect.gen(function* () {
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, binaryData: null, data: {} }
      const at = "/api/v1/namespaces/default/configmaps/a"
      const made = yield* apply(at, body)
      const before = yield* (yield* ApiServer).revision
      yield* TestClock.adjust("1 hour")
      same(yield* apply(at, body), made)
      same(yield* (yield* ApiServer).revision, before)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("applied in another version than the stored one have the applied fields as managed", () =>
    Effect.gen(function* () {
      const scalers = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
      const scaleTargetRef = { kind: "Deployment", name: "d" }
      yield* post(scalers, { metadata: { name: "a" }, spec: { maxReplicas: 2, scaleTargetRef } })
      const kind = { apiVersion: "autoscaling/v1", kind: "HorizontalPodAutoscaler" }
      const spec = { minReplicas: 2, targetCPUUtilizationPercentage: null }
      const made = yield* apply(`${scalers}/a`, { ...kind, metadata: { name: "a", labels: null }, spec })
      same(made.spec, { maxReplicas: 2, minReplicas: 2, scaleTargetRef, targetCPUUtilizationPercentage: 80 })
      const owned = made.metadata.managedFields.find((entry: any) => entry.manager === "one")
      same(owned.fieldsV1["f:spec"], { "f:minReplicas": {} })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("stored in another version are read in the requested version", () =>
    Effect.gen(function* () {
      const versions = "/apis/autoscaling/"
      const scalers = "/namespaces/default/horizontalpodautoscalers"
      const spec = { maxReplicas: 2, scaleTargetRef: { kind: "Deployment", name: "d" } }
      const old = yield* post(`${versions}v1${scalers}`, { metadata: { name: "a" }, spec })
      same(old.status, { currentReplicas: 0, desiredReplicas: 0 })
      same(old.metadata.annotations, undefined)
      same((yield* get(`${versions}v2${scalers}/a`)).status, { currentMetrics: null, desiredReplicas: 0 })
    }).pipe(Effect.provide(layer()))
  )
})
