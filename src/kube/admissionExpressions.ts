/**
 * Compiles the expressions of admission: which variables an expression of a policy, or of a match condition, has, and their types. Objects and
 * parameters are dynamic; `request` and `namespaceObject` have types of their own. Source: apiserver/pkg/admission/plugin/cel: compile.go,
 * composition.go.
 */
import * as Result from "effect/Result"
import * as Cel from "./cel/Cel.ts"
import * as Type from "./cel/Type.ts"

const object = (name: string, fields: Readonly<Record<string, Type.Type>>): Type.ObjectType => ({
  kind: "object",
  name,
  fields: new Map(Object.entries(fields))
})

const texts = Type.list(Type.string)
const labels = Type.map(Type.string, Type.string)
const kind = object("kubernetes.GroupVersionKind", { group: Type.string, version: Type.string, kind: Type.string })
const resource = object("kubernetes.GroupVersionResource", {
  group: Type.string,
  version: Type.string,
  resource: Type.string
})

const request = object("kubernetes.AdmissionRequest", {
  kind,
  resource,
  subResource: Type.string,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: Type.string,
  name: Type.string,
  namespace: Type.string,
  operation: Type.string,
  userInfo: object("kubernetes.UserInfo", {
    username: Type.string,
    uid: Type.string,
    groups: texts,
    extra: Type.map(Type.string, texts)
  }),
  dryRun: Type.bool,
  options: Type.dyn
})

const namespace = object("kubernetes.Namespace", {
  metadata: object("kubernetes.NamespaceMetadata", {
    name: Type.string,
    generateName: Type.string,
    namespace: Type.string,
    labels,
    annotations: labels,
    UID: Type.string,
    creationTimestamp: Type.timestamp,
    deletionGracePeriodSeconds: Type.int,
    deletionTimestamp: Type.timestamp,
    generation: Type.int,
    resourceVersion: Type.string,
    finalizers: texts
  }),
  spec: object("kubernetes.NamespaceSpec", { finalizers: texts }),
  status: object("kubernetes.NamespaceStatus", {
    conditions: Type.list(
      object("kubernetes.NamespaceCondition", {
        status: Type.string,
        type: Type.string,
        lastTransitionTime: Type.timestamp,
        message: Type.string,
        reason: Type.string
      })
    ),
    phase: Type.string
  })
})

type Declarations = Readonly<Record<string, Cel.Declaration>>

/** What an expression has beyond `object`, `oldObject`, `request` and `namespaceObject`. */
export interface Extras {
  readonly hasParams: boolean
  readonly hasAuthorizer: boolean
  /** The schemas of the object and the parameters, where they are known: for the checks of a policy's types. */
  readonly object?: Cel.Declaration | undefined
  readonly params?: Cel.Declaration | undefined
}

const declarations = ({ hasAuthorizer, hasParams, object = Type.dyn, params = Type.dyn }: Extras): Declarations => ({
  object,
  oldObject: object,
  namespaceObject: namespace,
  request,
  ...(hasParams ? { params } : {}),
  ...(hasAuthorizer ? { authorizer: Cel.authorizerType, "authorizer.requestResource": Cel.resourceCheckType } : {})
})

/** The types that an expression may have; `any` is every type. */
export type Results = "any" | ReadonlyArray<"bool" | "null" | "string">

export type Compiled = Result.Result<Cel.Program, string>

/** Compiles expressions that have no variables of a policy. */
export const compile = (expression: string, extras: Extras, results: Results): Compiled =>
  compileWith(expression, declarations(extras), results)

const compileWith = (expression: string, declared: Declarations, results: Results): Compiled =>
  Result.flatMap(Cel.compile(expression, declared), (program) => {
    const found = goName(program.type)
    if (results === "any" || results.some((one) => one === program.type.kind)) return Result.succeed(program)
    const wanted = results.map((one) => (one === "null" ? "null_type" : one))
    const words = wanted.length === 1 ? `${wanted[0]}` : `one of [${wanted.join(" ")}]`
    return Result.fail(`must evaluate to ${words} but got ${found}`)
  })

/** The name of a type in Go, which differs from that in the messages of the checker for null alone. */
const goName = (type: Type.Type): string => (type.kind === "null" ? "null_type" : Type.format(type))

/** Compiles the expressions of one policy, whose variables are added in order: each sees those before it. */
export interface Compiler {
  readonly addVariable: (name: string, expression: string) => Compiled
  readonly compile: (expression: string, results: Results, extras?: Partial<Extras>) => Compiled
}

export const compiler = (extras: Extras): Compiler => {
  const fields = new Map<string, Type.Type>()
  const variables: Type.ObjectType = { kind: "object", name: "kubernetes.variables", fields }
  const own: Compiler = {
    addVariable: (name, expression) => {
      const compiled = own.compile(expression, "any")
      // A variable that does not compile has no type, so that the expressions that read it can be checked for other mistakes.
      fields.set(name, Result.isSuccess(compiled) ? composed(compiled.success.type) : Type.dyn)
      return compiled
    },
    compile: (expression, results, more) =>
      compileWith(expression, { ...declarations({ ...extras, ...more }), variables }, results)
  }
  return own
}

const kept: ReadonlySet<string> = new Set([
  "bool",
  "bytes",
  "double",
  "duration",
  "int",
  "null",
  "string",
  "timestamp",
  "uint"
])

/** The type under which other expressions see a variable: objects become dynamic. */
const composed = (type: Type.Type): Type.Type => {
  if (type.kind === "list") return Type.list(composed(type.params[0]))
  if (type.kind === "map") return Type.map(composed(type.params[0]), composed(type.params[1]))
  return kept.has(type.kind) ? type : Type.dyn
}
