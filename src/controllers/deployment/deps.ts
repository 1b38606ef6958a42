/** The API calls that a Deployment sync depends on, and the writes that are followed by an event. */
import * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import type { Draft } from "../../kube/Meta.ts"
import type { Deployment, ReplicaSet } from "../../kube/resources.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type { KeptField } from "../shared/workload/statusWriter.ts"
import * as ReplicaSets from "./plan/replicaSets.ts"
import * as Scaling from "./plan/scaling.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Deps {
  /** Writes the status and, with it, the annotations. */
  readonly updateStatus: (deployment: Deployment) => Call<Deployment>
  /** Writes everything but the status. */
  readonly update: (deployment: Deployment) => Call<Deployment>
  readonly createSet: (draft: Draft<ReplicaSet>) => Call<ReplicaSet>
  readonly updateSet: (set: ReplicaSet) => Call<ReplicaSet>
  readonly removeSet: (set: ReplicaSet) => Call<unknown>
  /** The ReplicaSet of that name in the Deployment's namespace, read from the server. */
  readonly liveSet: (deployment: Deployment, name: string) => Call<ReplicaSet>
  readonly events: Pick<EventSink, "event">
  readonly terminatingReplicas: KeptField
}

/** A Deployment and its ReplicaSets during a sync: as last written, else as cached. */
export interface Rollout {
  readonly deployment: Deployment
  readonly sets: ReplicaSets.Sets
  /** Start of the sync, in milliseconds since 1970. */
  readonly now: number
}

/** Writes the status unless `after` is the same object. */
export const writeStatus = (deps: Deps, before: Deployment, after: Deployment): Call<Deployment> =>
  after === before ? Effect.succeed(before) : deps.updateStatus(after)

/** Writes the sizes one after the other, with an event for each changed size; stops at the first failure. */
export const resize = (
  deps: Deps,
  rollout: Rollout,
  resizes: ReadonlyArray<Scaling.Resize>
): Effect.Effect<Rollout, ApiError> =>
  Effect.reduce(
    resizes,
    () => rollout,
    (before, step) => resizeOne(deps, before, step)
  )

const resizeOne = Effect.fnUntraced(function* (deps: Deps, rollout: Rollout, step: Scaling.Resize) {
  const { deployment, sets } = rollout
  // An earlier step may have written the same set.
  const set = ReplicaSets.all(sets).find((one) => ReplicaSets.isSame(one, step.set)) ?? step.set
  const next = Scaling.resized(deployment, { ...step, set })
  if (next === undefined) return rollout
  const written = yield* deps.updateSet(next)
  const size = ReplicaSets.size(set)
  if (size !== step.size) yield* scaled(deps, deployment, set.metadata.name, size, step.size)
  return { ...rollout, sets: ReplicaSets.replace(sets, written) }
})

/** Records the event ScalingReplicaSet. */
export const scaled = (deps: Deps, deployment: Deployment, name: string, from: number, to: number) =>
  deps.events.event(
    deployment,
    "Normal",
    "ScalingReplicaSet",
    `Scaled ${from < to ? "up" : "down"} replica set ${name} from ${from} to ${to}`
  )
