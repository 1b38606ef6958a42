/**
 * Whether what a controller brings about depends on what the user wanted before: after changes of an object the cluster must be as if the object had
 * been created in its last form. Source: the differential oracle of Acto (Gu et al., SOSP 2023).
 */
import * as Effect from "effect/Effect"
import type { KubeObject } from "../../../kube/Meta.ts"
import type * as Resource from "../../../kube/Resource.ts"
import { isMembers } from "../../../kube/structural/StructuralSchema.ts"
import type { Declared } from "../Exploration.ts"
import { describe, type Difference, differences, type FinalState, finalState } from "../finalState.ts"
import { type Outcome, run } from "../run.ts"
import { type Operation, performAll, type Scenario, wanted } from "./Operation.ts"
import { withScenario } from "./plan.ts"

/** Objects that differ because of the past. */
export interface Dependence {
  readonly scenario: Scenario
  /** The same for the same difference after other operations. */
  readonly cause: string
  readonly message: string
  readonly details: ReadonlyArray<string>
  readonly outcome: Outcome
}

export interface Past {
  /** The difference after all operations, if there is one. */
  readonly after: (scenario: Scenario) => Effect.Effect<Dependence | undefined>
  /** How many runs there were. */
  readonly runs: () => number
}

export const make = (exploration: Declared, seed: number): Past => {
  let runs = 0
  const fresh = new Map<string, Outcome>()
  const outcomeOf = Effect.fnUntraced(function* (scenario: Scenario) {
    runs++
    return yield* run(withScenario(exploration, performAll(scenario)), { perturbations: [] }, { seed })
  })
  const created = Effect.fnUntraced(function* (scenario: Scenario, object: KubeObject) {
    const id = JSON.stringify([scenario.resource.id, object])
    const known = fresh.get(id)
    if (known !== undefined) return known
    const outcome = yield* outcomeOf({ ...scenario, operations: [{ _tag: "Create", object }] })
    fresh.set(id, outcome)
    return outcome
  })
  const after: Past["after"] = Effect.fnUntraced(function* (scenario) {
    const object = wanted(scenario.operations)
    if (object === undefined) return undefined
    const expected = yield* created(scenario, object)
    const outcome = yield* outcomeOf(scenario)
    // A controller that reports an error may leave everything as it is.
    if (isFailing(expected) || isFailing(outcome)) return undefined
    const stateOf = comparedOf(exploration, scenario)
    const found = differences(stateOf(expected.objects), stateOf(outcome.objects))
    const [first] = found
    if (first === undefined) return undefined
    return {
      scenario,
      cause: `depends on the past: ${aboutOf(first)}`,
      message: `${describe(first)}, compared with a cluster where the object was created in its last form`,
      details: found.slice(1).map(describe),
      outcome
    } satisfies Dependence
  })
  return { after, runs: () => runs }
}

const aboutOf = ({ actual, object, path }: Difference): string => {
  const what = path === "" ? (actual === undefined ? "missing" : "left over") : path.replaceAll(/\d+/g, "*")
  return `${object.split(" ")[0]} ${what}`
}

const errors = new Set(["Failed", "Terminal", "GaveUp", "Defect", "Timeout"])

/** Whether the last run of some key failed, or the controllers never stop writing. */
const isFailing = ({ converged, entries }: Outcome): boolean => {
  const last = new Map<string, string>()
  for (const entry of entries) if (entry.type === "run") last.set(`${entry.controller} ${entry.key}`, entry.outcome)
  return (
    [...last.values()].some((outcome) => errors.has(outcome)) ||
    entries.slice(converged).some((entry) => entry.type === "call" && entry.write !== undefined)
  )
}

/** Grants that change an object. */
const writes = new Set<string>(["create", "update", "patch"])

/**
 * Only what the explored controllers are responsible for: others may keep a history, such as ReplicaSets of earlier templates. All objects take part in
 * the final state, which names what is referred to by them.
 */
const comparedOf = ({ options }: Declared, { resource }: Scenario) => {
  const granted = (subresource: string) =>
    options.controllers
      .flatMap(({ access }) => access)
      .filter((one) => writes.has(one.grant) && one.subresource === subresource)
      .map((one) => nameOf(one.resource))
  const compared = new Set([nameOf(resource), ...granted("")])
  const withStatus = new Set([nameOf(resource), ...granted("status")])
  return (objects: ReadonlyArray<KubeObject>): FinalState => {
    const state = finalState(objects, options.comparable)
    return new Map(
      [...state].flatMap(([id, object]) => {
        const [name = ""] = id.split(" ")
        return compared.has(name) ? [[id, current(object as KubeObject, withStatus.has(name))] as const] : []
      })
    )
  }
}

/** `Deployment.apps`, as a final state has it. */
const nameOf = ({ group, kind }: Resource.AnyCreatable): string => (group === "" ? kind : `${kind}.${group}`)

/** The number of the template, which the Deployment controller counts. */
const revision = "deployment.kubernetes.io/revision"

/** The object without what others count and without what is empty, which is the same as absent. */
const current = (object: KubeObject, hasStatus: boolean): KubeObject => {
  const { metadata, status, ...rest } = object as KubeObject & { readonly status?: unknown }
  const { [revision]: _, ...annotations } = metadata.annotations ?? {}
  return withoutEmpty({
    ...rest,
    metadata: { ...metadata, annotations },
    ...(hasStatus && status !== undefined ? { status } : {})
  }) as KubeObject
}

const withoutEmpty = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (!isMembers(value)) return value
  const entries = Object.entries(value).map(([name, one]) => [name, withoutEmpty(one)] as const)
  return Object.fromEntries(entries.filter(([, one]) => !isEmpty(one)))
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  (Array.isArray(value) ? value.length === 0 : isMembers(value) && Object.keys(value).length === 0)

/** The beginnings of a scenario that end with a change. */
export const beginnings = (scenario: Scenario): ReadonlyArray<Scenario> =>
  scenario.operations.flatMap((operation, i) =>
    operation._tag === "Change" && scenario.operations.slice(0, i + 1).every(isOfUser)
      ? [{ ...scenario, operations: scenario.operations.slice(0, i + 1) }]
      : []
  )

/** What other users change is not taken back. */
const isOfUser = ({ _tag }: Operation): boolean => _tag === "Create" || _tag === "Change"
