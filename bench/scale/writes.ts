/** The objects that clients of the generated cluster write, by path and without any check, and its discovery. */
import type { Stored } from "./objects.ts"

/** The kinds that loops read: version, plural, kind, and whether it has namespaces. */
const served: ReadonlyArray<readonly [version: string, plural: string, kind: string, isNamespaced: boolean]> = [
  ["v1", "pods", "Pod", true],
  ["v1", "nodes", "Node", false],
  ["v1", "namespaces", "Namespace", false],
  ["v1", "services", "Service", true],
  ["v1", "endpoints", "Endpoints", true],
  ["v1", "serviceaccounts", "ServiceAccount", true],
  ["v1", "secrets", "Secret", true],
  ["v1", "configmaps", "ConfigMap", true],
  ["v1", "replicationcontrollers", "ReplicationController", true],
  ["v1", "persistentvolumeclaims", "PersistentVolumeClaim", true],
  ["v1", "resourcequotas", "ResourceQuota", true],
  ["apps/v1", "deployments", "Deployment", true],
  ["apps/v1", "replicasets", "ReplicaSet", true],
  ["apps/v1", "statefulsets", "StatefulSet", true],
  ["apps/v1", "daemonsets", "DaemonSet", true],
  ["apps/v1", "controllerrevisions", "ControllerRevision", true],
  ["batch/v1", "jobs", "Job", true],
  ["batch/v1", "cronjobs", "CronJob", true],
  ["policy/v1", "poddisruptionbudgets", "PodDisruptionBudget", true],
  ["autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true],
  ["coordination.k8s.io/v1", "leases", "Lease", true],
  ["discovery.k8s.io/v1", "endpointslices", "EndpointSlice", true],
  ["rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", false]
]

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]

const discovered = (isCore: boolean): string => {
  const groups = new Map<string, Array<object>>()
  for (const [version, resource, kind, isNamespaced] of served) {
    const [group, v] = version.includes("/") ? (version.split("/") as [string, string]) : ["", version]
    if ((group === "") !== isCore) continue
    const id = `${group}/${v}`
    const resources = groups.get(id) ?? []
    groups.set(id, resources)
    const scope = isNamespaced ? "Namespaced" : "Cluster"
    const subresources = [{ subresource: "status" }, { subresource: "scale" }]
    resources.push({ resource, responseKind: { group, version: v, kind }, scope, verbs, subresources })
  }
  return JSON.stringify({
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    items: Array.from(groups, ([id, resources]) => {
      const [name, version] = id.split("/")
      return { metadata: { name }, versions: [{ version, resources, freshness: "Current" }] }
    })
  })
}

const documents: Readonly<Record<string, string>> = {
  "/version": JSON.stringify({ major: "1", minor: "35", gitVersion: "v1.35.0" }),
  "/api": discovered(true),
  "/apis": discovered(false)
}

/** A document that is not about objects. */
export const document = (path: string): string | undefined => documents[path]

/** The kind of the objects of a path. */
export const kindOf = (path: string): string =>
  served.find(([, plural]) => path.split("/").includes(plural))?.[2] ?? "List"

const shape = /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+)(?=\/.))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/

const parse = (path: string) => {
  const [, root = "", namespace, plural = "", name, subresource] = shape.exec(path) ?? []
  return { root, namespace, plural, name, subresource }
}

interface Options {
  readonly nextVersion: () => number
  /** Sends a line to the watches of a path. */
  readonly deliver: (path: string, line: string) => unknown
}

interface Answer {
  readonly status: number
  readonly body: string
}

const keyOf = (namespace: string | undefined, name: string): string =>
  namespace === undefined ? name : `${namespace}/${name}`

/** JSON merge patch; lists are replaced. Source: RFC 7386. */
const merged = (target: unknown, patch: unknown): unknown => {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch
  const out: Record<string, unknown> = { ...(target as object | undefined) }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete out[name]
    else out[name] = merged(out[name], value)
  }
  return out
}

const notFound: Answer = {
  status: 404,
  body: JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", code: 404 })
}

/** The response to a client that accepts metadata alone contains nothing else, as that of a server. */
const answer = (status: number, object: Stored, accept: string | undefined): Answer => {
  const { metadata } = object
  const part = isPartial(accept) ? { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata } : object
  return { status, body: JSON.stringify(part) }
}

export const isPartial = (accept: string | undefined): boolean => accept?.includes("PartialObjectMetadata") === true

export const make = ({ deliver, nextVersion }: Options) => {
  /** By the path of all objects of the kind, then by namespace and name. */
  const kinds = new Map<string, Map<string, Stored>>()
  const of = (path: string): Map<string, Stored> => {
    const found = kinds.get(path) ?? new Map<string, Stored>()
    kinds.set(path, found)
    return found
  }
  const told = (type: string, path: string, object: Stored, namespace: string | undefined): void => {
    const line = `{"type":"${type}","object":${JSON.stringify(object)}}\n`
    deliver(path, line)
    if (namespace !== undefined) deliver(path.replace(/\/([^/]+)$/, `/namespaces/${namespace}/$1`), line)
  }

  const create = (path: string, namespace: string | undefined, sent: Record<string, unknown>): Stored => {
    const metadata = sent["metadata"] as { readonly name?: string; readonly generateName?: string } | undefined
    const version = nextVersion()
    const object = {
      ...sent,
      metadata: {
        ...metadata,
        name: metadata?.name ?? `${metadata?.generateName ?? ""}${version.toString(36)}`,
        uid: `5f0c2d1e-0009-4a7b-9c3d-${String(version).padStart(12, "0")}`,
        resourceVersion: String(version),
        creationTimestamp: "2026-01-01T00:00:00Z"
      }
    }
    // Reviews of access and events are answered, and not kept.
    if (path.includes("authorization.k8s.io/v1/self")) return { ...object, status: { allowed: true } }
    if (path.endsWith("/events")) return object
    of(path).set(keyOf(namespace, object.metadata.name), object)
    told("ADDED", path, object, namespace)
    return object
  }

  return {
    /** Without an event. `root`: `/apis/apps/v1`. */
    add: (root: string, plural: string, object: Stored): void => {
      of(`${root}/${plural}`).set(keyOf(object.metadata.namespace, object.metadata.name), object)
    },
    get: (path: string): string | undefined => {
      const { name, namespace, plural, root } = parse(path)
      if (name === undefined) return undefined
      const found = of(`${root}/${plural}`).get(keyOf(namespace, name))
      return found === undefined ? undefined : JSON.stringify(found)
    },
    list: (path: string): Array<string> => {
      const { namespace, plural, root } = parse(path)
      const all = Array.from(of(`${root}/${plural}`).values())
      const found = namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace)
      return found.map((one) => JSON.stringify(one))
    },
    write: (method: string, path: string, text: string, accept: string | undefined): Answer => {
      const { name, namespace, plural, root, subresource } = parse(path)
      const kind = `${root}/${plural}`
      const sent = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>
      if (method === "POST") return answer(201, create(kind, namespace, sent), accept)
      const key = keyOf(namespace, name ?? "")
      const before = of(kind).get(key)
      if (before === undefined) return notFound
      if (method === "DELETE") {
        of(kind).delete(key)
        before.metadata.resourceVersion = String(nextVersion())
        told("DELETED", kind, before, namespace)
        return answer(200, before, accept)
      }
      const after = (
        method === "PATCH"
          ? merged(before, sent)
          : subresource === "status"
            ? { ...before, status: sent["status"] }
            : sent
      ) as Stored
      const object = { ...after, metadata: { ...after.metadata, resourceVersion: String(nextVersion()) } }
      of(kind).set(key, object)
      told("MODIFIED", kind, object, namespace)
      return answer(200, object, accept)
    }
  }
}
