/**
 * The metrics of the program in every mode: exactly the series of the reference and our own, under their names, with their labels and
 * bounds, valid for Prometheus, and listed in docs/operations.md.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFile, writeFile } from "node:fs/promises"
import { request } from "node:https"
import { join } from "node:path"
import { table } from "../support/controllers.ts"
import * as Exposition from "../support/exposition.ts"
import * as Process from "../support/process.ts"
import * as Promtool from "../support/promtool.ts"
import { authority } from "../support/tls.ts"

type Row = readonly [type: string, labels: ReadonlyArray<string>, bounds?: ReadonlyArray<number>]

const runs = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60
]
const queue = Array.from({ length: 12 }, (_, k) => 1e-8 * 10 ** k)
const latency = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]
const size = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216]
const byController = ["controller"]
const byQueue = ["controller", "name"]

/** Source: controller-runtime, client-go, Prometheus' client libraries, prom-client. */
const usual: Readonly<Record<string, Row>> = {
  controller_runtime_reconcile_total: ["counter", ["controller", "result"]],
  controller_runtime_reconcile_errors_total: ["counter", byController],
  controller_runtime_terminal_reconcile_errors_total: ["counter", byController],
  controller_runtime_reconcile_panics_total: ["counter", byController],
  controller_runtime_reconcile_timeouts_total: ["counter", byController],
  controller_runtime_reconcile_time_seconds: ["histogram", byController, runs],
  controller_runtime_max_concurrent_reconciles: ["gauge", byController],
  controller_runtime_active_workers: ["gauge", byController],
  workqueue_depth: ["gauge", ["controller", "name", "priority"]],
  workqueue_adds_total: ["counter", byQueue],
  workqueue_retries_total: ["counter", byQueue],
  workqueue_queue_duration_seconds: ["histogram", byQueue, queue],
  workqueue_work_duration_seconds: ["histogram", byQueue, queue],
  workqueue_unfinished_work_seconds: ["gauge", byQueue],
  workqueue_longest_running_processor_seconds: ["gauge", byQueue],
  workqueue_oldest_ready_seconds: ["gauge", byQueue],
  rest_client_requests_total: ["counter", ["code", "host", "method"]],
  kubernetes_feature_enabled: ["gauge", ["name", "stage"]],
  certwatcher_read_certificate_total: ["counter", []],
  certwatcher_read_certificate_errors_total: ["counter", []],
  process_cpu_seconds_total: ["counter", []],
  process_start_time_seconds: ["gauge", []],
  process_resident_memory_bytes: ["gauge", []],
  process_virtual_memory_bytes: ["gauge", []],
  process_virtual_memory_max_bytes: ["gauge", []],
  process_network_receive_bytes_total: ["counter", []],
  process_network_transmit_bytes_total: ["counter", []],
  process_open_fds: ["gauge", []],
  process_max_fds: ["gauge", []],
  nodejs_eventloop_lag_seconds: ["gauge", []],
  nodejs_heap_size_total_bytes: ["gauge", []],
  nodejs_heap_size_used_bytes: ["gauge", []],
  nodejs_external_memory_bytes: ["gauge", []],
  nodejs_gc_duration_seconds: ["histogram", ["kind"], [0.001, 0.01, 0.1, 1, 2, 5]],
  informer_synced: ["gauge", ["kind"]],
  informer_objects: ["gauge", ["kind"]],
  informer_store_resource_version: ["gauge", ["group", "name", "resource", "version"]],
  informer_relists_total: ["counter", ["reason"]],
  informer_failures_total: ["counter", ["kind"]],
  informer_last_event_age_seconds: ["gauge", ["kind"]],
  cache_read_wait_seconds: ["histogram", [], latency],
  leader_fenced_writes_total: ["counter", []]
}

const elected: typeof usual = {
  leader_election_master_status: ["gauge", ["name"]],
  leader_election_slowpath_total: ["counter", ["name"]]
}

/** With `--sharding`. */
const divided: typeof usual = {
  sharding_shards_held: ["gauge", []],
  sharding_shards_unowned: ["gauge", []],
  sharding_unowned_seconds_total: ["counter", []],
  sharding_handoffs_total: ["counter", []]
}

/** With `--client-metrics=all`. */
const ofTheClient: typeof usual = {
  rest_client_request_duration_seconds: ["histogram", ["host", "verb"], latency],
  rest_client_rate_limiter_duration_seconds: ["histogram", ["host", "verb"], latency],
  rest_client_dns_resolution_duration_seconds: ["histogram", ["host"], latency.slice(0, -1)],
  rest_client_request_size_bytes: ["histogram", ["host", "verb"], size],
  rest_client_response_size_bytes: ["histogram", ["host", "verb"], size],
  rest_client_request_retries_total: ["counter", ["code", "host", "verb"]]
}

/** Doubles that were multiplied differ in their last digit from those in the source. */
const rounded = (bound: number): number => Number(bound.toPrecision(12))

const rowsOf = (families: ReadonlyMap<string, Exposition.Family>) =>
  Object.fromEntries(
    Array.from(families, ([name, { bounds, labels, type }]) => [name, [type, labels, bounds.map(rounded)]])
  )

const expectedRows = (table: typeof usual) =>
  Object.fromEntries(
    Object.entries(table).map(([name, [type, labels, bounds = []]]) => [name, [type, labels, bounds.map(rounded)]])
  )

const portOf = (running: Process.Running) =>
  Effect.map(running.says(/message="Serving metrics" port=(\d+)/), ([, port]) => Number(port))

/** Milliseconds to wait until a scrape has every family: on a busy machine some 40 s. */
const tries = 400

/** The metrics of single controllers are tested in test/controllers/metrics.test.ts; those of Effect Cluster are not ours. */
const ofLoops = new Set(table.flatMap(({ controller }) => (controller.metrics ?? []).map(({ name }) => name)))

/** Waits until every family of the table exists: some come with the first request, or with the election. */
const scraped = Effect.fnUntraced(function* (get: Effect.Effect<string | undefined>, table: typeof usual) {
  for (let left = tries; ; left--) {
    const text = (yield* get) ?? ""
    const families = new Map(
      [...Exposition.parse(text)].filter(([name]) => !ofLoops.has(name) && !name.startsWith("effect_cluster_"))
    )
    const isComplete = Object.keys(table).every((name) => families.has(name)) && /^informer_synced{.*} 1$/m.test(text)
    if (!isComplete && left > 0) {
      yield* Effect.sleep("50 millis")
      continue
    }
    assert.deepStrictEqual(rowsOf(families), expectedRows(table))
    if (Promtool.missing === undefined) assert.strictEqual(Promtool.complaints(text), "")
    return families
  }
})

const plain = (port: number): Effect.Effect<string | undefined> =>
  Effect.promise(() =>
    fetch(`http://127.0.0.1:${port}/metrics`).then(
      (response) => response.text(),
      () => undefined
    )
  )

const server = Effect.gen(function* () {
  const running = yield* Process.start(["apiserver"])
  const [, kubeconfig = ""] = yield* running.says(/^export KUBECONFIG=(\S+)$/m)
  return kubeconfig
})

/** Two controllers, one of them with a queue: a scheduled controller has none. */
const controllers = "--controllers=*,ttl-after-finished"
const address = "--metrics-bind-address=127.0.0.1:0"
const timeout = 60_000

/** The table of docs/operations.md, line by line. */
const documented = Effect.promise(async () => {
  const document = await readFile(new URL("../../docs/operations.md", import.meta.url), "utf8")
  const [, table = ""] = /<!-- metrics: begin -->\n\n([^]*?)\n\n<!-- metrics: end -->/.exec(document) ?? []
  return table.split("\n").slice(2)
})

const rendered = (families: ReadonlyMap<string, Exposition.Family>): ReadonlyArray<string> =>
  Array.from(families, ([name, { help, labels, type }]) => `| \`${name}\` | ${type} | ${labels.join(", ")} | ${help} |`)

describe.concurrent("the metrics of the program", () => {
  it.live(
    "on the embedded cluster, without election",
    () =>
      Effect.gen(function* () {
        const port = yield* portOf(yield* Process.start(["--cluster=embedded", address]))
        yield* scraped(plain(port), usual)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "with every metric turned on; and docs/operations.md lists them",
    () =>
      Effect.gen(function* () {
        const all = ["--leader-elect", "--sharding", "--client-metrics=all", `${controllers},memcached`]
        const port = yield* portOf(yield* Process.start(["--kubeconfig", yield* server, ...all, address]))
        const families = yield* scraped(plain(port), { ...usual, ...elected, ...divided, ...ofTheClient })
        assert.sameMembers(
          [...(yield* documented)],
          [...rendered(families)],
          "the table of docs/operations.md is what the program serves"
        )
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "on a standby, and over HTTPS with a certificate from files",
    () =>
      Effect.gen(function* () {
        const kubeconfig = yield* server
        const token = /token"?: *"?([\w-]+)/.exec(yield* Effect.promise(() => readFile(kubeconfig, "utf8")))?.[1] ?? ""
        const args = ["--kubeconfig", kubeconfig, "--leader-elect", controllers, address]
        const leader = yield* Process.start(args)
        yield* leader.says(/Starting Controller/)
        const directory = yield* Process.folder
        const ca = yield* Effect.promise(() => authority("scrapers"))
        const pair = yield* Effect.promise(() => ca.issue("manager"))
        yield* Effect.promise(() => writeFile(join(directory, "tls.crt"), pair.cert))
        yield* Effect.promise(() => writeFile(join(directory, "tls.key"), pair.key))
        const standby = yield* Process.start([...args, "--metrics-secure", `--metrics-cert-path=${directory}`])
        const port = yield* portOf(standby)
        yield* standby.says(/is held by/)
        const get = Effect.promise(
          () =>
            new Promise<string | undefined>((resolve) => {
              const headers = { authorization: `Bearer ${token}` }
              const options = { host: "127.0.0.1", port, path: "/metrics", headers, agent: false as const, ca: ca.cert }
              request(options, (response) => {
                let text = ""
                response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
                response.once("end", () => resolve(response.statusCode === 200 ? text : undefined))
              })
                .on("error", () => resolve(undefined))
                .end()
            })
        )
        yield* scraped(get, { ...usual, ...elected })
        const text = (yield* get) ?? ""
        assert.match(text, /^certwatcher_read_certificate_total 1$/m)
        assert.match(text, /^leader_election_master_status{name="effect-controller-manager"} 0$/m)
      }).pipe(Effect.scoped),
    timeout
  )
})
