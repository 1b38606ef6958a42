/** What a sync knew when it began, and what it must not do then: the rules of StatefulSets, one by one. */
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from "../../../src/kube/resources.ts"
import * as Truth from "./truth.ts"

export interface Knowledge {
  readonly set: StatefulSet
  readonly pods: ReadonlyArray<Pod>
  readonly claims: ReadonlyArray<PersistentVolumeClaim>
  readonly revisions: ReadonlyArray<ControllerRevision>
  readonly now: number
  /** What it has deleted since, and made. */
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

/** That of the only template, as it was known. */
const claimOf = ({ claims }: Knowledge, { metadata }: Pod): PersistentVolumeClaim | undefined =>
  claims.find((claim) => claim.metadata.name === `data-${metadata.name}`)

/** Lower ones first, and of the right revision. */
export const ofCreation = (known: Knowledge, pod: Pod): string | undefined => {
  const { made, revisions, set } = known
  made.push(pod)
  const ordinal = Truth.ordinal(pod)
  const range = Truth.range(set)
  if (!range.includes(ordinal)) return `${pod.metadata.name} is made, and not wanted`
  if (at(known, ordinal) !== undefined) return `${pod.metadata.name} is made, and there already`
  const lower = range.filter((one) => one < ordinal)
  if (Truth.isOrdered(set) && !lower.every((one) => isUp(known, one))) return `${pod.metadata.name} is made too early`
  const current = revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision)
  const isKept = Truth.isRolling(set) && ordinal - Truth.first(set) < Truth.partition(set)
  if (isKept && current !== undefined && Truth.revision(pod) !== current.metadata.name)
    return `${pod.metadata.name} is below the partition, and of the new revision`
  if (Truth.goesWithPods(set) && Truth.owner(claimOf(known, pod)) === `Pod ${pod.metadata.name}`)
    return `${pod.metadata.name} takes a claim that goes with the one before`
  const isNew = Truth.image(pod) === Truth.image(set.spec?.template ?? {})
  return isKept || isNew ? undefined : `${pod.metadata.name} is made of an old template`
}

/** Ended ones, too many ones, and old ones: each in its turn. */
export const ofDeletion = (known: Knowledge, pod: Pod): string | undefined => {
  const { deleted, set } = known
  const { name } = pod.metadata
  if (Truth.isOrdered(set) && deleted.length > 0) return `${name} is deleted, and ${deleted[0]?.metadata.name} too`
  deleted.push(pod)
  if (Truth.isTerminating(pod)) return `${name} is deleted twice`
  if (Truth.hasEnded(pod)) return undefined
  return Truth.range(set).includes(Truth.ordinal(pod)) ? ofUpdate(known, pod) : ofScaling(known, pod)
}

/** A claim that goes with replicas that are too many has been given to the pod before. `claim`: as the server has it. */
export const ofClaim = (known: Knowledge, pod: Pod, claim: PersistentVolumeClaim | undefined): string | undefined => {
  const isTooMany = !Truth.range(known.set).includes(Truth.ordinal(pod))
  if (!isTooMany || !Truth.goesWithPods(known.set) || claimOf(known, pod) === undefined) return undefined
  const { name } = pod.metadata
  return Truth.owner(claim) === `Pod ${name}` ? undefined : `${name} is deleted, and its claim stays`
}

const ofScaling = (known: Knowledge, pod: Pod): string | undefined => {
  const { pods, set } = known
  if (!Truth.isOrdered(set)) return undefined
  const { name } = pod.metadata
  const range = Truth.range(set)
  if (!range.every((one) => isUp(known, one))) return `${name} is taken away while a replica is unwell`
  const others = pods.filter((one) => !range.includes(Truth.ordinal(one)))
  if (others.some((one) => Truth.ordinal(one) > Truth.ordinal(pod))) return `${name} is taken away before a higher one`
  const isWell = Truth.isAvailable(set, pod, known.now)
  const unwell = others.filter((one) => !Truth.isAvailable(set, one, known.now))
  return isWell || unwell.length === 1 ? undefined : `${name} is taken away, and is not the last that is unwell`
}

const ofUpdate = (known: Knowledge, pod: Pod): string | undefined => {
  const { set } = known
  const { name } = pod.metadata
  const image = Truth.image(set.spec?.template ?? {})
  if (!Truth.isRolling(set)) return `${name} is replaced, and nobody asked for it`
  if (Truth.ordinal(pod) - Truth.first(set) < Truth.partition(set)) return `${name} is replaced below the partition`
  if (Truth.image(pod) === image) return `${name} is replaced, and is not old`
  for (const one of Truth.range(set).filter((other) => other > Truth.ordinal(pod))) {
    const higher = at(known, one)
    if (!isUp(known, one)) return `${name} is replaced, and ${one} is unwell`
    if (higher !== undefined && Truth.image(higher) !== image) return `${name} is replaced before ${one}`
  }
  const isBlocked = Truth.isOrdered(set) && Truth.range(set).some((one) => !isUp(known, one))
  return isBlocked ? `${name} is replaced while a replica is unwell` : undefined
}

/** The present revision is another one only when every replica is of it. */
export const ofStatus = ({ deleted, made, pods, revisions, set }: Knowledge, told: StatefulSet): string | undefined => {
  const before = set.status?.currentRevision ?? ""
  const { currentReplicas, currentRevision, updatedReplicas, updateRevision } = told.status ?? {}
  const staying = pods.filter((pod) => !Truth.isTerminating(pod))
  const of = (those: ReadonlyArray<Pod>) =>
    [currentRevision, updateRevision].map((name) => those.filter((pod) => Truth.revision(pod) === name).length)
  const said = String([currentReplicas, updatedReplicas])
  // Whether a failed or lost call was applied is unknown.
  const isTrue = [[...staying.filter((pod) => !deleted.includes(pod)), ...made], staying].some(
    (those) => String(of(those)) === said
  )
  if (!isTrue) return `says ${said}, and ${String(of(staying))} stay`
  if (before === "" || before === currentRevision) return undefined
  if (!revisions.some(({ metadata }) => metadata.name === before)) return undefined
  if (currentRevision !== updateRevision) return `${currentRevision} is current, and neither new nor what was before`
  const isDone =
    pods.length === Truth.range(set).length &&
    pods.every((pod) => Truth.revision(pod) === updateRevision && Truth.isReady(pod))
  return isDone ? undefined : `the update to ${updateRevision} is said to be done`
}

export const ofRevision = (
  { pods, set }: Knowledge,
  { metadata: { name } }: ControllerRevision
): string | undefined => {
  if (pods.some((pod) => Truth.revision(pod) === name)) return `revision ${name} is deleted, and pods are of it`
  return set.status?.currentRevision === name ? `revision ${name} is deleted, and current` : undefined
}
