/**
 * Reads and writes the `scale` subresource of an object that is given by a reference. Discovery finds the resource of its kind; the request uses
 * the server's preferred version, since all versions are the same object.
 * Source: client-go scale.
 */
import type { V1Scale } from "@kubernetes/client-node"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as ApiError from "../../../kube/ApiError.ts"
import type { Stored } from "../../../kube/Meta.ts"
import * as Resource from "../../../kube/Resource.ts"
import { type Discovery, type NotServed, versionOf } from "../../../layers/Discovery.ts"
import type { KubeClient } from "../../../layers/KubeClient.ts"

/** The desired and the actual number of an object's replicas, and the selector of their pods. */
export interface Scale extends Stored<V1Scale> {}

/** An object by its name. */
export interface Target {
  /** `apps/v1`. */
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Absent for cluster-scoped kinds. */
  readonly namespace: string | undefined
}

/** The kind has no `scale` subresource. */
export class NotScalable extends Data.TaggedError("NotScalable")<{
  /** `widgets.example.com`. */
  readonly resource: string
}> {
  override get message(): string {
    return `${this.resource} does not implement the scale subresource`
  }
}

export type Failure = ApiError.ApiError | NotServed | NotScalable

export interface Scales {
  /** Fails with `NotFound` if there is no such object. */
  readonly get: (target: Target) => Effect.Effect<Scale, Failure>
  /** Writes `spec.replicas` of `scale`; fails with `Conflict` if the object has changed since it was read. */
  readonly update: (target: Target, scale: Scale) => Effect.Effect<Scale, Failure>
}

export const make = (client: KubeClient["Service"], discovery: Discovery["Service"]): Scales => ({
  get: Effect.fnUntraced(function* ({ apiVersion, kind, name, namespace }) {
    const resource = yield* discovery.resourceFor({ group: groupOf(apiVersion), kind })
    const target = { name, namespace: resource.scope === "Cluster" ? undefined : namespace, subresource: "scale" }
    return yield* Effect.catchIf(
      // A subresource does not have the type of its resource.
      client.get(resource, target) as Effect.Effect<Scale, ApiError.ApiError>,
      (error) => ApiError.hasReason(error, "NotFound"),
      (error) => explain(client, resource, error)
    )
  }),
  update: ({ apiVersion, kind }, scale) =>
    Effect.flatMap(
      discovery.resourceFor({ group: groupOf(apiVersion), kind }),
      (resource) => client.update(resource, scale, { subresource: "scale" }) as Effect.Effect<Scale, ApiError.ApiError>
    )
})

/** Whether the object or the subresource does not exist: read from discovery again, because definitions of custom resources change. */
const explain = Effect.fnUntraced(function* (
  client: KubeClient["Service"],
  { group, plural, version }: Resource.Any,
  error: ApiError.ApiError
) {
  const served = yield* versionOf(client, group, version)
  const found = served.find((one) => one.plural === plural)
  if (found === undefined || found.subresources.includes("scale")) return yield* error
  return yield* new NotScalable({ resource: Resource.qualifiedName(found) })
})

const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf("/")))
