/** Evaluates the expressions of a generated module, which are otherwise printed. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Crd from "../../../../src/kube/crd/Crd.ts"
import type { Definition } from "../../../../src/kube/crd/types/definition.ts"
import type { Expression } from "../../../../src/kube/crd/types/Expression.ts"
import * as Module from "../../../../src/kube/crd/types/Module.ts"
import * as Resource from "../../../../src/kube/Resource.ts"

type Scope = Map<string, any>

const find = (name: string, scope: Scope): any =>
  name.split(".").reduce((value: any, part, index) => (index === 0 ? scope.get(part) : value[part]), undefined)

const evaluate = (expression: Expression, scope: Scope): any => {
  switch (expression._tag) {
    case "Name":
      return find(expression.name, scope)
    case "Data":
      return expression.value
    case "Pattern":
      return new RegExp(expression.source)
    case "List":
      return expression.items.map((one) => evaluate(one, scope))
    case "Fields":
      return Object.fromEntries(expression.fields.map(([name, one]) => [name, evaluate(one, scope)]))
    case "Call": {
      const args = expression.args.map((one) => evaluate(one, scope))
      if (expression.of === undefined) return find(expression.name, scope)(...args)
      return evaluate(expression.of, scope)[expression.name](...args)
    }
  }
}

/** The resources of the module for these definitions. */
export const resourcesOf = (definitions: ReadonlyArray<Definition>): ReadonlyArray<Resource.AnyCustom> => {
  const scope: Scope = new Map(Object.entries({ Crd, Effect, Resource, Schema }))
  return Module.make(definitions).declarations.flatMap(({ name, type, value }) => {
    const evaluated = evaluate(value, scope)
    scope.set(name, evaluated)
    return type === "resource" ? [evaluated] : []
  })
}
