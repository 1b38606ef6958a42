/**
 * The simulated kubelets: they keep their machines' leases and conditions fresh and carry out `podLife` for the pods that are
 * bound to them. Ordinary clients: they know nothing that the API did not tell them. All of them share one informer, one queue
 * of pods and one of heartbeats, hence two timers however many pods and machines there are; what belongs to one machine is in
 * its `Kubelet`. One that is stopped does nothing at all, and does not know its back-offs any more when it starts again.
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
import { Ledger } from "./Ledger.ts"
import type * as Machine from "./Machine.ts"
import { nodeOf } from "./placement/Board.ts"
import * as NodeRules from "./placement/nodeRules.ts"
import * as PodLife from "./podLife.ts"
import * as Trouble from "./trouble.ts"

export const component = "kubelet"

/** One machine's kubelet. Plain state: it is changed in synchronous sections only. */
export class Kubelet {
  readonly machine: Machine.Machine
  isRunning = true
  /** By how much everything takes longer than usual. */
  slowness = 1
  /** Heartbeats since the start. */
  rounds = 0
  readonly ledger: Ledger
  /** By uid; only of pods of which there is something to remember. */
  private readonly memories = new Map<string, PodLife.Memory>()
  /** By uid; what is still to happen to pods. */
  private readonly fates = new Map<string, PodLife.Fate>()
  /** Held while the node is written: a machine that is taken away must not register itself again with a late heartbeat. */
  readonly writing = Semaphore.makeUnsafe(1)

  readonly events: EventSink["event"]
  /** Closed when the machine goes. */
  readonly scope: Scope.Closeable

  constructor(machine: Machine.Machine, events: EventSink["event"], scope: Scope.Closeable) {
    this.machine = machine
    this.events = events
    this.scope = scope
    this.ledger = new Ledger(machine)
  }

  memory(pod: Pod): PodLife.Memory {
    return this.memories.get(pod.metadata.uid ?? "") ?? PodLife.nothingKnown
  }

  remember(pod: Pod, memory: PodLife.Memory): void {
    const uid = pod.metadata.uid ?? ""
    if (!memory.isStopping && Object.keys(memory.containers).length === 0) this.memories.delete(uid)
    else this.memories.set(uid, memory)
  }

  fate(pod: Pod): PodLife.Fate | undefined {
    return this.fates.get(pod.metadata.uid ?? "")
  }

  /** What was to happen and has not yet is replaced. */
  doom(pod: Pod, fate: PodLife.Fate): void {
    this.fates.set(pod.metadata.uid ?? "", fate)
  }

  /** It has happened, unless something else is to happen by now. */
  fulfil(pod: Pod, fate: PodLife.Fate | undefined): void {
    const uid = pod.metadata.uid ?? ""
    if (this.fates.get(uid) === fate) this.fates.delete(uid)
  }

  forget(pod: Pod): void {
    this.memories.delete(pod.metadata.uid ?? "")
    this.fates.delete(pod.metadata.uid ?? "")
    this.ledger.release(pod)
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
  readonly beats: KeyedQueue
  readonly nodes: Informer<Node>
  readonly pods: Informer<Pod>
  readonly delays: PodLife.Delays
  readonly isBad: (image: string) => boolean
}

/** The index of pods by the node they are on. */
export const byNode = { name: "simulated/node", of: (pod: Pod) => [nodeOf(pod) ?? ""] }

/** Subscriptions that outlive single kubelets. */
export const informers = Effect.gen(function* () {
  const cache = yield* Cache
  const pods = yield* cache.subscribe(Pod, { indexes: [byNode] })
  const nodes = yield* cache.subscribe(Node)
  return { pods, nodes }
})

/** Looks at every pod of a machine, as its kubelet does when it starts. */
export const takeOver = ({ kubelets, pods, queue }: Options, name: string): void => {
  for (const pod of pods.store.byIndex(byNode.name, name)) {
    kubelets.get(name)?.ledger.observe(pod)
    queue.addUnsafe(Key.of(pod))
  }
}

/** Runs the pods until interrupted. */
export const run = Effect.fnUntraced(function* (options: Options) {
  const client = yield* KubeClient
  yield* options.pods.onDeltas((deltas) => {
    for (const delta of deltas) follow(options, delta)
  })
  const reconcile = Effect.fnUntraced(function* (key: Key.Key) {
    const pod = options.pods.store.get(key)
    const kubelet = pod === undefined ? undefined : options.kubelets.get(nodeOf(pod) ?? "")
    if (pod === undefined || kubelet?.isRunning !== true) return Reconcile.done
    const now = yield* Clock.currentTimeMillis
    const given = givenTo(options, kubelet, pod)
    const step = PodLife.next(pod, given, now)
    yield* carryOut(client, pod, step)
    kubelet.remember(pod, step.memory)
    kubelet.fulfil(pod, given.fate)
    for (const { fieldPath, message, reason, type } of step.notes)
      yield* kubelet.events(pod, type, reason, message, { fieldPath })
    return step.wake === undefined || step.wake <= now ? Reconcile.done : Reconcile.after(step.wake - now)
  })
  yield* options.pods.synced
  yield* options.nodes.synced
  // No timeout beside that of each call: a step is one call.
  return yield* Reconcile.run(options.queue, {
    concurrency: 4,
    timeout: "none",
    reconcile: (key) => Trouble.logFailure(reconcile(key))
  })
})

const follow = ({ kubelets, queue }: Options, { _tag, object }: Delta<Pod>): void => {
  const kubelet = kubelets.get(nodeOf(object) ?? "")
  if (kubelet === undefined) return
  if (_tag === "Deleted") return kubelet.forget(object)
  kubelet.ledger.observe(object)
  if (kubelet.isRunning) queue.addUnsafe(Key.of(object))
}

const givenTo = ({ delays, isBad, nodes }: Options, kubelet: Kubelet, pod: Pod): PodLife.Given => {
  const { machine, slowness } = kubelet
  return {
    machine,
    delays: slowness === 1 ? delays : { start: delays.start * slowness, stop: delays.stop * slowness },
    memory: kubelet.memory(pod),
    address: () => kubelet.ledger.address(pod),
    isBad,
    fate: kubelet.fate(pod),
    refusal: (pod) => refusal(pod, kubelet, nodes.store.get(Key.make("", machine.name)))
  }
}

/**
 * A pod may be put on a node past the scheduler; its kubelet has the last word. One that is let in counts from now on. Source:
 * kubelet lifecycle/predicate.go.
 */
const refusal = (pod: Pod, { ledger }: Kubelet, node: Node | undefined): PodLife.Refusal | undefined => {
  const predicate = (name: string) => ({ reason: name, message: `Pod was rejected: Predicate ${name} failed` })
  if (node !== undefined && !NodeRules.isWanted(pod, node)) return predicate("NodeAffinity")
  if (node !== undefined && NodeRules.untolerated(pod, node, ["NoExecute"]) !== undefined)
    return predicate("TaintToleration")
  const short = ledger.shortage(pod)
  if (short === undefined) {
    ledger.admit(pod)
    return undefined
  }
  return { reason: `OutOf${short}`, message: `Pod was rejected: Node didn't have enough resource: ${short}` }
}

const carryOut = (client: KubeClient["Service"], pod: Pod, step: PodLife.Step) => {
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

/** Keeps the machines' leases fresh until interrupted. A failure is logged, and the next round tries again. */
export const runHeartbeats = Effect.fnUntraced(function* ({ beats, kubelets, nodes }: Options) {
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
  return yield* Reconcile.run(beats, { concurrency: 4, timeout: "none", reconcile: beat })
})
