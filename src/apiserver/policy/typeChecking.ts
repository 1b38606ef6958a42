/**
 * Warnings about the types of a policy's expressions: they are compiled once more for each kind that the policy names without a wildcard, with the
 * fields of that kind. A warning changes nothing of what the policy does. Source: apiserver/pkg/admission/plugin/policy/validating:
 * typechecking.go.
 */
import * as Result from "effect/Result"
import * as environment from "../../kube/admissionExpressions.ts"
import { arrayAt, objectAt, textAt } from "../json.ts"
import type { Json } from "../json.ts"
import { apiVersion } from "../scheme/ResourceDefinition.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import type { RequestScope } from "../admission/Admission.ts"
import { rulesOf } from "./matching.ts"
import * as params from "./params.ts"
import { declarationOf } from "./schemas.ts"

export interface ExpressionWarning {
  /** `spec.validations[0].expression`. */
  readonly fieldRef: string
  readonly warning: string
}

type Context = Pick<RequestScope, "state">

/** How many kinds of each rule are checked at most. */
const mostKinds = 10

export const check = (context: Context, spec: Json | undefined): ReadonlyArray<ExpressionWarning> => {
  const compilers = kindsOf(context, spec).flatMap((resource) => {
    const compiler = compilerOf(context, spec, resource)
    return compiler === undefined ? [] : [{ resource, compiler }]
  })
  const warningsOf = (fieldRef: string, expression: string): ReadonlyArray<ExpressionWarning> => {
    const found = compilers.flatMap(({ compiler, resource }) => {
      const compiled = compiler.compile(expression, "any")
      return Result.isFailure(compiled) ? [`${kindText(resource)}: ${compiled.failure}\n`] : []
    })
    return found.length === 0 ? [] : [{ fieldRef, warning: found.join("\n") }]
  }
  return arrayAt(spec, "validations").flatMap((one, index) =>
    ["expression", "messageExpression"].flatMap((key) => {
      const text = textAt(one, key)
      return text === "" ? [] : warningsOf(`spec.validations[${index}].${key}`, text)
    })
  )
}

/** A group, version and kind as Go prints it. */
const kindText = ({ group, kind, version }: ResourceDefinition): string => `${group}/${version}, Kind=${kind}`

const compilerOf = (
  context: Context,
  spec: Json | undefined,
  resource: ResourceDefinition
): environment.Compiler | undefined => {
  const object = declarationOf(resource)
  if (object === undefined) return undefined
  const paramKind = params.kindOf(spec)
  const paramResource = paramKind === undefined ? undefined : params.resourceOf(context, paramKind)
  const compiler = environment.compiler({
    hasParams: objectAt(spec, "paramKind") !== undefined,
    hasAuthorizer: true,
    object,
    params: paramResource === undefined ? undefined : declarationOf(paramResource)
  })
  for (const one of arrayAt(spec, "variables")) compiler.addVariable(textAt(one, "name"), textAt(one, "expression"))
  return compiler
}

const hasWildcard = (list: ReadonlyArray<string>): boolean => list.some((one) => one.includes("*"))

/** The kinds to check, in the order of their groups, versions and names. */
const kindsOf = ({ state }: Context, spec: Json | undefined): ReadonlyArray<ResourceDefinition> => {
  const found = new Set<ResourceDefinition>()
  for (const { groups, resources, versions } of rulesOf(objectAt(spec, "matchConstraints"))) {
    if (hasWildcard(groups) || hasWildcard(versions)) continue
    const named = state.registry.all.filter(
      (one) => groups.includes(one.group) && versions.includes(one.version) && resources.includes(one.plural)
    )
    for (const one of named.slice(0, mostKinds)) found.add(one)
  }
  const keyOf = (one: ResourceDefinition): string => `${apiVersion(one)} ${one.kind}`
  return [...found].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}
