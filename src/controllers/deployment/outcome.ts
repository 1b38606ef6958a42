/**
 * The Deployment after its new ReplicaSet was found, created or failed: revision annotation and Progressing condition.
 * Each function returns the same object if nothing changes. None touches `observedGeneration`, because the counts are
 * still those of the previous status. Source: pkg/controller/deployment: getNewReplicaSet.
 */
import type { Deployment, ReplicaSet } from "../../kube/resources.ts"
import * as Annotations from "./annotations.ts"
import * as Conditions from "./conditions.ts"
import * as Progress from "./plan/progress.ts"

/** Found in the cache. A Deployment without a Progressing condition gets one, which starts its deadline. */
export const found = (deployment: Deployment, current: ReplicaSet, now: number): Deployment => {
  const revised = withRevision(deployment, Annotations.of(current)[Annotations.revision] ?? "")
  if (Progress.deadline(deployment) === undefined) return revised
  if (Conditions.get(Conditions.of(deployment), Conditions.progressing) !== undefined) return revised
  return marked(revised, "True", Progress.reasons.found, `Found new replica set ${quoted(current)}`, now)
}

export const created = (deployment: Deployment, current: ReplicaSet, revision: bigint, now: number): Deployment => {
  const revised = withRevision(deployment, String(revision))
  if (Progress.deadline(deployment) === undefined) return revised
  return marked(revised, "True", Progress.reasons.created, `Created new replica set ${quoted(current)}`, now)
}

/** Created by an earlier sync that the cache did not show: the deadline does not restart. */
export const recovered = (deployment: Deployment, revision: bigint): Deployment =>
  withRevision(deployment, String(revision))

/** Another object has its name: the next name will differ. */
export const collided = (deployment: Deployment): Deployment => ({
  ...deployment,
  status: { ...deployment.status, collisionCount: (deployment.status?.collisionCount ?? 0) + 1 }
})

/** The creation failed; `message` has the name and the cause. */
export const failed = (deployment: Deployment, message: string, now: number): Deployment =>
  Progress.deadline(deployment) === undefined
    ? deployment
    : marked(deployment, "False", Progress.reasons.createFailed, message, now)

const withRevision = (deployment: Deployment, revision: string): Deployment => {
  const annotations = Annotations.of(deployment)
  return annotations[Annotations.revision] === revision
    ? deployment
    : Annotations.put(deployment, { ...annotations, [Annotations.revision]: revision })
}

const marked = (
  deployment: Deployment,
  status: "True" | "False",
  reason: string,
  message: string,
  now: number
): Deployment => Conditions.put(deployment, Conditions.make(Conditions.progressing, status, reason, message, now))

const quoted = (set: ReplicaSet): string => JSON.stringify(set.metadata.name)
