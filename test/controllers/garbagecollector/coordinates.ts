/** Identities and references of small objects, for the tests of the graph: a uid is also the name, in the namespace `red`. */
import type * as Identity from "../../../src/controllers/garbagecollector/identity.ts"
import type { OwnerReference } from "../../../src/kube/Meta.ts"

export const identity = (uid: string, options: Partial<Identity.Identity> = {}): Identity.Identity => ({
  uid,
  apiVersion: "v1",
  kind: "Thing",
  namespace: "red",
  name: uid,
  ...options
})

/** A reference to the owner with that uid. */
export const to = (uid: string, options: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: "v1",
  kind: "Thing",
  name: uid,
  uid,
  ...options
})
