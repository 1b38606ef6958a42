/**
 * A cache of a large cluster, for `stored.ts`, in a process of its own: fills it kind by kind, and reports the heap after each; then reports what changes cost the
 * processor until they are stored and distributed.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readFileSync } from "node:fs"
import type { KubeObject } from "../../src/kube/Meta.ts"
import type * as Resource from "../../src/kube/Resource.ts"
import { Lease, Node, Pod } from "../../src/kube/resources.ts"
import { Cache } from "../../src/layers/Cache.ts"
import { Endpoint } from "../../src/layers/Endpoint.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import type { Address, Kind } from "./fedServer.ts"

/** The argument. */
export interface Options extends Pick<Address, "port" | "ca"> {
  readonly kinds: ReadonlyArray<Kind>
  /** Of each object only what names it and its version is stored. */
  readonly keysOnly: boolean
}

/** After a kind has synced. */
export interface Filled {
  readonly kind: Kind
  readonly objects: number
  /** Bytes that it added to the heap. */
  readonly heap: number
  /** MiB of the process, and its peak. */
  readonly residentMiB: number
  readonly peakMiB: number
}

/** Ordered by the parent: wait for so many changes. */
export interface Expect {
  readonly changes: number
}

export interface Received {
  /** Milliseconds of the processor, and of the clock, until the last change was distributed. */
  readonly cpu: number
  readonly millis: number
}

const resources: Readonly<Record<Kind, Resource.Resource<KubeObject>>> = {
  pods: Pod,
  nodes: Node,
  leases: Lease
}

const { ca, keysOnly, kinds, port } = JSON.parse(process.argv[2] ?? "{}") as Options

const bare = ({ apiVersion, kind, metadata: { name, namespace, resourceVersion, uid } }: KubeObject): KubeObject =>
  ({ apiVersion, kind, metadata: { name, namespace, resourceVersion, uid } }) as KubeObject

/** Garbage that is reachable from a finished turn needs another turn to be collected. */
const heapUsed = Effect.promise(async () => {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    globalThis.gc?.()
  }
  return process.memoryUsage().heapUsed
})

/** Not `maxRSS`, which begins with the memory of the parent. */
const resident = () => {
  const status = readFileSync("/proc/self/status", "utf8")
  const mib = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
  return { residentMiB: mib("VmRSS"), peakMiB: mib("VmHWM") }
}

const services = Cache.layer(keysOnly ? { transform: bare } : {}).pipe(
  Layer.provide(KubeClient.layer),
  Layer.provide(HttpTransport.layer),
  Layer.provide(Layer.succeed(Endpoint, Endpoint.fixed({ server: `https://127.0.0.1:${port}`, tls: { ca } })))
)

let left = 0
let began = { cpu: process.cpuUsage(), at: performance.now() }
process.on("message", ({ changes }: Expect) => {
  left = changes
  began = { cpu: process.cpuUsage(), at: performance.now() }
})
process.once("disconnect", () => process.exit(0))

await Effect.gen(function* () {
  const cache = yield* Cache
  yield* heapUsed
  process.send?.(resident().residentMiB)
  for (const kind of kinds) {
    const before = yield* heapUsed
    const informer = yield* cache.subscribe(resources[kind])
    yield* informer.onDeltas((deltas) => {
      if (left === 0) return
      left -= deltas.length
      if (left !== 0) return
      const { system, user } = process.cpuUsage(began.cpu)
      process.send?.({ cpu: (system + user) / 1000, millis: performance.now() - began.at } satisfies Received)
    })
    yield* informer.synced
    const filled: Filled = {
      kind,
      objects: informer.store.list().length,
      heap: (yield* heapUsed) - before,
      ...resident()
    }
    process.send?.(filled)
  }
  return yield* Effect.never
}).pipe(Effect.scoped, Effect.provide(services), Effect.runPromise)
