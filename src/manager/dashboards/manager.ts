/** The dashboard of the process: who leads, the requests to the API server, and what the replicas use. Thresholds are those of `deploy/alerts.yaml`. */
import { type Dashboard, type Row, timeseries } from "./Dashboard.ts"
import * as Queries from "./queries.ts"

const selected = `instance=~"$instance"`
const byInstance = ["instance"]

const rate = (metric: string, labels: ReadonlyArray<string>) => Queries.rate(metric, labels, selected)
const max = (metric: string, labels: ReadonlyArray<string>) => Queries.max(metric, labels, selected)
const percentiles = (metric: string, labels: ReadonlyArray<string>) => Queries.percentiles(metric, labels, selected)

/** The program exports these with `--client-metrics=all` only. */
const onRequest = "With --client-metrics=all."

const leadership: Row = {
  title: "Leadership",
  panels: [
    {
      type: "stat",
      title: "Leaders",
      description:
        "Replicas that lead, by name of the Lease. Anything but 1 for 2 minutes is an alert. Empty without election.",
      unit: "short",
      queries: [Queries.sum("leader_election_master_status", ["name"])],
      base: "red",
      thresholds: [
        { from: 1, color: "green" },
        { from: 2, color: "red" }
      ]
    },
    {
      type: "state-timeline",
      title: "Who leads",
      description: "Each replica over time, by name of the Lease.",
      unit: "short",
      queries: [max("leader_election_master_status", ["name", "instance"])],
      base: "red",
      thresholds: [{ from: 1, color: "green" }],
      texts: { 0: "standby", 1: "leader" }
    },
    timeseries({
      title: "Changes, slow renewals and fenced writes",
      description:
        "Changes of leadership within an hour: above 6 the alert ControllerManagerRestless fires. Renewals that had to read the Lease first. Writes that were refused because leadership could not be proven any more: each fires ControllerManagerWritesFenced.",
      unit: "short",
      queries: [
        {
          expr: `sum by (name) (changes(${Queries.series("leader_election_master_status", selected)}[1h]))`,
          legend: "changes {{name}}"
        },
        Queries.named("slow renewals", rate("leader_election_slowpath_total", ["name"])),
        Queries.named("fenced writes", rate("leader_fenced_writes_total", []))
      ]
    })
  ]
}

const client: Row = {
  title: "Requests to the API server",
  panels: [
    timeseries({
      title: "Requests by code",
      description:
        "Requests in a second, by code of the response; <error> is a request without one. Above one 429 in a second the alert ControllerManagerThrottled fires.",
      unit: "ops",
      queries: [rate("rest_client_requests_total", ["code"])]
    }),
    timeseries({
      title: "Requests by method",
      description: "Requests in a second, by method and host.",
      unit: "ops",
      queries: [rate("rest_client_requests_total", ["method", "host"])]
    }),
    timeseries({
      title: "Retries of requests",
      description: `Requests that were sent again, by verb and code of the response. ${onRequest}`,
      unit: "ops",
      queries: [rate("rest_client_request_retries_total", ["verb", "code"])]
    }),
    timeseries({
      title: "Duration of requests",
      description: `Percentiles of the time until the whole response, by verb. ${onRequest}`,
      unit: "s",
      queries: percentiles("rest_client_request_duration_seconds", ["verb"])
    }),
    timeseries({
      title: "Wait for the limit of requests",
      description: `Percentiles of how long requests waited for --kube-api-qps, by verb. ${onRequest}`,
      unit: "s",
      queries: percentiles("rest_client_rate_limiter_duration_seconds", ["verb"])
    }),
    timeseries({
      title: "Size of requests and responses",
      description: `Bytes in a second, by verb. ${onRequest}`,
      unit: "Bps",
      queries: [
        Queries.named("sent", rate("rest_client_request_size_bytes_sum", ["verb"])),
        Queries.named("received", rate("rest_client_response_size_bytes_sum", ["verb"]))
      ]
    }),
    timeseries({
      title: "Name resolution",
      description: `Percentiles of the time to resolve the host of the API server. ${onRequest}`,
      unit: "s",
      queries: percentiles("rest_client_dns_resolution_duration_seconds", ["host"])
    })
  ]
}

const usage: Row = {
  title: "Replicas",
  panels: [
    timeseries({
      title: "Event loop lag",
      description:
        "How late the event loop is. Above 1 s for 5 minutes the alert ControllerManagerEventLoopLate fires.",
      unit: "s",
      queries: [max("nodejs_eventloop_lag_seconds", byInstance)],
      thresholds: [{ from: 1, color: "red" }]
    }),
    timeseries({
      title: "CPU",
      description: "Processors in use: 1 is one whole processor.",
      unit: "short",
      queries: [rate("process_cpu_seconds_total", byInstance)]
    }),
    timeseries({
      title: "Memory",
      description: "Resident memory, the heap in use and its size, and buffers outside of the heap.",
      unit: "bytes",
      queries: [
        Queries.named("resident", max("process_resident_memory_bytes", byInstance)),
        Queries.named("heap in use", max("nodejs_heap_size_used_bytes", byInstance)),
        Queries.named("heap", max("nodejs_heap_size_total_bytes", byInstance)),
        Queries.named("external", max("nodejs_external_memory_bytes", byInstance))
      ]
    }),
    timeseries({
      title: "Garbage collection",
      description: "Share of the time that is spent in garbage collections, by kind.",
      unit: "percentunit",
      queries: [rate("nodejs_gc_duration_seconds_sum", ["instance", "kind"])]
    }),
    timeseries({
      title: "File descriptors",
      description: "In use, and how many there may be.",
      unit: "short",
      queries: [
        Queries.named("in use", max("process_open_fds", byInstance)),
        Queries.named("at most", max("process_max_fds", byInstance))
      ]
    }),
    timeseries({
      title: "Network",
      description: "Bytes in a second, as the system counts them for the network of the process.",
      unit: "Bps",
      queries: [
        Queries.named("received", rate("process_network_receive_bytes_total", byInstance)),
        Queries.named("sent", rate("process_network_transmit_bytes_total", byInstance))
      ]
    }),
    timeseries({
      title: "Uptime",
      description: "How long each replica has run. It falls to zero with each restart.",
      unit: "s",
      queries: [
        {
          expr: `time() - ${max("process_start_time_seconds", byInstance).expr}`,
          legend: "{{instance}}"
        }
      ]
    }),
    timeseries({
      title: "Certificates",
      description:
        "How often the certificates of the servers were read from their files, and how often they could not be. Empty without such files.",
      unit: "ops",
      queries: [
        Queries.named("read", rate("certwatcher_read_certificate_total", byInstance)),
        Queries.named("failed", rate("certwatcher_read_certificate_errors_total", byInstance))
      ]
    })
  ]
}

export const manager = (program: string): Dashboard => ({
  file: "manager",
  title: `${program} / Leadership and API`,
  description: "Who leads, the requests to the API server, and what the replicas use.",
  program,
  variables: [...Queries.variables, Queries.instance],
  rows: [leadership, client, usage]
})
