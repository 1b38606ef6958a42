/** The fewest rules of a role that grant exactly a list of permissions. Pure. Source: the shape of rbac.authorization.k8s.io/v1. */
import type { Permission } from "../permissions.ts"

/** A type and not an interface, because it is part of a manifest, which is plain data. */
export type Rule = {
  readonly apiGroups: ReadonlyArray<string>
  readonly resources: ReadonlyArray<string>
  readonly resourceNames?: ReadonlyArray<string>
  readonly verbs: ReadonlyArray<string>
}

/** The usual order of verbs. */
const order = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]

const byOrder = (a: string, b: string): number => order.indexOf(a) - order.indexOf(b) || compare(a, b)

interface Endpoint {
  readonly group: string
  readonly resource: string
  readonly name: string
  readonly verbs: Set<string>
}

/** Rules by the namespace of their role; the empty namespace is the ClusterRole. */
export const rulesOf = (permissions: ReadonlyArray<Permission>): ReadonlyMap<string, ReadonlyArray<Rule>> => {
  const namespaces = new Map<string, Array<Permission>>()
  for (const one of permissions) {
    const found = namespaces.get(one.namespace)
    if (found === undefined) namespaces.set(one.namespace, [one])
    else found.push(one)
  }
  return new Map([...namespaces].map(([namespace, all]) => [namespace, merged(all)]))
}

/** Merges the verbs of each endpoint, then the endpoints of a group that have the same verbs. */
const merged = (permissions: ReadonlyArray<Permission>): ReadonlyArray<Rule> => {
  const endpoints = new Map<string, Endpoint>()
  for (const { group, name, resource, subresource, verb } of permissions) {
    const whole = subresource === "" ? resource : `${resource}/${subresource}`
    const key = [group, whole, name].join("\n")
    const found = endpoints.get(key) ?? { group, resource: whole, name, verbs: new Set() }
    endpoints.set(key, found)
    found.verbs.add(verb)
  }
  const rules = new Map<string, Rule & { readonly resources: Array<string> }>()
  for (const { group, name, resource, verbs: set } of [...endpoints.values()].sort(byPlace)) {
    const verbs = [...set].sort(byOrder)
    const key = [group, name, ...verbs].join("\n")
    const found = rules.get(key)
    if (found !== undefined) found.resources.push(resource)
    else {
      const names = name === "" ? {} : { resourceNames: [name] }
      rules.set(key, { apiGroups: [group], resources: [resource], ...names, verbs })
    }
  }
  return [...rules.values()]
}

const byPlace = (a: Endpoint, b: Endpoint): number =>
  compare(a.group, b.group) || compare(a.resource, b.resource) || compare(a.name, b.name)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
