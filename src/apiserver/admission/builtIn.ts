/** The built-in admission plugins, and which of them are enabled by default. */
import { arrayAt, ensureObject, get, objectAt, textAt } from "../json.ts"
import * as lifecycle from "../validation/lifecycle.ts"
import type { StatusError } from "../StatusError.ts"
import type { Plugin, Write } from "./Admission.ts"
import { limitRanger } from "./limitRanger.ts"
import { ownerReferencesPermission } from "./ownerReferences.ts"
import { defaultTolerations, priority } from "./pods.ts"
import { resourceQuota } from "./resourceQuota.ts"
import { serviceAccount } from "./serviceAccount.ts"
import * as stored from "./stored.ts"

/** Enables or disables each plugin. */
export interface Switches {
  /** Rejects objects in a namespace that is missing or terminating, and the deletion of three namespaces. On. */
  readonly namespaceLifecycle?: boolean | undefined
  /** Defaults and limits of LimitRanges. On. */
  readonly limitRanger?: boolean | undefined
  /** Sets the priority of pods from their PriorityClass. On. */
  readonly priority?: boolean | undefined
  /** Tolerations that evict pods from failing nodes after five minutes. On. */
  readonly defaultTolerationSeconds?: boolean | undefined
  /** Sets the service account of pods, which must exist. Off, because it needs the serviceaccount controller. */
  readonly serviceAccount?: boolean | undefined
  /** Taints new nodes as not ready. Off, because it needs the nodelifecycle controller to remove the taint. */
  readonly nodeTaints?: boolean | undefined
  /** Protects claims and volumes in use by a finalizer. Off, because it needs the protection controllers to remove it. */
  readonly storageProtection?: boolean | undefined
  /** Enforces ResourceQuotas. Off, because it needs the resourcequota controller to compute the usage. */
  readonly resourceQuota?: boolean | undefined
  /** Requires permissions on object and owner for owner references. Off, as in kube-apiserver; OpenShift enables it. */
  readonly ownerReferencesPermission?: boolean | undefined
}

/** In the order of kube-apiserver: webhooks get the object as the plugins before them have changed it, and quotas are charged last. */
export const plugins = (switches: Switches = {}, webhooks: ReadonlyArray<Plugin> = []): ReadonlyArray<Plugin> => [
  ...(switches.namespaceLifecycle === false ? [] : [namespaceLifecycle]),
  ...(switches.limitRanger === false ? [] : [limitRanger]),
  ...(switches.serviceAccount === true ? [serviceAccount] : []),
  ...(switches.nodeTaints === true ? [nodeTaints] : []),
  ...(switches.priority === false ? [] : [priority]),
  ...(switches.defaultTolerationSeconds === false ? [] : [defaultTolerations]),
  defaultStorageClass,
  ...(switches.storageProtection === true ? [storageProtection] : []),
  ...(switches.ownerReferencesPermission === true ? [ownerReferencesPermission] : []),
  ...webhooks,
  ...(switches.resourceQuota === true ? [resourceQuota] : [])
]

const admitNamespace = ({ before, object, target, context }: Write): StatusError | undefined =>
  before === undefined ? lifecycle.admitNamespace(context, target, textAt(object, "metadata", "name")) : undefined

/** apiserver/pkg/admission/plugin/namespace/lifecycle: an object needs its namespace, and the immortal namespaces are never deleted. */
const namespaceLifecycle: Plugin = {
  name: "NamespaceLifecycle",
  admit: admitNamespace,
  // The namespace may have been deleted while a webhook was called.
  atCommit: admitNamespace,
  remove: ({ name, target: { resource } }) => lifecycle.refuseImmortal(resource, name)
}

const taintKey = "node.kubernetes.io/not-ready"
const taintEffect = "NoSchedule"

/** plugin/pkg/admission/nodetaint: a new node is tainted as not ready; the node lifecycle controller removes the taint. */
const nodeTaints: Plugin = {
  name: "TaintNodesByCondition",
  admit: ({ before, object, target }) => {
    if (before !== undefined || target.resource.storage !== "nodes") return undefined
    const spec = ensureObject(object, "spec")
    const taints = arrayAt(spec, "taints")
    const has = taints.some((one) => textAt(one, "key") === taintKey && textAt(one, "effect") === taintEffect)
    if (!has) spec["taints"] = [...taints, { key: taintKey, effect: taintEffect }]
    return undefined
  }
}

const isDefaultClass = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class"
]

/**
 * plugin/pkg/admission/storage/storageclass/setdefault: a new claim that names no class, not even an empty one, gets the default class; of
 * several the newest.
 */
const defaultStorageClass: Plugin = {
  name: "DefaultStorageClass",
  admit: ({ before, context, object, target }) => {
    if (before !== undefined || target.resource.storage !== "persistentvolumeclaims") return undefined
    const spec = ensureObject(object, "spec")
    const annotations = objectAt(object, "metadata", "annotations") ?? {}
    if (
      get(spec, "storageClassName") !== undefined ||
      get(annotations, "volume.beta.kubernetes.io/storage-class") !== undefined
    )
      return undefined
    const [found] = stored
      .objects(context, "storage.k8s.io/storageclasses", "")
      .filter((one) => isDefaultClass.some((key) => textAt(one, "metadata", "annotations", key) === "true"))
      .map((one) => ({ name: textAt(one, "metadata", "name"), created: textAt(one, "metadata", "creationTimestamp") }))
      .sort((a, b) => (a.created === b.created ? (a.name < b.name ? -1 : 1) : a.created > b.created ? -1 : 1))
    if (found !== undefined) spec["storageClassName"] = found.name
    return undefined
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
    const finalizer = finalizers[target.resource.storage]
    if (before !== undefined || finalizer === undefined) return undefined
    const metadata = ensureObject(object, "metadata")
    const list = arrayAt(metadata, "finalizers")
    if (!list.includes(finalizer)) metadata["finalizers"] = [...list, finalizer]
    return undefined
  }
}
