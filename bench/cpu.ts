/**
 * Whether the program has become slower: the CPU time of a whole process for ten Deployments of forty that are created and deleted, as a multiple of the
 * CPU time of the same pods created and deleted by a bare loop, beside the multiple that `cpu.json` records. More than 25 % above it, twice in a row, fails.
 *
 * `RECORD=1 npm run bench cpu` records. A record is compared only on the same major version of Node and on the same kind of server.
 */
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { promisify } from "node:util"
import { Namespace } from "../src/kube/resources.ts"
import type { KubeClient } from "../src/layers/KubeClient.ts"
import type { Figure } from "./figure.ts"
import type { Access } from "./plain.ts"
import * as Deployments from "./loops/deployments.ts"
import * as Stand from "./loops/stand.ts"

const [deployments, replicas] = [10, 40]
const pods = deployments * replicas
/** So many processes, and in each so many fleets in turns with the bare loop, after the first and those in which its code is compiled. */
const [processes, compiling, warmFleets] = [3, 2, 4]
/** Of the bare loop, whose process is that of the benchmark. */
const compilingFloors = 6
const accepted = 1.25
const file = "bench/cpu.json"

interface Multiples {
  /** From the start of a process to the end of its first fleet. */
  readonly cold: number
  /** A fleet of a process that has had others. */
  readonly warm: number
}

const podSpec = { containers: [{ name: "main", image: "example.test/main:1" }] }
const namespace = "load"

type Client = KubeClient["Service"]

const all = Deployments.fleet(namespace, deployments, replicas)

/** Creates all Deployments and waits for their pods; deletes them and waits until their pods are gone. */
const fleet = (client: Client) =>
  Effect.andThen(
    Deployments.pods(client, all, "ADDED", Deployments.create(client, all)),
    Deployments.pods(client, all, "DELETED", Deployments.remove(client, all))
  )

/** The same pods by a bare loop: milliseconds of CPU time. */
const bare = async (where: Access) => {
  const path = "/api/v1/namespaces/floor/pods"
  const { cpuEach } = await Stand.plainly(where, 2 * pods, (index) =>
    index < pods
      ? { method: "POST", path, body: { metadata: { name: `p-${index}` }, spec: podSpec } }
      : { method: "DELETE", path: `${path}/p-${index - pods}` }
  )
  return cpuEach * 2 * pods
}

/** The same by a process of its own, its start included. */
const bareProcess = (where: Access) =>
  Effect.promise(async () => {
    const env = { ...process.env, BARE: JSON.stringify(where) }
    const { stdout } = await promisify(execFile)(process.execPath, [process.argv[1] ?? "", "cpu"], { env })
    return Number(stdout.split("\n")[0])
  })

const floor = (where: Access) => Effect.promise(() => bare(where))

/** Of one process. */
const multiples = (where: Stand.Server, client: Client) =>
  Effect.gen(function* () {
    const running = yield* Stand.controllers(where, ["deployment", "replicaset", "garbagecollector"])
    let used = 0
    /** CPU time since the last fleet. */
    const next = Effect.map(fleet(client), () => {
      const { cpuMillis } = Stand.usageOf(running)
      const since = cpuMillis - used
      used = cpuMillis
      return since
    })
    const cold = (yield* next) / (yield* bareProcess(where))
    yield* Effect.replicateEffect(next, compiling)
    const multiple = Effect.map(Effect.all([next, floor(where)]), ([ours, floor]) => ours / floor)
    return { cold, warm: yield* Effect.replicateEffect(multiple, warmFleets) }
  }).pipe(Effect.scoped)

const measured = Effect.gen(function* () {
  const where = yield* Stand.server
  const client = yield* Stand.client(where)
  for (const name of [namespace, "floor"]) yield* client.create(Namespace, { metadata: { name } })
  yield* Effect.replicateEffect(floor(where), compilingFloors)
  const all = yield* Effect.replicateEffect(multiples(where, client), processes)
  console.error(JSON.stringify(all))
  const now: Multiples = {
    cold: Stand.median(all.map(({ cold }) => cold)),
    warm: Stand.median(all.flatMap(({ warm }) => warm))
  }
  return { now, key: `Node ${process.versions.node.split(".")[0]}, ${where.what}` }
})

export const run = async (): Promise<Array<Figure>> => {
  if (process.env["BARE"] !== undefined) {
    await bare(JSON.parse(process.env["BARE"]) as Access)
    const { system, user } = process.cpuUsage()
    console.log((user + system) / 1000)
    return []
  }
  const measure = () => Effect.runPromise(Effect.scoped(measured))
  const { key, now } = await measure()
  const records = JSON.parse(readFileSync(file, "utf8")) as Record<string, Multiples>
  if (process.env["RECORD"] !== undefined) {
    records[key] = { cold: Number(now.cold.toFixed(2)), warm: Number(now.warm.toFixed(2)) }
    writeFileSync(file, `${JSON.stringify(records, undefined, 2)}\n`)
  }
  const recorded = records[key]
  const isBeyond = ({ cold, warm }: Multiples) =>
    recorded !== undefined && (cold > accepted * recorded.cold || warm > accepted * recorded.warm)
  // Other work on the machine may raise one measurement, and rarely two.
  const second = isBeyond(now) ? (await measure()).now : now
  return (["cold", "warm"] as const).map((which) => {
    const value = Math.min(now[which], second[which])
    const limit = accepted * (recorded?.[which] ?? Infinity)
    return {
      name: `10 Deployments × 40 created and deleted, ${which}: CPU over that of a bare loop, ${key}, ${Stand.load()}`,
      value,
      unit: "×",
      bar:
        recorded === undefined
          ? "none, nothing is recorded here"
          : `≤ ${limit.toFixed(2)} ×: 25 % above ${recorded[which]} ×; to record: RECORD=1 npm run bench cpu`,
      ok: value <= limit
    }
  })
}
