/**
 * Claims and volumes are held by a finalizer until nothing uses them; who takes it off is a controller. Source: the
 * StorageObjectInUseProtection plugin of the reference server.
 */
import { arrayAt, ensureObject } from "../json.ts"
import type { Plugin } from "./Admission.ts"

const finalizers: Readonly<Record<string, string>> = {
  persistentvolumeclaims: "kubernetes.io/pvc-protection",
  persistentvolumes: "kubernetes.io/pv-protection"
}

export const storageProtection: Plugin = {
  name: "StorageObjectInUseProtection",
  admit: ({ before, object, target }) => {
    const finalizer = finalizers[target.kind.storage]
    if (before !== undefined || finalizer === undefined) return
    const metadata = ensureObject(object, "metadata")
    const list = arrayAt(metadata, "finalizers")
    if (!list.includes(finalizer)) metadata["finalizers"] = [...list, finalizer]
  }
}
