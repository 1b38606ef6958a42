/** The precedence of the settings of a kind, of all kinds, and of a subscription. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import * as ApiError from "../../../src/kube/ApiError.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Node, Secret } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import * as Kinds from "../../../src/layers/cache/kinds.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { type Request, Transport } from "../../../src/layers/Transport.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { checkProperty } from "../../support/property.ts"

const selector = Schema.UndefinedOr(Schema.Literals(["", "a=1", "b=2"]))
const givenSelectors = Schema.Struct({
  own: selector,
  kind: selector,
  all: selector,
  of: Schema.Literals(["labels", "fields"])
})

describe("Kinds", () => {
  checkProperty(
    "the more specific selector is used, and an empty one selects all",
    Arbitrary.schema(givenSelectors),
    (given) => {
      const settings = (value: string | undefined) =>
        given.of === "labels" ? { labelSelector: value } : { fieldSelector: value }
      const options = {
        ...settings(given.all),
        kinds: [Kinds.kind(Secret, settings("c=3")), Kinds.kind(ConfigMap, settings(given.kind))]
      }
      const found = Kinds.selection(options, ConfigMap, settings(given.own))
      const first = [given.own, given.kind, given.all].find((one) => one !== undefined)
      const expected = first === undefined || first === "" ? [] : [first]
      return JSON.stringify(Object.values(found)) === JSON.stringify(expected)
    }
  )

  checkProperty(
    "the settings of a kind apply to its metadata projection too",
    Arbitrary.schema(selector),
    (labelSelector) => {
      const options = { kinds: [Kinds.kind(ConfigMap, { labelSelector })] }
      return Kinds.of(options, Resource.metadataOnly(ConfigMap)).labelSelector === labelSelector
    }
  )
})

describe("the interval of a watch", () => {
  it.effect("is that of its kind, else that of all kinds, else 20 ms", () =>
    Effect.gen(function* () {
      const given = [
        { interval: "5 millis", kinds: [Cache.kind(Secret, { interval: "1 second" })] },
        { kinds: [Cache.kind(Secret, { interval: "1 second" })] }
      ] as const
      const found = yield* Effect.forEach(given, (options) => {
        const sent: Array<Request> = []
        const transport = Transport.of({
          send: ({ context }) => Effect.fail(ApiError.network(context, new Error("only watches"))),
          watch: (request) => {
            sent.push(request)
            return Stream.never
          }
        })
        const layer = Layer.provide(
          Cache.layer(options),
          Layer.provide(KubeClient.layer, Layer.succeed(Transport, transport))
        )
        return Effect.gen(function* () {
          const cache = yield* Cache
          yield* Effect.forEach([Secret, ConfigMap], (kind) => cache.subscribe(kind))
          yield* TestClock.adjust("1 second")
          return sent.map(({ interval, path }) => `${path} ${interval}`).sort()
        }).pipe(Effect.provide(layer), Effect.scoped)
      })
      assert.deepStrictEqual(found, [
        ["/api/v1/configmaps 5", "/api/v1/secrets 1000"],
        ["/api/v1/configmaps 20", "/api/v1/secrets 1000"]
      ])
    })
  )
})

const objects = [
  ...["blue", "red"].flatMap((name) => {
    const metadata = { name, namespace: "default", labels: { team: name } }
    return [
      { apiVersion: "v1", kind: "ConfigMap", metadata, data: { key: "value" } },
      { apiVersion: "v1", kind: "Secret", metadata, stringData: { key: "value" } }
    ]
  }),
  { apiVersion: "v1", kind: "Node", metadata: { name: "red", labels: { team: "red" } } }
]

const withoutData = (secret: Secret): Secret => Object.assign(secret, { data: {} })

const cache = {
  labelSelector: "team=blue",
  resync: { period: "10 minutes", spread: "around" },
  kinds: [
    Cache.kind(Secret, {
      labelSelector: "",
      resync: "never",
      transform: withoutData
    }),
    Cache.kind(Node, { labelSelector: "team=red" })
  ]
} as const

describe("a cache with settings by kind", () => {
  it.effect("sends the selectors of a kind, stores transformed objects, and finds the informer for a read", () =>
    Effect.gen(function* () {
      const reads = yield* Cache
      const requests: Array<string> = []
      yield* (yield* ApiServer).setFaults([
        {
          match: ({ context, query }) => {
            requests.push(`${context.resource} ${String(query?.["labelSelector"] ?? "all")}`)
            return false
          },
          fault: { _tag: "Drop" }
        }
      ])
      for (const kind of [ConfigMap, Secret, Node]) yield* reads.subscribe(kind)
      yield* reads.subscribe(ConfigMap, { selection: { labelSelector: "" } })
      const names = (found: ReadonlyArray<{ readonly metadata: { readonly name: string } }>) =>
        found.map(({ metadata }) => metadata.name).sort()
      assert.deepStrictEqual(names(yield* reads.list(ConfigMap)), ["blue"])
      assert.includeMembers(names(yield* reads.list(ConfigMap, { selection: { labelSelector: "" } })), ["blue", "red"])
      const secrets = yield* reads.list(Secret)
      assert.deepStrictEqual(names(secrets), ["blue", "red"])
      for (const { data } of secrets) assert.deepStrictEqual(data, {})
      assert.deepStrictEqual((yield* reads.get(ConfigMap, "default/blue"))?.data, { key: "value" })
      assert.deepStrictEqual(names(yield* reads.list(Node)), ["red"])
      assert.sameMembers(
        [...new Set(requests)],
        ["configmaps team=blue", "configmaps all", "secrets all", "nodes team=red"]
      )
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ objects, cache })))
  )

  it.effect("resyncs the kinds with a resync period, and no others", () =>
    Effect.gen(function* () {
      const reads = yield* Cache
      const counts = { configmaps: 0, secrets: 0 }
      yield* reads.onDeltas(ConfigMap, undefined, (deltas) => void (counts.configmaps += deltas.length))
      yield* reads.onDeltas(Secret, undefined, (deltas) => void (counts.secrets += deltas.length))
      yield* reads.synced(ConfigMap)
      yield* reads.synced(Secret)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(counts, { configmaps: 1, secrets: 2 })
      yield* TestClock.adjust("11 minutes")
      yield* (yield* ClusterTest).settle
      assert.deepStrictEqual(counts, { configmaps: 2, secrets: 2 })
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ objects, cache })))
  )
})
