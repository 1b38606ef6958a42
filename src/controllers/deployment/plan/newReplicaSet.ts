/**
 * The new ReplicaSet: its draft, and how an existing one is updated from its Deployment. Pure. Source:
 * pkg/controller/deployment: getNewReplicaSet; deployment/util: SetNewReplicaSetAnnotations.
 */
import * as Hash from "../../../kube/hash.ts"
import type { Draft } from "../../../kube/Meta.ts"
import * as Owner from "../../../kube/Owner.ts"
import { Deployment, type ReplicaSet } from "../../../kube/resources.ts"
import * as Annotations from "../annotations.ts"
import * as Bounds from "./bounds.ts"
import * as ReplicaSets from "../replicaSets.ts"
import * as Revisions from "./revisions.ts"

/** Name and labels contain the hash of the template and the collision count. */
export const draft = (
  deployment: Deployment,
  old: ReadonlyArray<ReplicaSet>,
  size = Bounds.sizeOfNew(deployment, 0, old)
): Draft<ReplicaSet> & Named => {
  const template = deployment.spec?.template ?? {}
  const hash = Hash.template(template, deployment.status?.collisionCount)
  const labels = { ...template.metadata?.labels, [ReplicaSets.hashLabel]: hash }
  const selector = deployment.spec?.selector
  const { maxTotal, replicas } = Bounds.of(deployment)
  const minReadySeconds = deployment.spec?.minReadySeconds
  return {
    metadata: {
      name: nameOf(deployment, hash),
      ...(deployment.metadata.namespace === undefined ? {} : { namespace: deployment.metadata.namespace }),
      labels,
      annotations: {
        ...Annotations.copied(Annotations.of(deployment)),
        [Annotations.revision]: String(nextRevision(old)),
        [Annotations.desiredReplicas]: String(replicas),
        [Annotations.maxReplicas]: String(maxTotal)
      },
      ownerReferences: [Owner.reference(Deployment, deployment)]
    },
    spec: {
      replicas: size,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [ReplicaSets.hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } }
    }
  }
}

/** A draft with a name, which is needed to get the object that has taken it. */
interface Named {
  readonly metadata: { readonly name: string }
}

/** One above the highest revision of the old ReplicaSets. */
export const nextRevision = (old: ReadonlyArray<ReplicaSet>): bigint => Revisions.highest(old) + 1n

/** Maximum length of an object's name, in bytes. */
const nameLimit = 253

const nameOf = (deployment: Deployment, hash: string): string =>
  `${deployment.metadata.name.slice(0, nameLimit - hash.length - 1)}-${hash}`

/** The updated new ReplicaSet; undefined when it needs no update. */
export const update = (
  deployment: Deployment,
  current: ReplicaSet,
  old: ReadonlyArray<ReplicaSet>
): ReplicaSet | undefined => {
  const { annotations, changed } = annotated(deployment, current, nextRevision(old))
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0
  const sameReadiness = (current.spec?.minReadySeconds ?? 0) === minReadySeconds
  if (!changed && sameReadiness) return undefined
  const next = Annotations.put(current, annotations)
  return sameReadiness || next.spec === undefined ? next : { ...next, spec: { ...next.spec, minReadySeconds } }
}

/** A ReplicaSet whose revision cannot be parsed is not renumbered and not written for its annotations. */
const annotated = (
  deployment: Deployment,
  current: ReplicaSet,
  revision: bigint
): { readonly annotations: Annotations.Annotations; readonly changed: boolean } => {
  const before = Annotations.of(current)
  const copied = Annotations.copied(Annotations.of(deployment))
  const annotations = { ...before, ...copied }
  const former = Revisions.of(current)
  if (former === undefined) return { annotations, changed: false }
  if (former >= revision)
    return { annotations, changed: Object.keys(copied).some((key) => before[key] !== copied[key]) }
  const renumbered = { ...annotations, [Annotations.revision]: String(revision) }
  const formerText = before[Annotations.revision] ?? ""
  return {
    annotations:
      formerText === ""
        ? renumbered
        : {
            ...renumbered,
            [Annotations.revisionHistory]: Revisions.extend(before[Annotations.revisionHistory] ?? "", formerText)
          },
    changed: true
  }
}
