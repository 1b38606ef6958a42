/** The two store indexes by which a loop finds the candidates for a claim: dependents by the uid of their controller, and orphans by namespace. */
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Owner from "../../../kube/Owner.ts"
import type { Index } from "../../../layers/Cache.ts"
import type * as Store from "../../../streams/store/Store.ts"

/** Value: the uid of the controlling owner. */
export const byController: Index<KubeObject> = {
  name: "workload/controllerUid",
  of: (object) => {
    const controller = Owner.controllerOf(object)
    return controller === undefined ? none : [controller.uid]
  }
}

/** Value: the namespace of an object without a controlling owner. */
export const orphans: Index<KubeObject> = {
  name: "workload/orphans",
  of: (object) => (Owner.controllerOf(object) === undefined ? [object.metadata.namespace ?? ""] : none)
}

/** What an owner may claim: its dependents, then the orphans of its namespace. The store needs both indexes. */
export const candidates = <A extends KubeObject>(
  store: Store.Readable<A>,
  { metadata: { namespace = "", uid = "" } }: KubeObject
): ReadonlyArray<A> => [...store.byIndex(byController.name, uid), ...store.byIndex(orphans.name, namespace)]

export const both: ReadonlyArray<Index<KubeObject>> = [byController, orphans]

const none: ReadonlyArray<string> = []
