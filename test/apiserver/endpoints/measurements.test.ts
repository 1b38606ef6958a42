/** metrics.k8s.io in process, from the usage of simulated nodes in virtual time. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Deployment } from "../../../src/kube/resources.ts"
import * as DeploymentController from "../../../src/controllers/Deployment.ts"
import * as Autoscaler from "../../../src/controllers/HorizontalPodAutoscaler.ts"
import * as ReplicaSetController from "../../../src/controllers/ReplicaSet.ts"
import { MetricsApi } from "../../../src/layers/MetricsApi.ts"
import * as Nodes from "../../../src/simulation/Nodes.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { get, layer, post, refused } from "../client.ts"
import { askAs, person } from "../users.ts"

const api = "/apis/metrics.k8s.io/v1beta1"
const inDefault = `${api}/namespaces/default/pods`

const pod = (name: string, annotations: object = {}, labels: object = { app: name }) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", annotations, labels },
  spec: { containers: [{ name: "main", image: "example.test/main:1" }] }
})

const measured = Effect.provide(ClusterTest.layer({ nodes: 2, metrics: true }))

it.effect("running pods have metrics once they have run for a window, selected by label and field", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.apply([
      pod("web", { "simulation/usage": "cpu:250m,memory:64Mi" }),
      pod("other"),
      { ...pod("pending"), spec: { ...pod("pending").spec, nodeSelector: { no: "where" } } }
    ])
    yield* cluster.advance("2 seconds")
    assert.deepStrictEqual((yield* get(inDefault)).items, [])
    yield* cluster.advance("43 seconds")
    const list = yield* get(inDefault)
    assert.strictEqual(list.kind, "PodMetricsList")
    assert.deepStrictEqual(
      list.items.map((one: any) => one.metadata.name),
      ["other", "web"]
    )
    const [web] = (yield* get(inDefault, { labelSelector: "app=web" })).items
    assert.deepStrictEqual(web, {
      metadata: {
        name: "web",
        namespace: "default",
        creationTimestamp: "1970-01-01T00:00:45Z",
        labels: { app: "web" }
      },
      timestamp: "1970-01-01T00:00:45Z",
      window: "15s",
      containers: [{ name: "main", usage: { cpu: "250m", memory: "64Mi" } }]
    })
    assert.deepStrictEqual(yield* get(`${inDefault}/web`), {
      kind: "PodMetrics",
      apiVersion: "metrics.k8s.io/v1beta1",
      ...web
    })
    assert.strictEqual((yield* get(`${api}/pods`, { fieldSelector: "metadata.name=web" })).items.length, 1)
    const shardSelector = "shardRange(object.metadata.uid, '0x0000000000000000', '0x0000000000000001')"
    assert.deepStrictEqual((yield* get(inDefault, { shardSelector })).metadata, list.metadata)
    assert.strictEqual((yield* get(inDefault, { shardSelector })).items.length, 2)
    const table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    assert.deepStrictEqual((yield* get(inDefault, {}, table)).rows[1].cells, ["web", "250m", "64Mi", "15s"])
  }).pipe(measured)
)

it.effect("a node uses what its pods use and a little more, and one that is stopped has no metrics", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.apply([pod("web", { "simulation/usage": "cpu:250m,memory:64Mi" })])
    yield* cluster.advance("45 seconds")
    const worker = yield* get(`${api}/nodes/worker-1`)
    assert.deepStrictEqual(worker.usage, { cpu: "300m", memory: "320Mi" })
    assert.strictEqual(worker.metadata.labels["kubernetes.io/hostname"], "worker-1")
    yield* (yield* Nodes.Nodes).stop("worker-1")
    yield* cluster.advance("15 seconds")
    assert.deepStrictEqual(
      (yield* get(`${api}/nodes`)).items.map((one: any) => one.metadata.name),
      ["control-plane"]
    )
    const gone = yield* refused(get(`${inDefault}/web`))
    assert.deepStrictEqual([gone.status, gone.message], [404, 'podmetrics.metrics.k8s.io "default/web" not found'])
  }).pipe(measured)
)

it.effect("metrics can be read only", () =>
  Effect.gen(function* () {
    assert.strictEqual((yield* refused(post(inDefault, {}))).status, 405)
    assert.strictEqual((yield* refused(get(inDefault, { watch: true }))).status, 405)
    const { resources } = yield* get(api)
    assert.deepStrictEqual(
      resources.map((one: any) => [one.name, one.kind, one.verbs.join()]),
      [
        ["nodes", "NodeMetrics", "get,list"],
        ["pods", "PodMetrics", "get,list"]
      ]
    )
    // Nothing is connected.
    assert.deepStrictEqual((yield* get(inDefault)).items, [])
  }).pipe(Effect.provide(layer({ metrics: true })))
)

it.effect("a server without metrics does not serve their API", () =>
  Effect.gen(function* () {
    assert.strictEqual((yield* refused(get(inDefault))).status, 404)
  }).pipe(Effect.provide(layer()))
)

it.effect("who may view a namespace may read the metrics of its pods", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const amy = person("amy")
    assert.strictEqual((yield* askAs(amy, "GET", inDefault)).status, 403)
    yield* cluster.apply([
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: { name: "amy", namespace: "default" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
        subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "amy" }]
      }
    ])
    assert.strictEqual((yield* askAs(amy, "GET", inDefault)).status, 200)
    assert.strictEqual((yield* askAs(amy, "GET", `${api}/nodes`)).status, 403)
  }).pipe(Effect.provide(ClusterTest.layer({ nodes: 1, metrics: true, authorization: "RBAC" })))
)

it.effect("an autoscaler reaches the number of replicas among which the load is divided", () =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    yield* cluster.run(DeploymentController.make())
    yield* cluster.run(ReplicaSetController.make())
    yield* cluster.run(Autoscaler.make())
    yield* cluster.apply([
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "web", namespace: "default" },
        spec: {
          selector: { matchLabels: { app: "web" } },
          template: {
            metadata: { labels: { app: "web" }, annotations: { "simulation/load": "cpu:900m" } },
            spec: { containers: [{ name: "main", image: "a:1", resources: { requests: { cpu: "200m" } } }] }
          }
        }
      },
      {
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "web", namespace: "default" },
        spec: {
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          maxReplicas: 10,
          metrics: [
            { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 100 } } }
          ]
        }
      }
    ])
    const replicas = Effect.map(cluster.snapshot(Deployment), ([web]) => web?.status?.readyReplicas)
    for (let i = 0; i < 16; i++) yield* cluster.advance("15 seconds")
    assert.strictEqual(yield* replicas, 5)
    for (let i = 0; i < 40; i++) yield* cluster.advance("15 seconds")
    assert.strictEqual(yield* replicas, 5)
  }).pipe(Effect.provide(Layer.provideMerge(MetricsApi.layer, ClusterTest.layer({ nodes: 3, metrics: true }))))
)

it.effect("OpenAPI describes the measurements, so that kubectl explains them", () =>
  Effect.gen(function* () {
    const { components, paths } = yield* get("/openapi/v3/apis/metrics.k8s.io/v1beta1")
    assert.deepStrictEqual(Object.keys(paths), [
      `${api}/namespaces/{namespace}/pods`,
      `${api}/namespaces/{namespace}/pods/{name}`,
      `${api}/nodes`,
      `${api}/nodes/{name}`,
      `${api}/pods`
    ])
    assert.deepStrictEqual(components.schemas["io.k8s.metrics.pkg.apis.metrics.v1beta1.NodeMetrics"].required, [
      "timestamp",
      "usage",
      "window"
    ])
  }).pipe(Effect.provide(layer({ metrics: true })))
)
