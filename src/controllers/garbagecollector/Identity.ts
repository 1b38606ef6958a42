/**
 * Who an object is, to the garbage collector: its uid, and the coordinates under which it can be asked for. The uid is what two
 * objects never share; the coordinates are what somebody said of it, and an owner reference may say them wrongly.
 */
import type { KubeObject, OwnerReference } from "../../kube/Meta.ts"

export type Uid = string

export interface Identity {
  readonly uid: Uid
  readonly apiVersion: string
  readonly kind: string
  /** Empty for cluster-scoped objects. Of an owner that nobody has seen: the namespace of the dependent that names it. */
  readonly namespace: string
  readonly name: string
}

/** As it is on the server. A stored object has a uid. */
export const of = (apiVersion: string, kind: string, { metadata }: KubeObject): Identity => ({
  uid: metadata.uid ?? "",
  apiVersion,
  kind,
  namespace: metadata.namespace ?? "",
  name: metadata.name
})

/** The owner that a reference names, were it in this namespace. */
export const named = ({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): Identity => ({
  uid,
  apiVersion,
  kind,
  namespace,
  name
})

export const isSame = (a: Identity, b: Identity): boolean => compare(a, b) === 0

/** Whether a reference with the owner's uid also names its kind and name. The namespace is the dependent's and not looked at. */
export const isNamedBy = (owner: Identity, { apiVersion, kind, name, uid }: OwnerReference): boolean =>
  owner.uid === uid && owner.apiVersion === apiVersion && owner.kind === kind && owner.name === name

/** By kind, version, namespace, name, uid: the order in which alternatives are tried. */
export const compare = (a: Identity, b: Identity): number =>
  order(a.kind, b.kind) ||
  order(a.apiVersion, b.apiVersion) ||
  order(a.namespace, b.namespace) ||
  order(a.name, b.name) ||
  order(a.uid, b.uid)

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** A text that two identities share only if they are the same. */
export const keyOf = ({ apiVersion, kind, name, namespace, uid }: Identity): string =>
  JSON.stringify([uid, apiVersion, kind, namespace, name])

/** For logs and events. Source: garbagecollector objectReference.String. */
export const show = ({ apiVersion, kind, name, namespace, uid }: Identity): string =>
  `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`
