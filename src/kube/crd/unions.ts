/**
 * Unions in structural schemas: values of an enumeration, a value or null, an integer or a string, and structs with a discriminator field.
 * Structs become one object with the fields of all, of which each alternative requires its own; so a field has one schema wherever it
 * occurs. Every other union is refused, because a definition could not say which alternative a value is.
 */
import type * as SchemaAST from "effect/SchemaAST"
import type { Place } from "./place.ts"
import type { StructuralSchema } from "../structural/StructuralSchema.ts"

type SchemaOf = (ast: SchemaAST.AST, place: Place) => StructuralSchema

export const union = (ast: SchemaAST.Union, place: Place, schemaOf: SchemaOf): StructuralSchema => {
  const alternatives = ast.types.flatMap(alternativesOf)
  const present = alternatives.filter(({ _tag }) => _tag !== "Undefined" && _tag !== "Null")
  const nullable = alternatives.some(({ _tag }) => _tag === "Null")
  const [only, ...others] = present
  if (only === undefined) return place.refuse(place.path, "null alone cannot be said in a definition")
  const props = others.length === 0 ? schemaOf(only, place) : withoutNull(present, place, schemaOf)
  if (!nullable) return props
  if (props.enum === undefined) return { ...props, nullable: true }
  // The API server checks null against `enum`, which never contains it, but not against `allOf`.
  const { enum: values, ...rest } = props
  return { ...rest, nullable: true, allOf: [{ enum: values }] }
}

/** Nested unions are one union, unless the inner one has checks or an encoding. */
const alternativesOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  ast._tag === "Union" && ast.checks === undefined && ast.encoding === undefined
    ? ast.types.flatMap(alternativesOf)
    : [ast]

const withoutNull = (present: ReadonlyArray<SchemaAST.AST>, place: Place, schemaOf: SchemaOf): StructuralSchema => {
  const values = enumeration(present)
  if (values !== undefined) return values
  if (present.length === 2) {
    const [a, b] = present.map((one) => schemaOf(one, place))
    if (a !== undefined && b !== undefined && canMerge(a) && canMerge(b)) {
      if (a.type === "integer" && b.type === "string") return intOrString(a, b)
      if (a.type === "string" && b.type === "integer") return intOrString(b, a)
    }
  }
  const structs = present.filter(
    (one): one is SchemaAST.Objects => one._tag === "Objects" && one.encoding === undefined
  )
  if (structs.length === present.length) return discriminated(structs, place, schemaOf)
  return place.refuse(
    place.path,
    "this union cannot be said in a definition; it can be of literals, of a value and null, of an integer and a string, or of structs with a literal field that tells them apart"
  )
}

/** In the merged schema, an enumeration or `nullable` would apply to both types. */
const canMerge = (props: StructuralSchema): boolean => props.enum === undefined && props.nullable === undefined

/** Bounds apply to numbers only and patterns to strings only, so one schema can have both. */
const intOrString = (integer: StructuralSchema, string: StructuralSchema): StructuralSchema => {
  const { type: _, ...ofInteger } = integer
  const { type: __, ...ofString } = string
  return {
    ...ofInteger,
    ...ofString,
    anyOf: [{ type: "integer" }, { type: "string" }],
    "x-kubernetes-int-or-string": true
  }
}

/** The values, when all are literals of one type. */
export const enumeration = (all: ReadonlyArray<SchemaAST.AST>): StructuralSchema | undefined => {
  const values = all.flatMap((ast): ReadonlyArray<unknown> => {
    if (ast.encoding !== undefined) return [undefined]
    if (ast._tag === "Literal") return [ast.literal]
    return ast._tag === "Enum" ? ast.enums.map(([, value]) => value) : [undefined]
  })
  const type = typeof values[0]
  if (type !== "string" && type !== "number" && type !== "boolean") return undefined
  if (!values.every((value): value is string | number | boolean => typeof value === type)) return undefined
  const integers = type === "number" && values.every(Number.isInteger)
  return { type: integers ? "integer" : type, enum: [...new Set(values)] }
}

const discriminated = (
  structs: ReadonlyArray<SchemaAST.Objects>,
  place: Place,
  schemaOf: SchemaOf
): StructuralSchema => {
  const tag = discriminator(structs)
  if (tag === undefined)
    return place.refuse(
      place.path,
      "structs in a union need a field with a different literal in each, to be told apart"
    )
  const merged = new Map<string, StructuralSchema>()
  const branches: Array<StructuralSchema> = []
  const tags: Array<StructuralSchema> = []
  for (const struct of structs) {
    const { description: _, properties = {}, required = [], title: __, type, ...more } = schemaOf(struct, place)
    if (type === undefined) return {}
    const [what] = Object.keys(more)
    if (what !== undefined) return place.refuse(place.path, `a struct in a union can have fields alone, not ${what}`)
    for (const [name, props] of Object.entries(properties)) {
      if (name === tag) tags.push(props)
      else if (!isSameSchema(merged.get(name), props))
        return place.refuse(`${place.path}.${name}`, "has different schemas in the structs of a union")
      else if (props.default !== undefined)
        return place.refuse(
          `${place.path}.${name}`,
          "has a default in one struct of a union, which would be filled in in all"
        )
      else merged.set(name, props)
    }
    branches.push({ properties: { [tag]: { enum: properties[tag]?.enum ?? [] } }, required })
  }
  const values = tags.flatMap((props) => props.enum ?? [])
  return {
    type: "object",
    properties: { [tag]: { ...tags[0], enum: values }, ...Object.fromEntries(merged) },
    required: [tag],
    oneOf: branches
  }
}

const isSameSchema = (known: StructuralSchema | undefined, props: StructuralSchema): boolean =>
  known === undefined || JSON.stringify(known) === JSON.stringify(props)

/** A field that all structs require, with a different literal in each. */
const discriminator = (structs: ReadonlyArray<SchemaAST.Objects>): string | undefined => {
  const [first] = structs
  const candidates = first?.propertySignatures.flatMap(({ name }) => (typeof name === "string" ? [name] : [])) ?? []
  return candidates.find((name) => {
    const literals = structs.flatMap((struct) => {
      const field = struct.propertySignatures.find((property) => property.name === name)
      return field?.type._tag === "Literal" &&
        field.type.encoding === undefined &&
        field.type.context?.isOptional !== true
        ? [field.type.literal]
        : []
    })
    return literals.length === structs.length && new Set(literals).size === literals.length
  })
}
