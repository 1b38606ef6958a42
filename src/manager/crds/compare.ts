/**
 * What replacing one definition by another would do: their differences, and the stored objects that the new one would reject or prune. Defaults
 * that the API server adds are not differences. Pure.
 */
import * as Equal from "effect/Equal"
import type { CustomResourceDefinition } from "../../kube/crd/Crd.ts"
import { childPath } from "../../kube/crd/place.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import { applyDefaults } from "../../kube/structural/applyDefaults.ts"
import { prune } from "../../kube/structural/prune.ts"
import type { StructuralSchema } from "../../kube/structural/StructuralSchema.ts"
import { validate } from "../../kube/structural/validate.ts"

export interface Difference {
  /** `spec.versions.v1.schema.openAPIV3Schema.properties.spec.properties.size.maximum`: versions are named, not counted. */
  readonly path: string
  /** The value in the cluster; undefined if there is none. */
  readonly from: unknown
  /** The new value; undefined if it would be removed. */
  readonly to: unknown
}

/** Empty if the API server would store the same definition. */
export const differences = (
  live: CustomResourceDefinition,
  wanted: CustomResourceDefinition
): ReadonlyArray<Difference> => {
  const found: Array<Difference> = []
  walk(comparable(live, wanted), comparable(wanted, wanted), "spec", found)
  return found
}

/** The program that serves the conversion configures it, so it is compared only if the wanted definition has one. */
const comparable = ({ spec }: CustomResourceDefinition, wanted: CustomResourceDefinition): object => ({
  ...Object.fromEntries(Object.entries(spec).filter(([field]) => Object.hasOwn(wanted.spec, field))),
  versions: Object.fromEntries(spec.versions.map((version) => [version.name, version]))
})

const walk = (from: unknown, to: unknown, path: string, found: Array<Difference>): void => {
  if (isRecord(from) && isRecord(to)) {
    for (const key of [...new Set([...Object.keys(from), ...Object.keys(to)])].sort()) {
      walk(own(from, key), own(to, key), childPath(path, key), found)
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
  /** `spec.size: Invalid value: …` for each value that the definition would reject at the next write. */
  readonly refused: ReadonlyArray<string>
  /** Paths that the next write would prune. */
  readonly dropped: ReadonlyArray<string>
}

/** The objects, in the stored version, that the next write would change or that could not be written. */
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
