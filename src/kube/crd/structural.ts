/**
 * Translates a Schema into a structural schema. What a definition cannot express is refused with its path, all refusals at once: a
 * definition that allows more than the Schema would let objects be stored that no controller can decode. Suspended schemas are written out,
 * fields that may be missing are not required, and their decoding defaults become `default`. Deterministic: the same Schema gives the same
 * text. Source: the rules for structural schemas of apiextensions.k8s.io/v1.
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { intersect, keywords } from "./checks.ts"
import { childPath, type Place, type Refusal } from "./place.ts"
import type { StructuralSchema } from "../structural/StructuralSchema.ts"
import type { Extensions, Rule } from "./Extensions.ts"
import { classStruct, wireForm } from "./steps.ts"
import * as Unions from "./unions.ts"

/** The structural schema of values of this Schema; `path` is where they are in an object. */
export const structural = (
  schema: Schema.Constraint,
  path = ""
): Result.Result<StructuralSchema, ReadonlyArray<Refusal>> => {
  const refusals: Array<Refusal> = []
  const refuse = (path: string, why: string): StructuralSchema => {
    refusals.push({ path, why })
    return {}
  }
  const props = schemaOf(schema.ast, { path, inside: [], refuse })
  return refusals.length === 0 ? Result.succeed(props) : Result.fail(refusals)
}

/** The schema of a value in any position; `fieldsOf` adds the default of a value that may be missing. */
const schemaOf = (ast: SchemaAST.AST, place: Place): StructuralSchema => {
  const steps = wireForm(ast)
  if (Result.isFailure(steps)) return place.refuse(place.path, steps.failure)
  const struct = classStruct(ast)
  const shape = struct === undefined ? shapeOf(ast, place) : schemaOf(struct, place)
  return { ...documentation(ast), ...withChecks(ast, shape, place), ...extensions(ast) }
}

/** The type of a value, without what its annotations and checks add. */
const shapeOf = (ast: SchemaAST.AST, place: Place): StructuralSchema => {
  switch (ast._tag) {
    case "String":
      return { type: "string" }
    case "Number":
      return { type: "number" }
    case "Boolean":
      return { type: "boolean" }
    case "Literal":
    case "Enum":
      // Its own encoding, such as a default, is accounted for by `wireForm`.
      return (
        Unions.enumeration([SchemaAST.toType(ast)]) ??
        place.refuse(place.path, "its values have no common type of JSON")
      )
    case "Unknown":
    case "Any":
      return { nullable: true, "x-kubernetes-preserve-unknown-fields": true }
    case "Arrays":
      return listOf(ast, place)
    case "Objects":
      return objectOf(ast, place)
    case "Union":
      return Unions.union(ast, place, schemaOf)
    case "Suspend":
      return writtenOut(ast, place)
    case "Declaration":
      if (isJson(ast)) return { nullable: true, "x-kubernetes-preserve-unknown-fields": true }
      return place.refuse(place.path, "a value that JSON does not have cannot be said in a definition")
    default:
      return place.refuse(place.path, `${ast._tag} cannot be said in a definition`)
  }
}

/** Recognises `Schema.Json` by what it runs, because an annotated or optional copy is another node. */
const isJson = (ast: SchemaAST.Declaration): boolean =>
  SchemaAST.isDeclaration(Schema.Json.ast) && ast.run === Schema.Json.ast.run

const writtenOut = (ast: SchemaAST.Suspend, place: Place): StructuralSchema => {
  const behind = ast.thunk()
  return place.inside.includes(behind)
    ? place.refuse(place.path, "a recursive type cannot be said in a definition; cut it with Schema.Unknown")
    : schemaOf(behind, { ...place, inside: [...place.inside, behind] })
}

const withChecks = (ast: SchemaAST.AST, shape: StructuralSchema, place: Place): StructuralSchema => {
  const found = keywords(shape.type, ast.checks)
  if (Result.isFailure(found)) return place.refuse(place.path, found.failure)
  if (found.success["x-kubernetes-list-type"] === "set" && !isScalar(shape.items))
    return place.refuse(place.path, "that elements are unique can be said of scalars alone; use a map list with keys")
  const both = intersect(withoutTypes(shape, found.success), found.success)
  if (Result.isFailure(both)) return place.refuse(place.path, both.failure)
  const { nullable = false, "x-kubernetes-preserve-unknown-fields": preserves = false, ...props } = both.success
  return {
    ...props,
    ...(nullable ? { nullable } : {}),
    ...(preserves ? { "x-kubernetes-preserve-unknown-fields": preserves } : {})
  }
}

/** Other alternatives take the place of those that only repeat `x-kubernetes-int-or-string`. */
const withoutTypes = (shape: StructuralSchema, { anyOf }: StructuralSchema): StructuralSchema => {
  const { anyOf: _, ...rest } = shape
  return anyOf !== undefined && shape["x-kubernetes-int-or-string"] === true ? rest : shape
}

const isScalar = (props: StructuralSchema | undefined): boolean =>
  props?.type !== undefined && props.type !== "object" && props.type !== "array" && props.nullable !== true

const listOf = (ast: SchemaAST.Arrays, place: Place): StructuralSchema => {
  const [element, ...others] = [...new Set([...ast.elements, ...ast.rest])]
  if (element === undefined || others.length > 0 || ast.rest.length !== 1 || ast.elements.some(SchemaAST.isOptional))
    return place.refuse(place.path, "a tuple cannot be said in a definition; use a list of one type")
  const items = schemaOf(element, { ...place, path: `${place.path}[]` })
  return { type: "array", items, ...(ast.elements.length > 0 ? { minItems: ast.elements.length } : {}) }
}

const objectOf = (ast: SchemaAST.Objects, place: Place): StructuralSchema => {
  const [rest, ...others] = ast.indexSignatures
  if (rest === undefined) return { type: "object", ...fieldsOf(ast, place) }
  if (others.length > 0 || rest.parameter._tag !== "String" || rest.parameter.checks !== undefined)
    return place.refuse(place.path, "keys of a record can only be any strings; say more with CEL rules")
  const isOpen = (rest.type._tag === "Unknown" || rest.type._tag === "Any") && rest.type.checks === undefined
  if (isOpen) return { type: "object", ...fieldsOf(ast, place), "x-kubernetes-preserve-unknown-fields": true }
  if (ast.propertySignatures.length > 0)
    return place.refuse(
      place.path,
      "a definition has either fields or a record, unless the record is of Schema.Unknown"
    )
  return { type: "object", additionalProperties: schemaOf(rest.type, { ...place, path: `${place.path}[*]` }) }
}

const fieldsOf = (ast: SchemaAST.Objects, place: Place): StructuralSchema => {
  const properties: Array<readonly [string, StructuralSchema]> = []
  const required: Array<string> = []
  for (const { name, type } of ast.propertySignatures) {
    if (typeof name !== "string") return place.refuse(place.path, "a field is named by a string")
    const steps = Result.getOrUndefined(wireForm(type))
    const path = childPath(place.path, name)
    const props = schemaOf(type, { ...place, path })
    const fallback = steps === undefined ? Option.none() : steps.fallback
    if (steps?.isOptional === false) required.push(name)
    properties.push([
      name,
      Option.isSome(fallback) ? withDefault(props, type, fallback.value, { ...place, path }) : props
    ])
  }
  if (properties.length === 0) return {}
  return { properties: Object.fromEntries(properties), ...(required.length > 0 ? { required: required.sort() } : {}) }
}

/** The API server refuses a definition whose default does not fit its own schema, and the Schema refuses objects without the field. */
const withDefault = (props: StructuralSchema, type: SchemaAST.AST, value: unknown, place: Place): StructuralSchema => {
  const codec = Schema.make<Schema.Codec<unknown>>(type)
  if (Result.isFailure(Schema.decodeUnknownResult(codec)(value)))
    return place.refuse(place.path, "its default does not fit its own schema")
  // The API server ignores a default of null; the Schema fills it in when it decodes.
  return value === null ? props : { ...props, default: value }
}

/** An annotation of a node: on its key, else on its checks (the last first), else on the node before it had checks. */
const annotationOf = (ast: SchemaAST.AST, key: string): unknown => {
  const all = [
    ast.context?.annotations,
    ...(ast.checks ?? []).toReversed().map((check) => check.annotations),
    ast.annotations
  ]
  return all.find((annotations) => annotations?.[key] !== undefined)?.[key]
}

const documentation = (ast: SchemaAST.AST): StructuralSchema =>
  Object.fromEntries(
    ["title", "description", "format"].flatMap((key) => {
      const value = annotationOf(ast, key)
      return typeof value === "string" && value !== "" ? [[key, value]] : []
    })
  )

const copiedExtensions: ReadonlyArray<keyof Extensions> = [
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource"
]

const extensions = (ast: SchemaAST.AST): StructuralSchema => {
  const rules = [
    ast.annotations,
    ast.context?.annotations,
    ...(ast.checks ?? []).map((check) => check.annotations)
  ].flatMap((annotations) => (annotations?.["x-kubernetes-validations"] as ReadonlyArray<Rule> | undefined) ?? [])
  return {
    ...Object.fromEntries(
      copiedExtensions.flatMap((key) => {
        const value = annotationOf(ast, key)
        return value === undefined ? [] : [[key, value]]
      })
    ),
    ...(rules.length > 0 ? { "x-kubernetes-validations": rules } : {})
  }
}
