/**
 * The annotations shared by a Deployment and its ReplicaSets: revisions, the sizes they were scaled for, and which ones
 * are copied. A value that cannot be parsed counts as absent unless a function says otherwise. Source:
 * pkg/controller/deployment/util: deployment_util.go.
 */
import type { KubeObject } from "../../kube/Meta.ts"

/** On both kinds: an int64, which a double cannot hold. */
export const revision = "deployment.kubernetes.io/revision"
/** On ReplicaSets: earlier revisions, comma separated, oldest first. */
export const revisionHistory = "deployment.kubernetes.io/revision-history"
/** On ReplicaSets: `spec.replicas` of the Deployment when the set was last scaled. */
export const desiredReplicas = "deployment.kubernetes.io/desired-replicas"
/** On ReplicaSets: replicas plus surge of the Deployment when the set was last scaled. */
export const maxReplicas = "deployment.kubernetes.io/max-replicas"
/** On Deployments: the revision to roll back to, left over from extensions/v1beta1. */
export const rollbackTo = "deprecated.deployment.rollback.to"

export type Annotations = Readonly<Record<string, string>>

export const of = (object: KubeObject): Annotations => object.metadata.annotations ?? {}

/** The object with other annotations. */
export const put = <A extends KubeObject>(object: A, annotations: Annotations): A => ({
  ...object,
  metadata: { ...object.metadata, annotations }
})

/** Never copied between the kinds: their meaning differs there, or kubectl owns them. */
const notCopied = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  revision,
  revisionHistory,
  desiredReplicas,
  maxReplicas,
  rollbackTo
])

/** What a Deployment copies to its new ReplicaSet, or back from one in a rollback. */
export const copied = (annotations: Annotations): Annotations => pick(annotations, (key) => !notCopied.has(key))

/** What a Deployment keeps in a rollback. */
export const kept = (annotations: Annotations): Annotations => pick(annotations, (key) => notCopied.has(key))

const pick = (annotations: Annotations, test: (key: string) => boolean): Annotations =>
  Object.fromEntries(Object.entries(annotations).filter(([key]) => test(key)))

/** A decimal int64; undefined for any other text. */
export const int64 = (text: string): bigint | undefined => {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const value = BigInt(text.replace("+", ""))
  return value >= -(2n ** 63n) && value < 2n ** 63n ? value : undefined
}

/**
 * A replica count in an annotation: decimal digits without a sign, at most an int32; undefined if it cannot be parsed.
 * Source: pkg/controller/deployment/util: getNonNegativeInt32FromAnnotation.
 */
export const count = (object: KubeObject, key: string): number | undefined => {
  const text = of(object)[key] ?? ""
  const value = /^\d+$/.test(text) ? Number(text) : undefined
  return value !== undefined && value <= 0x7fff_ffff ? value : undefined
}
