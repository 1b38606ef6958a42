/** Whether the cache of a replica is divided as the work is: it has the namespaces of the replica's shards alone if no reader needs more. */
import * as Access from "../../kube/Access.ts"
import type { Holder } from "../permissions.ts"

/** A controller or a webhook. */
export interface Reader extends Pick<Holder, "who" | "access"> {
  /** As in `Controller.Descriptor`. A webhook reviews objects of all namespaces. */
  readonly staysInNamespace?: boolean | undefined
}

export interface Division {
  /** The shards of which a replica caches the namespaces; undefined: it caches all. */
  readonly shards: number | undefined
  /** For the log, at the start. */
  readonly sentence: string | undefined
}

export const of = (
  { sharding, shards }: { readonly sharding: boolean; readonly shards: number },
  readers: ReadonlyArray<Reader>
): Division => {
  if (!sharding) return { shards: undefined, sentence: undefined }
  const others = readers.filter(readsElsewhere).map(({ who }) => `"${who}"`)
  return others.length === 0
    ? { shards, sentence: "The cache has only the namespaces of the shards of this replica" }
    : {
        shards: undefined,
        sentence: `The cache has all namespaces, because of what is not declared with staysInNamespace: ${others.join(", ")}`
      }
}

const readsElsewhere = ({ access, staysInNamespace }: Reader): boolean =>
  staysInNamespace !== true && Access.reads(access).some(({ scope }) => scope === "Namespaced")
