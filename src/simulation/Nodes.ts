/**
 * Simulated nodes and their scheduler: ordinary clients of the server that `KubeClient` talks to. When the layer is built, the nodes are
 * registered and ready; from then on pods are bound, started, restarted and stopped, in the time of Effect's clock. A simulated cloud beside
 * them provides storage and the addresses of load balancers. The service has the operations on machines, which no API object has: stop,
 * start, slow down, add and remove.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import type { ApiError } from "../kube/ApiError.ts"
import * as Key from "../kube/Key.ts"
import * as Patch from "../kube/Patch.ts"
import { Node } from "../kube/resources.ts"
import * as KeyedQueue from "../streams/queue/KeyedQueue.ts"
import type { Cache } from "../layers/Cache.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import { type EventSink, Recorder } from "../layers/Recorder.ts"
import type { NodeConnection } from "../layers/NodeConnection.ts"
import * as Connection from "./connection.ts"
import * as LoadBalancers from "./cloud/loadBalancers.ts"
import * as Volumes from "./cloud/volumes.ts"
import * as Heartbeat from "./heartbeat.ts"
import * as Kubelet from "./kubelet.ts"
import * as Machine from "./Machine.ts"
import { nodeOf } from "./placement/SchedulerCache.ts"
import * as Behavior from "./pod/behavior.ts"
import * as PodLifecycle from "./podLifecycle.ts"
import * as Scheduler from "./scheduler.ts"

/** Which machines are simulated, and how. */
export interface Options {
  /** Default: one control-plane machine and two workers. */
  readonly machines?: ReadonlyArray<Machine.Machine> | undefined
  /** How long pulling, starting and stopping take. */
  readonly delays?: Partial<PodLifecycle.Delays> | undefined
  /** Images that cannot be pulled, with or without their tag; any image with the tag `404` cannot either. */
  readonly badImages?: ReadonlyArray<string> | undefined
  /** Whether scheduler and kubelets record events. Default: true. */
  readonly events?: boolean | undefined
  /**
   * Whether there is a simulated cloud: a default StorageClass `standard`, unless the cluster has a default one, volumes for the claims of its
   * provisioner, and addresses for Services of type LoadBalancer. Default: true. Without it, pods with claims wait until something else
   * binds them.
   */
  readonly cloud?: boolean | undefined
}

/** There is no machine of that name. */
export class UnknownMachine extends Data.TaggedError("UnknownMachine")<{
  /** The name that was given. */
  readonly name: string
}> {
  override get message(): string {
    return `there is no simulated machine ${JSON.stringify(this.name)}`
  }
}

/** No machine has a pod of that name. */
export class UnknownPod extends Data.TaggedError("UnknownPod")<{
  /** The namespace that was given. */
  readonly namespace: string
  /** The name that was given. */
  readonly name: string
}> {
  override get message(): string {
    return `no simulated machine has a pod ${JSON.stringify(`${this.namespace}/${this.name}`)}`
  }
}

/** The name of a pod and its namespace. */
export interface PodName {
  /** Default: `default`. */
  readonly namespace?: string | undefined
  /** Of the pod. */
  readonly name: string
}

/** The state of a machine that the API does not show. */
export interface MachineState {
  /** Its facts. */
  readonly machine: Machine.Machine
  /** Whether its kubelet runs. */
  readonly isRunning: boolean
  /** The factor by which starting and stopping a container takes longer. */
  readonly slowness: number
}

/** The simulated machines, and the operations on them. */
export class Nodes extends Context.Service<
  Nodes,
  {
    /** All machines, in the order of their numbers. */
    readonly machines: Effect.Effect<ReadonlyArray<MachineState>>
    /** A new machine with the lowest free number, registered and ready; an existing one of that name is replaced. */
    readonly add: (
      name: string,
      facts?: Machine.Facts & { readonly role?: Machine.Machine["role"] }
    ) => Effect.Effect<Machine.Machine, ApiError>
    /**
     * Deletes the Node and stops the machine for good; if the Node cannot be deleted, the machine continues to run. Its pods stay, as those
     * of any lost node: the pod garbage collector deletes them.
     */
    readonly remove: (name: string) => Effect.Effect<void, ApiError | UnknownMachine>
    /**
     * Ends a container now if it runs, with code 1 by default; all containers if none is named. The pod's restart policy decides what
     * follows.
     */
    readonly crash: (
      pod: PodName,
      options?: { readonly container?: string | undefined; readonly exitCode?: number | undefined }
    ) => Effect.Effect<void, UnknownPod>
    /** Ends a pod for good, as a kubelet that is short of memory does: phase Failed, reason Evicted; the object stays. */
    readonly evict: (pod: PodName) => Effect.Effect<void, UnknownPod>
    /** Stops a kubelet: no leases, no statuses. Its containers run on without reports, and no deletion of a pod completes. */
    readonly stop: (name: string) => Effect.Effect<void, UnknownMachine>
    /** Starts a kubelet again; it takes over its pods. */
    readonly start: (name: string) => Effect.Effect<void, UnknownMachine>
    /** From now on, starting and stopping a container takes `factor` times as long. */
    readonly slow: (name: string, factor: number) => Effect.Effect<void, UnknownMachine>
    /** Marks the node unschedulable. Like `kubectl cordon`, it works on any node. */
    readonly cordon: (name: string) => Effect.Effect<void, ApiError>
    /** Marks the node schedulable again. */
    readonly uncordon: (name: string) => Effect.Effect<void, ApiError>
    /** Logs and usage, for an API server: `ApiServer.connectNodes` takes it. */
    readonly connection: NodeConnection
    /** Work of scheduler, kubelets and cloud that is ready or in progress; delayed work does not count. */
    readonly outstanding: Effect.Effect<number>
  }
>()("effect-controller-manager/nodes/Nodes") {}

/** A scheduler, a kubelet for each machine, and a cloud, as clients of the API server. */
export const layer = (options: Options = {}): Layer.Layer<Nodes, ApiError, KubeClient | Cache> =>
  Layer.effect(Nodes, make(options))

const make = Effect.fnUntraced(function* (options: Options) {
  const client = yield* KubeClient
  const scope = yield* Effect.scope
  const kubelets = new Map<string, Kubelet.Kubelet>()
  const queue = yield* KeyedQueue.make({ name: "kubelets" })
  const heartbeats = yield* KeyedQueue.make({ name: "heartbeats" })
  const schedulerQueue = yield* KeyedQueue.make({ name: "scheduler" })
  const shared: Kubelet.Options = {
    ...(yield* Kubelet.informers),
    kubelets,
    queue,
    heartbeats,
    delays: { ...PodLifecycle.standard, ...options.delays },
    isBad: badImage(options.badImages ?? [])
  }
  /** Each machine has its own recorder, as in a cluster, so that the rate limit of one does not drop the events of others. */
  const addMachine = Effect.fnUntraced(function* (machine: Machine.Machine) {
    yield* Heartbeat.register(client, machine)
    const own = yield* Scope.fork(scope)
    const events = yield* sink(client, options, { component: Kubelet.component, instance: machine.name }, own)
    const replaced = kubelets.get(machine.name)
    kubelets.set(machine.name, new Kubelet.Kubelet(machine, events, own))
    if (replaced !== undefined) yield* Scope.close(replaced.scope, Exit.void)
    heartbeats.addUnsafe(machine.name)
    Kubelet.takeOver(shared, machine.name)
    return machine
  })
  yield* Effect.forEach(options.machines ?? Machine.standard, addMachine, { discard: true })
  yield* watched("kubelets", Kubelet.run(shared))
  yield* watched("heartbeats", Kubelet.runHeartbeats(shared))
  yield* watched(
    "scheduler",
    Scheduler.run({
      queue: schedulerQueue,
      events: yield* sink(client, options, { component: Scheduler.component }, scope)
    })
  )

  const cloudQueues = options.cloud === false ? [] : yield* runCloud(client, options)

  const find = (name: string): Effect.Effect<Kubelet.Kubelet, UnknownMachine> =>
    Effect.suspend(() => {
      const kubelet = kubelets.get(name)
      return kubelet === undefined ? Effect.fail(new UnknownMachine({ name })) : Effect.succeed(kubelet)
    })
  const resume = (kubelet: Kubelet.Kubelet): void => {
    kubelet.restart()
    heartbeats.addUnsafe(kubelet.machine.name)
    Kubelet.takeOver(shared, kubelet.machine.name)
  }
  const discard = (kubelet: Kubelet.Kubelet): Effect.Effect<void> => {
    // A machine of the same name may have replaced it.
    if (kubelets.get(kubelet.machine.name) === kubelet) kubelets.delete(kubelet.machine.name)
    return Scope.close(kubelet.scope, Exit.void)
  }
  const injectFault = ({ name, namespace = "default" }: PodName, fault: PodLifecycle.Fault) =>
    Effect.suspend(() => {
      const key = Key.make(namespace, name)
      const pod = shared.pods.store.get(key)
      const kubelet = pod === undefined ? undefined : kubelets.get(nodeOf(pod) ?? "")
      if (pod === undefined || kubelet === undefined) return Effect.fail(new UnknownPod({ namespace, name }))
      kubelet.injectFault(pod, fault)
      queue.addUnsafe(key)
      return Effect.void
    })
  const setUnschedulable = (name: string, value: true | null) =>
    Effect.asVoid(client.patch(Node, { name }, Patch.merge({ spec: { unschedulable: value } })))

  return Nodes.of({
    connection: yield* Connection.make(shared),
    machines: Effect.sync(() =>
      Array.from(kubelets.values(), ({ isRunning, machine, slowness }) => ({ machine, isRunning, slowness }))
    ),
    add: (name, facts = {}) =>
      Effect.suspend(() => addMachine(Machine.make(name, freeNumber(kubelets), facts.role ?? "worker", facts))),
    remove: (name) =>
      Effect.flatMap(find(name), (kubelet) => {
        const wasRunning = kubelet.isRunning
        kubelet.isRunning = false
        return kubelet.writing.withPermit(client.delete(Node, { name })).pipe(
          Effect.catchReason("ApiError", "NotFound", () => Effect.void),
          Effect.onError(() => Effect.sync(() => wasRunning && resume(kubelet))),
          Effect.andThen(Effect.suspend(() => discard(kubelet)))
        )
      }),
    crash: (pod, { container, exitCode = 1 } = {}) => injectFault(pod, { _tag: "Crash", container, exitCode }),
    evict: (pod) => injectFault(pod, { _tag: "Evict", message: "The node was low on resource: memory." }),
    stop: (name) => Effect.map(find(name), (kubelet) => void (kubelet.isRunning = false)),
    start: (name) => Effect.map(find(name), resume),
    slow: (name, factor) =>
      Effect.map(find(name), (kubelet) => {
        kubelet.slowness = Math.max(0, factor)
        // What was delayed may be due now.
        Kubelet.takeOver(shared, name)
      }),
    cordon: (name) => setUnschedulable(name, true),
    uncordon: (name) => setUnschedulable(name, null),
    outstanding: Effect.sync(() =>
      [queue, heartbeats, schedulerQueue, ...cloudQueues].reduce(
        (sum, one) => sum + one.stats().ready + one.stats().processing,
        0
      )
    )
  })
})

/** Storage and load balancers; returns their queues. */
const runCloud = Effect.fnUntraced(function* (client: KubeClient["Service"], options: Options) {
  const scope = yield* Effect.scope
  const recorder = (component: string) => sink(client, options, { component }, scope)
  const storageQueue = yield* KeyedQueue.make({ name: "volumes" })
  const balancerQueue = yield* KeyedQueue.make({ name: "load-balancers" })
  yield* Volumes.ensureDefaultClass(client)
  yield* watched("storage", Volumes.run({ queue: storageQueue, events: yield* recorder(Volumes.component) }))
  yield* watched(
    "load balancers",
    LoadBalancers.run({ queue: balancerQueue, events: yield* recorder(LoadBalancers.component) })
  )
  return [storageQueue, balancerQueue]
})

/**
 * Sends events to the API only: the log of the process is for its controllers, and this is a cluster beside them. Events that cannot be
 * recorded are logged.
 */
const sink = Effect.fnUntraced(function* (
  client: KubeClient["Service"],
  options: Options,
  { component, instance }: { readonly component: string; readonly instance?: string },
  scope: Scope.Scope
) {
  const sending = Layer.provide(Recorder.layerWith({ instance }), Layer.succeed(KubeClient, client))
  const layer = options.events === false ? Recorder.layerNoop : sending
  const recorder = Context.get(yield* Layer.buildWithScope(Layer.fresh(layer), scope), Recorder)
  const { event } = recorder.named(component)
  const recordQuietly: EventSink["event"] = (...given) =>
    Effect.provideService(event(...given), References.MinimumLogLevel, "Warn")
  return recordQuietly
})

/** Addresses contain the number, so no two machines may have the same. */
const freeNumber = (kubelets: ReadonlyMap<string, Kubelet.Kubelet>): number => {
  const used = new Set(Array.from(kubelets.values(), ({ machine }) => machine.number))
  let number = 1
  while (used.has(number)) number++
  return number
}

const badImage = (names: ReadonlyArray<string>) => {
  const bad = new Set(names)
  return (image: string): boolean => {
    const [name, tag] = Behavior.reference(image)
    return tag === "404" || bad.has(image) || bad.has(name)
  }
}

/** Logs a failure of a simulated component once; the rest of the demo continues, as a cluster would. */
const watched = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.scoped,
    Effect.tapCause((cause) => Effect.logError(`the simulated ${name} ended`, cause)),
    Effect.forkScoped
  )
