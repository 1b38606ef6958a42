/**
 * The encoding links of a Schema node: the steps between its decoded form and the wire. A definition can express links that leave every
 * value as it is and at most fill in a missing one (`default`); any other link is a transformation, which it cannot express. Which of the
 * two a link is, is found by running it on a missing value and on a symbol.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"

export interface WireForm {
  /** Whether the wire may lack the value. */
  readonly isOptional: boolean
  /** The default of a missing value. */
  readonly fallback: Option.Option<unknown>
}

/** What all links together do to a value; fails with the reason why that cannot be expressed. */
export const wireForm = (ast: SchemaAST.AST): Result.Result<WireForm, string> => {
  if (ast.encoding === undefined)
    return Result.succeed({ isOptional: SchemaAST.isOptional(ast), fallback: Option.none() })
  let fallback = Option.none<unknown>()
  // From the wire inwards, as decoding goes: the first link that fills in a missing value does so in wire form.
  for (const link of ast.encoding.toReversed()) {
    if (!isIdentity(link) && !isClassLink(ast, link))
      return Result.fail("a transformation cannot be said in a definition")
    if (Option.isNone(fallback)) fallback = Option.flatten(decodeWith(link, Option.none()))
  }
  const wire = ast.encoding.at(-1)?.to ?? ast
  // The schema is made from the decoded side, so links inside of the wire side would be lost.
  if (!isClassLink(ast, ast.encoding.at(-1)) && !hasNoLinks(wire, []))
    return Result.fail("a default in decoded form cannot be said in a definition; give it in encoded form")
  return Result.succeed({ isOptional: SchemaAST.isOptional(wire), fallback })
}

/** Whether no node inside has encoding links. */
const hasNoLinks = (ast: SchemaAST.AST, inside: ReadonlyArray<SchemaAST.AST>): boolean =>
  ast.encoding === undefined &&
  (inside.includes(ast) || innerSchemas(ast).every((part) => hasNoLinks(part, [...inside, ast])))

const innerSchemas = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> => {
  switch (ast._tag) {
    case "Arrays":
      return [...ast.elements, ...ast.rest]
    case "Objects":
      return [...ast.propertySignatures, ...ast.indexSignatures].map(({ type }) => type)
    case "Union":
      return ast.types
    case "Suspend":
      return [ast.thunk()]
    case "Declaration":
      return ast.typeParameters
    default:
      return []
  }
}

/** The link from a struct to the class that is made of it: the fields stay what they are. */
const isClassLink = (ast: SchemaAST.AST, link: SchemaAST.Link | undefined): boolean =>
  classStruct(ast) !== undefined && link !== undefined && SchemaAST.isObjects(link.to)

/** The struct that a `Schema.Class` is made of. */
export const classStruct = (ast: SchemaAST.AST): SchemaAST.Objects | undefined => {
  if (!SchemaAST.isDeclaration(ast) || ast.typeParameters.length !== 1) return undefined
  const [struct] = ast.typeParameters
  return struct !== undefined && SchemaAST.isObjects(struct) ? struct : undefined
}

const isIdentity = (link: SchemaAST.Link): boolean => {
  const something = Symbol("something")
  const result = decodeWith(link, Option.some(something))
  return Option.isSome(result) && Option.isSome(result.value) && result.value.value === something
}

/** The result of decoding with one link; none where that fails, is asynchronous, or is not a transformation of single values. */
const decodeWith = (
  { transformation }: SchemaAST.Link,
  input: Option.Option<unknown>
): Option.Option<Option.Option<unknown>> => {
  if (transformation._tag !== "Transformation") return Option.none()
  try {
    const exit = Effect.runSyncExit(
      SchemaGetter.run(transformation.decode, input, {}) as Effect.Effect<Option.Option<unknown>>
    )
    return Exit.isSuccess(exit) ? Option.some(exit.value) : Option.none()
  } catch {
    return Option.none()
  }
}
