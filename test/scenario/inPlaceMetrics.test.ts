/**
 * The metrics of the command `kube-controller-manager`, compared with those of kube-controller-manager 1.36: names, types, labels and buckets of
 * metrics, and names of queues, so that a dashboard for the one works with the other.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { generateKeyPairSync } from "node:crypto"
import { request } from "node:https"
import { EmbeddedCluster } from "../../src/apiserver/server/EmbeddedCluster.ts"
import { Deployment, Endpoints, HorizontalPodAutoscaler, Job, Node, Pod, Service } from "../../src/kube/resources.ts"
import * as Reference from "../parity/metrics.ts"
import * as Exposition from "../support/exposition.ts"
import * as Process from "../support/process.ts"
import * as Promtool from "../support/promtool.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const timeout = 120_000

/** The text at a path, for a bearer token. */
const get = (port: number, path: string, token: string) =>
  Effect.promise(
    () =>
      new Promise<string>((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}` }
        const options = { host: "127.0.0.1", port, path, headers, agent: false as const, rejectUnauthorized: false }
        request(options, (response) => {
          let text = ""
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
          response.once("end", () => resolve(text))
        })
          .on("error", reject)
          .end()
      })
  )

const started = Effect.gen(function* () {
  const { endpoint } = Context.get(yield* Layer.build(Layer.fresh(EmbeddedCluster.layer())), EmbeddedCluster)
  const token = Redacted.value(endpoint.token)
  const upstream = { server: endpoint.server, ca: endpoint.ca, token }
  const kubeconfig = yield* Kubeconfigs.write({ server: endpoint.server, ca: endpoint.ca, user: { token } })
  const port = yield* Process.freePort
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const keyFile = yield* Kubeconfigs.file(privateKey.export({ type: "pkcs8", format: "pem" }))
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--root-ca-file=${yield* Kubeconfigs.file(endpoint.ca)}`,
    `--service-account-private-key-file=${keyFile}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`
  ]
  const program = yield* Process.start(["kube-controller-manager", ...args])
  return { client: yield* Cluster.client(upstream), port, program, token }
})

/** Objects for the loops: metrics with labels have no series before there is something to count. */
const objects = Effect.fnUntraced(function* (client: Cluster.Client) {
  const metadata = (name: string) => ({ name, namespace: "default" })
  const labels = { app: "web" }
  const containers = [{ name: "main", image: "web:1" }]
  const template = { metadata: { labels }, spec: { containers } }
  yield* client.create(Node, { metadata: { name: "node" } })
  yield* client.create(Deployment, { metadata: metadata("web"), spec: { selector: { matchLabels: labels }, template } })
  yield* client.create(Service, {
    metadata: metadata("web"),
    spec: { selector: labels, ports: [{ port: 80 }], trafficDistribution: "PreferClose" }
  })
  yield* client.create(Service, { metadata: metadata("mirrored"), spec: { ports: [{ port: 80 }] } })
  const subsets = [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 80 }] }]
  yield* client.create(Endpoints, { metadata: metadata("mirrored"), subsets })
  yield* client.create(HorizontalPodAutoscaler, {
    metadata: metadata("web"),
    spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } }
  })
  const task = { metadata: { labels: { app: "task" } }, spec: { containers, restartPolicy: "Never" } }
  yield* client.create(Job, {
    metadata: metadata("task"),
    spec: { completions: 1, completionMode: "Indexed", backoffLimitPerIndex: 1, template: task }
  })
  const pod = yield* Cluster.until(client, Pod, { namespace: "default" }, ({ metadata: { labels = {} } }) =>
    Object.hasOwn(labels, "batch.kubernetes.io/job-name")
  )
  const target = { namespace: "default", name: pod.metadata.name ?? "" }
  yield* client.patch(
    Pod,
    { ...target, subresource: "status" },
    { type: "merge", body: { status: { phase: "Succeeded" } } }
  )
  yield* Cluster.until(client, Job, { namespace: "default" }, ({ status }) => status?.completionTime !== undefined)
})

const words = (text: string) => text.trim().split(/\s+/)

/** Metrics with labels that exist only after something was counted: the objects above cause that. */
const driven = words(`
  endpoint_slice_controller_changes endpoint_slice_controller_syncs endpoint_slice_mirroring_controller_changes
  endpoint_slice_controller_endpointslices_changed_per_sync endpoint_slice_controller_services_count_by_traffic_distribution
  horizontal_pod_autoscaler_controller_metric_computation_total horizontal_pod_autoscaler_controller_reconciliations_total
  job_controller_job_finished_indexes_total job_controller_job_pods_creation_total job_controller_job_pods_finished_total
  job_controller_job_sync_duration_seconds job_controller_job_syncs_total job_controller_jobs_finished_total
  job_controller_terminated_pods_tracking_finalizer_total
  node_collector_evictions_total node_collector_unhealthy_nodes_in_zone node_collector_zone_health node_collector_zone_size
  root_ca_cert_publisher_sync_duration_seconds root_ca_cert_publisher_sync_total
`)

const isOurs = (name: string) => Reference.besides.some((start) => name.startsWith(start))

/** Doubles that were multiplied differ in their last digits. */
const rowOf = ({ bounds, labels, type }: Pick<Exposition.Family, "bounds" | "labels" | "type">) => ({
  type,
  labels: [...labels],
  bounds: bounds.map((bound) => Number(bound.toPrecision(12)))
})

/** Waits until families of those names exist. */
const scraped = Effect.fnUntraced(function* (port: number, token: string, names: ReadonlyArray<string>) {
  for (let left = 100; ; left--) {
    const text = yield* get(port, "/metrics", token)
    const families = Exposition.parse(text)
    const missing = names.filter((name) => !families.has(name))
    if (missing.length === 0) return { families, text }
    assert.isAbove(left, 0, `not there: ${missing.join(", ")}`)
    yield* Effect.sleep("200 millis")
  }
})

describe("the metrics in place of kube-controller-manager", () => {
  it.live(
    "have its names, types, labels, buckets and queues, also those that it registers late",
    () =>
      Effect.gen(function* () {
        const { client, port, program, token } = yield* started
        yield* program.says(/Starting Controller.*taint-eviction/)
        yield* objects(client)
        const here = new Map(Reference.metrics.flatMap((row) => (row.absent === undefined ? [[row.name, row]] : [])))
        const always = [...here.values()].filter(({ labels }) => labels.length === 0).map(({ name }) => name)
        const { families, text } = yield* scraped(port, token, [...always, ...driven])
        if (Promtool.missing === undefined) assert.strictEqual(Promtool.complaints(text), "")
        const found = [...families].filter(([name]) => !isOurs(name))
        assert.deepStrictEqual(
          Object.fromEntries(found.map(([name, family]) => [name, rowOf(family)])),
          Object.fromEntries(
            found.flatMap(([name]) => {
              const row = here.get(name)
              return row === undefined ? [] : [[name, rowOf(row)]]
            })
          )
        )
        const queues = Array.from(text.matchAll(/^workqueue_adds_total{name="([^"]+)"}/gm), ([, name = ""]) => name)
        assert.deepStrictEqual(
          queues.toSorted(),
          Reference.queues.flatMap(({ absent, name }) => (absent === undefined ? [name] : [])).toSorted()
        )
        assert.deepStrictEqual(text.match(/^leader_election_master_status.*$/gm), [
          'leader_election_master_status{name="kube-controller-manager"} 1'
        ])
        assert.match(
          text,
          /^informer_store_resource_version{.*name="kube-controller-manager".*resource="pods".*} [1-9]/m
        )
        yield* get(port, "/healthz", token)
        const health = Exposition.parse(yield* get(port, "/metrics/slis", token))
        assert.deepStrictEqual(
          Object.fromEntries(Array.from(health, ([name, family]) => [name, rowOf(family)])),
          Object.fromEntries(Reference.healthMetrics.map((row) => [row.name, rowOf(row)]))
        )
      }).pipe(Effect.scoped),
    timeout
  )
})
