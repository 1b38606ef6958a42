/**
 * The steps between a Schema's decoded form and the wire. Those that leave every value as it is, and at most fill in one that is missing,
 * are what the API server can do too (`default`); any other is a transformation, which a definition cannot say. Whether a step is such
 * a one is found by trying it on nothing and on something.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"

export interface Plain {
  /** Whether the wire may lack the value. */
  readonly isOptional: boolean
  /** What stands in for a missing value. */
  readonly fallback: Option.Option<unknown>
}

/** What the steps come to; fails with what about them cannot be said. */
export const plain = (ast: SchemaAST.AST): Result.Result<Plain, string> => {
  if (ast.encoding === undefined)
    return Result.succeed({ isOptional: SchemaAST.isOptional(ast), fallback: Option.none() })
  let fallback = Option.none<unknown>()
  // From the wire inwards, as decoding goes: the first step that fills in a missing value does it in the wire's form.
  for (const link of ast.encoding.toReversed()) {
    if (!passes(link) && !isOfClass(ast, link)) return Result.fail("a transformation cannot be said in a definition")
    if (Option.isNone(fallback)) fallback = Option.flatten(attempt(link, Option.none()))
  }
  const wire = ast.encoding.at(-1)?.to ?? ast
  // The form behind the steps is read from the decoded side; steps inside the other side would be lost.
  if (!isOfClass(ast, ast.encoding.at(-1)) && !isWire(wire, []))
    return Result.fail("a default in decoded form cannot be said in a definition; give it in encoded form")
  return Result.succeed({ isOptional: SchemaAST.isOptional(wire), fallback })
}

/** Whether there are no steps anywhere inside. */
const isWire = (ast: SchemaAST.AST, inside: ReadonlyArray<SchemaAST.AST>): boolean =>
  ast.encoding === undefined && (inside.includes(ast) || parts(ast).every((part) => isWire(part, [...inside, ast])))

const parts = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> => {
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

/** The step from a struct to the class that is made of it: the fields stay what they are. */
const isOfClass = (ast: SchemaAST.AST, link: SchemaAST.Link | undefined): boolean =>
  classStruct(ast) !== undefined && link !== undefined && SchemaAST.isObjects(link.to)

/** The struct that a `Schema.Class` is made of. */
export const classStruct = (ast: SchemaAST.AST): SchemaAST.Objects | undefined => {
  if (!SchemaAST.isDeclaration(ast) || ast.typeParameters.length !== 1) return undefined
  const [struct] = ast.typeParameters
  return struct !== undefined && SchemaAST.isObjects(struct) ? struct : undefined
}

const passes = (link: SchemaAST.Link): boolean => {
  const something = Symbol("something")
  const result = attempt(link, Option.some(something))
  return Option.isSome(result) && Option.isSome(result.value) && result.value.value === something
}

/** Nothing where the step fails, waits, or is not one of single values. */
const attempt = (
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
