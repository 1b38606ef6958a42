/**
 * The cost of the first sync of 20,000 pods: until the last key is in the queue, over real HTTP, compared with fetching the same bytes and parsing them; and
 * the cost of keeping them, compared with the same objects parsed and kept in an array. The server, each lower bound and each attempt
 * run in processes of their own, so that no heap contains another's objects.
 */
import { type ChildProcess, fork } from "node:child_process"
import * as http from "node:http"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Key from "../src/kube/Key.ts"
import { Pod } from "../src/kube/resources.ts"
import { Cache } from "../src/layers/Cache.ts"
import { Endpoint } from "../src/layers/Endpoint.ts"
import * as HttpTransport from "../src/platform/HttpTransport.ts"
import { KubeClient } from "../src/layers/KubeClient.ts"
import * as KeyedQueue from "../src/streams/queue/KeyedQueue.ts"
import type { Figure } from "./figure.ts"
import * as Generator from "./generator.ts"

const count = 20_000
const tries = 5

/** What a child process reports about itself. */
interface Measured {
  /** Milliseconds until the work was done. */
  readonly millis: number
  /** Bytes of heap that the work left behind, after a forced collection. */
  readonly heap: number
  /** The peak of the process's memory, in bytes. */
  readonly peak: number
}

const fetchAll = (url: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    http
      .get(url, { agent: false }, (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString())))
        response.on("error", reject)
      })
      .on("error", reject)
  })

/** Garbage that is reachable from a finished turn needs another turn to be collected. */
const heapUsed = async (): Promise<number> => {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    globalThis.gc?.()
  }
  return process.memoryUsage().heapUsed
}

/** Kept reachable until the heap has been measured. */
const kept: Array<unknown> = []

const measured = async (work: () => Promise<unknown>): Promise<Measured> => {
  const before = await heapUsed()
  const start = performance.now()
  kept.push(await work())
  const millis = performance.now() - start
  return { millis, heap: (await heapUsed()) - before, peak: process.resourceUsage().maxRSS * 1024 }
}

/** The measured code: layers are built, the informer syncs, every key is in the queue. Stays open, as in a running program. */
const sync = (port: number): Promise<unknown> => {
  const endpoint = Layer.succeed(Endpoint, Endpoint.fixed({ server: `http://127.0.0.1:${port}` }))
  const services = Cache.layer().pipe(
    Layer.provide(KubeClient.layer),
    Layer.provide(HttpTransport.layer),
    Layer.provide(endpoint)
  )
  return new Promise((resolve, reject) => {
    const program = Effect.gen(function* () {
      const cache = yield* Cache
      const queue = yield* KeyedQueue.make()
      const informer = yield* cache.subscribe(Pod)
      yield* informer.onDeltas((deltas) =>
        queue.addAllUnsafe(
          deltas.map((delta) => Key.of(delta.object)),
          KeyedQueue.LOW
        )
      )
      yield* informer.synced
      if (queue.stats().ready !== count) return yield* Effect.die(new Error(`${queue.stats().ready} keys`))
      resolve({ informer, queue })
      return yield* Effect.never
    })
    Effect.runPromise(Effect.scoped(Effect.provide(program, services))).catch(reject)
  })
}

const roles: Record<string, (port: number) => Promise<unknown>> = {
  generator: () => Generator.serve(count),
  sync: async (port) => process.send?.(await measured(() => sync(port))),
  fetch: async (port) => process.send?.(await measured(() => fetchAll(`http://127.0.0.1:${port}/all`))),
  parsed: async (port) => process.send?.(await measured(() => fetchAll(`http://127.0.0.1:${port}/trimmed`)))
}

const variable = "BENCH_SYNC_ROLE"

const start = (role: string, port = 0): ChildProcess =>
  fork(fileURLToPath(import.meta.url), [String(port)], {
    env: { ...process.env, [variable]: role },
    execArgv: ["--expose-gc"]
  })

const message = <A>(child: ChildProcess): Promise<A> =>
  new Promise((resolve, reject) => {
    child.once("message", (value) => resolve(value as A))
    child.once("exit", (code) => reject(new Error(`a process of the benchmark ended with code ${code}`)))
  })

const once = async (role: string, port: number): Promise<Measured> => {
  const child = start(role, port)
  const value = await message<Measured>(child)
  child.kill()
  return value
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const mib = 1024 * 1024

export const run = async (): Promise<Array<Figure>> => {
  const generator = start("generator")
  const { bytes, managed, port } = await message<{ port: number; bytes: number; managed: number }>(generator)
  const results: Record<"sync" | "fetch" | "parsed", Array<Measured>> = { sync: [], fetch: [], parsed: [] }
  for (let i = 0; i < tries; i++) {
    results.fetch.push(await once("fetch", port))
    results.sync.push(await once("sync", port))
    results.parsed.push(await once("parsed", port))
  }
  generator.disconnect()
  const time = median(results.sync.map((m) => m.millis))
  const timeFloor = median(results.fetch.map((m) => m.millis))
  const heap = median(results.sync.map((m) => m.heap)) / mib
  const heapFloor = median(results.parsed.map((m) => m.heap)) / mib
  const peak = median(results.sync.map((m) => m.peak)) / mib
  return [
    {
      name: `cold sync of ${count} pods of ${bytes} bytes, ${managed} of them managedFields, to the last key queued`,
      value: time,
      unit: "ms",
      floor: timeFloor,
      ratio: time / timeFloor,
      bar: "≤ 1.3 × fetch and JSON.parse",
      ok: time <= 1.3 * timeFloor
    },
    {
      name: "heap after it",
      value: heap,
      unit: "MiB",
      floor: heapFloor,
      ratio: heap / heapFloor,
      bar: "≤ 1.15 × the trimmed objects parsed",
      ok: heap <= 1.15 * heapFloor
    },
    { name: "peak RSS of it", value: peak, unit: "MiB", bar: "≤ 260 MiB", ok: peak <= 260 }
  ]
}

const role = process.env[variable]
if (role !== undefined) await roles[role]?.(Number(process.argv[2]))
else if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await run(), undefined, 2))
