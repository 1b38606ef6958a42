/**
 * Objects of a kind that is declared with Schemas: random valid ones, random invalid ones, and a sample. A valid object is in wire form,
 * the Schemas decode it, and the definition of the kind allows it, so that, for example, a list map has no key twice. Where there is no
 * definition, because the Schemas cannot be expressed in one, only the Schemas decide.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { KubeObject } from "../../Meta.ts"
import { isMembers, type StructuralSchema } from "../../structural/StructuralSchema.ts"
import { validate } from "../../structural/validate.ts"
import type { AnySchema } from "../codec.ts"
import { sampleOf } from "./sample.ts"
import { variantsOf } from "./variants.ts"
import { structural } from "../structural.ts"

export interface Kind {
  readonly apiVersion: string
  readonly kind: string
  readonly isNamespaced: boolean
  /** The Schema of an object's `spec` and `status`, or of all its fields. */
  readonly parts: AnySchema
  readonly decode: (object: unknown) => Result.Result<unknown, unknown>
}

export const arbitrary = (kind: Kind): Arbitrary.Arbitrary<KubeObject> => {
  const isValid = validatorOf(kind)
  const drawn = Arbitrary.all([Arbitrary.schema(Name), Arbitrary.schema(Name), parts(kind)] as const)
  return drawn.pipe(
    Arbitrary.map(([name, namespace, part]) => objectOf(kind, { name, namespace }, part)),
    Arbitrary.filter(isValid)
  )
}

/** Objects that are invalid for one reason, and that both the Schemas and the definition refuse. */
export const invalid = (kind: Kind): Arbitrary.Arbitrary<KubeObject> => {
  const schema = Result.getOrElse(structural(kind.parts), () => ({}))
  const isInvalid = (object: object): boolean =>
    Result.isFailure(kind.decode(object)) && validate(schema, object).length > 0
  return Arbitrary.all([arbitrary(kind), Arbitrary.schema(Choice)] as const).pipe(
    Arbitrary.filterMap(([{ apiVersion, kind, metadata, ...part }, choice]) => {
      const variants = variantsOf(schema, part).filter(
        (one): one is object => isMembers(one) && isInvalid({ ...one, metadata })
      )
      const one = variants[choice % variants.length]
      return one === undefined ? Result.failVoid : Result.succeed({ apiVersion, kind, metadata, ...one } as KubeObject)
    })
  )
}

const Choice = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 }))

/** A short valid object; undefined where the guess is not valid. */
export const sample = (kind: Kind): KubeObject | undefined => {
  const schema = Result.getOrUndefined(structural(kind.parts))
  if (schema === undefined) return undefined
  const object = objectOf(kind, { name: `${kind.kind.toLowerCase()}-sample`, namespace: "default" }, sampleOf(schema))
  return validatorOf(kind)(object) ? object : undefined
}

/** A DNS label, which names of objects are. */
const Name = Schema.String.check(Schema.isPattern(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/))

const parts = ({ parts }: Kind): Arbitrary.Arbitrary<unknown> =>
  // Through JSON text, which loses, for example, the sign of zero, because that is how values are sent.
  Arbitrary.map(Arbitrary.schema(Schema.toEncoded(parts)), (value): unknown => JSON.parse(JSON.stringify(value)))

const validatorOf = (kind: Kind): ((object: KubeObject) => boolean) => {
  const schema: StructuralSchema = Result.getOrElse(structural(kind.parts), () => ({}))
  return (object) => Result.isSuccess(kind.decode(object)) && validate(schema, object).length === 0
}

const objectOf = (
  { apiVersion, isNamespaced, kind }: Kind,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  part: unknown
): KubeObject => {
  const { metadata = {}, ...fields } = part as { readonly metadata?: object }
  return { apiVersion, kind, ...fields, metadata: { ...(isNamespaced ? { name, namespace } : { name }), ...metadata } }
}
