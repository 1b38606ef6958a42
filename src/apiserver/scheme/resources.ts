/**
 * The table of built-in resources, from which endpoints, discovery, field selectors and printer columns are derived, and the
 * conversion between the stored and the served version of an object.
 */
import { dropNulls } from "../json.ts"
import type { JsonObject } from "../json.ts"
import * as columns from "../printers/columns.ts"
import * as creation from "./creation.ts"
import { decode } from "./decode.ts"
import * as events from "./events.ts"
import * as groupColumns from "../printers/groupColumns.ts"
import * as ResourceDefinition from "./ResourceDefinition.ts"
import * as selectable from "./selectable.ts"
import * as Shape from "./Shape.ts"
import { infrastructure } from "./infrastructureResources.ts"
import { stored } from "./storedResources.ts"
import * as types from "./types.ts"

const core = { group: "", version: "v1" } as const
const apps = { group: "apps", version: "v1" } as const

/** Events expire an hour after their last write: the default of kube-apiserver's `--event-ttl`. */
const eventSeconds = 3600

const coreResources: ReadonlyArray<ResourceDefinition.ResourceDefinition> = [
  ResourceDefinition.make({
    ...core,
    kind: "Pod",
    plural: "pods",
    shortNames: ["po"],
    categories: ["all"],
    subresources: [
      "status",
      "binding",
      "eviction",
      "ephemeralcontainers",
      "log",
      "exec",
      "attach",
      "portforward",
      "proxy"
    ],
    statusKeeps: ["ownerReferences"],
    returnsDeleted: true,
    fields: selectable.pod,
    onCreate: creation.pod,
    columns: columns.pod
  }),
  ResourceDefinition.make({
    ...core,
    kind: "Node",
    plural: "nodes",
    shortNames: ["no"],
    namespaced: false,
    subresources: ["status", "proxy"],
    fields: selectable.node,
    columns: columns.node
  }),
  ResourceDefinition.make({
    ...core,
    kind: "Namespace",
    plural: "namespaces",
    shortNames: ["ns"],
    namespaced: false,
    subresources: ["status", "finalize"],
    verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
    nameRule: "label",
    fields: selectable.namespace,
    onCreate: creation.namespace,
    onUpdate: creation.keepSpec,
    columns: columns.namespace
  }),
  ResourceDefinition.make({
    ...core,
    kind: "ConfigMap",
    plural: "configmaps",
    shortNames: ["cm"],
    columns: columns.configMap
  }),
  ResourceDefinition.make({
    ...core,
    kind: "Secret",
    plural: "secrets",
    fields: selectable.secret,
    onCreate: creation.foldStringData,
    onUpdate: creation.foldStringData,
    columns: columns.secret
  }),
  ResourceDefinition.make({
    ...core,
    kind: "Service",
    plural: "services",
    shortNames: ["svc"],
    categories: ["all"],
    subresources: ["status", "proxy"],
    createOnUpdate: true,
    returnsDeleted: true,
    nameRule: "service",
    fields: selectable.service,
    onCreate: creation.service,
    columns: columns.service
  }),
  ResourceDefinition.make({
    ...core,
    kind: "Endpoints",
    plural: "endpoints",
    shortNames: ["ep"],
    createOnUpdate: true,
    deprecation: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    columns: columns.endpoints
  }),
  ResourceDefinition.make({
    ...core,
    kind: "ServiceAccount",
    plural: "serviceaccounts",
    shortNames: ["sa"],
    subresources: ["token"],
    returnsDeleted: true,
    columns: columns.serviceAccount
  }),
  ResourceDefinition.make({
    ...core,
    kind: "Event",
    plural: "events",
    shortNames: ["ev"],
    storage: "events",
    lifetime: eventSeconds,
    createOnUpdate: true,
    fields: selectable.event,
    columns: columns.event
  })
]

const groupResources: ReadonlyArray<ResourceDefinition.ResourceDefinition> = [
  ResourceDefinition.make({
    group: "events.k8s.io",
    version: "v1",
    kind: "Event",
    plural: "events",
    shortNames: ["ev"],
    storage: "events",
    lifetime: eventSeconds,
    createOnUpdate: true,
    fields: selectable.eventsEvent,
    conversion: events.conversion,
    columns: columns.event
  }),
  ResourceDefinition.make({
    group: "coordination.k8s.io",
    version: "v1",
    kind: "Lease",
    plural: "leases",
    unconditionalUpdate: false,
    createOnUpdate: true,
    columns: columns.lease
  }),
  ResourceDefinition.make({
    ...apps,
    kind: "Deployment",
    plural: "deployments",
    shortNames: ["deploy"],
    categories: ["all"],
    subresources: ["status", "scale"],
    statusKeeps: ["labels"],
    generation: "annotations",
    onCreate: creation.deployment,
    columns: columns.deployment
  }),
  ResourceDefinition.make({
    ...apps,
    kind: "ReplicaSet",
    plural: "replicasets",
    shortNames: ["rs"],
    categories: ["all"],
    subresources: ["status", "scale"],
    generation: true,
    fields: selectable.replicated,
    onCreate: creation.replicaSet,
    columns: columns.replicaSet
  }),
  ResourceDefinition.make({
    ...apps,
    kind: "ControllerRevision",
    columns: groupColumns.controllerRevision,
    plural: "controllerrevisions"
  })
]

const review = { version: "v1", verbs: ["create"], review: true } as const
const authorization = { ...review, group: "authorization.k8s.io" } as const
const authentication = { ...review, group: "authentication.k8s.io", namespaced: false } as const

/** Review resources: create stores nothing and returns the object with a status (`endpoints/reviews.ts`). */
const reviews: ReadonlyArray<ResourceDefinition.ResourceDefinition> = [
  ResourceDefinition.make({ ...authentication, kind: "TokenReview", plural: "tokenreviews" }),
  ResourceDefinition.make({ ...authentication, kind: "SelfSubjectReview", plural: "selfsubjectreviews" }),
  ResourceDefinition.make({
    ...authorization,
    kind: "SubjectAccessReview",
    plural: "subjectaccessreviews",
    namespaced: false
  }),
  ResourceDefinition.make({
    ...authorization,
    kind: "SelfSubjectAccessReview",
    plural: "selfsubjectaccessreviews",
    namespaced: false
  }),
  ResourceDefinition.make({
    ...authorization,
    kind: "SelfSubjectRulesReview",
    plural: "selfsubjectrulesreviews",
    namespaced: false
  }),
  ResourceDefinition.make({ ...authorization, kind: "LocalSubjectAccessReview", plural: "localsubjectaccessreviews" })
]

/** What `endpoints/apiServices.ts` derives from this table and the custom resources. */
const apiService = ResourceDefinition.make({
  group: "apiregistration.k8s.io",
  version: "v1",
  kind: "APIService",
  plural: "apiservices",
  categories: ["api-extensions"],
  namespaced: false,
  verbs: ["get", "list"],
  source: "registry",
  columns: groupColumns.apiService
})

export const all: ReadonlyArray<ResourceDefinition.ResourceDefinition> = [
  ...coreResources,
  ...groupResources,
  ...stored,
  ...infrastructure,
  ...reviews,
  apiService
]

/** The resource whose version the objects of a storage are stored in. */
export const storedAs = (storage: string): ResourceDefinition.ResourceDefinition | undefined =>
  all.find((resource) => resource.storage === storage && resource.conversion === undefined)

/** The shape of the stored version of a resource. */
export const shapeOf = (
  resource: Pick<ResourceDefinition.ResourceDefinition, "customResource" | "storage">
): Shape.Shape => resource.customResource?.shape ?? shapeOfStorage(resource.storage)

const shapes = new Map<string, Shape.Shape>()

/** The shape of the stored version, where two resources share a storage. */
export const shapeOfStorage = (storage: string): Shape.Shape => {
  const found = shapes.get(storage)
  if (found !== undefined) return found
  const resource = storedAs(storage)
  const shape = Shape.ofObject(resource === undefined ? undefined : types.ofKind(resource))
  shapes.set(storage, shape)
  return shape
}

/** Decodes the object as the type of the resource, in place. */
const asOf = (resource: ResourceDefinition.ResourceDefinition | undefined, object: JsonObject): JsonObject => {
  const type = resource === undefined ? undefined : types.ofKind(resource)
  if (type !== undefined) decode(object, type)
  return object
}

/** Decodes an object that is in the stored version. May change its argument. */
export const asStored = (resource: ResourceDefinition.ResourceDefinition, object: JsonObject): JsonObject =>
  asOf(storedAs(resource.storage), object)

/** Converts to the stored version. May change its argument. */
export const toStored = (resource: ResourceDefinition.ResourceDefinition, object: JsonObject): JsonObject =>
  resource.conversion === undefined ? object : asStored(resource, resource.conversion.toStored(object))

/** Converts an applied configuration to the stored version without adding fields; nulls are dropped. May change its argument. */
export const sparseToStored = (resource: ResourceDefinition.ResourceDefinition, object: JsonObject): JsonObject => {
  if (resource.conversion === undefined) return object
  dropNulls(object)
  return resource.conversion.toStored(object)
}

/** Converts to the version that the resource serves. May change its argument. */
export const fromStored = (resource: ResourceDefinition.ResourceDefinition, object: JsonObject): JsonObject =>
  resource.conversion === undefined ? object : asOf(resource, resource.conversion.fromStored(object))
