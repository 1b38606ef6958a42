/** The dashboard of the controllers: their reconciles, queues and informers. Thresholds are those of `deploy/alerts.yaml`. */
import { type Dashboard, type Row, timeseries } from "./Dashboard.ts"
import * as Queries from "./queries.ts"

const byController = ["controller"]
const byQueue = ["name"]
const selected = `controller=~"$controller"`

const rate = (metric: string, labels: ReadonlyArray<string>) => Queries.rate(metric, labels, selected)
const max = (metric: string, labels: ReadonlyArray<string>) => Queries.max(metric, labels, selected)

const reconciles: Row = {
  title: "Reconciles",
  panels: [
    timeseries({
      title: "Reconciles by result",
      description: "How many reconciles end in a second, by controller and result.",
      unit: "ops",
      queries: [rate("controller_runtime_reconcile_total", ["controller", "result"])]
    }),
    timeseries({
      title: "Failed reconciles",
      description:
        "Failures are retried with backoff, except terminal ones. A panic is a defect in the controller; a timeout is a reconcile that exceeded --reconciliation-timeout.",
      unit: "ops",
      queries: [
        Queries.named("failed", rate("controller_runtime_reconcile_errors_total", byController)),
        Queries.named("terminal", rate("controller_runtime_terminal_reconcile_errors_total", byController)),
        Queries.named("panic", rate("controller_runtime_reconcile_panics_total", byController)),
        Queries.named("timeout", rate("controller_runtime_reconcile_timeouts_total", byController))
      ]
    }),
    timeseries({
      title: "Share of failed reconciles",
      description: "Above one half for 15 minutes, the alert ControllerManagerReconcileErrors fires.",
      unit: "percentunit",
      queries: [
        {
          expr: `${rate("controller_runtime_reconcile_errors_total", byController).expr} / ${rate("controller_runtime_reconcile_total", byController).expr}`,
          legend: "{{controller}}"
        }
      ],
      thresholds: [{ from: 0.5, color: "red" }]
    }),
    timeseries({
      title: "Duration of reconciles",
      description: "Percentiles of how long a reconcile takes, by controller.",
      unit: "s",
      queries: Queries.percentiles("controller_runtime_reconcile_time_seconds", byController, selected)
    }),
    timeseries({
      title: "Workers",
      description: "Reconciles that run now, and how many may run at once. If all workers are busy, keys wait.",
      unit: "short",
      queries: [
        Queries.named("busy", Queries.sum("controller_runtime_active_workers", byController, selected)),
        Queries.named("at most", max("controller_runtime_max_concurrent_reconciles", byController))
      ]
    }),
    timeseries({
      title: "Longest reconcile under way",
      description:
        "How long the oldest reconcile has run. Above 600 s the alert ControllerManagerReconcileStuck fires.",
      unit: "s",
      queries: [
        Queries.named("longest", max("workqueue_longest_running_processor_seconds", byQueue)),
        Queries.named("all together", max("workqueue_unfinished_work_seconds", byQueue))
      ],
      thresholds: [{ from: 600, color: "red" }]
    })
  ]
}

const queues: Row = {
  title: "Queues",
  panels: [
    timeseries({
      title: "Depth",
      description:
        "Keys that wait for a worker, by queue and priority. It grows when changes arrive faster than they are reconciled.",
      unit: "short",
      queries: [Queries.sum("workqueue_depth", ["name", "priority"], selected)]
    }),
    timeseries({
      title: "Wait for a worker",
      description: "Percentiles of how long keys were ready before a worker took them, by queue.",
      unit: "s",
      queries: Queries.percentiles("workqueue_queue_duration_seconds", byQueue, selected)
    }),
    timeseries({
      title: "Next key has been ready for",
      description: "Above 300 s for 5 minutes, the alert ControllerManagerQueueStalled fires.",
      unit: "s",
      queries: [max("workqueue_oldest_ready_seconds", byQueue)],
      thresholds: [{ from: 300, color: "red" }]
    }),
    timeseries({
      title: "Keys added",
      description: "Keys that are queued in a second and were not queued already, by queue.",
      unit: "ops",
      queries: [rate("workqueue_adds_total", byQueue)]
    }),
    timeseries({
      title: "Retries",
      description:
        "Keys that are added with a delay, in a second: retries after failures, and reconciles that were requested for later.",
      unit: "ops",
      queries: [rate("workqueue_retries_total", byQueue)]
    }),
    timeseries({
      title: "Work on a key",
      description: "Percentiles of how long a worker holds a key, by queue.",
      unit: "s",
      queries: Queries.percentiles("workqueue_work_duration_seconds", byQueue, selected)
    })
  ]
}

const informers: Row = {
  title: "Informers",
  panels: [
    timeseries({
      title: "Synced",
      description:
        "0: a kind cannot be listed or watched, or not yet. After 10 minutes the alert ControllerManagerInformerNotSynced fires.",
      unit: "short",
      queries: [Queries.min("informer_synced", ["kind"])]
    }),
    timeseries({
      title: "Objects",
      description: "Objects in the cache, by kind, of the replica that has most.",
      unit: "short",
      queries: [Queries.max("informer_objects", ["kind"])]
    }),
    timeseries({
      title: "Since the last event",
      description: "Long times are normal for kinds that rarely change; a watch sends a bookmark about once a minute.",
      unit: "s",
      queries: [Queries.max("informer_last_event_age_seconds", ["kind"])]
    }),
    timeseries({
      title: "Lag of the slowest replica",
      description:
        "How many resource versions the informers of the slowest replica are behind those of the fastest, by kind.",
      unit: "short",
      queries: [
        {
          expr: `${Queries.max("informer_store_resource_version", ["group", "resource"]).expr} - ${Queries.min("informer_store_resource_version", ["group", "resource"]).expr}`,
          legend: "{{resource}} {{group}}"
        }
      ]
    }),
    timeseries({
      title: "Relists and failures",
      description: "Relists by reason, and failed lists and watches by kind. Both load the API server.",
      unit: "ops",
      queries: [
        Queries.named("relist:", Queries.rate("informer_relists_total", ["reason"])),
        Queries.named("failed:", Queries.rate("informer_failures_total", ["kind"]))
      ]
    }),
    timeseries({
      title: "Wait for the cache",
      description: "Percentiles of how long keys waited until the cache had what was written for them.",
      unit: "s",
      queries: Queries.percentiles("cache_read_wait_seconds", [])
    })
  ]
}

export const controllers = (program: string): Dashboard => ({
  file: "controllers",
  title: `${program} / Controllers`,
  description: "Reconciles, queues and informers of the controllers.",
  program,
  variables: [...Queries.variables, Queries.controller],
  rows: [reconciles, queues, informers]
})
