/** The cached state at the beginning of a sync, and which writes of that sync violate the ordering rules of StatefulSets. */
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from "../../../src/kube/resources.ts"
import * as Truth from "./truth.ts"

export interface Knowledge {
  readonly set: StatefulSet
  readonly pods: ReadonlyArray<Pod>
  readonly claims: ReadonlyArray<PersistentVolumeClaim>
  readonly revisions: ReadonlyArray<ControllerRevision>
  readonly now: number
  /** The pods that the sync has deleted and created. */
  readonly deleted: Array<Pod>
  readonly made: Array<Pod>
}

export const nothing = (set: StatefulSet, now: number): Knowledge => ({
  set,
  pods: [],
  claims: [],
  revisions: [],
  now,
  deleted: [],
  made: []
})

const at = ({ pods }: Knowledge, ordinal: number): Pod | undefined => pods.find((pod) => Truth.ordinal(pod) === ordinal)

const isUp = (known: Knowledge, ordinal: number): boolean => Truth.isAvailable(known.set, at(known, ordinal), known.now)

/** The pod's claim, from the cache; the sets of the model have one template at most. */
const claimOf = ({ claims }: Knowledge, { metadata }: Pod): PersistentVolumeClaim | undefined =>
  claims.find((claim) => claim.metadata.name === `data-${metadata.name}`)

/** A pod is created after those with lower ordinals, and with the right revision. */
export const ofCreation = (known: Knowledge, pod: Pod): string | undefined => {
  const { made, revisions, set } = known
  made.push(pod)
  const ordinal = Truth.ordinal(pod)
  const range = Truth.range(set)
  if (!range.includes(ordinal)) return `${pod.metadata.name} is created outside the range of ordinals`
  if (at(known, ordinal) !== undefined) return `${pod.metadata.name} is created although it exists`
  const lower = range.filter((one) => one < ordinal)
  if (Truth.isOrdered(set) && !lower.every((one) => isUp(known, one)))
    return `${pod.metadata.name} is created before a lower one is available`
  const current = revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision)
  const isKept = Truth.isRolling(set) && ordinal - Truth.first(set) < Truth.partition(set)
  if (isKept && current !== undefined && Truth.revision(pod) !== current.metadata.name)
    return `${pod.metadata.name} is below the partition and has the new revision`
  if (Truth.goesWithPods(set) && Truth.owner(claimOf(known, pod)) === `Pod ${pod.metadata.name}`)
    return `${pod.metadata.name} uses a claim that is deleted with its former pod`
  const isNew = Truth.image(pod) === Truth.image(set.spec?.template ?? {})
  return isKept || isNew ? undefined : `${pod.metadata.name} is created from an old template`
}

/** A pod is deleted because it has ended, is surplus or outdated, each in its order. */
export const ofDeletion = (known: Knowledge, pod: Pod): string | undefined => {
  const { deleted, set } = known
  const { name } = pod.metadata
  if (Truth.isOrdered(set) && deleted.length > 0)
    return `${name} and ${deleted[0]?.metadata.name} are deleted in one sync`
  deleted.push(pod)
  if (Truth.isTerminating(pod)) return `${name} is deleted twice`
  if (Truth.hasEnded(pod)) return undefined
  return Truth.range(set).includes(Truth.ordinal(pod)) ? ofUpdate(known, pod) : ofScaling(known, pod)
}

/** If claims are deleted with surplus replicas, the pod owns its claim before it is deleted. `claim`: read from the server. */
export const ofClaim = (known: Knowledge, pod: Pod, claim: PersistentVolumeClaim | undefined): string | undefined => {
  const isTooMany = !Truth.range(known.set).includes(Truth.ordinal(pod))
  if (!isTooMany || !Truth.goesWithPods(known.set) || claimOf(known, pod) === undefined) return undefined
  const { name } = pod.metadata
  return Truth.owner(claim) === `Pod ${name}` ? undefined : `${name} is deleted before it owns its claim`
}

const ofScaling = (known: Knowledge, pod: Pod): string | undefined => {
  const { pods, set } = known
  if (!Truth.isOrdered(set)) return undefined
  const { name } = pod.metadata
  const range = Truth.range(set)
  if (!range.every((one) => isUp(known, one))) return `${name} is deleted as surplus while a replica is not available`
  const others = pods.filter((one) => !range.includes(Truth.ordinal(one)))
  if (others.some((one) => Truth.ordinal(one) > Truth.ordinal(pod)))
    return `${name} is deleted as surplus before a higher one`
  const isAvailable = Truth.isAvailable(set, pod, known.now)
  const unavailable = others.filter((one) => !Truth.isAvailable(set, one, known.now))
  return isAvailable || unavailable.length === 1
    ? undefined
    : `${name} is deleted as surplus, but other surplus pods are not available`
}

const ofUpdate = (known: Knowledge, pod: Pod): string | undefined => {
  const { set } = known
  const { name } = pod.metadata
  const image = Truth.image(set.spec?.template ?? {})
  if (!Truth.isRolling(set)) return `${name} is replaced with the strategy OnDelete`
  if (Truth.ordinal(pod) - Truth.first(set) < Truth.partition(set)) return `${name} is replaced below the partition`
  if (Truth.image(pod) === image) return `${name} is replaced although it has the new template`
  for (const one of Truth.range(set).filter((other) => other > Truth.ordinal(pod))) {
    const higher = at(known, one)
    if (!isUp(known, one)) return `${name} is replaced while ${one} is not available`
    if (higher !== undefined && Truth.image(higher) !== image) return `${name} is replaced before ${one}`
  }
  const isBlocked = Truth.isOrdered(set) && Truth.range(set).some((one) => !isUp(known, one))
  return isBlocked ? `${name} is replaced while a replica is not available` : undefined
}

/** The current revision changes only when every replica has the new one. */
export const ofStatus = (
  { deleted, made, pods, revisions, set }: Knowledge,
  written: StatefulSet
): string | undefined => {
  const before = set.status?.currentRevision ?? ""
  const { currentReplicas, currentRevision, updatedReplicas, updateRevision } = written.status ?? {}
  const staying = pods.filter((pod) => !Truth.isTerminating(pod))
  const of = (those: ReadonlyArray<Pod>) =>
    [currentRevision, updateRevision].map((name) => those.filter((pod) => Truth.revision(pod) === name).length)
  const reported = String([currentReplicas, updatedReplicas])
  // Whether a failed or lost call was applied is unknown.
  const isTrue = [[...staying.filter((pod) => !deleted.includes(pod)), ...made], staying].some(
    (those) => String(of(those)) === reported
  )
  if (!isTrue) return `reports ${reported}, but ${String(of(staying))} remain`
  if (before === "" || before === currentRevision) return undefined
  if (!revisions.some(({ metadata }) => metadata.name === before)) return undefined
  if (currentRevision !== updateRevision)
    return `${currentRevision} is current, but neither the new nor the former revision`
  const isDone =
    pods.length === Truth.range(set).length &&
    pods.every((pod) => Truth.revision(pod) === updateRevision && Truth.isReady(pod))
  return isDone ? undefined : `the update to ${updateRevision} is reported as complete`
}

export const ofRevision = (
  { pods, set }: Knowledge,
  { metadata: { name } }: ControllerRevision
): string | undefined => {
  if (pods.some((pod) => Truth.revision(pod) === name)) return `revision ${name} is deleted, but pods have it`
  return set.status?.currentRevision === name ? `the current revision ${name} is deleted` : undefined
}
