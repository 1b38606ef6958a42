/**
 * Maps changes to StatefulSet keys: a pod or revision to its owner or to the sets that could adopt it; a deleted one also to the set that its name
 * comes from, which may be waiting for the name. Triggers run after the stores have changed. Source: pkg/controller/statefulset: addPod, updatePod,
 * deletePod.
 */
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Owner from "../../kube/Owner.ts"
import { type ControllerRevision, type PersistentVolumeClaim, type Pod, StatefulSet } from "../../kube/resources.ts"
import type { Trigger } from "../../streams/store/trigger.ts"
import * as Owners from "../shared/workload/owners.ts"
import * as Identity from "./identity.ts"
import type { Deps } from "./deps.ts"
import * as Spec from "./spec.ts"

type Watching = Pick<Deps, "sets" | "queue">

const owners = ({ sets }: Watching): Owners.Owners<StatefulSet> => ({
  resource: StatefulSet,
  store: sets,
  selects: Spec.selects
})

export const statefulSet: Trigger<StatefulSet> = ({ object }) => [Key.of(object)]

/** Seconds by which clocks may differ. */
const skew = 1

const none: ReadonlyArray<Key.Key> = []

/** The set of that name in the object's namespace, if there is one. */
const inNamespaceOf = (
  { sets }: Watching,
  { metadata }: KubeObject,
  name: string | undefined
): ReadonlyArray<Key.Key> => {
  if (name === undefined) return none
  const key = Key.make(metadata.namespace, name)
  return sets.get(key) === undefined ? none : [key]
}

export const pod = (watching: Watching): Trigger<Pod> => {
  const known = Owners.podTrigger({
    owners: owners(watching),
    queue: watching.queue,
    availableAfter: (set) => {
      const seconds = Spec.minReadySeconds(set)
      return seconds > 0 ? seconds + skew : 0
    }
  })
  return (delta) => {
    const keys = known(delta)
    if (delta._tag !== "Deleted" || keys.length > 0) return keys
    return inNamespaceOf(watching, delta.object, Identity.parse(delta.object.metadata.name)?.parent)
  }
}

export const revision =
  (watching: Watching): Trigger<ControllerRevision> =>
  (delta) => {
    const keys = Owners.concerned(owners(watching), delta).map(Key.of)
    if (delta._tag !== "Deleted" || keys.length > 0) return keys
    const former = Owner.controllerOf(delta.object)
    return inNamespaceOf(watching, delta.object, former?.kind === StatefulSet.kind ? former.name : undefined)
  }

/** A deleted claim may block a replica that waits for its name. Other changes of claims need no sync. */
export const claim =
  (watching: Watching): Trigger<PersistentVolumeClaim> =>
  (delta) => {
    if (delta._tag !== "Deleted") return none
    const { object } = delta
    const parent = Identity.parse(object.metadata.name)?.parent ?? ""
    // `data-web` may be a claim of `web` from the template `data`; the names of templates and sets may contain dashes.
    for (let dash = parent.indexOf("-"); dash !== -1; dash = parent.indexOf("-", dash + 1)) {
      const [key] = inNamespaceOf(watching, object, parent.slice(dash + 1))
      const set = key === undefined ? undefined : watching.sets.get(key)
      const template = parent.slice(0, dash)
      if (key !== undefined && set !== undefined && claims(set, template)) return [key]
    }
    return none
  }

const claims = (set: StatefulSet, template: string): boolean =>
  Spec.claimTemplates(set).some(({ metadata }) => metadata?.name === template)
