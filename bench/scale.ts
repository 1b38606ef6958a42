/**
 * How a sharded controller scales with replicas and objects: parameters that are measured here, a model that computes from them what does not fit on one machine,
 * and the model beside measurements of up to eight replicas and 150,000 pods. Prints the tables of `docs/scaling.md`.
 */
import type { Figure } from "./figure.ts"
import * as Model from "./scale/model.ts"
import * as Stored from "./scale/stored.ts"
import * as Virtual from "./scale/virtual.ts"
import * as Replicas from "./replicas.ts"
import { bundled } from "./server.ts"
import * as Sharding from "./sharding.ts"
import { number, percent, table } from "./table.ts"

/** Microseconds of the processor for each reconcile of a process that does nothing else: hundreds of runs wait at once. */
const busyReconcile = (): Promise<number> =>
  Sharding.withObjects(async (server) => {
    const fleet = await Replicas.start(await bundled("shardedReplica"), server, 1, 256)
    try {
      await Sharding.reconcileAll(fleet)
      return await Sharding.reconcileSome(fleet, Sharding.objects)
    } finally {
      await fleet.stop()
    }
  })

const bytes = (filled: Stored.Stored["full"]) => {
  const of = (wanted: string): number => {
    const found = filled.find(({ kind }) => kind === wanted)
    return found === undefined ? Number.NaN : found.heap / found.objects
  }
  return { pods: of("pods"), nodes: of("nodes"), leases: of("leases") }
}

const heap = (filled: Stored.Stored["full"]): number => Replicas.sum(filled, (one) => one.heap) / 1024 / 1024

/** A prediction beside the measurement. */
interface Check {
  readonly what: string
  readonly predicted: number
  readonly measured: number
  readonly unit: string
}

/** What every replica pays for a change, and what one of them pays in addition, from one and two replicas. */
const costOfChange = (one: Sharding.Measured, two: Sharding.Measured) => {
  const reconcile = 2 * (Sharding.changing(one) - Sharding.changing(two))
  return { all: Sharding.changing(one) - reconcile, reconcile }
}

const checksOf = (one: Sharding.Measured, cost: ReturnType<typeof costOfChange>, many: Sharding.Measured) =>
  [
    {
      what: `${many.size} replicas: reconciles a second`,
      predicted: many.size * one.rate,
      measured: many.rate,
      unit: "/s"
    },
    {
      what: `${many.size} replicas: processor of each for a change of an object`,
      predicted: cost.all + cost.reconcile / many.size,
      measured: Sharding.changing(many),
      unit: "µs"
    },
    {
      what: `${many.size} replicas: memory of each with ${number(Sharding.objects)} ConfigMaps`,
      predicted: one.residentMiB,
      measured: many.residentMiB,
      unit: "MiB"
    }
  ] satisfies ReadonlyArray<Check>

const printStored = ({ burst, bytes: json, change, full, keysOnly }: Stored.Stored): void =>
  table(
    ["Objects", "Bytes as JSON", "Heap of each", "Name and version alone", "Processor for each change", "In a burst"],
    full.map(({ kind, objects }) => [
      `${number(objects)} ${kind}`,
      number(json[kind]),
      number(bytes(full)[kind]),
      number(bytes(keysOnly)[kind]),
      `${number(change[kind])} µs`,
      `${number(burst[kind])} µs`
    ])
  )

const printClusters = (given: Model.Parameters): void => {
  const kinds = [["pods"], ["pods", "nodes"], ["pods", "nodes", "leases"]] as const
  table(
    ["Cluster", "Events of pods, nodes, Leases", "A replica that reads pods", "pods and nodes", "also Leases of nodes"],
    Model.clusters.map((cluster) => {
      const { leases, nodes, pods } = Model.events(cluster, given)
      return [
        `${number(cluster.nodes)} nodes, ${number(cluster.pods)} pods`,
        `${number(pods, 1)}, ${number(nodes, 1)}, ${number(leases)} a second`,
        ...kinds.map(
          (of) => `${percent(Model.receiving(cluster, of, given))}, ${number(Model.memory(cluster, of, 1, given))} MiB`
        )
      ]
    })
  )
}

/** The largest cluster with more and more replicas of a controller that reads pods. */
const printReplicas = (virtual: ReadonlyArray<Virtual.Virtual>, given: Model.Parameters): void => {
  const { largest } = Model
  table(
    [
      "Replicas",
      "Requests at rest",
      "Reconciles a second that wait",
      "Limit with a write each",
      "Shards of a killed one move",
      "All its objects are reconciled",
      "Shards of a stopped one move"
    ],
    virtual.map(({ killed, requests, size, stopped }) => [
      number(size),
      `${number(requests, 1)} a second`,
      number(size * given.rate),
      number(Model.limit(largest, size, 1, given)),
      ...(size === 1
        ? ["–", "–", "–"]
        : [
            `${number(Math.min(...killed), 1)} to ${number(Math.max(...killed), 1)} s`,
            `after ${number(Math.max(...killed) + Model.backlog(largest, size, given))} s`,
            `${number(stopped, 1)} s`
          ])
    ])
  )
  table(
    ["Replicas", "Memory of each", "of all", "Memory of each, with the objects of its shards alone", "of all"],
    virtual.map(({ size }) => {
      const [whole, share] = [1, 1 / size].map((part) => Model.memory(largest, ["pods"], part, given)) as [
        number,
        number
      ]
      return [number(size), ...[whole, whole * size, share, share * size].map((value) => `${number(value)} MiB`)]
    })
  )
}

export const run = async (): Promise<Array<Figure>> => {
  const virtual: Array<Virtual.Virtual> = []
  for (const size of [1, 2, 4, 8, 16]) virtual.push(await Virtual.measure(size))
  const eventsOfPod = await Virtual.eventsOfPod()
  const stored = await Stored.measure({ nodes: 1000, leases: 1000, pods: 30_000 })
  const { nodes, pods } = Model.largest
  const most = await Stored.measure({ nodes, leases: nodes, pods })
  const fleets = await Sharding.withObjects(Sharding.measure)
  const [one, two] = fleets
  if (one === undefined || two === undefined) throw new Error("nothing was measured")
  const given: Model.Parameters = {
    busyReconcile: await busyReconcile(),
    change: most.change,
    busyChange: most.burst,
    rest: one.rest,
    rate: one.rate,
    emptyMiB: most.emptyMiB,
    whole: bytes(stored.full),
    bare: bytes(stored.keysOnly),
    eventsOfPod
  }
  console.log(JSON.stringify({ given, fleets, stored, most, virtual }))
  printStored(most)
  printClusters(given)
  printReplicas(virtual, given)
  const checks: ReadonlyArray<Check> = [
    ...fleets.slice(2).flatMap((many) => checksOf(one, costOfChange(one, two), many)),
    {
      what: "heap of 150,000 pods, 5,000 nodes and their Leases, from 30,000 and 1,000",
      predicted: Model.memory(Model.largest, Stored.kinds, 1, { ...given, emptyMiB: 0 }),
      measured: heap(most.full),
      unit: "MiB"
    }
  ]
  const residentMiB = most.full.at(-1)?.residentMiB ?? Number.NaN
  return [
    ...checks.map(({ measured, predicted, unit, what }): Figure => {
      const ratio = predicted / measured
      return {
        name: `model: ${what}`,
        value: predicted,
        unit,
        floor: measured,
        ratio,
        bar: "0.8 to 1.25 of the measurement",
        ok: ratio >= 0.8 && ratio <= 1.25
      }
    }),
    {
      name: "resident memory with 150,000 pods, 5,000 nodes and their Leases",
      value: residentMiB,
      unit: "MiB",
      bar: "≤ 600 MiB",
      ok: residentMiB <= 600
    }
  ]
}
