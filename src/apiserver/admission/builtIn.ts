/** The plugins this server has, and which of them run unless somebody says otherwise. */
import type { Plugin } from "./Admission.ts"
import { limitRanger } from "./limitRanger.ts"
import { namespaceLifecycle } from "./namespaceLifecycle.ts"
import { nodeTaints } from "./nodeTaints.ts"
import { ownerReferencesPermission } from "./ownerReferences.ts"
import { defaultTolerations, priority } from "./pods.ts"
import { resourceQuota } from "./resourceQuota.ts"
import { serviceAccount } from "./serviceAccount.ts"
import { storageProtection } from "./storageProtection.ts"

/** Each is a switch. */
export interface Switches {
  /** Nothing new where a namespace is missing or being deleted; three namespaces stay. On. */
  readonly namespaceLifecycle?: boolean | undefined
  /** Defaults and bounds of a namespace's LimitRanges. On. */
  readonly limitRanger?: boolean | undefined
  /** Pods get the number of their PriorityClass. On. */
  readonly priority?: boolean | undefined
  /** Pods leave failing nodes after five minutes. On. */
  readonly defaultTolerationSeconds?: boolean | undefined
  /** Pods run as an account that exists. Off: nobody makes the accounts unless that controller runs. */
  readonly serviceAccount?: boolean | undefined
  /** New nodes are tainted as not ready. Off: nobody takes the taint off unless the controller of nodes' lives runs. */
  readonly nodeTaints?: boolean | undefined
  /** Claims and volumes in use are not deleted. Off: nobody lets go of them unless that controller runs. */
  readonly storageProtection?: boolean | undefined
  /** Namespaces are bounded by their ResourceQuotas. Off: nobody counts what is there unless that controller runs. */
  readonly resourceQuota?: boolean | undefined
  /** Owner references take rights over the object and its owner. Off, as on most servers; on where OpenShift is meant. */
  readonly ownerReferencesPermission?: boolean | undefined
}

/** In the order of the reference server: webhooks see what the others have made of an object, quotas are charged for what is left. */
export const plugins = (switches: Switches = {}, webhooks: ReadonlyArray<Plugin> = []): ReadonlyArray<Plugin> => [
  ...(switches.namespaceLifecycle === false ? [] : [namespaceLifecycle]),
  ...(switches.limitRanger === false ? [] : [limitRanger]),
  ...(switches.serviceAccount === true ? [serviceAccount] : []),
  ...(switches.nodeTaints === true ? [nodeTaints] : []),
  ...(switches.priority === false ? [] : [priority]),
  ...(switches.defaultTolerationSeconds === false ? [] : [defaultTolerations]),
  ...(switches.storageProtection === true ? [storageProtection] : []),
  ...(switches.ownerReferencesPermission === true ? [ownerReferencesPermission] : []),
  ...webhooks,
  ...(switches.resourceQuota === true ? [resourceQuota] : [])
]
