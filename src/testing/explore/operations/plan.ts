/** The scenarios that the Schemas of the controllers' kinds suggest. */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { structural } from "../../../kube/crd/structural.ts"
import type { KubeObject } from "../../../kube/Meta.ts"
import * as Owner from "../../../kube/Owner.ts"
import * as Resource from "../../../kube/Resource.ts"
import { canonical } from "../../../kube/structural/lists.ts"
import { isMembers } from "../../../kube/structural/StructuralSchema.ts"
import type { Descriptor } from "../../../layers/Controller.ts"
import type { Cluster, Declared } from "../Exploration.ts"
import { run } from "../run.ts"
import { groupsOf } from "./changes.ts"
import { type Operation, perform, performAll, type Scenario, text, wanted } from "./Operation.ts"

/** What is generated for an exploration. */
export interface Plan {
  readonly scenarios: ReadonlyArray<Scenario>
  /** Operations that the server refuses, for example because of a rule in CEL, each with the reason. They are in no scenario. */
  readonly refused: ReadonlyArray<string>
  /** Why there are no scenarios. */
  readonly problem: string | undefined
}

/** The scenarios of an exploration. Deterministic for a seed. */
export const plan = Effect.fnUntraced(function* (exploration: Declared, seed: number) {
  const { controllers } = exploration.options
  const reconciled = controllers.flatMap((controller) => (controller.for === undefined ? [] : [controller.for]))
  const kinds = [...new Map(reconciled.filter(Resource.isCustom).map((kind) => [kind.id, kind])).values()]
  const inexpressible = kinds.find((kind) => Result.isFailure(structural(Resource.partsOf(kind.declaration))))
  if (kinds.length === 0 || inexpressible !== undefined) return failed(problemOf(reconciled, inexpressible))
  const parts: Array<Plan> = []
  for (const kind of kinds) {
    const part = yield* planOf(exploration, kind, seed)
    const prefix = kinds.length === 1 ? "" : `${kind.plural}.`
    parts.push({ ...part, scenarios: part.scenarios.map((one) => renamed(one, `${prefix}${one.name}`)) })
  }
  return {
    scenarios: parts.flatMap(({ scenarios }) => scenarios),
    refused: parts.flatMap(({ refused }) => refused),
    problem: parts.find(({ problem }) => problem !== undefined)?.problem
  } satisfies Plan
})

const renamed = (scenario: Scenario, name: string): Scenario => ({ ...scenario, name })

const failed = (problem: string): Plan => ({ scenarios: [], refused: [], problem })

const problemOf = (reconciled: ReadonlyArray<Resource.Any>, inexpressible: Resource.Any | undefined): string => {
  if (inexpressible !== undefined)
    return `the Schemas of ${Resource.qualifiedName(inexpressible)} cannot be expressed in a definition: give the exploration a scenario`
  if (reconciled.length === 0)
    return "no controller declares `for`, so no operations follow: give the exploration a scenario"
  return `${reconciled.map(Resource.qualifiedName).join(", ")} are not declared with Schemas, so no operations follow: give the exploration a scenario`
}

/** Of one kind: changes of each field, what can happen to an object, and what can happen to the objects that it controls. */
const planOf = Effect.fnUntraced(function* (exploration: Declared, kind: Resource.AnyCustom, seed: number) {
  const random = yield* Effect.result(Arbitrary.sampleEffect(Resource.arbitrary(kind), { count: 10, seed }))
  const sample = Resource.sample(kind)
  const drawn = Result.getOrElse(random, (): ReadonlyArray<KubeObject> => [])
  const found = [...(sample === undefined ? [] : [sample]), ...drawn].map((one) => placed(kind, one))
  const made = yield* probe(exploration, kind, found, drawn, seed)
  const [first] = made.scenarios
  if (first === undefined) return made
  const creation: Scenario = { ...first, operations: first.operations.slice(0, 1) }
  const { objects } = yield* run(withScenario(exploration, performAll(creation)), { perturbations: [] }, { seed })
  return { ...made, scenarios: [...made.scenarios, ...ownedScenarios(exploration, creation, objects)] }
})

/** The object in a namespace that exists. */
const placed = (kind: Resource.AnyCustom, object: KubeObject): KubeObject => ({
  ...object,
  metadata: kind.scope === "Cluster" ? object.metadata : { ...object.metadata, namespace: "default" }
})

/** The exploration with another scenario. */
export const withScenario = (
  { name, options }: Declared,
  scenario: (cluster: Cluster) => Effect.Effect<unknown, unknown>
): Declared => ({ name, options: { ...options, scenario } })

const idleOf = (controller: Descriptor<unknown>): Descriptor<unknown> => ({ ...controller, layer: Layer.empty })

/** Performs operations on a cluster without controllers, and keeps those that the server accepts. */
const probe = Effect.fnUntraced(function* (
  exploration: Declared,
  resource: Resource.AnyCustom,
  objects: ReadonlyArray<KubeObject>,
  drawn: ReadonlyArray<KubeObject>,
  seed: number
) {
  let result = failed(`no valid ${Resource.qualifiedName(resource)} was found: give the exploration a scenario`)
  const { options } = exploration
  const idle: Declared = {
    ...exploration,
    options: {
      ...options,
      controllers: options.controllers.map(idleOf),
      environment: [],
      invariants: [],
      converged: undefined
    }
  }
  const outcome = yield* run(
    withScenario(
      idle,
      Effect.fnUntraced(function* (cluster) {
        let why: string | undefined
        for (const object of objects) {
          const { name, namespace } = object.metadata
          const of = (name: string, operations: ReadonlyArray<Operation>): Scenario => ({
            name,
            resource,
            target: { namespace, name: object.metadata.name },
            operations
          })
          const creation = of(name, [{ _tag: "Create", object }])
          const refusal = yield* accepted(creation, cluster)
          why ??= refusal.refused[0]
          if (refusal.refused.length > 0) continue
          const scenarios = [
            of("lifecycle", lifecycle(object)),
            ...groupsOf(resource, object, drawn).map((group) => of(group.name, group.operations))
          ]
          const results = yield* Effect.forEach(scenarios, (scenario) => accepted(scenario, cluster))
          result = {
            problem: undefined,
            scenarios: results.map(({ scenario }) => scenario).filter(({ operations }) => operations.length > 1),
            refused: results.flatMap(({ refused }) => refused)
          }
          return
        }
        if (why !== undefined)
          result = failed(`the server refuses generated objects: give the exploration a scenario: ${why}`)
      })
    ),
    { perturbations: [] },
    { seed }
  )
  return outcome.scenarioError === undefined ? result : failed(outcome.scenarioError)
})

/**
 * The operations of a scenario that the server accepts, in order, without changes to what the object has already, because the change in between was
 * refused. The object does not exist before, and not after.
 */
const accepted = Effect.fnUntraced(function* (scenario: Scenario, cluster: Cluster) {
  const operations: Array<Operation> = []
  const refused: Array<string> = []
  for (const operation of scenario.operations) {
    const object = wanted(operations)
    if (operation._tag === "Change" && canonical(object) === canonical(wanted([...operations, operation]))) continue
    const why = yield* perform(operation, scenario, cluster)
    if (why === undefined) operations.push(operation)
    else refused.push(`${text(operation, scenario)}: ${why}`)
  }
  yield* Effect.ignore(cluster.client.delete(scenario.resource, scenario.target))
  return { scenario: { ...scenario, operations }, refused }
})

const edited = { labels: { "explore.example.com/edited": "true" } }

const annotated = { annotations: { "explore.example.com/edited": "true" } }

const lifecycle = (object: KubeObject): ReadonlyArray<Operation> => [
  { _tag: "Create", object },
  { _tag: "Edit", change: { metadata: edited } },
  { _tag: "Edit", change: { metadata: annotated } },
  { _tag: "Recreate", object },
  { _tag: "Delete" }
]

/** At most so many objects of a kind are edited and deleted. */
const mostOwned = 3

/** For each kind of objects that the object controls: other users edit and delete them. */
const ownedScenarios = (
  { options }: Declared,
  { operations, resource, target }: Scenario,
  objects: ReadonlyArray<KubeObject>
): ReadonlyArray<Scenario> => {
  const isTarget = ({ kind, metadata }: KubeObject) =>
    kind === resource.kind && metadata.name === target.name && metadata.namespace === target.namespace
  const uid = objects.find(isTarget)?.metadata.uid
  const kinds = new Map(
    options.controllers
      .flatMap(({ access, reads }) => [...reads, ...access.map((one) => one.resource)])
      .flatMap((kind) => (kind.projection === "object" ? [[kind.id, kind] as const] : []))
  )
  return [...kinds.values()].flatMap((kind) => {
    const owned = objects.filter(
      (one) => one.kind === kind.kind && one.apiVersion === Resource.apiVersion(kind) && Owner.controlledBy(one, uid)
    )
    const each = owned.slice(0, mostOwned).flatMap((object, at) => onOwned(kind, object, at))
    return each.length === 0
      ? []
      : [{ name: `owned.${kind.plural}`, resource, target, operations: [...operations, ...each] }]
  })
}

const onOwned = (kind: Resource.Any, object: KubeObject, at: number): ReadonlyArray<Operation> => {
  const field = otherField(object)
  const changes = field === undefined ? [{ metadata: edited }] : [{ metadata: edited }, field]
  const edits = changes.map((change): Operation => ({ _tag: "EditOwned", kind, at, change }))
  return edits.concat({ _tag: "DeleteOwned", kind, at })
}

/** Another value of a field of an object: of an entry of its data, else of a number or boolean in its spec. */
const otherField = (object: KubeObject): object | undefined => {
  const { data, spec } = object as { readonly data?: unknown; readonly spec?: unknown }
  const entry = isMembers(data) ? Object.keys(data)[0] : undefined
  // The text is valid base64, for a Secret.
  if (entry !== undefined) return { data: { [entry]: "ZWRpdGVk" } }
  for (const [name, value] of isMembers(spec) ? Object.entries(spec) : []) {
    if (typeof value === "number") return { spec: { [name]: value + 1 } }
    if (typeof value === "boolean") return { spec: { [name]: !value } }
  }
  return undefined
}
