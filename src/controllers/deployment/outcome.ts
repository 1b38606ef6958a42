/**
 * What a Deployment says after its new ReplicaSet was found, created, or not: the revision it is at, and where progress is measured from.
 * Each answers the very same object if there is nothing to write. None touches the observed generation: the counts are still those of
 * the status before. Source: spec B.3, B.9.
 */
import type { Deployment, ReplicaSet } from "../../kube/resources.ts"
import * as Annotations from "./annotations.ts"
import * as Conditions from "./conditions.ts"
import * as Progress from "./progress.ts"

/** It is there. A Deployment of which nothing was measured so far is measured from now on. */
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

/** It was created by an earlier sync that the cache has not shown yet: no time starts to run. */
export const recovered = (deployment: Deployment, revision: bigint): Deployment =>
  withRevision(deployment, String(revision))

/** Its name is taken by somebody else: the next one will be another. */
export const collided = (deployment: Deployment): Deployment => ({
  ...deployment,
  status: { ...deployment.status, collisionCount: (deployment.status?.collisionCount ?? 0) + 1 }
})

/** It could not be created; `message` says which and why. */
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
