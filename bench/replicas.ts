/** Fleets of replicas of a sharded controller, as processes, and measurements of a fleet. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import type { Server } from "./server.ts"
import type { Options, Order, State } from "./shardedReplica.ts"

/** Several times the number of replicas. */
const shards = 64
/** Of each replica: one alone needs fifty seconds for 20,000 objects. */
const concurrency = 4

export interface Replica {
  readonly child: ChildProcess
  state: State | undefined
}

export interface Fleet {
  readonly replicas: ReadonlyArray<Replica>
  /** Begins a measurement, and returns the states of all replicas when they are as they should be. */
  readonly measure: (
    order: Omit<Order, "measurement">,
    isOver: (states: ReadonlyArray<State>) => boolean
  ) => Promise<ReadonlyArray<State>>
  readonly stop: () => Promise<void>
}

const poll = 100

/** Starts a fleet, and waits until its shards are divided. */
export const start = async (
  file: string,
  { ca, port, token }: Server,
  size: number,
  runs: number = concurrency
): Promise<Fleet> => {
  const replicas = Array.from({ length: size }, (_, index) => {
    const options: Options = {
      server: `https://127.0.0.1:${port}`,
      ca,
      token,
      cluster: `fleet-${size}-${runs}`,
      address: `replica-${index}`,
      shards,
      concurrency: runs
    }
    const child = spawn(process.execPath, [file, JSON.stringify(options)], { stdio: ["pipe", "pipe", "inherit"] })
    const replica: Replica = { child, state: undefined }
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith("{")) replica.state = JSON.parse(line) as State
    })
    return replica
  })
  const isDivided = (): boolean =>
    sum(replicas, ({ state }) => state?.held ?? 0) === shards && replicas.every(({ state }) => (state?.held ?? 0) > 0)
  while (!isDivided()) await sleep(poll)
  // Shards may still move once after that.
  await sleep(10_000)
  while (!isDivided()) await sleep(poll)
  let measurement = 0
  return {
    replicas,
    measure: async (order, isOver) => {
      const line: Order = { ...order, measurement: ++measurement }
      for (const { child } of replicas) child.stdin?.write(`${JSON.stringify(line)}\n`)
      for (;;) {
        await sleep(poll)
        const states = replicas.flatMap(({ state }) => (state?.measurement === measurement ? state : []))
        if (states.length === size && isOver(states)) return states
      }
    },
    stop: async () => {
      const gone = replicas.map(({ child }) => once(child, "exit"))
      for (const { child } of replicas) child.kill("SIGKILL")
      await Promise.all(gone)
    }
  }
}

export const sum = <A>(values: ReadonlyArray<A>, of: (value: A) => number): number =>
  values.reduce((total, value) => total + of(value), 0)

/** Milliseconds of the processor of the thread that runs JavaScript, and of the others, which compile and collect garbage. */
export const threadsOf = ({ child }: Replica): { readonly main: number; readonly others: number } => {
  const folder = `/proc/${child.pid}/task`
  const spent = { main: 0, others: 0 }
  for (const thread of readdirSync(folder)) {
    const nanos = Number(readFileSync(`${folder}/${thread}/schedstat`, "utf8").split(" ")[0])
    spent[thread === String(child.pid) ? "main" : "others"] += nanos / 1e6
  }
  return spent
}
