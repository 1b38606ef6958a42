/**
 * Objects of a kind that was declared with Schemas, drawn at random or for people to start from. Each is in wire form and good: the Schemas
 * decode it, and the definition that follows from them allows it, so a list map, say, has no key twice. A kind without a definition is
 * asked its Schemas alone.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { KubeObject } from "../../Meta.ts"
import { isMembers, type StructuralSchema } from "../../structural/StructuralSchema.ts"
import { validate } from "../../structural/validate.ts"
import type { AnySchema } from "../codec.ts"
import { sampleOf } from "./sample.ts"
import { spoiled } from "./spoil.ts"
import { structural } from "../structural.ts"

export interface Kind {
  readonly apiVersion: string
  readonly kind: string
  readonly isNamespaced: boolean
  /** The Schema of an object's `spec` and `status`. */
  readonly parts: AnySchema
  readonly decode: (object: unknown) => Result.Result<unknown, unknown>
}

export const arbitrary = (kind: Kind): Arbitrary.Arbitrary<KubeObject> => {
  const isGood = goodness(kind)
  const drawn = Arbitrary.all([Arbitrary.schema(Name), Arbitrary.schema(Name), parts(kind)] as const)
  return drawn.pipe(
    Arbitrary.map(([name, namespace, part]) => objectOf(kind, { name, namespace }, part)),
    Arbitrary.filter(isGood)
  )
}

/** Objects that are bad for one reason, and that both the Schemas and the definition refuse. */
export const invalid = (kind: Kind): Arbitrary.Arbitrary<KubeObject> => {
  const schema = Result.getOrElse(structural(kind.parts), () => ({}))
  const isBad = (object: object): boolean =>
    Result.isFailure(kind.decode(object)) && validate(schema, object).length > 0
  return Arbitrary.all([arbitrary(kind), Arbitrary.schema(Choice)] as const).pipe(
    Arbitrary.filterMap(([{ apiVersion, kind, metadata, ...part }, choice]) => {
      const bad = spoiled(schema, part).filter((one): one is object => isMembers(one) && isBad({ ...one, metadata }))
      const one = bad[choice % bad.length]
      return one === undefined ? Result.failVoid : Result.succeed({ apiVersion, kind, metadata, ...one } as KubeObject)
    })
  )
}

const Choice = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 }))

/** A short good object; undefined where only luck would find one. */
export const sample = (kind: Kind): KubeObject | undefined => {
  const schema = Result.getOrUndefined(structural(kind.parts))
  if (schema === undefined) return undefined
  const object = objectOf(kind, { name: `${kind.kind.toLowerCase()}-sample`, namespace: "default" }, sampleOf(schema))
  return goodness(kind)(object) ? object : undefined
}

/** A label of DNS, as names of objects are. */
const Name = Schema.String.check(Schema.isPattern(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/))

const parts = ({ parts }: Kind): Arbitrary.Arbitrary<unknown> =>
  // What JSON would lose, such as the sign of zero, is lost here.
  Arbitrary.map(Arbitrary.schema(Schema.toEncoded(parts)), (value): unknown => JSON.parse(JSON.stringify(value)))

const goodness = (kind: Kind): ((object: KubeObject) => boolean) => {
  const schema: StructuralSchema = Result.getOrElse(structural(kind.parts), () => ({}))
  return (object) => Result.isSuccess(kind.decode(object)) && validate(schema, object).length === 0
}

const objectOf = (
  { apiVersion, isNamespaced, kind }: Kind,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  part: unknown
): KubeObject => ({
  apiVersion,
  kind,
  metadata: isNamespaced ? { name, namespace } : { name },
  ...(part as object)
})
