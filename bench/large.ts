/**
 * The whole program with all core loops on generated clusters: what it needs while nothing but heartbeats arrives on the largest cluster that Kubernetes
 * supports, how long a change of a pod takes until the status that counts it is written, and what a change costs at different sizes. The lower bound is
 * a process that parses the same events and does nothing else. `SIZES=1,10` measures these sizes alone, in thousands of pods; `SIZES=` none.
 * `PRIORITY=-15` runs the server and the program before other work of the machine, without which latencies are those of the machine; it needs root.
 */
import * as Effect from "effect/Effect"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { existsSync, writeFileSync } from "node:fs"
import { setPriority } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import type { Figure } from "./figure.ts"
import { coreLoops } from "./loops/idle.ts"
import * as Stand from "./loops/stand.ts"
import type * as BareChanges from "./scale/bareChanges.ts"
import type * as BareWatch from "./scale/bareWatch.ts"
import type { Address, Changes, Counts, Kind, Sent } from "./scale/fedServer.ts"
import { bundled } from "./server.ts"
import { number } from "./table.ts"

const largest = { pods: 150_000, nodes: 5000 }
const sizes = (process.env["SIZES"] ?? "1,2,5,10,20,50,100,150")
  .split(",")
  .filter((one) => one !== "")
  .map((one) => Number(one) * 1000)

/**
 * For the sizes: nodes, changes of pods in a second, seconds, and ReplicaSets that change at a time. A ReplicaSet changes seldom enough that changes are
 * not counted together in one status, so that each causes the same writes.
 */
const same = { nodes: 1000, perSecond: 100, seconds: 20, groups: 40 }

/** Of the largest cluster: seconds of rest, and changes of one percent of its pods in a second. */
const rest = 60
const busy = { perSecond: 1500, seconds: 20 }

const started = async (name: string, argument: object): Promise<ChildProcess> =>
  fork(await bundled(name), [JSON.stringify(argument)])

const message = async <A>(child: ChildProcess, isWanted: (one: A) => boolean = () => true): Promise<A> => {
  for (;;) {
    const [one] = (await once(child, "message")) as [A]
    if (isWanted(one)) return one
  }
}

interface Cluster {
  readonly child: ChildProcess
  readonly address: Address
  readonly where: Stand.Server
}

/** Kubelets renew a Lease every 10 seconds and write a status every 5 minutes. Source: "Heartbeats" in the documentation of nodes. */
const cluster = async ({ nodes, pods }: { readonly nodes: number; readonly pods: number }): Promise<Cluster> => {
  const child = await started("scale/fedServer", { pods, nodes, leases: nodes, owned: true } satisfies Counts)
  const address = await message<Address>(child)
  const order = (changes: Changes) => child.send(changes)
  order({ kind: "leases", perSecond: nodes / 10 })
  order({ kind: "nodes", perSecond: nodes / 300 })
  const where = { what: "a generated cluster", url: `https://127.0.0.1:${address.port}`, ca: address.ca, token: "none" }
  return { child, address, where }
}

const bare = async ({ address }: Cluster, paths: ReadonlyArray<string>): Promise<ChildProcess> => {
  const { ca, port } = address
  const child = await started("scale/bareWatch", { ca, port, paths } satisfies BareWatch.Options)
  await message(child)
  return child
}

/** Runs the least process that follows changes of pods, until the promise is settled. */
const withBare = async <A>({ address }: Cluster, work: (running: ChildProcess) => Promise<A>): Promise<A> => {
  const { ca, port } = address
  const child = await started("scale/bareChanges", { ca, port } satisfies BareChanges.Options)
  await message(child)
  try {
    return await work(child)
  } finally {
    child.disconnect()
  }
}

const paths = ["/api/v1/pods", "/api/v1/nodes", "/apis/coordination.k8s.io/v1/leases"]

/** Until each of three times five seconds costs less than a fifth of them. */
const settled = async (running: ChildProcess): Promise<void> => {
  for (let tries = 0, quiet = 0; tries < 100; tries++) {
    const before = Stand.usageOf(running).cpuMillis
    await sleep(5000)
    quiet = Stand.usageOf(running).cpuMillis - before < 1000 ? quiet + 1 : 0
    if (quiet === 3) return
  }
  throw new Error("the program does not come to rest")
}

/** Milliseconds of the processor in a second at rest. */
const atRest = async (running: ChildProcess, seconds: number): Promise<number> => {
  const before = Stand.usageOf(running).cpuMillis
  await sleep(seconds * 1000)
  return (Stand.usageOf(running).cpuMillis - before) / seconds
}

interface Order {
  readonly perSecond: number
  readonly seconds: number
  readonly groups: number
}

/** Pods become ready or not ready; the milliseconds of the processor for each of them, beyond those at rest. */
const changing = async (to: Cluster, running: ChildProcess, { groups, perSecond, seconds }: Order, idle: number) => {
  const [before, began] = [Stand.usageOf(running).cpuMillis, performance.now()]
  to.child.send({ kind: "pods", count: perSecond * seconds, perSecond, groups } satisfies Changes)
  const sent = await message<Sent>(to.child, ({ kind }) => kind === ("pods" satisfies Kind))
  const used = Stand.usageOf(running).cpuMillis - before - (idle * (performance.now() - began)) / 1000
  if (sent.latency === undefined) throw new Error("nothing was measured")
  return { each: used / (perSecond * seconds), ...sent.latency }
}

/** Runs the program until the promise is settled. */
const withProgram = <A>(to: Cluster, work: (running: ChildProcess) => Promise<A>): Promise<A> =>
  Stand.signingKey.pipe(
    Effect.flatMap((key) =>
      Stand.controllers(to.where, coreLoops, [`--service-account-private-key-file=${key}`], Stand.asImage)
    ),
    Effect.flatMap((running) => Effect.promise(() => work(running))),
    Effect.scoped,
    Effect.runPromise
  )

type Found = Awaited<ReturnType<typeof changing>>

/** `floor`: of the least process that does the same. */
const latencies = (name: string, found: Found, { at, floor }: { at?: number; floor?: Found }): Array<Figure> =>
  (["p50", "p99"] as const).map((one) => ({
    name: `${name}: until the status is written, ${one}`,
    value: found.missing === 0 || one === "p50" ? found[one] : Infinity,
    unit: "ms",
    bar: one === "p99" ? "≤ 500 ms" : "none",
    ok: one === "p50" || (found.missing === 0 && found.p99 <= 500),
    at,
    floor: floor?.[one],
    ratio: floor && found[one] / floor[one]
  }))

/** ReplicaSets. */
const atOnce = [60, 1500]

/** For each number of ReplicaSets. */
const busyWith = async (to: Cluster, running: ChildProcess, idle: number): Promise<Array<Found>> => {
  const all: Array<Found> = []
  for (const groups of atOnce) {
    // Once to compile.
    await changing(to, running, { ...busy, seconds: 10, groups }, idle)
    const changes = await changing(to, running, { ...busy, groups }, idle)
    console.log(groups, changes)
    all.push(changes)
  }
  return all
}

const writesOf = ({ writes }: Found): string => (writes / busy.perSecond / busy.seconds).toFixed(2)

const large = async (): Promise<Array<Figure>> => {
  const to = await cluster(largest)
  const size = `${number(largest.pods)} pods on ${number(largest.nodes)} nodes`
  try {
    // The loops write what is missing once; measured is a process that finds everything as it should be.
    await withProgram(to, settled)
    const figures = await withProgram(to, async (running) => {
      await settled(running)
      // V8 collects garbage once or twice more when the process has been at rest for about a minute.
      await sleep(90_000)
      const reader = await bare(to, paths)
      await sleep(5000)
      const [floor, share] = await Promise.all([atRest(reader, rest), atRest(running, rest)])
      reader.disconnect()
      const { peakMiB, residentMiB } = Stand.usageOf(running)
      console.log({ share, floor, peakMiB, residentMiB })
      const found: Array<Figure> = [
        {
          name: `${size}, heartbeats alone, ${Stand.load()}: processor`,
          value: share / 10,
          unit: "% of a core",
          floor: floor / 10,
          ratio: share / floor,
          bar: "≤ 3 %",
          ok: share <= 30
        },
        {
          name: `${size}, heartbeats alone: memory`,
          value: residentMiB,
          unit: "MiB RSS",
          bar: "≤ 700 MiB",
          ok: residentMiB <= 700
        }
      ]
      const changes = await busyWith(to, running, share)
      // The next process begins with the numbers that are written.
      await settled(running)
      return { found, changes }
    })
    const floor = await withBare(to, (running) => busyWith(to, running, 0))
    const changed = atOnce.flatMap((groups, i) => {
      const [ours, least] = [figures.changes[i], floor[i]]
      if (ours === undefined || least === undefined) return []
      const name = `1 % of ${number(largest.pods)} pods change a second, ${number(groups)} ReplicaSets at a time, ${Stand.load()}`
      const each = {
        name: `${name}: processor for each, with ${writesOf(ours)} writes; the lower bound with ${writesOf(least)}`,
        value: ours.each,
        unit: "ms",
        floor: least.each,
        ratio: ours.each / least.each,
        bar: "none",
        ok: true
      }
      return latencies(name, ours, { floor: least }).concat(each)
    })
    return [...figures.found, ...changed]
  } finally {
    to.child.disconnect()
  }
}

const ofSize = async (pods: number): Promise<Array<Figure>> => {
  const to = await cluster({ pods, nodes: same.nodes })
  try {
    return await withProgram(to, async (running) => {
      await settled(running)
      await changing(to, running, { ...same, seconds: 8 }, 0)
      const { residentMiB } = Stand.usageOf(running)
      const idle = await atRest(running, 10)
      const changes = await changing(to, running, same, idle)
      console.log(pods, { idle, residentMiB, ...changes })
      const name = `${same.perSecond} pods change a second, ${same.groups} ReplicaSets at a time`
      return [
        { name: `${name}: processor for each`, at: pods, value: changes.each, unit: "ms", bar: "none", ok: true },
        {
          name: `${name}: writes for each`,
          at: pods,
          value: changes.writes / changes.changes,
          unit: "",
          bar: "none",
          ok: true
        },
        { name: "resident memory", at: pods, value: residentMiB, unit: "MiB RSS", bar: "none", ok: true },
        ...latencies(name, changes, { at: pods })
      ]
    })
  } finally {
    to.child.disconnect()
  }
}

/** The cost of a change at each size, over the mean of all. */
const spread = (curve: ReadonlyArray<Figure>): Array<Figure> => {
  const costs = curve.filter(({ name }) => name.endsWith("processor for each")).map(({ value }) => value)
  const mean = costs.reduce((sum, one) => sum + one, 0) / costs.length
  const value = Math.max(...costs.map((one) => Math.abs(one / mean - 1))) * 100
  return [
    {
      name: "processor for each change, furthest from the mean of all sizes",
      value,
      unit: "%",
      bar: "≤ 20 %",
      ok: value <= 20
    }
  ]
}

export const run = async (): Promise<Array<Figure>> => {
  // Processes that are started from here on have the same.
  const priority = process.env["PRIORITY"]
  if (priority !== undefined) {
    setPriority(Number(priority))
    // Where sessions are scheduled as groups, the priority of a process is one inside its group.
    if (existsSync("/proc/self/autogroup")) writeFileSync("/proc/self/autogroup", priority)
  }
  const curve: Array<Figure> = []
  for (const size of sizes) curve.push(...(await ofSize(size)))
  const isLarge = (process.env["SIZES"] ?? "") === ""
  return [...(isLarge ? await large() : []), ...curve, ...(curve.length === 0 ? [] : spread(curve))]
}
