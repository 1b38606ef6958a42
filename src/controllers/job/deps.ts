/** The stores and API calls that the Job controller depends on, and the access that they need. */
import type * as Effect from "effect/Effect"
import * as Access from "../../kube/Access.ts"
import type { ApiError } from "../../kube/ApiError.ts"
import * as Owner from "../../kube/Owner.ts"
import type * as Patch from "../../kube/Patch.ts"
import { Job, Pod } from "../../kube/resources.ts"
import type * as Controller from "../../layers/Controller.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"
import * as Handoff from "../shared/workload/handoff.ts"
import * as PodControl from "../shared/workload/podControl.ts"
import * as Spec from "./spec.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Deps extends PodControl.Calls {
  readonly jobs: Store.Readable<Job>
  readonly pods: Store.Readable<Pod>
  /** Reads the Job of that name from the server. */
  readonly live: (job: Pick<Job, "metadata">) => Call<Job>
  /** Lists the pods that the Job's selector matches on the server; some may have another owner. */
  readonly livePods: (job: Job) => Call<ReadonlyArray<Pod>>
  readonly updateStatus: (job: Job) => Call<Job>
  readonly patch: (pod: Pod, patch: Patch.Patch) => Call<Pod>
  readonly queue: Pick<KeyedQueue, "addWithUnsafe">
}

export const access = [
  Access.read(Job),
  Access.own(Job),
  Access.get(Job),
  Access.update(Job, "status"),
  Access.read(Pod),
  Access.list(Pod),
  ...PodControl.access,
  Access.record
] as const

export const depsOf = ({ client, events, queue, store }: Controller.BodyContext<(typeof access)[number]>): Deps => ({
  ...PodControl.callsOf(client),
  jobs: store(Job),
  pods: store(Pod),
  live: ({ metadata }) => client.get(Job, metadata),
  livePods: (job) => PodControl.list(client, job, Spec.selectorOf(job)),
  updateStatus: (job) => client.subresource("status").update(Job, job),
  events,
  queue
})

/** The same calls. After a write whose response was lost, the cached Job is not trusted until it equals a live read. */
export const distrustOnUnknownOutcome = (deps: Deps, trust: Handoff.Trust): Deps => {
  const watched = <A>(uid: string | undefined, call: Call<A>) => Handoff.watched(trust, uid, call)
  return {
    ...deps,
    updateStatus: (job) => watched(job.metadata.uid, deps.updateStatus(job)),
    create: (pod, namespace) => watched(pod.metadata.ownerReferences?.[0]?.uid, deps.create(pod, namespace)),
    patch: (pod, patch) => watched(Owner.controllerOf(pod)?.uid, deps.patch(pod, patch)),
    remove: (pod) => watched(Owner.controllerOf(pod)?.uid, deps.remove(pod))
  }
}
