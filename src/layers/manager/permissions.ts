/**
 * What the chosen controllers and the program itself must be allowed, as one list of questions without repetitions: from what each
 * descriptor declares. Whatever asks a server, or writes roles, starts from here. Pure. Source: kube-apiserver's request attributes.
 */
import * as Access from "../../kube/Access.ts"
import * as Resource from "../../kube/Resource.ts"
import { Event, Lease } from "../../kube/resources.ts"

/** Somebody who needs permissions; `who` is a controller's name, or what of the program it is. */
export interface Holder {
  readonly who: string
  readonly access: ReadonlyArray<Access.Any>
}

/** One verb on one endpoint. */
export interface Permission {
  readonly verb: string
  /** Empty for the core group, `*` for all. */
  readonly group: string
  /** Plural, `*` for all. */
  readonly resource: string
  /** Empty for the main endpoint. */
  readonly subresource: string
  /** Empty for all of them, and for cluster-scoped kinds. */
  readonly namespace: string
  /** Empty for all objects. */
  readonly name: string
  /** Who needs it, each once, in the order they were given. */
  readonly needed: ReadonlyArray<string>
}

export interface LeaseName {
  readonly namespace: string
  readonly name: string
}

/** What everybody who records events writes: the core form is patched when it is seen again. */
const events: Holder = { who: "events", access: [Access.create(Event), Access.patch(Event)] }

/** A lease is read, followed and renewed under its name; it cannot be created under one. */
const ofLease = ({ name, namespace }: LeaseName): ReadonlyArray<Permission> =>
  ["get", "watch", "update", "create"].map((verb) => ({
    verb,
    group: Lease.group,
    resource: Lease.plural,
    subresource: "",
    namespace,
    name: verb === "create" ? "" : name,
    needed: ["leader election"]
  }))

/** In the order of the holders and of what they declare; the same permission for several of them is one that names them all. */
export const needed = (options: {
  readonly controllers: ReadonlyArray<Holder>
  readonly leases: ReadonlyArray<LeaseName>
}): ReadonlyArray<Permission> => {
  const holders = options.controllers.length === 0 ? [] : [...options.controllers, events]
  const all = [...holders.flatMap(of), ...options.leases.flatMap(ofLease)]
  const merged = new Map<string, Permission>()
  for (const one of all) {
    const key = [one.verb, one.group, one.resource, one.subresource, one.namespace, one.name].join("\n")
    const before = merged.get(key)?.needed ?? []
    merged.set(key, { ...one, needed: [...new Set([...before, ...one.needed])] })
  }
  return [...merged.values()]
}

const of = ({ access, who }: Holder): ReadonlyArray<Permission> =>
  access.flatMap(({ grant, resource, subresource }) =>
    Access.verbs[grant].map((verb) => ({
      verb,
      group: resource.group,
      resource: resource.plural,
      subresource,
      namespace: "",
      name: "",
      needed: [who]
    }))
  )

/** The kinds that must be served, each once, with who needs it; `anything` is not one of them. */
export const kinds = (
  controllers: ReadonlyArray<Holder>
): ReadonlyArray<{ readonly resource: Resource.Any; readonly needed: ReadonlyArray<string> }> => {
  const merged = new Map<string, { readonly resource: Resource.Any; readonly needed: ReadonlyArray<string> }>()
  for (const { access, who } of controllers) {
    for (const { resource } of access) {
      if (resource.id === Resource.anything.id) continue
      // A projection is the same kind of the server's.
      const key = `${Resource.apiVersion(resource)}/${resource.plural}`
      merged.set(key, { resource, needed: [...new Set([...(merged.get(key)?.needed ?? []), who])] })
    }
  }
  return [...merged.values()]
}
