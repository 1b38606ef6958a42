/** What the console's page computes of messages: counts of pods, the links of a timeline, samples of five minutes. */
import { assert, describe, it } from "@effect/vitest"
import { Cluster, stateOf } from "../../../../src/manager/console/page/model/Cluster.ts"
import { Samples, window } from "../../../../src/manager/console/page/model/Samples.ts"
import { formatBytes, formatDuration } from "../../../../src/manager/console/page/parts/format.ts"
import { chainOf, stepsOf } from "../../../../src/manager/console/page/views/chain.ts"
import { object, pod } from "./figures.ts"

const nothing = { reset: false, changed: [], removed: [] }

describe("the data of the console's page", () => {
  it("Cluster counts pods by state as they are added, moved, changed and removed", () => {
    const cluster = new Cluster()
    const nodes = { reset: true, changed: [{ name: "a", ready: true, schedulable: true }], removed: [] }
    cluster.apply(1, nodes, {
      reset: true,
      changed: [pod("d/1", null, { ready: false }), pod("d/2", "a")],
      removed: []
    })
    assert.deepStrictEqual(
      [cluster.podCount, cluster.nodeCount, cluster.counts.ready, cluster.counts.starting],
      [2, 1, 1, 1]
    )
    assert.deepStrictEqual(
      cluster.order.map(({ name }) => name),
      ["", "a"]
    )
    const version = cluster.rows.get("a")?.version ?? 0
    cluster.apply(2, nothing, { reset: false, changed: [pod("d/1", "a")], removed: ["d/2", "d/unknown"] })
    assert.deepStrictEqual(
      cluster.order.map(({ name, pods }) => [name, [...pods.keys()]]),
      [["a", ["d/1"]]]
    )
    assert.isAbove(cluster.rows.get("a")?.version ?? 0, version)
    assert.strictEqual(cluster.workloads.get("d/ReplicaSet/web-1")?.counts.ready, 1)
    cluster.apply(3, { reset: true, changed: [], removed: [] }, { reset: true, changed: [], removed: [] })
    assert.deepStrictEqual([cluster.podCount, cluster.rows.size, cluster.workloads.size], [0, 0, 0])
  })

  it("a workload has changed when one of its pods has, not when the page gets the whole in parts", () => {
    const cluster = new Cluster()
    const changedAt = () => cluster.workloads.get("d/ReplicaSet/web-1")?.changedAt
    cluster.apply(1, nothing, { reset: true, changed: [pod("d/1", "a")], removed: [] })
    cluster.apply(2, nothing, { reset: false, rest: true, changed: [pod("d/2", "a")], removed: [] })
    assert.strictEqual(changedAt(), 0)
    cluster.apply(3, nothing, { reset: false, changed: [pod("d/3", "a")], removed: [] })
    assert.strictEqual(changedAt(), 3)
  })

  it("a pod that waits after a failure is failing, and one that is deleted is deleting whatever else it is", () => {
    assert.strictEqual(stateOf(pod("d/1", "a", { ready: false, reason: "CrashLoopBackOff" })), "failing")
    assert.strictEqual(stateOf(pod("d/1", "a", { ready: false, reason: "PodInitializing" })), "starting")
    assert.strictEqual(stateOf(pod("d/1", "a", { phase: "Succeeded", ready: false })), "succeeded")
    assert.strictEqual(stateOf(pod("d/1", "a", { phase: "Failed", deleting: true })), "deleting")
  })

  it("a timeline has its steps newest first, each with its writes and events, and the chain of an entry has its causes and effects", () => {
    const { timeline } = object(1_000_000)
    assert.deepStrictEqual(
      stepsOf(timeline).map(({ entry, results }) => [entry.id, results.map(({ id }) => id)]),
      [
        [6, [7]],
        [5, []],
        [2, [3, 4]],
        [1, []]
      ]
    )
    assert.deepStrictEqual(
      [...chainOf(timeline, 3)].sort((a, b) => a - b),
      [1, 2, 3]
    )
    assert.deepStrictEqual(
      [...chainOf(timeline, 1)].sort((a, b) => a - b),
      [1, 2, 3, 4]
    )
  })

  it("samples older than five minutes are dropped, and there are at most 300", () => {
    const samples = new Samples()
    for (let at = 0; at < 1000; at++) samples.add(at * 100, at)
    assert.strictEqual(samples.all.length, 300)
    samples.add(100_000 + window, 1)
    assert.deepStrictEqual(
      samples.all.map(({ at }) => at),
      [100_000 + window]
    )
  })

  it("durations and sizes have the unit that leaves few digits", () => {
    assert.deepStrictEqual([null, 0, 0.42, 12.4, 3100, 59_900, 250_000, 7_500_000, 273_600_000].map(formatDuration), [
      "–",
      "0 ms",
      "0.4 ms",
      "12 ms",
      "3.1 s",
      "59 s",
      "4 m 10 s",
      "2 h 5 m",
      "3 d 4 h"
    ])
    assert.deepStrictEqual([0, 1023, 2048, 3_500_000].map(formatBytes), ["0 B", "1023 B", "2.0 KiB", "3.3 MiB"])
  })
})
