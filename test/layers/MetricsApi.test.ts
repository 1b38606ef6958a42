/**
 * The metrics APIs: the requested paths, the values of the responses, and the messages of failures.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as ApiError from "../../src/kube/ApiError.ts"
import { Discovery } from "../../src/layers/Discovery.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { MetricsApi } from "../../src/layers/MetricsApi.ts"
import { type Request, Transport } from "../../src/layers/Transport.ts"

type Answers = Readonly<Record<string, unknown>>

/** Responses by path; a number is a status code without a Status, and other paths are not found. */
const server = (answers: Answers, requests: Array<string>) =>
  Layer.succeed(
    Transport,
    Transport.of({
      send: ({ context, path, query }: Request) =>
        Effect.suspend(() => {
          const search = new URLSearchParams(
            Object.entries(query ?? {}).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]]))
          )
          requests.push([path, ...(search.size === 0 ? [] : [search])].join("?"))
          const answer = answers[path] ?? 404
          if (typeof answer !== "number") return Effect.succeed({ status: 200, body: answer, warnings: [] })
          return Effect.fail(ApiError.fromStatus({ context, status: answer, body: "404 page not found" }))
        }),
      watch: () => Stream.never
    })
  )

const withApi = <A, E>(
  answers: Answers,
  use: (api: MetricsApi["Service"], requests: Array<string>) => Effect.Effect<A, E>
) =>
  Effect.suspend(() => {
    const requests: Array<string> = []
    const layer = MetricsApi.layer.pipe(
      Layer.provide(Discovery.layer),
      Layer.provide(KubeClient.layer),
      Layer.provide(server(answers, requests))
    )
    return Effect.provide(
      Effect.flatMap(MetricsApi, (api) => use(api, requests)),
      layer
    )
  })

const why = <A>(answer: Effect.Effect<A, { readonly message: string }>) =>
  Effect.map(Effect.flip(answer), ({ message }) => message)

const pods = "/apis/metrics.k8s.io/v1beta1/namespaces/ns/pods"
const cpu = { namespace: "ns", selector: "app=web", resource: "cpu", container: undefined }

const metrics = (name: string, containers: Readonly<Record<string, object>>, rest: object = {}) => ({
  metadata: { name, namespace: "ns" },
  timestamp: "1970-01-01T00:01:00Z",
  window: "15.5s",
  containers: Object.entries(containers).map(([name, usage]) => ({ name, usage })),
  ...rest
})

describe("usage of resources", () => {
  const items = [
    metrics("a", { main: { cpu: "100m", memory: "1Gi" }, side: { cpu: "1500u" } }),
    metrics("b", { main: { cpu: "2" }, side: { memory: "1Mi" } }),
    metrics("c", {})
  ]

  it.effect("is the sum of a pod's containers, without pods that lack the measurement of a container", () =>
    withApi({ [pods]: { items } }, (api, requests) =>
      Effect.gen(function* () {
        const samples = yield* api.resource(cpu)
        assert.deepStrictEqual([...samples], [["a", { time: 60_000, window: 15_500, amount: 102n }]])
        assert.deepStrictEqual(requests, [`${pods}?labelSelector=app%3Dweb&limit=500`])
      })
    )
  )

  it.effect("of one container is that of the container", () =>
    withApi({ [pods]: { items: items.slice(0, 2) } }, (api) =>
      Effect.gen(function* () {
        const samples = yield* api.resource({ ...cpu, container: "side" })
        assert.deepStrictEqual([...samples.keys()], ["a"])
        // A pod without such a container is missing, and the caller decides what that means.
        assert.deepStrictEqual([...(yield* api.resource({ ...cpu, container: "main" })).keys()], ["a", "b"])
        assert.deepStrictEqual([...(yield* api.resource({ ...cpu, container: "other" })).keys()], [])
      })
    )
  )

  const failed = "unable to fetch metrics from resource metrics API:"
  const rows: ReadonlyArray<readonly [string, Answers, string]> = [
    ["nobody serves", {}, `${failed} the server could not find the requested resource (get pods.metrics.k8s.io)`],
    [
      "is away",
      { [pods]: 503 },
      `${failed} the server is currently unable to handle the request (get pods.metrics.k8s.io)`
    ],
    ["knows nothing yet", { [pods]: { items: [] } }, "no metrics returned from resource metrics API"]
  ]
  for (const [title, answers, message] of rows) {
    it.effect(`is reported as missing after one request when a server ${title}`, () =>
      withApi(answers, (api, requests) =>
        Effect.gen(function* () {
          assert.strictEqual(yield* why(api.resource(cpu)), message)
          assert.lengthOf(requests, 1)
        })
      )
    )
  }
})

const group = "/apis/custom.metrics.k8s.io"
const versions = (...names: ReadonlyArray<string>) => ({ [group]: { versions: names.map((version) => ({ version })) } })
const qps = { namespace: "ns", selector: "app=web", metric: "q/s", metricSelector: "verb=GET" }
const one = (value: string, rest: object = {}) => ({ timestamp: "1970-01-01T00:01:00Z", value, ...rest })

describe("custom metrics", () => {
  it.effect("of pods are read with one request, in the newer version", () => {
    const path = `${group}/v1beta2/namespaces/ns/pods/*/q%2Fs`
    const items = [
      one("1500m", { describedObject: { name: "a" }, windowSeconds: 30 }),
      one("2", { describedObject: { name: "b" } })
    ]
    return withApi({ ...versions("v1beta1", "v1beta2"), [path]: { items } }, (api, requests) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          [...(yield* api.pods(qps))],
          [
            ["a", { time: 60_000, window: 30_000, amount: 1500n }],
            ["b", { time: 60_000, window: 60_000, amount: 2000n }]
          ]
        )
        assert.deepStrictEqual(requests, [group, `${path}?labelSelector=app%3Dweb&metricLabelSelector=verb%3DGET`])
        yield* api.pods({ ...qps, metricSelector: "" })
        assert.deepStrictEqual(requests.slice(2), [`${path}?labelSelector=app%3Dweb`])
        yield* TestClock.adjust("15 seconds")
        yield* api.pods(qps)
        assert.strictEqual(requests[3], group)
      })
    )
  })

  it.effect("of an object are read below its resource, those of a namespace below its own path", () => {
    const at = `${group}/v1beta1/namespaces/ns`
    const answers = {
      ...versions("v1beta1"),
      "/apis": {
        kind: "APIGroupList",
        groups: [{ name: "apps", versions: [{ version: "v1" }], preferredVersion: { version: "v1" } }]
      },
      "/apis/apps/v1": {
        kind: "APIResourceList",
        resources: [{ name: "deployments", kind: "Deployment", namespaced: true, verbs: ["get"] }]
      },
      [`${at}/deployments.apps/web/qps`]: { items: [one("3")] },
      [`${at}/metrics/qps`]: { items: [one("4")] }
    }
    return withApi(answers, (api) =>
      Effect.gen(function* () {
        const query = { namespace: "ns", metric: "qps", metricSelector: "" }
        const of = (kind: string, apiVersion: string) =>
          api.object({ ...query, object: { apiVersion, kind, name: "web" } })
        assert.strictEqual(yield* of("Deployment", "apps/v1"), 3000n)
        assert.strictEqual(yield* of("Namespace", "v1"), 4000n)
        assert.strictEqual(
          yield* why(of("Moon", "apps/v1")),
          'unable to fetch metrics from custom metrics API: no matches for kind "Moon" in group "apps"'
        )
      })
    )
  })

  const failed = "unable to fetch metrics from custom metrics API:"
  const rows: ReadonlyArray<readonly [string, Answers, string]> = [
    ["nobody serves", {}, `${failed} no known available metric versions found`],
    [
      "are served in words that nobody here knows",
      versions("v7"),
      `${failed} no known available metric versions found`
    ],
    ["cannot be asked for", { [group]: 503 }, `${failed} HTTP status 503: 404 page not found`],
    [
      "do not have this one",
      versions("v1beta2"),
      `${failed} the server could not find the requested resource (get pods.custom.metrics.k8s.io *)`
    ],
    [
      "have none for these pods",
      { ...versions("v1beta2"), [`${group}/v1beta2/namespaces/ns/pods/*/q%2Fs`]: { items: [] } },
      "no metrics returned from custom metrics API"
    ]
  ]
  for (const [title, answers, message] of rows) {
    it.effect(`that ${title} fail with the message of kube-controller-manager`, () =>
      withApi(answers, (api) => Effect.map(why(api.pods(qps)), (found) => assert.strictEqual(found, message)))
    )
  }
})

describe("external metrics", () => {
  const path = "/apis/external.metrics.k8s.io/v1beta1/namespaces/ns/depth"
  const query = { namespace: "ns", metric: "depth", metricSelector: "queue=a" }

  it.effect("are all values of the metric", () =>
    withApi({ [path]: { items: [one("1"), one("1500m")] } }, (api, requests) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* api.external(query), [1000n, 1500n])
        assert.deepStrictEqual(requests, [`${path}?labelSelector=queue%3Da`])
      })
    )
  )

  it.effect("that do not exist fail with the message of kube-controller-manager", () =>
    Effect.gen(function* () {
      const messageOf = (answers: Answers) => withApi(answers, (api) => why(api.external(query)))
      const failed = "unable to fetch metrics from external metrics API:"
      const missing = "the server could not find the requested resource (get depth.external.metrics.k8s.io)"
      assert.strictEqual(yield* messageOf({}), `${failed} ${missing}`)
      assert.strictEqual(yield* messageOf({ [path]: { items: [] } }), "no metrics returned from external metrics API")
      assert.include(
        yield* messageOf({ [path]: { items: [one("1"), one("many")] } }),
        `${failed} quantities must match`
      )
      assert.strictEqual(yield* messageOf({ [path]: "no" }), "no metrics returned from external metrics API")
    })
  )
})
