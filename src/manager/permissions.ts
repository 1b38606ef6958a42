/**
 * The permissions that the chosen controllers and the program itself need, without duplicates, derived from the descriptors. Checks against a
 * server and generated roles are based on them. Pure. Source: kube-apiserver's request attributes.
 */
import * as Access from "../kube/Access.ts"
import * as Resource from "../kube/Resource.ts"
import type * as Webhook from "../layers/Webhook.ts"
import { Event, Lease, Namespace, Secret, ServiceAccount } from "../kube/resources.ts"

/** A controller or a part of the program that needs permissions; `who` is its name. */
export interface Holder {
  readonly who: string
  readonly access: ReadonlyArray<Access.Any>
  /** The service account in `kube-system` that sends its requests. The program's account still reads for the cache and records events. */
  readonly account?: string | undefined
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

export interface Wanted {
  readonly controllers: ReadonlyArray<Holder>
  readonly leases: ReadonlyArray<LeaseName>
  /** Where the Leases of runners and shards are, and what their names begin with. */
  readonly shards?: LeaseName | undefined
  /** The namespaces of namespaced kinds: those listed; all of them if undefined or empty; any of them if selected by labels. */
  readonly namespaces?: ReadonlyArray<string> | { readonly labels: unknown } | undefined
  /** Each replica caches the namespaces of its shards alone, so it watches Namespaces to know them. */
  readonly isCacheDivided?: boolean | undefined
  /** Metrics need authorization: the API server reviews tokens and permissions. */
  readonly secureMetrics?: boolean | undefined
  /** The program creates the webhooks' certificates itself. */
  readonly certificates?: Certificates | undefined
}

/** The Secret of the webhooks' certificates, and the objects whose `caBundle` the API server trusts. */
export interface Certificates {
  readonly secret: { readonly namespace: string; readonly name: string }
  readonly configurations: ReadonlyArray<{ readonly resource: Resource.AnyCreatable; readonly name: string }>
  /** The objects that the program creates itself; none if its manifests contain them. */
  readonly made?: ReadonlyArray<{ readonly resource: Resource.Any }> | undefined
}

/** Webhooks whose handlers send requests to the API server, under the program's identity. */
export const holders = (webhooks: ReadonlyArray<Webhook.Any>): ReadonlyArray<Holder> =>
  webhooks.flatMap((webhook) =>
    webhook.access.length === 0 ? [] : [{ who: `webhook ${whoOf(webhook)}`, access: webhook.access }]
  )

const whoOf = (webhook: Webhook.Any): string =>
  webhook._tag === "Converting" ? `of ${webhook.resource.plural}` : webhook.name

/** The name under which leader election needs permissions. */
export const election = "leader election"

type Endpoint = Pick<Permission, "group" | "resource" | "subresource">

const endpointOf = ({ group, plural }: Resource.AnyCreatable, subresource = ""): Endpoint => ({
  group,
  resource: plural,
  subresource
})

/** All of these verbs on one endpoint. */
const verbsOn = (endpoint: Endpoint, verbs: ReadonlyArray<string>, of: Omit<Permission, "verb" | keyof Endpoint>) =>
  verbs.map((verb): Permission => Object.assign({ verb }, endpoint, of))

/** A lease is read, watched and updated under its name; `create` cannot be granted by name. Changes of the holder are recorded as events. */
const ofLease = ({ name, namespace }: LeaseName): ReadonlyArray<Permission> => {
  const any = { namespace, name: "", needed: [election] }
  return [
    ...verbsOn(endpointOf(Lease), ["get", "watch", "update"], { ...any, name }),
    ...verbsOn(endpointOf(Lease), ["create"], any),
    ...verbsOn(endpointOf(Event), Access.verbs.record, any)
  ]
}

/** Runners and shards come and go, so their names are not known, and all of them are watched. */
const ofShards = ({ namespace }: LeaseName): ReadonlyArray<Permission> =>
  verbsOn(endpointOf(Lease), ["get", "list", "watch", "create", "update", "patch", "delete"], {
    namespace,
    name: "",
    needed: ["sharding"]
  })

/** Each is granted by name, except `create` of the Secret, which cannot be. */
const ofCertificates = ({
  configurations,
  made = [],
  secret: { name, namespace }
}: Certificates): ReadonlyArray<Permission> => {
  const needed = ["webhooks"]
  return [
    ...verbsOn(endpointOf(Secret), ["create"], { namespace, name: "", needed }),
    ...verbsOn(endpointOf(Secret), ["get", "update"], { namespace, name, needed }),
    ...configurations.flatMap((one) =>
      verbsOn(endpointOf(one.resource), ["get", "patch"], { namespace: "", name: one.name, needed })
    ),
    ...made.flatMap((one) => verbsOn(endpointOf(one.resource), ["create"], { namespace: "", name: "", needed }))
  ]
}

/** In the order of the holders and of their access. The same permission of several holders is one entry that names them all. */
export const needed = ({
  certificates,
  controllers,
  isCacheDivided = false,
  leases,
  namespaces = [],
  secureMetrics = false,
  shards
}: Wanted): ReadonlyArray<Permission> =>
  merged([
    ...("labels" in namespaces ? of(follower("namespace selector"), []) : []),
    ...(isCacheDivided && "length" in namespaces && namespaces.length === 0 ? of(follower("sharding"), []) : []),
    ...controllers.flatMap((one) => of(ownOf(one), "labels" in namespaces ? [] : namespaces)),
    ...controllers.flatMap(ofAccount),
    ...leases.flatMap(ofLease),
    ...(shards === undefined ? [] : ofShards(shards)),
    ...(secureMetrics ? reviews : []),
    ...(certificates === undefined ? [] : ofCertificates(certificates))
  ])

/** The permissions that move from the program to an account: those that are not shared. */
export const delegated = (
  { access, who }: Holder,
  namespaces: NonNullable<Wanted["namespaces"]> = []
): ReadonlyArray<Permission> => {
  const own = access.filter((one) => !isProgramsOwn(one))
  return merged(of({ who, access: own }, "labels" in namespaces ? [] : namespaces))
}

/** The permissions of each account by name; two controllers may share an account. */
export const accounts = (
  controllers: ReadonlyArray<Holder>,
  namespaces?: Wanted["namespaces"]
): ReadonlyArray<{ readonly name: string; readonly permissions: ReadonlyArray<Permission> }> => {
  const names = new Set(controllers.flatMap(({ account }) => account ?? []))
  return [...names].map((name) => ({
    name,
    permissions: merged(controllers.flatMap((one) => (one.account === name ? delegated(one, namespaces) : [])))
  }))
}

/** The cache and the recorder are shared by all controllers. */
const isProgramsOwn = ({ grant }: Access.Any): boolean => grant === "read" || grant === "record"

const ownOf = (holder: Holder): Holder =>
  holder.account === undefined ? holder : { ...holder, access: holder.access.filter(isProgramsOwn) }

/** A missing account is created, which cannot be granted by name, and gets tokens. */
const ofAccount = ({ account, who }: Holder): ReadonlyArray<Permission> => {
  if (account === undefined) return []
  const there = { namespace: "kube-system", needed: [who] }
  return [
    ...verbsOn(endpointOf(ServiceAccount), ["create"], { ...there, name: "" }),
    ...verbsOn(endpointOf(ServiceAccount, "token"), ["create"], { ...there, name: account })
  ]
}

/** Namespaces are watched to find those with the labels, or those of the shards. */
const follower = (who: string): Holder => ({ who, access: [Access.read(Namespace)] })

const reviews = [
  { group: "authentication.k8s.io", resource: "tokenreviews", subresource: "" },
  { group: "authorization.k8s.io", resource: "subjectaccessreviews", subresource: "" }
].flatMap((endpoint) => verbsOn(endpoint, ["create"], { namespace: "", name: "", needed: ["metrics"] }))

const merged = (all: ReadonlyArray<Permission>): ReadonlyArray<Permission> => {
  const found = new Map<string, Permission>()
  for (const one of all) {
    const key = [one.verb, one.group, one.resource, one.subresource, one.namespace, one.name].join("\n")
    const before = found.get(key)?.needed ?? []
    found.set(key, { ...one, needed: [...new Set([...before, ...one.needed])] })
  }
  return [...found.values()]
}

const of = ({ access, who }: Holder, namespaces: ReadonlyArray<string>): ReadonlyArray<Permission> =>
  access.flatMap(({ grant, resource, subresource }) =>
    placesOf(resource, subresource, namespaces).flatMap((namespace) =>
      verbsOn(endpointOf(resource, subresource), Access.verbs[grant], { namespace, name: "", needed: [who] })
    )
  )

/** A wildcard for all kinds is granted in the whole cluster, except for subresources: scaled objects are always namespaced. */
const placesOf = (
  resource: Resource.AnyCreatable,
  subresource: string,
  namespaces: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const isEverywhere = resource.id === Resource.anything.id && subresource === ""
  return namespaces.length === 0 || resource.scope === "Cluster" || isEverywhere ? [""] : namespaces
}

/** Whether the permission `held` includes `wanted`. Source: the wildcards and names of RBAC's rules. */
export const covers = (held: Permission, wanted: Permission): boolean =>
  held.verb === wanted.verb &&
  (held.namespace === "" || held.namespace === wanted.namespace) &&
  (held.name === "" || held.name === wanted.name) &&
  (held.group === "*" || held.group === wanted.group) &&
  (held.resource === "*" || held.resource === wanted.resource) &&
  ((held.resource === "*" && held.subresource === "") || held.subresource === wanted.subresource)

/** Removes permissions that another one in the list covers. */
export const minimal = (permissions: ReadonlyArray<Permission>): ReadonlyArray<Permission> =>
  permissions.filter((one, index) =>
    permissions.every((other, place) => place === index || !covers(other, one) || (covers(one, other) && index < place))
  )

/** The kinds that must be served, each once, with the controllers that need them. Wildcards and optional kinds are left out. */
export const kinds = (
  controllers: ReadonlyArray<Holder>
): ReadonlyArray<{ readonly resource: Resource.AnyCreatable; readonly needed: ReadonlyArray<string> }> => {
  const merged = new Map<string, { readonly resource: Resource.AnyCreatable; readonly needed: ReadonlyArray<string> }>()
  for (const { access, who } of controllers) {
    for (const { isOptional, resource } of access) {
      if (resource.id === Resource.anything.id || isOptional === true) continue
      // Projections of a kind are one kind of the server.
      const key = `${Resource.apiVersion(resource)}/${resource.plural}`
      merged.set(key, { resource, needed: [...new Set([...(merged.get(key)?.needed ?? []), who])] })
    }
  }
  return [...merged.values()]
}
