/**
 * Which controllers run in kube-controller-manager mode: all of its controllers that this program has, and others only if they are named.
 * Names of its controllers that this program lacks are accepted, because kubeadm names two of them, and logged. Pure. Source: docs/controllers.md.
 */
import type { Entry } from "../registry.ts"
import { listed } from "./flags.ts"

/** Controllers of kube-controller-manager 1.36 that this program does not have: name, then aliases. */
const others: ReadonlyArray<readonly [name: string, ...aliases: ReadonlyArray<string>]> = [
  ["podgroup-protection-controller"],
  ["certificatesigningrequest-signing-controller", "csrsigning"],
  ["certificatesigningrequest-approving-controller", "csrapproving"],
  ["certificatesigningrequest-cleaner-controller", "csrcleaner"],
  ["podcertificaterequest-cleaner-controller"],
  ["ttl-controller", "ttl"],
  ["bootstrap-signer-controller", "bootstrapsigner"],
  ["token-cleaner-controller", "tokencleaner"],
  ["node-ipam-controller", "nodeipam"],
  ["service-lb-controller", "service"],
  ["node-route-controller", "route"],
  ["persistentvolume-binder-controller", "persistentvolume-binder"],
  ["persistentvolume-attach-detach-controller", "attachdetach"],
  ["persistentvolume-expander-controller", "persistentvolume-expander"],
  ["persistentvolume-protection-controller", "pv-protection"],
  ["volumeattributesclass-protection-controller"],
  ["ephemeral-volume-controller", "ephemeral-volume"],
  ["kube-apiserver-serving-clustertrustbundle-publisher-controller"],
  ["storageversion-garbage-collector-controller", "storage-version-gc"],
  ["storage-version-migrator-controller", "svm"],
  ["resourceclaim-controller", "resource-claim-controller"],
  ["resourcepoolstatusrequest-controller"],
  ["device-taint-eviction-controller"],
  ["validatingadmissionpolicy-status-controller"],
  ["service-cidr-controller"],
  ["selinux-warning-controller"]
]

/** The same table, with the controllers of kube-controller-manager on by default and all others off. */
export const table = <R>(entries: ReadonlyArray<Entry<R>>): ReadonlyArray<Entry<R>> =>
  entries.map((entry) => Object.assign({}, entry, { byDefault: entry.group === "core" ? "on" : "off" }))

export interface Chosen {
  /** The patterns without controllers that this program does not have. */
  readonly patterns: ReadonlyArray<string>
  /** One sentence about the removed controllers that the list enables. */
  readonly note: string | undefined
}

/** Removes the controllers from the list that only kube-controller-manager has. */
export const choose = (entries: ReadonlyArray<Entry<unknown>>, patterns: ReadonlyArray<string>): Chosen => {
  const ours = new Set(entries.flatMap(({ aliases = [], controller }) => [controller.name, ...aliases]))
  const absent = new Set(others.flat().filter((name) => !ours.has(name)))
  const left = patterns.filter((pattern) => !absent.has(pattern.replace(/^-/, "")))
  const asked = patterns.filter((pattern) => absent.has(pattern))
  const are = asked.length === 1 ? "is not here" : "are not here"
  const note = asked.length === 0 ? undefined : `Of the controllers that were asked for, ${listed(asked)} ${are}`
  return { patterns: left, note }
}
