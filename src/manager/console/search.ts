/**
 * Finds objects of the cache by `kind/namespace/name`, `kind namespace/name`, or a part of it. The work is bounded: keys are compared as texts, and only so many. Pure.
 */
import * as Resource from "../../kube/Resource.ts"
import type { Held } from "../../layers/Inspection.ts"
import type { SearchResult } from "./protocol.ts"

/** The most results, the most keys that are compared, and the longest text that is searched for. */
export const limits = { found: 50, keys: 200_000, text: 512 }

/** As `kubectl api-resources` lists them. */
const shortNames: Readonly<Record<string, string>> = {
  cm: "configmaps",
  cj: "cronjobs.batch",
  crd: "customresourcedefinitions.apiextensions.k8s.io",
  deploy: "deployments.apps",
  ds: "daemonsets.apps",
  ep: "endpoints",
  ev: "events",
  hpa: "horizontalpodautoscalers.autoscaling",
  ing: "ingresses.networking.k8s.io",
  limits: "limitranges",
  netpol: "networkpolicies.networking.k8s.io",
  no: "nodes",
  ns: "namespaces",
  pdb: "poddisruptionbudgets.policy",
  po: "pods",
  pv: "persistentvolumes",
  pvc: "persistentvolumeclaims",
  quota: "resourcequotas",
  rc: "replicationcontrollers",
  rs: "replicasets.apps",
  sa: "serviceaccounts",
  sc: "storageclasses.storage.k8s.io",
  sts: "statefulsets.apps",
  svc: "services"
}

/** Whether a word names the kind: `Pod`, `pods`, `po`, `deployments.apps`. */
export const isKind = (word: string, resource: Resource.Any): boolean => {
  const name = Resource.qualifiedName(resource)
  return (
    word === resource.plural ||
    word === resource.kind.toLowerCase() ||
    word === name ||
    (Object.hasOwn(shortNames, word) && shortNames[word] === name)
  )
}

interface Query {
  /** How well a key matches: 0 is best; undefined: not at all. */
  readonly rank: (resource: Resource.Any, key: string) => number | undefined
}

/** Undefined for a text that is empty or too long. */
const parse = (text: string, kinds: ReadonlyArray<Resource.Any>): Query | undefined => {
  const query = text.trim().toLowerCase()
  if (query === "" || query.length > limits.text) return undefined
  const [, first = "", rest = ""] = /^([^/\s]*)[/\s]?\s*(.*)$/s.exec(query) ?? []
  const named = new Set(kinds.filter((kind) => isKind(first, kind)))
  if (rest !== "" && named.size > 0) {
    return { rank: (resource, key) => (named.has(resource) ? rankOf(rest, key) : undefined) }
  }
  // `pods` are all pods, after the objects whose names have the word.
  return { rank: (resource, key) => rankOf(query, key) ?? (named.has(resource) && rest === "" ? 3 : undefined) }
}

const rankOf = (wanted: string, key: string): number | undefined => {
  const name = key.slice(key.indexOf("/") + 1)
  if (key === wanted || name === wanted) return 0
  if (key.startsWith(wanted) || name.startsWith(wanted)) return 1
  return key.includes(wanted) ? 2 : undefined
}

type Found = SearchResult["found"][number]

/** The best matches first. */
export const search = (held: ReadonlyArray<Held>, text: string): SearchResult => {
  const kinds = held.map(({ resource }) => resource)
  const query = parse(text, kinds)
  if (query === undefined) return { found: [] }
  /** By rank, and by kind and key, because several stores may have an object. */
  const ranks: ReadonlyArray<Map<string, Found>> = [new Map(), new Map(), new Map(), new Map()]
  let left = limits.keys
  for (const { resource, store } of held) {
    const name = Resource.qualifiedName(resource)
    for (const key of store.keys()) {
      if (left-- === 0) return best(ranks)
      const found = ranks[query.rank(resource, key.toLowerCase()) ?? -1]
      if (found === undefined || found.size === limits.found) continue
      found.set(`${name} ${key}`, { resource: name, kind: resource.kind, key })
    }
  }
  return best(ranks)
}

const best = (ranks: ReadonlyArray<ReadonlyMap<string, Found>>): SearchResult => ({
  found: ranks.flatMap((found) => [...found.values()]).slice(0, limits.found)
})
