/**
 * A simulated kubelet: it registers its machine as a node, keeps the node's lease and Ready condition fresh, and carries out
 * `podLife` for the pods that are bound to it. An ordinary client: it knows nothing that the API did not tell it.
 */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import * as Patch from "../../kube/Patch.ts"
import { Lease, Node, Pod } from "../../kube/resources.ts"
import * as KeyedQueue from "../../streams/KeyedQueue.ts"
import * as Reconcile from "../../streams/Reconcile.ts"
import { Cache } from "../Cache.ts"
import { KubeClient } from "../KubeClient.ts"
import * as Machine from "./Machine.ts"
import * as PodLife from "./podLife.ts"

/** Source: kubelet, a quarter of the lease's 40 s. */
const leaseInterval: Duration.Input = "10 seconds"

/** Lease renewals between two reports of an unchanged status. Source: kubelet nodeStatusReportFrequency, 5 minutes. */
const reportEvery = 30

/** Creates the node, or takes over the one that is there, and reports it ready. */
export const register = Effect.fnUntraced(function* (machine: Machine.Machine) {
  const client = yield* KubeClient
  yield* client.create(Node, Machine.registration(machine)).pipe(
    Effect.catchIf(
      (error) => ApiError.hasReason(error, "AlreadyExists"),
      () => Effect.void
    )
  )
  const now = yield* Clock.currentTimeMillis
  return yield* report(machine, now, now)
})

/** Renews for ever; a failure is logged and the next round tries again, a node that was deleted is registered anew. */
export const heartbeat = Effect.fnUntraced(function* (machine: Machine.Machine) {
  const client = yield* KubeClient
  const since = yield* Clock.currentTimeMillis
  let round = 0
  const beat = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const node =
      round % reportEvery === 0
        ? yield* report(machine, since, now).pipe(
            Effect.catchIf(
              (error) => ApiError.hasReason(error, "NotFound"),
              () => register(machine)
            )
          )
        : undefined
    yield* renew(client, machine, node, now)
    round++
  })
  return yield* beat.pipe(
    Effect.catch((error) => Effect.logWarning(`node ${machine.name}: ${error.message}`)),
    Effect.repeat(Schedule.fixed(leaseInterval))
  )
})

const report = Effect.fnUntraced(function* (machine: Machine.Machine, since: number, now: number) {
  const client = yield* KubeClient
  return yield* client.patch(
    Node,
    { name: machine.name, subresource: "status" },
    Patch.merge({ status: Machine.status(machine, since, now) })
  )
})

const renew = Effect.fnUntraced(function* (
  client: KubeClient["Service"],
  machine: Machine.Machine,
  node: Node | undefined,
  now: number
) {
  const lease = Machine.lease(machine, node, now)
  const target = { namespace: Machine.leaseNamespace, name: machine.name }
  yield* client.patch(Lease, target, Patch.merge({ spec: lease.spec })).pipe(
    Effect.catchIf(
      (error) => ApiError.hasReason(error, "NotFound"),
      () => client.create(Lease, lease)
    )
  )
})

/** Runs the machine's pods until interrupted. */
export const run = Effect.fnUntraced(function* (machine: Machine.Machine, delays: PodLife.Delays) {
  const cache = yield* Cache
  const client = yield* KubeClient
  const queue = yield* KeyedQueue.make({ name: `kubelet-${machine.name}` })
  const pods = yield* cache.subscribe(Pod)
  const addresses = new Addresses(machine)

  yield* pods.onDeltas((deltas) => {
    for (const delta of deltas) {
      if (delta.object.spec?.nodeName !== machine.name) continue
      if (delta._tag === "Deleted") addresses.release(delta.object)
      else {
        addresses.observe(delta.object)
        queue.addUnsafe(Key.of(delta.object))
      }
    }
  })

  const reconcile = Effect.fnUntraced(function* (key: Key.Key) {
    const pod = pods.store.get(key)
    if (pod === undefined) return Reconcile.done
    const now = yield* Clock.currentTimeMillis
    const step = PodLife.next(pod, machine, delays, now, () => addresses.take(pod))
    if (step._tag === "Wait") return Reconcile.after(step.delay)
    if (step._tag !== "Nothing") yield* carryOut(client, pod, step)
    return Reconcile.done
  })

  yield* pods.synced
  return yield* Reconcile.run(queue, { concurrency: 4, reconcile: (key) => forgiving(reconcile(key)) })
})

const carryOut = (client: KubeClient["Service"], pod: Pod, step: PodLife.Report | PodLife.Remove) => {
  const { name, namespace, resourceVersion, uid } = pod.metadata
  if (step._tag === "Remove") {
    return Effect.asVoid(
      client.delete(
        Pod,
        { namespace, name },
        { gracePeriodSeconds: 0, preconditions: uid === undefined ? {} : { uid } }
      )
    )
  }
  return Effect.asVoid(
    client.patch(
      Pod,
      { namespace, name, subresource: "status" },
      Patch.merge({ metadata: { uid, resourceVersion }, status: step.status })
    )
  )
}

/** The pod is gone or has changed meanwhile: its next delta, which is on its way, asks again. */
const forgiving = (effect: Effect.Effect<Reconcile.Outcome, ApiError.ApiError>) =>
  Effect.catchIf(
    effect,
    (error) => ApiError.hasReason(error, "NotFound", "Conflict"),
    () => Effect.succeed(Reconcile.done)
  )

/** The addresses of a machine's pods, by uid: those the API knows, and those we are about to report. */
class Addresses {
  private readonly byUid = new Map<string, string>()
  private readonly machine: Machine.Machine

  constructor(machine: Machine.Machine) {
    this.machine = machine
  }

  observe(pod: Pod): void {
    const { uid } = pod.metadata
    if (uid !== undefined && pod.status?.podIP !== undefined) this.byUid.set(uid, pod.status.podIP)
  }

  take(pod: Pod): string | undefined {
    const uid = pod.metadata.uid ?? ""
    const address = this.byUid.get(uid) ?? Machine.podAddress(this.machine, new Set(this.byUid.values()))
    if (address !== undefined) this.byUid.set(uid, address)
    return address
  }

  release(pod: Pod): void {
    this.byUid.delete(pod.metadata.uid ?? "")
  }
}
