/** What a sync of a Deployment may do to the world, and the writes that go with a word to the user. */
import * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import type { Draft } from "../../kube/Meta.ts"
import type { Deployment, ReplicaSet } from "../../kube/resources.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type { KeptField } from "../shared/workload/keptField.ts"
import * as ReplicaSets from "./replicaSets.ts"
import * as Scaling from "./scaling.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Deps {
  /** Writes the Deployment's status, and with it its annotations. */
  readonly updateStatus: (deployment: Deployment) => Call<Deployment>
  /** Writes everything but the status. */
  readonly update: (deployment: Deployment) => Call<Deployment>
  readonly createSet: (draft: Draft<ReplicaSet>) => Call<ReplicaSet>
  readonly updateSet: (set: ReplicaSet) => Call<ReplicaSet>
  readonly removeSet: (set: ReplicaSet) => Call<unknown>
  /** The set of that name beside the Deployment, as the server has it now. */
  readonly liveSet: (deployment: Deployment, name: string) => Call<ReplicaSet>
  readonly events: Pick<EventSink, "event">
  readonly terminatingReplicas: KeptField
}

/** A Deployment and its sets in the middle of a sync: each as it was last written or, if it was not, as the cache shows it. */
export interface Rollout {
  readonly deployment: Deployment
  readonly sets: ReplicaSets.Sets
  /** When the sync began, in milliseconds since 1970. */
  readonly now: number
}

/** Writes a status that is news; one that is the very same object is not written. */
export const writeStatus = (deps: Deps, before: Deployment, after: Deployment): Call<Deployment> =>
  after === before ? Effect.succeed(before) : deps.updateStatus(after)

/** Writes new sizes one after the other, each with an event if the size changed; the first failure ends it. */
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
  // The same set may have been written by an earlier step.
  const set = ReplicaSets.all(sets).find((one) => ReplicaSets.isSame(one, step.set)) ?? step.set
  const next = Scaling.resized(deployment, { ...step, set })
  if (next === undefined) return rollout
  const written = yield* deps.updateSet(next)
  const size = ReplicaSets.size(set)
  if (size !== step.size) yield* scaled(deps, deployment, set.metadata.name, size, step.size)
  return { ...rollout, sets: ReplicaSets.replace(sets, written) }
})

/** Tells the user that a set has another size. */
export const scaled = (deps: Deps, deployment: Deployment, name: string, from: number, to: number) =>
  deps.events.event(
    deployment,
    "Normal",
    "ScalingReplicaSet",
    `Scaled ${from < to ? "up" : "down"} replica set ${name} from ${from} to ${to}`
  )
