/**
 * Objects of tests, as YAML documents or as values, written by server-side apply: the kinds are found by discovery, a missing namespace is `default`, and
 * the field manager is `test`. An error names the document.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Yaml from "effect/encoding/Yaml"
import type { ApiError } from "../kube/ApiError.ts"
import type { KubeObject } from "../kube/Meta.ts"
import * as Patch from "../kube/Patch.ts"
import type { Discovery, NotServed } from "../layers/Discovery.ts"
import type { KubeClient } from "../layers/KubeClient.ts"

/** A manifest cannot be read. The message names the document. */
export class ManifestError extends Data.TaggedError("ManifestError")<{ readonly message: string }> {}

/** Why objects could not be applied. */
export type ApplyError = ApiError | ManifestError | NotServed

/** Applies objects in order, and returns what the server stored. */
export type Apply = (objects: string | ReadonlyArray<object>) => Effect.Effect<ReadonlyArray<KubeObject>, ApplyError>

export const make =
  (client: KubeClient["Service"], discovery: Discovery["Service"]): Apply =>
  (objects) =>
    Effect.flatMap(typeof objects === "string" ? documents(objects) : Effect.succeed(objects), (all) =>
      Effect.forEach(all, (object) => applyOne(client, discovery, object))
    )

/** YAML documents, split at lines of three dashes; empty ones are skipped. */
const documents = (text: string): Effect.Effect<ReadonlyArray<object>, ManifestError> =>
  Effect.forEach(
    text.split(/^---[ \t]*$/m).filter((part) => /^[ \t]*[^#\s]/m.test(part)),
    (part, index) =>
      Effect.try({
        try: () => Yaml.parse(part),
        catch: (cause) => notManifest(index, cause instanceof Error ? cause.message : String(cause))
      }).pipe(
        Effect.filterOrFail(
          (value): value is object => typeof value === "object" && value !== null && !Array.isArray(value),
          () => notManifest(index, "not an object")
        )
      )
  )

const notManifest = (index: number, why: string) =>
  new ManifestError({ message: `document ${index + 1} of the manifest cannot be read: ${why}` })

const applyOne = Effect.fnUntraced(function* (
  client: KubeClient["Service"],
  discovery: Discovery["Service"],
  object: object
) {
  const { apiVersion, kind, metadata } = object as Partial<KubeObject>
  if (apiVersion === undefined || kind === undefined || metadata?.name === undefined) {
    return yield* new ManifestError({ message: "an object in a manifest needs apiVersion, kind and metadata.name" })
  }
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion]
  const resource = yield* discovery.resourceFor({ group: group ?? "", version, kind })
  const namespace = resource.scope === "Cluster" ? undefined : (metadata.namespace ?? "default")
  const target = { namespace, name: metadata.name }
  return yield* client.patch(resource, target, Patch.apply(object), { fieldManager: "test", force: true })
})
