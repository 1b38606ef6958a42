/**
 * Replicas that share the work, as processes on one machine: a controller whose reconcile waits 10 ms on something else, and 20,000 objects. The figures are
 * ratios in one run, of several replicas to one: how much more they do, and what a reconcile costs the processor.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import type { Figure } from "./figure.ts"
import { bundled, create, serve, type Server } from "./server.ts"
import type { Options, State } from "./shardedReplica.ts"

const objects = 20_000
const shards = 64
/** Of each replica: one alone needs fifty seconds. */
const concurrency = 4

interface Measured {
  /** Reconciles a second. */
  readonly rate: number
  /** Microseconds of the processor for each reconcile. */
  readonly cpu: number
}

const measure = async (file: string, { ca, port, token }: Server, replicas: number): Promise<Measured> => {
  const children = Array.from({ length: replicas }, (_, index) => {
    const options: Options = {
      server: `https://127.0.0.1:${port}`,
      ca,
      token,
      cluster: `fleet-${replicas}`,
      address: `replica-${index}`,
      shards,
      concurrency
    }
    const child = spawn(process.execPath, [file, JSON.stringify(options)], { stdio: ["pipe", "pipe", "inherit"] })
    const state: { now: State | undefined } = { now: undefined }
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith("{")) state.now = JSON.parse(line) as State
    })
    return { child, state }
  })
  const total = (of: (state: State) => number): number =>
    children.reduce((sum, { state }) => sum + (state.now === undefined ? 0 : of(state.now)), 0)
  const isDivided = (): boolean =>
    total(({ held }) => held) === shards && children.every(({ state }) => (state.now?.held ?? 0) > 0)
  while (!isDivided()) await sleep(100)
  // Shards may still move once after that.
  await sleep(10_000)
  while (!isDivided()) await sleep(100)
  const began = Date.now()
  for (const { child } of children) child.stdin.write("go\n")
  while (total(({ reconciled }) => reconciled) < objects) await sleep(100)
  const ended = Math.max(...children.map(({ state }) => state.now?.last ?? 0))
  const measured = {
    rate: (objects * 1000) / (ended - began),
    cpu: (total(({ cpu }) => cpu) * 1000) / objects
  }
  const gone = children.map(({ child }) => once(child, "exit"))
  for (const { child } of children) child.kill("SIGKILL")
  await Promise.all(gone)
  return measured
}

const figureOf = (one: Measured, many: Measured, replicas: number): ReadonlyArray<Figure> => {
  const share = many.rate / one.rate / replicas
  const cost = many.cpu / one.cpu
  return [
    {
      name: `sharding: reconciles a second of ${replicas} replicas, as a share of ${replicas} times one`,
      value: share,
      unit: `(${Math.round(many.rate)} a second)`,
      bar: "≥ 0.9",
      ok: share >= 0.9
    },
    {
      name: `sharding: processor for each reconcile of ${replicas} replicas, over one`,
      value: cost,
      unit: `(${Math.round(many.cpu)} µs)`,
      bar: "≤ 1.1",
      ok: cost <= 1.1
    }
  ]
}

const configMap = (index: number) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: `settings-${index}`, namespace: "default" },
  data: { value: String(index) }
})

export const run = async (): Promise<Array<Figure>> => {
  const file = await bundled("shardedReplica")
  const server = await serve()
  try {
    const path = "/api/v1/namespaces/default/configmaps"
    await create(server, path, { from: 0, objects, connections: 12 }, configMap)
    const one = await measure(file, server, 1)
    const figures: Array<Figure> = []
    for (const replicas of [2, 4, 8]) figures.push(...figureOf(one, await measure(file, server, replicas), replicas))
    return figures
  } finally {
    await server.stop()
  }
}
