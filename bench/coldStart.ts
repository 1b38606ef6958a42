/**
 * The program started on a cluster that has pods already: processor time until it is at rest, and the time from the start of the process to the first write,
 * compared with a process that fetches the same lists over TLS and parses them, alternately. The server is generated (`coldStart/server.ts`), because a real
 * one competes for the same processors while it encodes a list, and cannot be filled with pods of kubelets here. Other benchmarks measure a start without
 * pods; it is shown beside.
 */
import * as Effect from "effect/Effect"
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import type { Options as FloorOptions } from "./coldStart/floor.ts"
import type { Address, Options, Wrote } from "./coldStart/server.ts"
import type { Figure } from "./figure.ts"
import * as Stand from "./loops/stand.ts"
import { bundled } from "./server.ts"

const rounds = Number(process.env["ROUNDS"] ?? 5)

const podLists = [{ path: "/api/v1/pods" }, { path: "/apis/apps/v1/replicasets" }]
const metadata = {
  list: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
  stream: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
}

/** The controllers that read pods, and the garbage collector, which reads the metadata of everything. */
const readers = [
  "replicaset",
  "replicationcontroller",
  "job",
  "daemonset",
  "statefulset",
  "disruption",
  "endpoint",
  "endpointslice",
  "podgc",
  "resourcequota",
  "nodelifecycle",
  "taint-eviction",
  "persistentvolumeclaim-protection",
  "garbagecollector"
]

interface Variant extends Options {
  readonly controllers: ReadonlyArray<string>
}

const variants: ReadonlyArray<Variant> = [
  { pods: 20_000, form: "stream", controllers: ["replicaset"] },
  { pods: 20_000, form: "whole", controllers: ["replicaset"] },
  { pods: 20_000, form: "pages", controllers: ["replicaset"] },
  { pods: 20_000, form: "stream", controllers: readers },
  { pods: 2000, form: "stream", controllers: ["replicaset"] },
  { pods: 100_000, form: "stream", controllers: ["replicaset"] }
]

const listsOf = ({ controllers, form }: Variant): FloorOptions["lists"] => {
  if (controllers.length === 1) return podLists
  const accept = form === "stream" ? metadata.stream : metadata.list
  return [...podLists, ...podLists.map(({ path }) => ({ path, accept }))]
}

interface Measured {
  readonly cpuMillis: number
  readonly millis: number
  readonly peakMiB: number
}

const now = (): number => Number(process.hrtime.bigint()) / 1e6

/** Until the process has used less than this for a second. */
const atRest = async (child: ChildProcess): Promise<void> => {
  for (let before = Stand.usageOf(child).cpuMillis; ;) {
    await sleep(1000)
    const after = Stand.usageOf(child).cpuMillis
    if (after - before <= 30) return
    before = after
  }
}

interface Running {
  readonly child: ChildProcess
  readonly where: Stand.Server
  readonly address: Address
}

const serve = async (options: Options): Promise<Running> => {
  const child = fork(await bundled("coldStart/server"), [JSON.stringify(options)])
  const [address] = (await once(child, "message")) as [Address]
  const url = `https://127.0.0.1:${address.port}`
  return { child, address, where: { what: "a generated server", url, ca: address.ca, token: "bench" } }
}

/** Of Node, as the image starts the program. */
const { flags = [] } = Stand.asImage

const start = ({ child: server, where }: Running, controllers: ReadonlyArray<string>, build: Stand.Build) =>
  Effect.scoped(
    Effect.gen(function* () {
      server.send("a client begins")
      const wrote = once(server, "message") as Promise<[Wrote]>
      const from = now()
      const child = yield* Stand.controllers(where, controllers, [], { ...build, flags })
      const [{ at }] = yield* Effect.promise(() => wrote)
      yield* Effect.promise(() => atRest(child))
      const { cpuMillis, peakMiB } = Stand.usageOf(child)
      return { cpuMillis, peakMiB, millis: at - from }
    })
  )

const floor = async ({ address, where: { url } }: Running, variant: Variant): Promise<Measured> => {
  const options: FloorOptions = { url, ca: address.ca, form: variant.form, lists: listsOf(variant) }
  const from = now()
  const child = spawn(process.execPath, [await bundled("coldStart/floor"), JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const [text] = (await once(child.stdout, "data")) as [Buffer]
  const millis = now() - from
  const { cpuMillis, peakKiB } = JSON.parse(text.toString()) as { cpuMillis: number; peakKiB: number }
  return { cpuMillis, millis, peakMiB: peakKiB / 1024 }
}

const medianOf = (of: ReadonlyArray<Measured>, field: keyof Measured): number =>
  Stand.median(of.map((one) => one[field]))

const ratioOf = (
  pairs: ReadonlyArray<readonly [Measured, Measured]>,
  field: "cpuMillis" | "millis",
  less: number
): number => Stand.median(pairs.map(([ours, bound]) => (ours[field] - less) / bound[field]))

const measured = (variant: Variant): Effect.Effect<Array<Figure>> =>
  Effect.gen(function* () {
    const { controllers, form, pods } = variant
    const server = yield* Effect.promise(() => serve(variant))
    const empty = yield* Effect.promise(() => serve({ pods: 0, form }))
    const floors: Array<Measured> = []
    const empties: Array<Measured> = []
    const { before, now: ours } = yield* Stand.alternately(rounds, (build) =>
      Effect.gen(function* () {
        if (build.name === "now") {
          floors.push(yield* Effect.promise(() => floor(server, variant)))
          empties.push(yield* start(empty, controllers, build))
        }
        return yield* start(server, controllers, build)
      })
    )
    server.child.disconnect()
    empty.child.disconnect()
    const pairs = ours.map((one, i) => [one, floors[i]!] as const)
    const { bytes, managed } = server.address
    const which = controllers.length === 1 ? controllers[0]! : `${controllers.length} controllers`
    const what = `${pods} pods of ${bytes} bytes, ${managed} of them managedFields, ${form}, ${which}`
    const started = medianOf(empties, "cpuMillis")
    const cpu = ratioOf(pairs, "cpuMillis", 0)
    const wall = ratioOf(pairs, "millis", 0)
    return [
      {
        name: `${what}: processor until at rest`,
        value: medianOf(ours, "cpuMillis"),
        unit: "ms",
        floor: medianOf(floors, "cpuMillis"),
        ratio: cpu,
        before: medianOf(before, "cpuMillis"),
        bar: "≤ 1.5 × fetch and JSON.parse",
        ok: cpu <= 1.5
      },
      {
        name: `… without that of a start without pods, ${started.toFixed(0)} ms`,
        value: medianOf(ours, "cpuMillis") - started,
        unit: "ms",
        floor: medianOf(floors, "cpuMillis"),
        ratio: ratioOf(pairs, "cpuMillis", started),
        bar: "none",
        ok: true
      },
      {
        name: `… start of the process to the first write, of which ${medianOf(empties, "millis").toFixed(0)} ms without pods, ${Stand.load()}`,
        value: medianOf(ours, "millis"),
        unit: "ms",
        floor: medianOf(floors, "millis"),
        ratio: wall,
        before: medianOf(before, "millis"),
        bar: "≤ 1.3 × fetch and JSON.parse",
        ok: wall <= 1.3
      },
      {
        name: "… peak memory",
        value: medianOf(ours, "peakMiB"),
        unit: "MiB RSS",
        floor: medianOf(floors, "peakMiB"),
        before: medianOf(before, "peakMiB"),
        bar: "none",
        ok: true
      }
    ]
  })

export const run = async (): Promise<Array<Figure>> => {
  const figures: Array<Figure> = []
  const wanted = process.env["VARIANTS"]?.split(",").map(Number)
  for (const [i, variant] of variants.entries())
    if (wanted === undefined || wanted.includes(i)) figures.push(...(await Effect.runPromise(measured(variant))))
  return figures
}
