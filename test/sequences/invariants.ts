/**
 * What must hold at every revision of the log, whatever the sequence. Each invariant reads the log once and returns the
 * revisions at which it did not hold. Source: pkg/controller/replicaset: manageReplicas; pkg/controller/deployment/util: MaxUnavailable,
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
  visit: (state: State, entry: Entry, say: (violation: string) => void) => void
): ReadonlyArray<string> => {
  const state: State = { pods: new Map(), sets: new Map(), deployments: new Map() }
  const said: Array<string> = []
  for (const entry of log) {
    apply(state, entry)
    visit(state, entry, (violation) => void said.push(`revision ${entry.revision} at ${entry.at} ms: ${violation}`))
  }
  return said
}

const setsOf = (state: State, deployment: Deployment): ReadonlyArray<ReplicaSet> =>
  [...state.sets.values()].filter((set) => controllerOf(set)?.uid === uidOf(deployment))

const podsOf = (state: State, set: ReplicaSet): ReadonlyArray<Pod> =>
  [...state.pods.values()].filter((pod) => controllerOf(pod)?.uid === uidOf(set))

/** Percentages are of the replicas; surge rounds up, unavailability down, and both at zero means one unavailable. B.5. */
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

/** What the bounds depend on: a change of it starts a new stretch, in which they hold from where they first hold. */
const termsOf = ({ spec }: Deployment): string => JSON.stringify([spec?.replicas, spec?.strategy])

/** Follows one yes-or-no per Deployment: once it holds under the present terms, it has to go on holding. */
const onceHeld = (
  log: ReadonlyArray<Entry>,
  applies: (deployment: Deployment) => boolean,
  judge: (state: State, deployment: Deployment) => string | undefined
): ReadonlyArray<string> => {
  const held = new Map<string, string>()
  return walk(log, (state, _, say) => {
    for (const deployment of state.deployments.values()) {
      const uid = uidOf(deployment)
      if (!applies(deployment) || deployment.metadata.deletionTimestamp !== undefined) {
        held.delete(uid)
        continue
      }
      const wrong = judge(state, deployment)
      const terms = termsOf(deployment)
      if (wrong === undefined) held.set(uid, terms)
      else if (held.get(uid) === terms) {
        say(`${deployment.metadata.name}: ${wrong}`)
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

/** 2, for what is asked for: the replica sets together never ask for more than replicas and surge. Holds under any faults. */
export const asksForNoMore = (log: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  onceHeld(log, isRolling, (state, deployment) => {
    const asked = setsOf(state, deployment).reduce((sum, set) => sum + (set.spec?.replicas ?? 0), 0)
    const { most } = boundsOf(deployment)
    return asked > most ? `its replica sets ask for ${asked} pods, ${most} are allowed` : undefined
  })

/** 2, for pods. */
export const neverTooMany = (log: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  onceHeld(log, isRolling, (state, deployment) => {
    const { length } = active(state, deployment)
    const { most } = boundsOf(deployment)
    return length > most ? `${length} active pods, ${most} are allowed` : undefined
  })

/** 2, for availability; for sequences in which no pod and no machine fails. */
export const neverTooFew = (log: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  onceHeld(log, isRolling, (state, deployment) => {
    const available = count(active(state, deployment), Pods.isReady)
    const { least } = boundsOf(deployment)
    return available < least ? `${available} available pods, ${least} are wanted` : undefined
  })

/** 2, for Recreate: pods of two replica sets never run together; one that is being deleted still runs. */
export const neverTwoGenerations = (log: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  onceHeld(
    log,
    (deployment) => deployment.spec?.strategy?.type === "Recreate",
    (state, deployment) => {
      const running = setsOf(state, deployment).filter((set) =>
        podsOf(state, set).some(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed")
      )
      return running.length > 1
        ? `pods of ${running.map((set) => set.metadata.name).join(" and ")} run together`
        : undefined
    }
  )

/** How long a loop may act on what it last saw: longer than a silent watch is believed. */
const memory = 120_000

/** 3: a creation never lifts a replica set's active pods above what it asked for, now or as far as its loop may know. */
export const neverCreatesTooMany = (log: ReadonlyArray<Entry>): ReadonlyArray<string> => {
  /** What each replica set asked for, and until when. */
  const asked = new Map<string, Array<{ readonly replicas: number; until: number }>>()
  return walk(log, (state, entry, say) => {
    if (entry.kind === "ReplicaSet") {
      const all = asked.get(uidOf(entry.object)) ?? []
      const last = all.at(-1)
      if (last !== undefined) last.until = entry.at
      all.push({ replicas: entry.object.spec?.replicas ?? 0, until: Infinity })
      asked.set(uidOf(entry.object), all)
    }
    if (entry.kind !== "Pod" || entry.type !== "ADDED") return
    const owner = controllerOf(entry.object)?.uid ?? ""
    const set = state.sets.get(owner)
    if (set === undefined) return
    const known = (asked.get(owner) ?? []).filter(({ until }) => until >= entry.at - memory)
    const most = Math.max(...known.map(({ replicas }) => replicas))
    const now = count(podsOf(state, set), Pods.isActive)
    if (now > most) say(`${set.metadata.name} has ${now} active pods after a creation and asked for ${most}`)
  })
}

const isControlled = ({ metadata }: Pod | ReplicaSet): boolean =>
  (metadata.ownerReferences ?? []).some((reference) => reference.controller === true)

/** 3: nothing is ever without a controller; for sequences that do not remove owner references. */
export const neverOrphans = (log: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  walk(log, (_, { kind, object, type }, say) => {
    if (kind !== "Deployment" && type !== "DELETED" && !isControlled(object))
      say(`${kind} ${object.metadata.name} has no controller`)
  })

/**
 * 3: ownership is a forest. Nothing has two controllers; a pod's is a replica set whose selector it matches, a replica set's is a
 * Deployment; and whoever becomes the controller of something exists at that moment under that uid.
 */
export const formsForest = (log: ReadonlyArray<Entry>): ReadonlyArray<string> => {
  const before = new Map<string, string | undefined>()
  return walk(log, (state, entry, say) => {
    const { kind, object, type } = entry
    if (type === "DELETED" || kind === "Deployment") return
    const { name, ownerReferences = [] } = object.metadata
    const controllers = count(ownerReferences, (one) => one.controller === true)
    if (controllers > 1) say(`${kind} ${name} has ${controllers} controllers`)
    const owner = controllerOf(object)
    const previous = before.get(uidOf(object))
    before.set(uidOf(object), owner?.uid)
    if (owner === undefined) return
    if (owner.kind !== (kind === "Pod" ? "ReplicaSet" : "Deployment"))
      say(`${kind} ${name} is owned by a ${owner.kind}`)
    if (previous === owner.uid) return
    const found = kind === "Pod" ? state.sets.get(owner.uid) : state.deployments.get(owner.uid)
    // Whoever was created with its owner's reference may come later than the owner went; adoption asks before.
    if (found === undefined && type === "MODIFIED") say(`${kind} ${name} was adopted by ${owner.name}, which is gone`)
    const wanted = Object.entries(found?.spec?.selector.matchLabels ?? {})
    const labels = object.metadata.labels ?? {}
    if (wanted.some(([key, value]) => labels[key] !== value)) say(`${name} does not match the selector of its owner`)
  })
}
