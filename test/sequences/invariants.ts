/**
 * What must hold at every revision of the log, for every sequence. Each invariant reads the log once and returns a sentence for each
 * revision at which it did not hold. Source: pkg/controller/replicaset: manageReplicas; pkg/controller/deployment/util: MaxUnavailable,
 * NewRSNewReplicas.
 */
import { controllerOf } from "../../src/kube/Owner.ts"
import * as Pods from "../../src/kube/pod.ts"
import type { Deployment, Pod, ReplicaSet } from "../../src/kube/resources.ts"
import type { Entry } from "./log.ts"

/** The state of the cluster after some entry of the log. */
interface State {
  readonly pods: Map<string, Pod>
  readonly sets: Map<string, ReplicaSet>
  readonly deployments: Map<string, Deployment>
}

const uidOf = (object: { readonly metadata: { readonly uid?: string } }): string => object.metadata.uid ?? ""

const apply = (state: State, entry: Entry): void => {
  const uid = uidOf(entry.object)
  const gone = entry.type === "DELETED"
  if (entry.kind === "Pod") void (gone ? state.pods.delete(uid) : state.pods.set(uid, entry.object))
  else if (entry.kind === "ReplicaSet") void (gone ? state.sets.delete(uid) : state.sets.set(uid, entry.object))
  else void (gone ? state.deployments.delete(uid) : state.deployments.set(uid, entry.object))
}

const walk = (
  log: ReadonlyArray<Entry>,
  visit: (state: State, entry: Entry, report: (violation: string) => void) => void
): ReadonlyArray<string> => {
  const state: State = { pods: new Map(), sets: new Map(), deployments: new Map() }
  const violations: Array<string> = []
  for (const entry of log) {
    apply(state, entry)
    visit(
      state,
      entry,
      (violation) => void violations.push(`revision ${entry.revision} at ${entry.at} ms: ${violation}`)
    )
  }
  return violations
}

const setsOf = (state: State, deployment: Deployment): ReadonlyArray<ReplicaSet> =>
  [...state.sets.values()].filter((set) => controllerOf(set)?.uid === uidOf(deployment))

const podsOf = (state: State, set: ReplicaSet): ReadonlyArray<Pod> =>
  [...state.pods.values()].filter((pod) => controllerOf(pod)?.uid === uidOf(set))

/** Percentages are of the replicas. maxSurge rounds up and maxUnavailable down. If both are 0, one pod may be unavailable. */
export const boundsOf = ({ spec }: Deployment): { readonly most: number; readonly least: number } => {
  const replicas = spec?.replicas ?? 1
  if (spec?.strategy?.type !== "RollingUpdate") return { most: replicas, least: 0 }
  const value = (given: number | string = "25%", round: (n: number) => number): number =>
    typeof given === "number" ? given : round((Number.parseInt(given, 10) * replicas) / 100)
  const surge = value(spec.strategy.rollingUpdate?.maxSurge, Math.ceil)
  const given = value(spec.strategy.rollingUpdate?.maxUnavailable, Math.floor)
  const unavailable = surge === 0 && given === 0 ? 1 : given
  return { most: replicas + surge, least: replicas - Math.min(replicas, unavailable) }
}

/** What the bounds depend on. */
const boundedBy = ({ spec }: Deployment): string => JSON.stringify([spec?.replicas, spec?.strategy])

/**
 * Whether the controller has seen the spec and finished what it did under the spec before. Until then a ReplicaSet may appear with the replicas of
 * the spec before: the request that creates it was on its way when the user changed the Deployment.
 */
const isObserved = ({ metadata, status }: Deployment): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)

/**
 * Reports a Deployment that violates a bound. After a change of what the bound depends on, the bound counts from the revision at which it first
 * holds and the controller has observed the change.
 */
const onceHeld = (
  log: ReadonlyArray<Entry>,
  applies: (deployment: Deployment) => boolean,
  judge: (state: State, deployment: Deployment) => string | undefined
): ReadonlyArray<string> => {
  const held = new Map<string, string>()
  return walk(log, (state, _, report) => {
    for (const deployment of state.deployments.values()) {
      const uid = uidOf(deployment)
      if (!applies(deployment) || deployment.metadata.deletionTimestamp !== undefined) {
        held.delete(uid)
        continue
      }
      const basis = boundedBy(deployment)
      if (held.get(uid) !== basis) held.delete(uid)
      const wrong = judge(state, deployment)
      if (wrong === undefined) {
        if (isObserved(deployment)) held.set(uid, basis)
      } else if (held.has(uid)) {
        report(`${deployment.metadata.name}: ${wrong}`)
        held.delete(uid)
      }
    }
  })
}

const isRolling = (deployment: Deployment): boolean => deployment.spec?.strategy?.type === "RollingUpdate"

const count = <A>(all: Iterable<A>, is: (one: A) => boolean): number => {
  let n = 0
  for (const one of all) if (is(one)) n++
  return n
}

const active = (state: State, deployment: Deployment): ReadonlyArray<Pod> =>
  setsOf(state, deployment).flatMap((set) => podsOf(state, set).filter(Pods.isActive))

/** The `spec.replicas` of the ReplicaSets of a Deployment never exceed replicas and maxSurge together. It holds under any faults. */
export const neverDesiresTooMany = (log: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  onceHeld(log, isRolling, (state, deployment) => {
    const desired = setsOf(state, deployment).reduce((sum, set) => sum + (set.spec?.replicas ?? 0), 0)
    const { most } = boundsOf(deployment)
    return desired > most ? `the desired replicas of its ReplicaSets are ${desired}, ${most} are allowed` : undefined
  })

/** A Deployment never has more active pods than replicas and maxSurge together. */
export const neverTooMany = (log: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  onceHeld(log, isRolling, (state, deployment) => {
    const { length } = active(state, deployment)
    const { most } = boundsOf(deployment)
    return length > most ? `${length} active pods, ${most} are allowed` : undefined
  })

/** A Deployment never has fewer available pods than maxUnavailable allows, as long as no pod and no node fails. */
export const neverTooFew = (log: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  onceHeld(log, isRolling, (state, deployment) => {
    const available = count(active(state, deployment), Pods.isReady)
    const { least } = boundsOf(deployment)
    return available < least ? `${available} available pods, at least ${least} are required` : undefined
  })

/** Under Recreate, pods of two ReplicaSets never run at the same time. A pod that is being deleted still runs. */
export const neverTwoGenerations = (log: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  onceHeld(
    log,
    (deployment) => deployment.spec?.strategy?.type === "Recreate",
    (state, deployment) => {
      const running = setsOf(state, deployment).filter((set) =>
        podsOf(state, set).some(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed")
      )
      return running.length > 1
        ? `pods of ${running.map((set) => set.metadata.name).join(" and ")} run at the same time`
        : undefined
    }
  )

/** How long a controller may act on an outdated cache, in milliseconds: longer than the idle limit of a watch. */
const longestLag = 120_000

/** After a creation, a ReplicaSet has no more active pods than it desires now or desired within the longest lag of the cache. */
export const neverCreatesTooMany = (log: ReadonlyArray<Entry>): ReadonlyArray<string> => {
  /** What each ReplicaSet desired, and until when. */
  const desired = new Map<string, Array<{ readonly replicas: number; until: number }>>()
  return walk(log, (state, entry, report) => {
    if (entry.kind === "ReplicaSet") {
      const all = desired.get(uidOf(entry.object)) ?? []
      const last = all.at(-1)
      if (last !== undefined) last.until = entry.at
      all.push({ replicas: entry.object.spec?.replicas ?? 0, until: Infinity })
      desired.set(uidOf(entry.object), all)
    }
    if (entry.kind !== "Pod" || entry.type !== "ADDED") return
    const owner = controllerOf(entry.object)?.uid ?? ""
    const set = state.sets.get(owner)
    if (set === undefined) return
    const known = (desired.get(owner) ?? []).filter(({ until }) => until >= entry.at - longestLag)
    const most = Math.max(...known.map(({ replicas }) => replicas))
    const now = count(podsOf(state, set), Pods.isActive)
    if (now > most) report(`${set.metadata.name} has ${now} active pods after a creation, ${most} are desired`)
  })
}

const isControlled = ({ metadata }: Pod | ReplicaSet): boolean =>
  (metadata.ownerReferences ?? []).some((reference) => reference.controller === true)

/** Every pod and ReplicaSet has a controller at all times, as long as no user removes owner references. */
export const neverOrphans = (log: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  walk(log, (_, { kind, object, type }, report) => {
    if (kind !== "Deployment" && type !== "DELETED" && !isControlled(object))
      report(`${kind} ${object.metadata.name} has no controller`)
  })

/**
 * Owner references form a forest. No object has two controllers. The controller of a pod is a ReplicaSet whose selector matches it, and that of a
 * ReplicaSet is a Deployment. An object that becomes a controller exists at that moment under that uid.
 */
export const formsForest = (log: ReadonlyArray<Entry>): ReadonlyArray<string> => {
  const before = new Map<string, string | undefined>()
  return walk(log, (state, entry, report) => {
    const { kind, object, type } = entry
    if (type === "DELETED" || kind === "Deployment") return
    const { name, ownerReferences = [] } = object.metadata
    const controllers = count(ownerReferences, (one) => one.controller === true)
    if (controllers > 1) report(`${kind} ${name} has ${controllers} controllers`)
    const owner = controllerOf(object)
    const previous = before.get(uidOf(object))
    before.set(uidOf(object), owner?.uid)
    if (owner === undefined) return
    if (owner.kind !== (kind === "Pod" ? "ReplicaSet" : "Deployment"))
      report(`${kind} ${name} is owned by a ${owner.kind}`)
    if (previous === owner.uid) return
    const found = kind === "Pod" ? state.sets.get(owner.uid) : state.deployments.get(owner.uid)
    // An object may be created with a reference to an owner that was deleted just before; an adoption checks that the owner exists.
    if (found === undefined && type === "MODIFIED")
      report(`${kind} ${name} was adopted by ${owner.name}, which is gone`)
    const selector = Object.entries(found?.spec?.selector.matchLabels ?? {})
    const labels = object.metadata.labels ?? {}
    if (selector.some(([key, value]) => labels[key] !== value))
      report(`${name} does not match the selector of its owner`)
  })
}
