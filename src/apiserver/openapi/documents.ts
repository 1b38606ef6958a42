/** Builds the OpenAPI documents: one for version 2, one per group and version for version 3. Pure; `serve.ts` caches them. */
import type { Json, JsonObject } from "../json.ts"
import * as ResourceDefinition from "../scheme/ResourceDefinition.ts"
import * as types from "../scheme/types.ts"
import { typesOf } from "./customResourceTypes.ts"
import type { Dialect } from "./customResourceTypes.ts"
import * as operations from "./operations.ts"
import * as schemas from "./schemas.ts"

const info = (version: string): JsonObject => ({ title: "Kubernetes", version })

const mediaTypes = {
  json: "application/json",
  yaml: "application/yaml",
  apply: "application/apply-patch+yaml",
  jsonPatch: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json"
} as const

const patchTypes = [mediaTypes.jsonPatch, mediaTypes.merge, mediaTypes.strategic, mediaTypes.apply]

const patchTypesOf = ({ isCustom }: operations.Operation): Array<string> =>
  patchTypes.filter((type) => isCustom !== true || type !== mediaTypes.strategic)

/** The whole server in version 2. */
export const v2 = (resources: ReadonlyArray<ResourceDefinition.ResourceDefinition>, version: string): JsonObject => {
  const paths = operations.paths(resources)
  return {
    swagger: "2.0",
    info: info(version),
    paths: object(paths, pathV2),
    definitions: {
      ...schemas.definitions("v2", roots(resources, paths), gvksOf(resources), typesOf(resources)),
      [patchName]: { type: "object" }
    }
  }
}

/** One group and version in version 3. */
export const v3 = (resources: ReadonlyArray<ResourceDefinition.ResourceDefinition>, version: string): JsonObject => {
  const paths = operations.paths(resources)
  const found = schemas.definitions("v3", roots(resources, paths), gvksOf(resources), typesOf(resources))
  return {
    openapi: "3.0.0",
    info: info(version),
    paths: object(paths, pathV3),
    components: { schemas: { ...found, [patchName]: { type: "object" } } }
  }
}

const patchName = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch"

const object = (paths: ReadonlyArray<operations.Path>, write: (path: operations.Path) => JsonObject): JsonObject =>
  Object.fromEntries([...paths].sort((a, b) => (a.path < b.path ? -1 : 1)).map((path) => [path.path, write(path)]))

const roots = (
  resources: ReadonlyArray<ResourceDefinition.ResourceDefinition>,
  paths: ReadonlyArray<operations.Path>
): ReadonlySet<string> => {
  const out = new Set<string>(["meta.DeleteOptions", "meta.Status", "meta.APIResourceList", "meta.WatchEvent"])
  for (const resource of resources) {
    const type = types.ofKind(resource)
    if (type !== undefined) out.add(type.id)
  }
  for (const { operations } of paths) {
    for (const { answer, body } of operations) {
      out.add(answer)
      if (body !== undefined && body !== "patch") out.add(body)
    }
  }
  return out
}

/** The kinds a type stands for: options and watch events belong to every group that is served. */
const gvksOf = (resources: ReadonlyArray<ResourceDefinition.ResourceDefinition>) => {
  const versions = [
    ...new Map(resources.map((resource) => [ResourceDefinition.apiVersion(resource), resource])).values()
  ]
  return (id: string) => {
    if (id === "meta.DeleteOptions" || id === "meta.WatchEvent") {
      return versions.map(({ group, version }) => ({ group, version, kind: id.slice("meta.".length) }))
    }
    if (id.startsWith("meta.")) {
      return id === "meta.Status" || id.startsWith("meta.API") ? [{ group: "", version: "v1", kind: id.slice(5) }] : []
    }
    const { fields, group, name, version } = types.get(id)
    return fields.has("apiVersion") && fields.has("metadata") ? [{ group, version, kind: name }] : []
  }
}

const schemaRef = (dialect: Dialect, type: string): JsonObject =>
  type === "patch"
    ? { $ref: `${dialect === "v2" ? "#/definitions/" : "#/components/schemas/"}${patchName}` }
    : schemas.ref(dialect, type)

const extensions = ({ action, gvk: { group, kind, version } }: operations.Operation): JsonObject => ({
  "x-kubernetes-action": action,
  "x-kubernetes-group-version-kind": { group, kind, version }
})

const methods = (path: operations.Path, write: (operation: operations.Operation) => JsonObject): JsonObject =>
  Object.fromEntries(path.operations.map((operation) => [operation.method, write(operation)]))

const pathV2 = (path: operations.Path): JsonObject => ({
  ...methods(path, operationV2),
  ...(path.parameters.length > 0
    ? { parameters: path.parameters.map((name) => ({ name, in: "path", required: true, type: "string" })) }
    : {})
})

const operationV2 = (operation: operations.Operation): JsonObject => {
  const query: Array<Json> = operation.query.map((name) => ({
    name,
    in: "query",
    type: operations.queryTypes[name] ?? "string",
    uniqueItems: true
  }))
  const body: Array<Json> =
    operation.body === undefined
      ? []
      : [
          {
            name: "body",
            in: "body",
            ...(operation.method === "delete" ? {} : { required: true }),
            schema: schemaRef("v2", operation.body)
          }
        ]
  return {
    operationId: operation.id,
    consumes: operation.method === "patch" ? patchTypesOf(operation) : [mediaTypes.json, mediaTypes.yaml],
    produces: [mediaTypes.json],
    parameters: [...body, ...query],
    responses: { "200": { description: "OK", schema: schemaRef("v2", operation.answer) } },
    ...extensions(operation)
  }
}

const pathV3 = (path: operations.Path): JsonObject => ({
  ...methods(path, operationV3),
  ...(path.parameters.length > 0
    ? {
        parameters: path.parameters.map((name) => ({
          name,
          in: "path",
          required: true,
          schema: { type: "string", uniqueItems: true }
        }))
      }
    : {})
})

const operationV3 = (operation: operations.Operation): JsonObject => {
  const media = operation.method === "patch" ? patchTypesOf(operation) : [mediaTypes.json]
  const content = (types: ReadonlyArray<string>, type: string): JsonObject =>
    Object.fromEntries(types.map((media) => [media, { schema: schemaRef("v3", type) }]))
  return {
    operationId: operation.id,
    ...(operation.query.length === 0
      ? {}
      : {
          parameters: operation.query.map((name) => ({
            name,
            in: "query",
            schema: { type: operations.queryTypes[name] ?? "string", uniqueItems: true }
          }))
        }),
    ...(operation.body === undefined
      ? {}
      : {
          requestBody: {
            content: content(media, operation.body),
            ...(operation.method === "delete" ? {} : { required: true })
          }
        }),
    responses: {
      "200": { description: "OK", content: content([mediaTypes.json], operation.answer) }
    },
    ...extensions(operation)
  }
}
