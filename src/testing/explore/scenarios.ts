/**
 * Explores a declaration without a scenario: each generated scenario is searched by itself, and checked without faults for what depends on the past.
 * The reports become one, in which failures with the same cause are one failure of the shortest scenario that shows it.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Declared } from "./Exploration.ts"
import { performAll, type Scenario, text } from "./operations/Operation.ts"
import { parseCase } from "./perturbation.ts"
import * as Past from "./operations/past.ts"
import { plan, withScenario } from "./operations/plan.ts"
import { sameFailure, shrink } from "./operations/shrink.ts"
import { type Coverage, now, type Report, search, type Settings as SearchSettings } from "./search.ts"
import type { Failure } from "./failures.ts"

/** Settings of an exploration. */
export interface Settings extends SearchSettings {
  /**
   * Only that generated scenario: `spec.size`, or some of its operations, as a failure names them: `spec.size[1,3]`. Default: all. Needed for
   * `replay` where scenarios are generated.
   */
  readonly scenario?: string | undefined
}

/** More runs than that are not worth a shorter scenario. */
const mostShrinking = 200

export const searchGenerated = Effect.fnUntraced(function* (exploration: Declared, settings: Settings = {}) {
  const { budget, combinations = 0, replay, seed = 1, share = { index: 0, of: 1 } } = settings
  const began = now()
  const deadline = budget === undefined ? Infinity : began + Duration.toMillis(Duration.fromInputUnsafe(budget))
  const generated = yield* plan(exploration, seed)
  const scenarios =
    settings.scenario === undefined ? generated.scenarios : selected(generated.scenarios, settings.scenario)
  const problem = generated.problem ?? problemOf(generated.scenarios, scenarios, settings)
  const feasible = problem === undefined ? scenarios : []
  const found = new Found()
  const past = Past.make(exploration, seed)
  let shrinking = 0
  const isOver = (runs: number) => replay !== undefined || runs >= mostShrinking || now() >= deadline

  const checkPast = Effect.fnUntraced(function* (scenario: Scenario) {
    for (const beginning of replay === undefined ? Past.beginnings(scenario) : [scenario]) {
      const dependence = now() < deadline ? yield* past.after(beginning) : undefined
      if (dependence === undefined || found.addKnown(scenario, { cause: dependence.cause, id: "", also: [] })) continue
      const before = past.runs()
      const { found: same, kept } = yield* shrink(beginning.operations, dependence, {
        again: (operations) =>
          Effect.map(past.after({ ...scenario, operations }), (other) =>
            other?.cause === dependence.cause ? other : undefined
          ),
        isOver: () => isOver(past.runs() - before)
      })
      found.add(part(scenario, kept), ofDependence(same), scenario, [])
    }
  })

  const searchOne = Effect.fnUntraced(function* (scenario: Scenario, own: SearchSettings) {
    const report = yield* search(declaredOf(exploration, scenario), own)
    if (report.problem !== undefined) found.add(scenario, ofProblem(report.problem), scenario, [])
    for (const failure of report.failures) {
      if (found.addKnown(scenario, failure)) continue
      const before = shrinking
      const { found: same, kept } = yield* shrink(scenario.operations, failure, {
        again: (operations) =>
          sameFailure(declaredOf(exploration, { ...scenario, operations }), failure, seed, (runs) => {
            shrinking += runs
          }),
        isOver: () => isOver(shrinking - before),
        until: parseCase(failure.id).until
      })
      found.add(part(scenario, kept), same, scenario, failure.also)
    }
    return report
  })

  // What takes a few runs comes before what takes hundreds.
  const isUndisturbed = replay === undefined || replay.perturbations.length === 0
  if (isUndisturbed && share.index === 0) yield* Effect.forEach(feasible, checkPast)
  const reports: Array<Report> = []
  for (const [i, scenario] of feasible.entries()) {
    const left = deadline - now()
    if (left <= 0) break
    const own = Math.floor(combinations / feasible.length) + (i < combinations % feasible.length ? 1 : 0)
    reports.push(
      yield* searchOne(scenario, { ...settings, combinations: own, ...(budget === undefined ? {} : { budget: left }) })
    )
  }
  return {
    ...merged(exploration, seed, reports),
    problem,
    runs: reports.reduce((sum, { runs }) => sum + runs, shrinking + past.runs()),
    failures: found.all(),
    millis: Math.round(now() - began)
  } satisfies Report
})

const problemOf = (
  all: ReadonlyArray<Scenario>,
  some: ReadonlyArray<Scenario>,
  { replay, scenario }: Settings
): string | undefined => {
  const names = all.map(({ name }) => name).join(", ")
  if (some.length === 0) return `there is no scenario ${scenario}: there are ${names}`
  return replay !== undefined && some.length > 1 ? `a run to repeat needs one of the scenarios ${names}` : undefined
}

const declaredOf = (exploration: Declared, scenario: Scenario): Declared => ({
  ...withScenario(exploration, performAll(scenario)),
  name: `${exploration.name}/${scenario.name}`
})

/** The exploration with one of its generated scenarios; undefined where there is none of that name. */
export const declaredIn = Effect.fnUntraced(function* (exploration: Declared, scenario: string, seed: number) {
  if (exploration.options.scenario !== undefined) return undefined
  const [found] = selected((yield* plan(exploration, seed)).scenarios, scenario)
  return found === undefined ? undefined : declaredOf(exploration, found)
})

/** The scenario that the name means, with some of its operations where it lists them. */
const selected = (scenarios: ReadonlyArray<Scenario>, name: string): ReadonlyArray<Scenario> => {
  const [, whole = name, positions] = /^(.*)\[([0-9]+(?:,[0-9]+)*)\]$/.exec(name) ?? []
  return scenarios
    .filter((one) => one.name === whole)
    .map((one) =>
      positions === undefined
        ? one
        : part(
            one,
            positions.split(",").map((n) => Number(n) - 1)
          )
    )
}

/** Some of the operations, which the name lists unless they are all. */
const part = (scenario: Scenario, kept: ReadonlyArray<number>): Scenario => ({
  ...scenario,
  name:
    kept.length === scenario.operations.length
      ? scenario.name
      : `${scenario.name}[${kept.map((position) => position + 1).join(",")}]`,
  operations: kept.flatMap((position) => scenario.operations[position] ?? [])
})

/** Failures by their cause, each with the first scenario that showed it. */
class Found {
  readonly #byCause = new Map<string, Failure & { readonly also: Array<string> }>()

  /** Notes a further scenario with a cause that is known already; false where it is not. */
  addKnown(scenario: Scenario, { also, cause, id }: Pick<Failure, "also" | "cause" | "id">): boolean {
    const known = this.#byCause.get(cause)
    known?.also.push(...[id, ...also].map((one) => `${scenario.name}:${one}`))
    return known !== undefined
  }

  /** A failure, in the scenario that shows it, and where else it was found in the whole scenario. */
  add(scenario: Scenario, failure: Failure, whole: Scenario, also: ReadonlyArray<string>): void {
    const operations = scenario.operations.map((one, i) => `operation ${i + 1}: ${text(one, scenario)}`)
    this.#byCause.set(failure.cause, {
      ...failure,
      scenario: scenario.name,
      details: [...operations, ...failure.details],
      also: also.map((id) => `${whole.name}:${id}`)
    })
  }

  all(): ReadonlyArray<Failure> {
    return [...this.#byCause.values()]
  }
}

const ofDependence = ({ cause, details, message, outcome }: Past.Dependence): Failure => ({
  id: "",
  rule: "depends on the past",
  cause,
  message,
  details,
  where: [],
  writes: [],
  also: [],
  entries: outcome.entries
})

/** A generated scenario that cannot be explored: for example the controllers never stop writing. */
const ofProblem = (problem: string): Failure => ({
  id: "",
  rule: "scenario",
  cause: `scenario: ${problem}`,
  message: problem,
  details: [],
  where: [],
  writes: [],
  also: [],
  entries: []
})

const merged = ({ name, options }: Declared, seed: number, reports: ReadonlyArray<Report>) => {
  const sum = (count: (report: Report) => number) => reports.reduce((total, report) => total + count(report), 0)
  const coverage = new Map<Coverage["kind"], Coverage>()
  for (const one of reports.flatMap((report) => report.coverage)) {
    const before = coverage.get(one.kind) ?? { points: 0, tried: 0 }
    coverage.set(one.kind, {
      kind: one.kind,
      points: before.points + one.points,
      tried: before.tried + one.tried
    })
  }
  return {
    name,
    seed,
    undisturbed: {
      steps: sum(({ undisturbed }) => undisturbed.steps),
      calls: sum(({ undisturbed }) => undisturbed.calls),
      writes: sum(({ undisturbed }) => undisturbed.writes),
      events: sum(({ undisturbed }) => undisturbed.events),
      runs: sum(({ undisturbed }) => undisturbed.runs)
    },
    combinations: sum(({ combinations }) => combinations),
    distinct: sum(({ distinct }) => distinct),
    coverage: [...coverage.values()],
    without: options.without ?? {}
  }
}
