/**
 * Asking whether a user may do something, from an expression: `authorizer.group('apps').resource('deployments').check('create').allowed()`.
 * The decision itself is the caller's, by a function without effects. Source: apiserver pkg/cel/library/authz.go.
 */
import * as Type from "../Type.ts"
import { Failure, Opaque } from "../Value.ts"
import type { Outcome } from "../Value.ts"
import { method } from "../library/define.ts"
import type { Definition } from "../library/define.ts"

/** What is asked: a path, or a resource. The selectors are as they were written. */
export interface Question {
  readonly verb: string
  /** Asked for instead of the user of the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string }
  readonly path?: string
  readonly group?: string
  readonly resource?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

export interface Answer {
  readonly allowed: boolean
  readonly reason?: string
  /** Why no decision could be made. */
  readonly error?: string
}

export type Decide = (question: Question) => Answer

type Kind = "Authorizer" | "GroupCheck" | "PathCheck" | "ResourceCheck"

/** The value of the variable `authorizer`, and what expressions make of it. */
export class Authorizer extends Opaque {
  readonly typeName: string
  readonly decide: Decide
  readonly asked: Omit<Question, "verb">

  constructor(decide: Decide, asked: Omit<Question, "verb"> = {}, kind: Kind = "Authorizer") {
    super()
    this.typeName = nameOf(kind)
    this.decide = decide
    this.asked = asked
  }

  with(more: Omit<Question, "verb">, kind: Kind): Authorizer {
    return new Authorizer(this.decide, { ...this.asked, ...more }, kind)
  }

  equals(other: Opaque): boolean {
    return this === other
  }
}

/** The value of `authorizer.requestResource`: the resource of a request is asked for already. */
export const requestResource = (authorizer: Authorizer, asked: Omit<Question, "verb">): Authorizer =>
  authorizer.with(asked, "ResourceCheck")

class Decision extends Opaque {
  readonly typeName = nameOf("Decision")
  readonly answer: Answer

  constructor(answer: Answer) {
    super()
    this.answer = answer
  }

  equals(other: Opaque): boolean {
    return this === other
  }
}

const nameOf = (kind: Kind | "Decision"): string => `kubernetes.authorization.${kind}`
const typeOf = (kind: Kind | "Decision"): Type.Type => Type.opaque(nameOf(kind))

/** The types of the variables. */
export const authorizerType = typeOf("Authorizer")
export const resourceCheckType = typeOf("ResourceCheck")

const group = typeOf("GroupCheck")
const path = typeOf("PathCheck")
const decision = typeOf("Decision")
const { bool, string } = Type

const check = (on: Authorizer, verb: string): Decision => new Decision(on.decide({ ...on.asked, verb }))

const named = (name: string, id: string, key: keyof Question): Definition =>
  method(name, id, [resourceCheckType, string], resourceCheckType, (on: Authorizer, value: string) =>
    on.with({ [key]: value }, "ResourceCheck")
  )

const isName = (name: string): boolean => name.length <= 253 && /^[\da-z](?:[\d.a-z-]*[\da-z])?$/.test(name)
const isNamespace = (name: string): boolean => name.length <= 63 && /^[\da-z](?:[\da-z-]*[\da-z])?$/.test(name)

const serviceAccount = (on: Authorizer, namespace: string, name: string): Outcome => {
  if (!isName(name)) return new Failure("Invalid service account name")
  if (!isNamespace(namespace)) return new Failure("Invalid service account namespace")
  return on.with({ serviceAccount: { namespace, name } }, "Authorizer")
}

export const authorizer: ReadonlyArray<Definition> = [
  method("path", "authorizer_path", [authorizerType, string], path, (on: Authorizer, value: string) =>
    value.trim() === "" ? new Failure("path must not be empty") : on.with({ path: value }, "PathCheck")
  ),
  method("group", "authorizer_group", [authorizerType, string], group, (on: Authorizer, value: string) =>
    on.with({ group: value }, "GroupCheck")
  ),
  method(
    "serviceAccount",
    "authorizer_serviceaccount",
    [authorizerType, string, string],
    authorizerType,
    serviceAccount
  ),
  method("resource", "groupcheck_resource", [group, string], resourceCheckType, (on: Authorizer, value: string) =>
    value.trim() === "" ? new Failure("resource must not be empty") : on.with({ resource: value }, "ResourceCheck")
  ),
  named("subresource", "resourcecheck_subresource", "subresource"),
  named("namespace", "resourcecheck_namespace", "namespace"),
  named("name", "resourcecheck_name", "name"),
  named("fieldSelector", "authorizer_fieldselector", "fieldSelector"),
  named("labelSelector", "authorizer_labelselector", "labelSelector"),
  method("check", "pathcheck_check", [path, string], decision, check),
  method("check", "resourcecheck_check", [resourceCheckType, string], decision, check),
  method("errored", "decision_errored", [decision], bool, ({ answer }: Decision) => answer.error !== undefined),
  method("error", "decision_error", [decision], string, ({ answer }: Decision) => answer.error ?? ""),
  method("allowed", "decision_allowed", [decision], bool, ({ answer }: Decision) => answer.allowed),
  method("reason", "decision_reason", [decision], string, ({ answer }: Decision) => answer.reason ?? "")
]
