/**
 * Decodes and encodes whole objects of a custom kind: the Schema reads what follows the head of an object, and the head (apiVersion, kind, metadata)
 * stays as it is. An error names the kind, the object and the path of the field.
 */
import * as Result from "effect/Result"
import type { KubeObject, ObjectMeta } from "../Meta.ts"
import * as Codec from "./codec.ts"

/** Why an object cannot be decoded or encoded. */
interface Refused {
  /** `Memcached default/sample does not fit its schema: spec.size: Expected a value between 1 and 3`. */
  readonly message: string
  /** `spec.size`. */
  readonly path: string
}

interface ObjectCodec {
  readonly decode: (object: unknown) => Result.Result<KubeObject, Refused>
  /** `onto`: the object that the decoded one came from. */
  readonly encode: (decoded: KubeObject, onto?: KubeObject) => Result.Result<KubeObject, Refused>
}

/** `schema`: that of an object without its head. */
export const make = (kind: string, schema: Codec.AnySchema): ObjectCodec => {
  const parts = Codec.make(schema)
  const refuse = (object: unknown, { expected, path }: Codec.Flaw): Refused => ({
    path,
    message: `${kind}${nameOf(object)} does not fit its schema: ${path === "" ? expected : `${path}: ${expected}`}`
  })
  return {
    decode: (object) =>
      isObject(object)
        ? Result.mapBoth(parts.decode(object), {
            onFailure: (flaw) => refuse(object, flaw),
            // First for the order of the fields, last because the schema may restrict a part of the metadata and decode that alone.
            onSuccess: (decoded) => ({ ...headOf(object), ...(decoded as object), ...headOf(object) })
          })
        : Result.fail(refuse(object, { path: "metadata", expected: "Expected an object with metadata" })),
    encode: (decoded, onto = headOf(decoded)) =>
      Result.mapBoth(parts.encode(decoded, onto), {
        onFailure: (flaw) => refuse(decoded, flaw),
        onSuccess: (written) => ({ ...(written as KubeObject), metadata: decoded.metadata })
      })
  }
}

const isObject = (value: unknown): value is KubeObject =>
  typeof value === "object" && value !== null && "metadata" in value && isMetadata(value.metadata)

const isMetadata = (value: unknown): value is ObjectMeta => typeof value === "object" && value !== null

const headOf = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({
  ...(apiVersion === undefined ? {} : { apiVersion }),
  ...(kind === undefined ? {} : { kind }),
  metadata
})

const nameOf = (object: unknown): string => {
  if (!isObject(object)) return ""
  const { name, namespace } = object.metadata
  return name === undefined ? "" : ` ${namespace === undefined ? "" : `${namespace}/`}${name}`
}
