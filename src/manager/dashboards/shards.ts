/** The dashboard of shards, for programs with controllers that are divided: which replica has how many, and how often and how long shards have none. */
import { type Dashboard, type Query, type Row, timeseries } from "./Dashboard.ts"
import * as Queries from "./queries.ts"

const selected = `instance=~"$instance"`

/** Each replica counts what happens to all shards, so one of them is enough; a replica that has just started has counted less. */
const most = (change: string, legend: string): Query => ({ expr: `max (${change})`, legend })

const shards: Row = {
  title: "Shards",
  panels: [
    {
      type: "stat",
      title: "Shards without a replica",
      description:
        "Shards that no replica has: their objects are not reconciled. Anything but 0 for 2 minutes fires the alert ControllerManagerShardsUnowned.",
      unit: "short",
      queries: [Queries.min("sharding_shards_unowned", [], selected)],
      thresholds: [{ from: 1, color: "red" }]
    },
    timeseries({
      title: "Shards of each replica",
      description: "The parts are equal when all replicas have run for some seconds.",
      unit: "short",
      queries: [Queries.max("sharding_shards_held", ["instance"], selected)]
    }),
    timeseries({
      title: "Shards without a replica, on average",
      description: "The seconds for which shards had no replica, of all shards together, in each second.",
      unit: "short",
      queries: [
        most(
          `rate(${Queries.series("sharding_unowned_seconds_total", selected)}[$__rate_interval])`,
          "without a replica"
        )
      ]
    }),
    timeseries({
      title: "Moves of shards",
      description:
        "Moves of a shard from one replica to another within an hour. A rollout moves each shard several times.",
      unit: "short",
      queries: [most(`increase(${Queries.series("sharding_handoffs_total", selected)}[1h])`, "moves")]
    }),
    timeseries({
      title: "Fenced writes",
      description:
        "Writes that were refused because the lock of the shard could not be proven any more. Each fires ControllerManagerWritesFenced.",
      unit: "ops",
      queries: [Queries.rate("leader_fenced_writes_total", ["instance"], selected)]
    })
  ]
}

export const board = (program: string): Dashboard => ({
  file: "shards",
  title: `${program} / Shards`,
  description: "Which replica has how many shards, and how often and how long shards have none. With --sharding.",
  program,
  variables: [...Queries.variables, Queries.instance],
  rows: [shards]
})
