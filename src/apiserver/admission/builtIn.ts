/** The plugins this server has, and which of them run unless somebody says otherwise. */
import { arrayAt, ensureObject, textAt } from "../json.ts"
import * as lifecycle from "../validation/lifecycle.ts"
import type { Plugin } from "./Admission.ts"
import { limitRanger } from "./limitRanger.ts"
import { ownerReferencesPermission } from "./ownerReferences.ts"
import { defaultTolerations, priority } from "./pods.ts"
import { resourceQuota } from "./resourceQuota.ts"
import { serviceAccount } from "./serviceAccount.ts"

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

/** plugin/pkg/admission/namespace/lifecycle: an object needs its namespace, and the immortal namespaces are never deleted. */
const namespaceLifecycle: Plugin = {
  name: "NamespaceLifecycle",
  admit: ({ before, object, target, context }) => {
    if (before === undefined) lifecycle.admitNamespace(context, target, textAt(object, "metadata", "name"))
  },
  remove: ({ name, target: { kind } }) => lifecycle.refuseImmortal(kind, name)
}

const taintKey = "node.kubernetes.io/not-ready"
const taintEffect = "NoSchedule"

/** plugin/pkg/admission/nodetaint: a new node is tainted as not ready; the node lifecycle controller removes the taint. */
const nodeTaints: Plugin = {
  name: "TaintNodesByCondition",
  admit: ({ before, object, target }) => {
    if (before !== undefined || target.kind.storage !== "nodes") return
    const spec = ensureObject(object, "spec")
    const taints = arrayAt(spec, "taints")
    const has = taints.some((one) => textAt(one, "key") === taintKey && textAt(one, "effect") === taintEffect)
    if (!has) spec["taints"] = [...taints, { key: taintKey, effect: taintEffect }]
  }
}

const finalizers: Readonly<Record<string, string>> = {
  persistentvolumeclaims: "kubernetes.io/pvc-protection",
  persistentvolumes: "kubernetes.io/pv-protection"
}

/**
 * plugin/pkg/admission/storage/storageobjectinuseprotection: a finalizer keeps claims and volumes while they are in use; the protection
 * controllers remove it.
 */
const storageProtection: Plugin = {
  name: "StorageObjectInUseProtection",
  admit: ({ before, object, target }) => {
    const finalizer = finalizers[target.kind.storage]
    if (before !== undefined || finalizer === undefined) return
    const metadata = ensureObject(object, "metadata")
    const list = arrayAt(metadata, "finalizers")
    if (!list.includes(finalizer)) metadata["finalizers"] = [...list, finalizer]
  }
}
