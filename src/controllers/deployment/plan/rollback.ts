/**
 * The rollback of extensions/v1beta1: an annotation names the revision. Template and annotations of that revision's
 * ReplicaSet are copied to the Deployment, and the annotation is removed in any case. `kubectl rollout undo` does not
 * use it. Source: pkg/controller/deployment: rollback.
 */
import type { Deployment, ReplicaSet } from "../../../kube/resources.ts"
import * as Annotations from "../annotations.ts"
import * as ReplicaSets from "../replicaSets.ts"
import * as Snapshot from "../snapshot.ts"
import * as Revisions from "./revisions.ts"

/** The requested revision, zero for the previous one; undefined without a request or when it cannot be parsed. */
export const requested = (deployment: Deployment): bigint | undefined =>
  Annotations.int64(Annotations.of(deployment)[Annotations.rollbackTo] ?? "")

export interface Decision {
  /** Written with its spec. */
  readonly deployment: Deployment
  readonly event: { readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string }
}

export const decide = (deployment: Deployment, sets: Snapshot.Sets, asked: bigint): Decision => {
  const all = Snapshot.all(sets)
  const revision = asked === 0n ? Revisions.secondHighest(all) : asked
  if (revision === 0n) return refuse(deployment, "DeploymentRollbackRevisionNotFound", "Unable to find last revision.")
  const found = all.find((set) => Revisions.of(set) === revision)
  if (found === undefined) {
    return refuse(deployment, "DeploymentRollbackRevisionNotFound", "Unable to find the revision to rollback to.")
  }
  const name = JSON.stringify(deployment.metadata.name)
  if (ReplicaSets.sameTemplate(found.spec?.template, deployment.spec?.template)) {
    const message = `The rollback revision contains the same template as current deployment ${name}`
    return refuse(deployment, "DeploymentRollbackTemplateUnchanged", message)
  }
  const message = `Rolled back deployment ${name} to revision ${revision}`
  return {
    deployment: withoutRequest(restored(deployment, found)),
    event: { type: "Normal", reason: "DeploymentRollback", message }
  }
}

const refuse = (deployment: Deployment, reason: string, message: string): Decision => ({
  deployment: withoutRequest(deployment),
  event: { type: "Warning", reason, message }
})

const withoutRequest = (deployment: Deployment): Deployment => {
  const { [Annotations.rollbackTo]: _, ...annotations } = Annotations.of(deployment)
  return Annotations.put(deployment, annotations)
}

/** The Deployment with the ReplicaSet's template and annotations; its own annotations stay. */
const restored = (deployment: Deployment, set: ReplicaSet): Deployment => {
  const template = ReplicaSets.withoutHash(set.spec?.template)
  const annotations = {
    ...Annotations.kept(Annotations.of(deployment)),
    ...Annotations.copied(Annotations.of(set))
  }
  if (deployment.spec === undefined || template === undefined) return deployment
  return Annotations.put({ ...deployment, spec: { ...deployment.spec, template } }, annotations)
}
