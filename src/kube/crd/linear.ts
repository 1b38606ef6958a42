/**
 * A Schema whose patterns are matched as the API server matches them: in RE2's dialect and in linear time. Objects are decoded before
 * anything has validated them, in a webhook even before the API server has, so no text in them may block the process. The rest of the
 * Schema is unchanged. A pattern that RE2 cannot read, which no definition can contain, is matched by the platform's engine.
 */
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { compile } from "../structural/pattern.ts"

export const linear = <S extends Schema.Constraint>(schema: S): S => {
  const known = new Map<SchemaAST.AST, SchemaAST.AST>()
  const visit = (ast: SchemaAST.AST): SchemaAST.AST => {
    const found = known.get(ast) ?? rewritten(ast, visit)
    known.set(ast, found)
    return found
  }
  return Schema.make<S>(visit(schema.ast))
}

type Visit = (ast: SchemaAST.AST) => SchemaAST.AST

const rewritten = (ast: SchemaAST.AST, visit: Visit): SchemaAST.AST => {
  const { annotations, context } = ast
  const [checks, encoding] = [checksOf(ast.checks), encodingOf(ast.encoding, visit)]
  switch (ast._tag) {
    case "String":
      return new SchemaAST.String(annotations, checks, encoding, context)
    case "Arrays": {
      const { elements, encodingChecks, isMutable, rest } = ast
      const [first, others] = [elements.map(visit), rest.map(visit)]
      const below = checksOf(encodingChecks)
      return new SchemaAST.Arrays(isMutable, first, others, annotations, checks, encoding, context, below)
    }
    case "Objects": {
      const fields = ast.propertySignatures.map(({ name, type }) => new SchemaAST.PropertySignature(name, visit(type)))
      const records = ast.indexSignatures.map(
        ({ parameter, type }) => new SchemaAST.IndexSignature(visit(parameter), visit(type))
      )
      const below = checksOf(ast.encodingChecks)
      return new SchemaAST.Objects(fields, records, annotations, checks, encoding, context, below)
    }
    case "Union": {
      const below = checksOf(ast.encodingChecks)
      return new SchemaAST.Union(ast.types.map(visit), ast.options, annotations, checks, encoding, context, below)
    }
    case "Suspend":
      return new SchemaAST.Suspend(() => visit(ast.thunk()), annotations, undefined, encoding, context)
    case "Declaration": {
      const { encodingChecks, encodingRun, run, typeParameters } = ast
      const [inner, below] = [typeParameters.map(visit), checksOf(encodingChecks)]
      return new SchemaAST.Declaration(inner, run, annotations, checks, encoding, context, below, encodingRun)
    }
    default:
      // Not a string, and without inner schemas; but the encoding may have both.
      return encoding === undefined ? ast : Object.assign(Object.create(Object.getPrototypeOf(ast)), ast, { encoding })
  }
}

const encodingOf = (encoding: SchemaAST.Encoding | undefined, visit: Visit): SchemaAST.Encoding | undefined => {
  if (encoding === undefined) return undefined
  const link = ({ to, transformation }: SchemaAST.Link) => new SchemaAST.Link(visit(to), transformation)
  const [first, ...others] = encoding
  return [link(first), ...others.map(link)]
}

const checksOf = (checks: SchemaAST.Checks | undefined): SchemaAST.Checks | undefined => {
  if (checks === undefined) return undefined
  const [first, ...others] = checks
  return [checkOf(first), ...others.map(checkOf)]
}

// oxlint-disable-next-line typescript/no-explicit-any -- SchemaAST declares checks of values of any type
const checkOf = (check: SchemaAST.Check<any>): SchemaAST.Check<any> => {
  if (check._tag === "FilterGroup") {
    const [first, ...others] = check.checks
    return new SchemaAST.FilterGroup([checkOf(first), ...others.map(checkOf)], check.annotations)
  }
  const pattern = patternOf(check)
  const expression = pattern === undefined ? undefined : compile(pattern)
  if (expression === undefined || expression.problem !== undefined) return check
  return Schema.makeFilter(expression.test, check.annotations, check.aborted)
}

/** The pattern of a check in RE2's syntax; undefined for any other check, and for flags that RE2 does not have. */
const patternOf = ({ annotations }: SchemaAST.Filter<never>): string | undefined => {
  const { id, payload } = (annotations?.representation ?? {}) as {
    readonly id?: string
    readonly payload?: { readonly source: string; readonly flags: string }
  }
  if (id !== "effect/schema/isPattern" || payload === undefined || /[vy]/.test(payload.flags)) return undefined
  // d and g do not change what matches; u is the only mode that RE2 has.
  const flags = payload.flags.replaceAll(/[dgu]/g, "")
  return flags === "" ? payload.source : `(?${flags})${payload.source}`
}
