/**
 * The identity of an object in the graph: its uid, and the coordinates for reading it. A uid is unique; the coordinates
 * may come from an owner reference and may be wrong.
 */
import type { KubeObject, OwnerReference } from "../../kube/Meta.ts"

export type Uid = string

export interface Identity {
  readonly uid: Uid
  readonly apiVersion: string
  readonly kind: string
  /**
   * Empty for cluster-scoped objects. For an owner that was never observed: the namespace of the dependent that names
   * it.
   */
  readonly namespace: string
  readonly name: string
}

/** From an object on the server, which has a uid. */
export const of = (apiVersion: string, kind: string, { metadata }: KubeObject): Identity => ({
  uid: metadata.uid ?? "",
  apiVersion,
  kind,
  namespace: metadata.namespace ?? "",
  name: metadata.name
})

/** The owner that a reference names, if it were in this namespace. */
export const named = ({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): Identity => ({
  uid,
  apiVersion,
  kind,
  namespace,
  name
})

export const isSame = (a: Identity, b: Identity): boolean => compare(a, b) === 0

/** Whether a reference names the owner's uid, kind and name. A reference has no namespace. */
export const isNamedBy = (owner: Identity, { apiVersion, kind, name, uid }: OwnerReference): boolean =>
  owner.uid === uid && owner.apiVersion === apiVersion && owner.kind === kind && owner.name === name

/** By kind, version, namespace, name, uid: the order in which alternative coordinates are tried. */
export const compare = (a: Identity, b: Identity): number =>
  order(a.kind, b.kind) ||
  order(a.apiVersion, b.apiVersion) ||
  order(a.namespace, b.namespace) ||
  order(a.name, b.name) ||
  order(a.uid, b.uid)

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Equal for equal identities only. */
export const keyOf = ({ apiVersion, kind, name, namespace, uid }: Identity): string =>
  JSON.stringify([uid, apiVersion, kind, namespace, name])

/** For logs and events. Source: pkg/controller/garbagecollector: objectReference.String. */
export const show = ({ apiVersion, kind, name, namespace, uid }: Identity): string =>
  `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`
