/**
 * What the simulated kubelets answer besides the API objects: logs and usage. A log is computed as it is read, in parts of a few hundred lines, so a
 * slow reader holds nothing back and nothing is buffered. Usage is measured at regular times, once for all requests in between.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Key from "../kube/Key.ts"
import * as ResourceVersion from "../kube/ResourceVersion.ts"
import type { Pod } from "../kube/resources.ts"
import type { Informer } from "../layers/Cache.ts"
import type { Amounts, LogOptions, Measurement, NodeConnection, PodUsage, Usage } from "../layers/NodeConnection.ts"
import { LogUnavailable, NodeUnreachable } from "../layers/NodeConnection.ts"
import type { Kubelet } from "./kubelet.ts"
import type * as Machine from "./Machine.ts"
import { nodeOf } from "./placement/SchedulerCache.ts"
import * as Requests from "./placement/requests.ts"
import * as Lines from "./pod/lines.ts"
import * as Logs from "./pod/logs.ts"
import * as PodUsages from "./pod/usage.ts"

export interface Options {
  /** By name; may change while they run. */
  readonly kubelets: ReadonlyMap<string, Kubelet>
  readonly pods: Informer<Pod>
}

/** A log has so many lines at most, as a rotated file; older ones are gone. */
const retainedLines = 10_000

/** Lines of one part; more than one container has sources. */
const part = 500

/** The end of a run is known to the second: lines of that second belong to it. */
const untilEndOf = (second: number): number => second + 999

export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<NodeConnection, never, Scope.Scope> {
  const followers = new Followers()
  yield* options.pods.onDeltas((deltas) => {
    for (const { object } of deltas) followers.wake(Key.of(object))
  })
  return {
    logs: (pod, wanted) =>
      Effect.gen(function* () {
        const node = nodeOf(pod) ?? ""
        if (options.kubelets.get(node)?.isRunning !== true) return yield* new NodeUnreachable({ node })
        const run = Logs.runOf(pod, wanted.container, wanted.previous)
        return run instanceof LogUnavailable ? yield* run : logOf(options.pods, followers, pod, wanted, run)
      }),
    usage: measure(options)
  }
})

/** Logs that are followed, by pod: a change of the pod may end them. */
class Followers {
  private readonly byPod = new Map<Key.Key, Set<Latch.Latch>>()

  wake(key: Key.Key): void {
    for (const latch of this.byPod.get(key) ?? []) latch.openUnsafe()
  }

  /** A latch that opens whenever the pod changes, for as long as the scope is open. */
  readonly latch = (key: Key.Key): Effect.Effect<Latch.Latch, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const latch = Latch.makeUnsafe(false)
        const all = this.byPod.get(key) ?? new Set()
        this.byPod.set(key, all.add(latch))
        return latch
      }),
      (latch) =>
        Effect.sync(() => {
          const all = this.byPod.get(key)
          all?.delete(latch)
          if (all?.size === 0) this.byPod.delete(key)
        })
    )
}

const logOf = (
  pods: Informer<Pod>,
  followers: Followers,
  pod: Pod,
  options: LogOptions,
  run: Logs.Run
): Stream.Stream<string> => {
  const { container, follow, limitBytes = Infinity, since = -Infinity, tailLines = Infinity } = options
  const key = Key.of(pod)
  const render = ({ text, time }: Lines.Line): string =>
    `${options.timestamps ? `${new Date(time).toISOString().slice(0, -1)}000000Z ` : ""}${text()}\n`
  /** The newest state of the pod that is known here: the server may be ahead of this cache. */
  const present = (): Pod | undefined => {
    const found = pods.store.get(key)
    if (found === undefined || found.metadata.uid !== pod.metadata.uid) return undefined
    const [known = "", given = ""] = [found.metadata.resourceVersion, pod.metadata.resourceVersion]
    return ResourceVersion.isAtLeast(known, given) ? found : pod
  }
  const history = Effect.map(Clock.currentTimeMillis, (now) => {
    const until = run.endedAt === undefined ? now : untilEndOf(run.endedAt)
    const lines = Lines.last(Logs.sourcesOf(pod, container, run), until, Math.min(retainedLines, tailLines))
    return { lines: lines.filter(({ time }) => time >= since), until }
  })
  /** The next lines after a time, or undefined at the end of the run. */
  const next = (latch: Latch.Latch, after: number): Effect.Effect<ReadonlyArray<Lines.Line> | undefined> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      latch.closeUnsafe()
      const current = present()
      const state = current === undefined ? undefined : Logs.runNow(current, container, run)
      if (current === undefined || state === undefined) return Effect.succeed(undefined)
      const sources = Logs.sourcesOf(current, container, state)
      const lines = Lines.between(sources, after, state.endedAt === undefined ? now : untilEndOf(state.endedAt), part)
      if (lines.length > 0) return Effect.succeed(lines)
      if (state.endedAt !== undefined) return Effect.succeed(undefined)
      const due = Lines.nextTime(sources, Math.max(now, after))
      const woken = due === undefined ? latch.await : Effect.race(Effect.sleep(due - now), latch.await)
      return Effect.flatMap(woken, () => next(latch, after))
    })
  const parts = Stream.unwrap(
    Effect.gen(function* () {
      const latch = yield* followers.latch(key)
      const { lines, until } = yield* history
      const state: State = { lines, at: 0, after: until }
      return Stream.unfold(state, (state) => {
        const ready = state.lines.slice(state.at, state.at + part)
        if (ready.length > 0) return Effect.succeed([ready, { ...state, at: state.at + part }] as const)
        if (!follow || run.endedAt !== undefined) return Effect.succeed(undefined)
        return Effect.map(next(latch, state.after), (lines) =>
          lines === undefined
            ? undefined
            : ([
                lines.filter(({ time }) => time >= since),
                { lines: [], at: 0, after: lines.at(-1)?.time ?? 0 }
              ] as const)
        )
      })
    })
  )
  return limited(
    Stream.map(parts, (lines) => lines.map(render).join("")),
    limitBytes
  )
}

interface State {
  /** Lines that were written before the request, from `at` on. */
  readonly lines: ReadonlyArray<Lines.Line>
  readonly at: number
  /** The time up to which lines have been sent or are among `lines`. */
  readonly after: number
}

/** The first bytes of a text. A character that is cut is left out. */
const limited = (texts: Stream.Stream<string>, bytes: number): Stream.Stream<string> => {
  if (bytes === Infinity) return texts
  return Stream.suspend(() => {
    let left = bytes
    const encoder = new TextEncoder()
    return texts.pipe(
      Stream.map((text) => {
        const encoded = encoder.encode(text)
        const cut =
          encoded.length <= left ? text : new TextDecoder().decode(encoded.subarray(0, left), { stream: true })
        left -= encoded.length
        return { cut, isLast: left <= 0 }
      }),
      Stream.takeUntil(({ isLast }) => isLast),
      Stream.map(({ cut }) => cut)
    )
  })
}

/** Measures once for each time of measurement, when it is first asked. */
const measure = ({ kubelets, pods }: Options): Effect.Effect<Usage> => {
  let latest: { readonly time: number; readonly usage: Usage } | undefined
  return Effect.map(Clock.currentTimeMillis, (now) => {
    const time = PodUsages.measuredAt(now)
    if (latest?.time !== time) latest = { time, usage: measureAt(kubelets, pods.store.list(), time) }
    return latest.usage
  })
}

const measureAt = (kubelets: ReadonlyMap<string, Kubelet>, all: ReadonlyArray<Pod>, time: number): Usage => {
  const ready = PodUsages.readyPods(all)
  const used = new Map<string, PodUsage>()
  const sums = new Map<string, Amounts>()
  for (const pod of all) {
    const node = nodeOf(pod)
    if (node === undefined || kubelets.get(node)?.isRunning !== true) continue
    const usage = PodUsages.of(pod, time, ready)
    if (usage === undefined) continue
    used.set(pod.metadata.uid ?? "", usage)
    sums.set(node, usage.containers.reduce(plus, sums.get(node) ?? PodUsages.ofSystem))
  }
  const nodes = new Map<string, Measurement & Amounts>()
  for (const { isRunning, machine } of kubelets.values()) {
    if (!isRunning) continue
    const sum = sums.get(machine.name) ?? PodUsages.ofSystem
    nodes.set(machine.name, { time, window: PodUsages.resolution, ...atMost(sum, machine) })
  }
  return { nodes, pods: used }
}

const plus = (a: Amounts, b: Amounts): Amounts => ({ cpu: a.cpu + b.cpu, memory: a.memory + b.memory })

/** A machine cannot use more than it has. */
const atMost = (amounts: Amounts, machine: Machine.Machine): Amounts => {
  const capacity = Requests.amounts({ cpu: machine.cpu, memory: machine.memory })
  return {
    cpu: Math.min(amounts.cpu, (capacity.get("cpu") ?? 0) * 1_000_000),
    memory: Math.min(amounts.memory, capacity.get("memory") ?? 0)
  }
}
