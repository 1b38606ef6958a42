/**
 * Metrics of the process, read from the operating system and from V8 at each scrape, under the names of Prometheus' client libraries. A value that
 * the operating system does not report has no series.
 */
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import { readdirSync, readFileSync } from "node:fs"
import { constants, PerformanceObserver } from "node:perf_hooks"
import process from "node:process"
import { type EventLoop, Process } from "../layers/Process.ts"
import { Durations, registrar } from "../streams/reconcile/counters.ts"

const gauge = (name: string, description: string) => Metric.gauge(name, { description })

const cpu = Metric.counter("process_cpu_seconds_total", {
  description: "Processor time used, in seconds",
  incremental: true
})
const started = gauge("process_start_time_seconds", "When the process began, in seconds since 1970")
const resident = gauge("process_resident_memory_bytes", "Memory held in RAM")
const virtual = gauge("process_virtual_memory_bytes", "Address space in use")
const maxVirtual = gauge("process_virtual_memory_max_bytes", "Address space there may be")
const received = Metric.counter("process_network_receive_bytes_total", {
  description: "Bytes that came over the network, as the system counts them for the process's network",
  incremental: true
})
const sent = Metric.counter("process_network_transmit_bytes_total", {
  description: "Bytes that went over the network, counted in the same way",
  incremental: true
})
const openFiles = gauge("process_open_fds", "File descriptors in use")
const maxFiles = gauge("process_max_fds", "File descriptors there may be")
const lagging = gauge("nodejs_eventloop_lag_seconds", "How late the event loop was when it was last looked at")
const heapTotal = gauge("nodejs_heap_size_total_bytes", "Size of the heap")
const heapUsed = gauge("nodejs_heap_size_used_bytes", "What of the heap is in use")
const external = gauge("nodejs_external_memory_bytes", "Memory of buffers and other objects outside of the heap")
const gcBounds = [0.001, 0.01, 0.1, 1, 2, 5]
const gc = Metric.histogram("nodejs_gc_duration_seconds", {
  description: "Length of garbage collections, by kind",
  boundaries: gcBounds
})

const gcKinds: ReadonlyMap<number, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, "minor"],
  [constants.NODE_PERFORMANCE_GC_MAJOR, "major"],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, "incremental"],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, "weakcb"]
])

/** Registers only the time at which the process started. */
export const registerStart: Effect.Effect<void> = Effect.gen(function* () {
  const context: Context.Context<never> = yield* Effect.context()
  const begin = (yield* Clock.currentTimeMillis) / 1000 - process.uptime()
  registrar(context).gauge(started, {}, () => begin)
})

/** Registers all metrics; garbage collections are counted for as long as the scope is open. */
export const register = (eventLoop: EventLoop): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const context: Context.Context<never> = yield* Effect.context()
    const { counter, gauge, histogram } = registrar(context)
    yield* registerStart
    counter(cpu, {}, () => {
      const { system, user } = process.cpuUsage()
      return (system + user) / 1e6
    })
    gauge(resident, {}, () => process.memoryUsage.rss())
    gauge(heapTotal, {}, () => process.memoryUsage().heapTotal)
    gauge(heapUsed, {}, () => process.memoryUsage().heapUsed)
    gauge(external, {}, () => process.memoryUsage().external)
    gauge(lagging, {}, () => eventLoop.lastUnsafe() / 1000)
    for (const [metric, read] of ofTheSystem) if (read() !== undefined) gauge(metric, {}, () => read() ?? 0)
    for (const [metric, read] of traffic) if (read() !== undefined) counter(metric, {}, () => read() ?? 0)
    const collections = new Map([...gcKinds.values()].map((kind) => [kind, new Durations(gcBounds)]))
    for (const [kind, durations] of collections) histogram(gc, { kind }, () => durations.state())
    yield* Effect.acquireRelease(
      Effect.sync(() => observe(collections)),
      (observer) => Effect.sync(() => observer.disconnect())
    )
  })

const observe = (collections: ReadonlyMap<string, Durations>): PerformanceObserver => {
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) collections.get(kindOf(entry))?.observe(entry.duration)
  })
  observer.observe({ entryTypes: ["gc"] })
  return observer
}

/** The types of Node do not declare the `detail` of a garbage collection. */
const kindOf = (entry: object): string => {
  const detail: unknown = "detail" in entry ? entry.detail : undefined
  const kind: unknown = typeof detail === "object" && detail !== null && "kind" in detail ? detail.kind : undefined
  return (typeof kind === "number" ? gcKinds.get(kind) : undefined) ?? ""
}

/** How Prometheus' client libraries show a missing limit. */
const unlimited = 2 ** 64

/** Undefined if the file is missing or has no such line. */
const inFile = (path: string, pattern: RegExp, unit: number) => (): number | undefined => {
  const found = pattern.exec(contentOf(path))?.[1]
  if (found === undefined) return undefined
  return found === "unlimited" ? unlimited : Number(found) * unit
}

const contentOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/** The file has a line of names and then a line of values. */
const ofIp = (name: string) => (): number | undefined => {
  const [, names = "", numbers = ""] = /^IpExt: (.*)\nIpExt: (.*)$/m.exec(contentOf("/proc/self/net/netstat")) ?? []
  const at = names.split(" ").indexOf(name)
  return at < 0 ? undefined : Number(numbers.split(" ")[at])
}

const traffic: ReadonlyArray<readonly [Metric.Counter<number>, () => number | undefined]> = [
  [received, ofIp("InOctets")],
  [sent, ofIp("OutOctets")]
]

const ofTheSystem: ReadonlyArray<readonly [Metric.Gauge<number>, () => number | undefined]> = [
  [virtual, inFile("/proc/self/status", /^VmSize:\s+(\d+) kB$/m, 1024)],
  [maxVirtual, inFile("/proc/self/limits", /^Max address space\s+(\d+|unlimited)/m, 1)],
  [maxFiles, inFile("/proc/self/limits", /^Max open files\s+(\d+|unlimited)/m, 1)],
  [
    openFiles,
    () => {
      try {
        return readdirSync("/proc/self/fd").length
      } catch {
        return undefined
      }
    }
  ]
]

export const thisProcess = Process.of({
  registerStart,
  register,
  profiler: Effect.promise(async () => (await import("./inspector.ts")).profiler)
})
