/**
 * What putting one definition in the place of another would do: what is different between them, and which stored objects the new one would
 * not allow. What the API server adds to a definition by itself is no difference. Pure.
 */
import * as Equal from "effect/Equal"
import type { CustomResourceDefinition } from "../../kube/crd/Crd.ts"
import { below } from "../../kube/crd/place.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import { applyDefaults } from "../../kube/structural/applyDefaults.ts"
import { prune } from "../../kube/structural/prune.ts"
import type { StructuralSchema } from "../../kube/structural/StructuralSchema.ts"
import { validate } from "../../kube/structural/validate.ts"

export interface Difference {
  /** `spec.versions.v1.schema.openAPIV3Schema.properties.spec.properties.size.maximum`: versions are named, not counted. */
  readonly path: string
  /** As it is in the cluster; undefined where it is not. */
  readonly from: unknown
  /** As it would be; undefined where it would go. */
  readonly to: unknown
}

/** Nothing when the API server would have the same afterwards. */
export const differences = (
  live: CustomResourceDefinition,
  wanted: CustomResourceDefinition
): ReadonlyArray<Difference> => {
  const found: Array<Difference> = []
  walk(comparable(live, wanted), comparable(wanted, wanted), "spec", found)
  return found
}

/** Conversion is configured by the program that serves it, and is compared only where the wanted definition has it. */
const comparable = ({ spec }: CustomResourceDefinition, wanted: CustomResourceDefinition): object => ({
  ...Object.fromEntries(Object.entries(spec).filter(([field]) => Object.hasOwn(wanted.spec, field))),
  versions: Object.fromEntries(spec.versions.map((version) => [version.name, version]))
})

const walk = (from: unknown, to: unknown, path: string, found: Array<Difference>): void => {
  if (isRecord(from) && isRecord(to)) {
    for (const key of [...new Set([...Object.keys(from), ...Object.keys(to)])].sort()) {
      walk(own(from, key), own(to, key), below(path, key), found)
    }
  } else if (!Equal.equals(from, to)) found.push({ path, from, to })
}

type Fields = Readonly<Record<string, unknown>>

const own = (record: Fields, key: string): unknown => (Object.hasOwn(record, key) ? record[key] : undefined)

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export interface Broken {
  /** `app/one`; without a namespace for kinds that have none. */
  readonly object: string
  /** `spec.size: Invalid value: …`, for everything that the definition would refuse at the next write. */
  readonly refused: ReadonlyArray<string>
  /** Paths of what the next write would lose. */
  readonly dropped: ReadonlyArray<string>
}

/** The objects that would not be the same after the next write, or could not be written. Objects are in the stored version. */
export const broken = (
  definition: CustomResourceDefinition,
  objects: ReadonlyArray<KubeObject>
): ReadonlyArray<Broken> => {
  const schema = definition.spec.versions.find(({ storage }) => storage)?.schema.openAPIV3Schema ?? {}
  return objects.map((object) => brokenOne(schema, object)).filter((one) => one.refused.length + one.dropped.length > 0)
}

const brokenOne = (schema: StructuralSchema, object: KubeObject): Broken => {
  const { name, namespace } = object.metadata
  const { dropped, value } = prune(schema, object)
  const causes = validate(schema, applyDefaults(schema, value))
  return {
    object: namespace === undefined ? name : `${namespace}/${name}`,
    refused: causes.map(({ field, message }) => `${field}: ${message}`),
    dropped
  }
}
