/** Traces, logs and metrics of the program as a process, at a collector of the test; and that a missing collector does no harm. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Collector from "../support/collector.ts"
import * as Process from "../support/process.ts"
import * as Promtool from "../support/promtool.ts"

const started = ["--cluster=embedded", "--controllers=pod-count,deployment,replicaset,serviceaccount,namespace"]

describe.concurrent("telemetry of the program", () => {
  it.live("shows what triggered a run, how long it waited, and which calls it made", () =>
    Effect.gen(function* () {
      const collector = yield* Collector.start()
      const running = yield* Process.start(started, {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: "api-key=s%3Dcret",
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test"
      })
      const writes = () => collector.spans().filter(({ name }) => name === "create serviceaccounts")
      yield* collector.gets(() => writes().length > 0)
      yield* running.kill("SIGTERM")
      const { code } = yield* running.exit
      assert.strictEqual(code, 0)
      const byId = new Map(collector.spans().map((span) => [span.spanId, span]))
      const call = writes()[0]!
      const run = byId.get(call.parentSpanId ?? "")!
      const wait = byId.get(run.parentSpanId ?? "")!
      const event = byId.get(wait.parentSpanId ?? "")!
      assert.deepStrictEqual(
        [event.name, wait.name, run.name, call.name],
        ["watch event", "queue wait", "reconcile serviceaccount", "create serviceaccounts"]
      )
      assert.deepInclude(call.attributes, { verb: "create", resource: "serviceaccounts", code: 201 })
      assert.deepInclude(event.attributes, { kind: "Namespace", event: "Created", controller: "serviceaccount" })
      assert.deepInclude(run.attributes, { controller: "serviceaccount", name: event.attributes["name"] })
      assert.include(
        run.links.map(({ spanId }) => spanId),
        event.spanId
      )
      assert.strictEqual(new Set([event, wait, run, call].map(({ traceId }) => traceId)).size, 1)
      const paths = new Set(collector.texts.map(({ path }) => path))
      assert.deepStrictEqual([...paths].sort(), ["/v1/logs", "/v1/metrics", "/v1/traces"])
      const first = collector.texts[0]!
      assert.deepInclude(first.headers as object, { "api-key": "s=cret" })
      assert.include(first.body, '"stringValue":"effect-controller-manager"')
      assert.include(first.body, '"deployment.environment"')
      const logs = collector.texts.filter(({ path }) => path === "/v1/logs").map(({ body }) => body)
      assert.isTrue(logs.some((body) => body.includes("Starting Controller")))
      // Logs are sent at the level of the printed lines.
      assert.isFalse(logs.some((body) => body.includes("Starting EventSource")))
      assert.isTrue(collector.texts.some(({ body }) => body.includes("controller_runtime_reconcile_total")))
      // The simulated nodes are not part of the program.
      assert.isFalse(collector.spans().some(({ attributes }) => String(attributes["path"]).includes("/leases/worker")))
    }).pipe(Effect.scoped)
  )

  const closed = Effect.map(Process.freePort, (port) => `http://127.0.0.1:${port}`)
  for (const [what, endpoint, why] of [
    ["is not there", closed, "ECONNREFUSED"],
    [
      "refuses",
      Effect.map(
        Collector.start(() => 401),
        ({ url }) => url
      ),
      "it answers with 401"
    ],
    [
      "never answers",
      Effect.map(
        Collector.start(() => undefined),
        ({ url }) => url
      ),
      "no answer within 5s"
    ]
  ] as const) {
    it.live(`logs once that the collector ${what}, continues to work and stops in time`, () =>
      Effect.gen(function* () {
        const running = yield* Process.start([...started, `--otlp-endpoint=${yield* endpoint}`])
        yield* running.says(/message="Telemetry does not arrive and is dropped".*\n/)
        yield* running.says(/"Starting Controller" controller=pod-count/)
        yield* running.kill("SIGTERM")
        const { code, millis, stderr } = yield* running.exit
        assert.strictEqual(code, 0)
        assert.isBelow(millis, 30_000)
        const complaints = stderr.split("\n").filter((line) => line.includes("Telemetry"))
        assert.strictEqual(complaints.length, 1, stderr)
        assert.include(complaints[0], why)
      }).pipe(Effect.scoped)
    )
  }

  it.live("measures requests when the flag is set, in a form that Prometheus accepts", () =>
    Effect.gen(function* () {
      const names = /^# TYPE (rest_client_\w+) /gm
      const scraped = (...args: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const running = yield* Process.start([...started, "--metrics-bind-address=127.0.0.1:0", ...args])
          const [, port] = yield* running.says(/message="Serving metrics" port=(\d+)/)
          yield* running.says(/"Starting Controller" controller=pod-count/)
          const response = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/metrics`))
          const text = yield* Effect.promise(() => response.text())
          return { text, names: Array.from(text.matchAll(names), ([, name = ""]) => name).sort() }
        })
      const [basic, all] = yield* Effect.all([scraped(), scraped("--client-metrics=all", "--kube-api-qps=100")], {
        concurrency: 2
      })
      assert.deepStrictEqual(basic.names, ["rest_client_requests_total"])
      assert.deepStrictEqual(
        all.names.filter((name) => name !== "rest_client_request_retries_total"),
        [
          "rest_client_dns_resolution_duration_seconds",
          "rest_client_rate_limiter_duration_seconds",
          "rest_client_request_duration_seconds",
          "rest_client_request_size_bytes",
          "rest_client_requests_total",
          "rest_client_response_size_bytes"
        ]
      )
      const buckets = (metric: string) =>
        Array.from(all.text.matchAll(new RegExp(`^${metric}_bucket{.*verb="GET".*le="([^"]+)"`, "gm")), ([, le]) => le)
      assert.strictEqual(
        buckets("rest_client_request_duration_seconds").join(" "),
        "0.005 0.025 0.1 0.25 0.5 1 2 4 8 15 30 60 +Inf"
      )
      assert.strictEqual(
        buckets("rest_client_request_size_bytes").join(" "),
        "64 256 512 1024 4096 16384 65536 262144 1.048576e+06 4.194304e+06 1.6777216e+07 +Inf"
      )
      assert.match(all.text, /^rest_client_rate_limiter_duration_seconds_count{.*verb="GET".*} [1-9]/m)
      if (Promtool.missing === undefined) assert.strictEqual(Promtool.complaints(all.text), "")
    }).pipe(Effect.scoped)
  )
})
