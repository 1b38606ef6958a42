/**
 * The simulated kubelets: they renew the leases and statuses of their machines, and apply `podLifecycle` to the pods that are bound to them.
 * They are ordinary clients and know only what the API shows. All kubelets share one informer, one queue of pods and one of heartbeats, hence
 * two timers for any number of pods and machines; the state of one machine is in its `Kubelet`. A stopped kubelet does nothing, and has
 * forgotten its back-offs when it starts again.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Key from "../kube/Key.ts"
import * as Patch from "../kube/Patch.ts"
import { Node, Pod } from "../kube/resources.ts"
import type { Delta } from "../streams/store/Store.ts"
import type { KeyedQueue } from "../streams/queue/KeyedQueue.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import { Cache, type Informer } from "../layers/Cache.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import type { EventSink } from "../layers/Recorder.ts"
import * as Heartbeat from "./heartbeat.ts"
import { Allocations } from "./Allocations.ts"
import type * as Machine from "./Machine.ts"
import { nodeOf } from "./placement/SchedulerCache.ts"
import * as NodeRules from "./placement/nodeRules.ts"
import * as PodLifecycle from "./podLifecycle.ts"
import * as CallFailure from "./callFailure.ts"

export const component = "kubelet"

/** One machine's kubelet. Mutable state, which is changed in synchronous sections only. */
export class Kubelet {
  readonly machine: Machine.Machine
  isRunning = true
  /** The factor by which starting and stopping take longer. */
  slowness = 1
  /** Heartbeats since the start. */
  rounds = 0
  readonly allocations: Allocations
  /** By uid; only pods that have something to remember. */
  private readonly memories = new Map<string, PodLifecycle.Memory>()
  /** By uid; faults that have been injected and not applied yet. */
  private readonly faults = new Map<string, PodLifecycle.Fault>()
  /** Held while the node is written, so that a late heartbeat cannot register a removed machine again. */
  readonly writing = Semaphore.makeUnsafe(1)

  readonly events: EventSink["event"]
  /** Closed when the machine is removed. */
  readonly scope: Scope.Closeable

  constructor(machine: Machine.Machine, events: EventSink["event"], scope: Scope.Closeable) {
    this.machine = machine
    this.events = events
    this.scope = scope
    this.allocations = new Allocations(machine)
  }

  memory(pod: Pod): PodLifecycle.Memory {
    return this.memories.get(pod.metadata.uid ?? "") ?? PodLifecycle.nothingKnown
  }

  remember(pod: Pod, memory: PodLifecycle.Memory): void {
    const uid = pod.metadata.uid ?? ""
    if (!memory.isStopping && Object.keys(memory.containers).length === 0) this.memories.delete(uid)
    else this.memories.set(uid, memory)
  }

  fault(pod: Pod): PodLifecycle.Fault | undefined {
    return this.faults.get(pod.metadata.uid ?? "")
  }

  /** Replaces a fault that has not been applied yet. */
  injectFault(pod: Pod, fault: PodLifecycle.Fault): void {
    this.faults.set(pod.metadata.uid ?? "", fault)
  }

  /** The fault has been applied; a newer one stays. */
  clearFault(pod: Pod, fault: PodLifecycle.Fault | undefined): void {
    const uid = pod.metadata.uid ?? ""
    if (this.faults.get(uid) === fault) this.faults.delete(uid)
  }

  forget(pod: Pod): void {
    this.memories.delete(pod.metadata.uid ?? "")
    this.faults.delete(pod.metadata.uid ?? "")
    this.allocations.release(pod)
  }

  restart(): void {
    this.memories.clear()
    this.rounds = 0
    this.isRunning = true
  }
}

export interface Options {
  /** By name; may change while they run. */
  readonly kubelets: ReadonlyMap<string, Kubelet>
  /** Keys of pods. */
  readonly queue: KeyedQueue
  /** Names of machines. */
  readonly heartbeats: KeyedQueue
  readonly nodes: Informer<Node>
  readonly pods: Informer<Pod>
  readonly delays: PodLifecycle.Delays
  readonly isBad: (image: string) => boolean
}

/** The index of pods by the node they are on. */
export const byNode = { name: "simulated/node", of: (pod: Pod) => [nodeOf(pod) ?? ""] }

/** Subscriptions that outlive a single kubelet. */
export const informers = Effect.gen(function* () {
  const cache = yield* Cache
  const pods = yield* cache.subscribe(Pod, { indexes: [byNode] })
  const nodes = yield* cache.subscribe(Node)
  return { pods, nodes }
})

/** Queues every pod of a machine, as its kubelet does when it starts. */
export const takeOver = ({ kubelets, pods, queue }: Options, name: string): void => {
  for (const pod of pods.store.byIndex(byNode.name, name)) {
    kubelets.get(name)?.allocations.observe(pod)
    queue.addUnsafe(Key.of(pod))
  }
}

/** Runs the pods until interrupted. */
export const run = Effect.fnUntraced(function* (options: Options) {
  const client = yield* KubeClient
  yield* options.pods.onDeltas((deltas) => {
    for (const delta of deltas) onPodDelta(options, delta)
  })
  const reconcile = Effect.fnUntraced(function* (key: Key.Key) {
    const pod = options.pods.store.get(key)
    const kubelet = pod === undefined ? undefined : options.kubelets.get(nodeOf(pod) ?? "")
    if (pod === undefined || kubelet?.isRunning !== true) return Reconcile.done
    const now = yield* Clock.currentTimeMillis
    const input = inputOf(options, kubelet, pod)
    const step = PodLifecycle.next(pod, input, now)
    yield* write(client, pod, step)
    kubelet.remember(pod, step.memory)
    kubelet.clearFault(pod, input.fault)
    for (const { fieldPath, message, reason, type } of step.notes)
      yield* kubelet.events(pod, type, reason, message, { fieldPath })
    return step.wake === undefined || step.wake <= now ? Reconcile.done : Reconcile.after(step.wake - now)
  })
  yield* options.pods.synced
  yield* options.nodes.synced
  // No timeout besides that of each call: a step is one call.
  return yield* Reconcile.run(options.queue, {
    concurrency: 4,
    timeout: "none",
    reconcile: (key) => CallFailure.logFailure(reconcile(key))
  })
})

const onPodDelta = ({ kubelets, queue }: Options, { _tag, object }: Delta<Pod>): void => {
  const kubelet = kubelets.get(nodeOf(object) ?? "")
  if (kubelet === undefined) return
  if (_tag === "Deleted") return kubelet.forget(object)
  kubelet.allocations.observe(object)
  if (kubelet.isRunning) queue.addUnsafe(Key.of(object))
}

const inputOf = ({ delays, isBad, nodes }: Options, kubelet: Kubelet, pod: Pod): PodLifecycle.Input => {
  const { machine, slowness } = kubelet
  return {
    machine,
    delays: slowness === 1 ? delays : { start: delays.start * slowness, stop: delays.stop * slowness },
    memory: kubelet.memory(pod),
    address: () => kubelet.allocations.address(pod),
    isBad,
    fault: kubelet.fault(pod),
    refusal: (pod) => refusal(pod, kubelet, nodes.store.get(Key.make("", machine.name)))
  }
}

/**
 * The kubelet's own admission, because a pod may be bound without the scheduler. A pod that is admitted counts from now on. Source:
 * kubelet lifecycle/predicate.go.
 */
const refusal = (pod: Pod, { allocations }: Kubelet, node: Node | undefined): PodLifecycle.Refusal | undefined => {
  const predicate = (name: string) => ({ reason: name, message: `Pod was rejected: Predicate ${name} failed` })
  if (node !== undefined && !NodeRules.isWanted(pod, node)) return predicate("NodeAffinity")
  if (node !== undefined && NodeRules.untolerated(pod, node, ["NoExecute"]) !== undefined)
    return predicate("TaintToleration")
  const shortage = allocations.shortage(pod)
  if (shortage === undefined) {
    allocations.admit(pod)
    return undefined
  }
  return { reason: `OutOf${shortage}`, message: `Pod was rejected: Node didn't have enough resource: ${shortage}` }
}

const write = (client: KubeClient["Service"], pod: Pod, step: PodLifecycle.Step) => {
  const { name, namespace, resourceVersion, uid } = pod.metadata
  if (step.isRemovable) {
    const preconditions = uid === undefined ? {} : { uid }
    return Effect.asVoid(client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0, preconditions }))
  }
  if (step.status === undefined) return Effect.void
  const target = { namespace, name, subresource: "status" }
  return Effect.asVoid(
    client.patch(Pod, target, Patch.merge({ metadata: { uid, resourceVersion }, status: step.status }))
  )
}

/** Renews the machines' leases until interrupted. A failure is logged, and the next heartbeat tries again. */
export const runHeartbeats = Effect.fnUntraced(function* ({ heartbeats, kubelets, nodes }: Options) {
  const client = yield* KubeClient
  const round = Effect.fnUntraced(function* (name: string) {
    const kubelet = kubelets.get(name)
    if (kubelet?.isRunning !== true) return Reconcile.done
    const beat = Effect.suspend(() =>
      kubelet.isRunning
        ? Heartbeat.beat(client, kubelet.machine, nodes.store.get(Key.make("", name)), kubelet.rounds++)
        : Effect.void
    )
    yield* kubelet.writing.withPermit(beat)
    return Reconcile.after(Heartbeat.interval)
  })
  const beat = (name: string) =>
    Effect.catch(round(name), (error) =>
      Effect.as(Effect.logWarning(`node ${name}: ${error.message}`), Reconcile.after(Heartbeat.interval))
    )
  yield* nodes.synced
  return yield* Reconcile.run(heartbeats, { concurrency: 4, timeout: "none", reconcile: beat })
})
