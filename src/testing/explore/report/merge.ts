/** Joins the reports of searches that share the work of one exploration. The result is the same for every order of them. Pure. */
import type { Failure } from "../failures.ts"
import { type Case, type Kind, kinds, parseCase } from "../perturbation.ts"
import type { Report } from "../search.ts"

/**
 * The report of an exploration, of one search or of several. How many runs were distinct is left out: several searches cannot know which runs of
 * others were equal to theirs.
 */
export type Merged = Omit<Report, "distinct">

/** Reports of one exploration with the same seed. The undisturbed run, which each search repeats, counts once. */
export const merge = (reports: readonly [Merged, ...ReadonlyArray<Merged>]): Merged => {
  const [first] = reports
  const sum = (of: (report: Merged) => number) => reports.reduce((total, report) => total + of(report), 0)
  return {
    name: first.name,
    seed: first.seed,
    problem: reports.find(({ problem }) => problem !== undefined)?.problem,
    undisturbed: first.undisturbed,
    runs: 1 + sum(({ runs }) => runs - 1),
    combinations: sum(({ combinations }) => combinations),
    coverage: coverageOf(reports),
    without: first.without,
    failures: failuresOf(reports.flatMap(({ failures }) => failures)),
    millis: sum(({ millis }) => millis)
  }
}

/** Each search knows all points, and tried some of them. */
const coverageOf = (reports: ReadonlyArray<Merged>): Merged["coverage"] => {
  const all = reports.flatMap(({ coverage }) => coverage)
  return order.flatMap((kind) => {
    const own = all.filter((one) => one.kind === kind)
    if (own.length === 0) return []
    const points = Math.max(...own.map((one) => one.points))
    return [{ kind, points, tried: own.reduce((total, { tried }) => total + tried, 0) }]
  })
}

/** One for each cause: that with the fewest perturbations, and of those the first. */
const failuresOf = (all: ReadonlyArray<Failure>): ReadonlyArray<Failure> => {
  const byCause = new Map<string, Array<Failure>>()
  for (const failure of all) {
    const known = byCause.get(failure.cause)
    if (known === undefined) byCause.set(failure.cause, [failure])
    else known.push(failure)
  }
  const joined: Array<Failure> = []
  for (const same of byCause.values()) {
    const [chosen, ...others] = same.toSorted((a, b) => compare(a.id, b.id))
    if (chosen === undefined) continue
    const ids = new Set(chosen.also)
    for (const { also, id, scenario } of others) for (const one of [named(scenario, id), ...also]) ids.add(one)
    joined.push({ ...chosen, also: [...ids].filter((id) => id !== chosen.id).sort(compare) })
  }
  return joined.sort((a, b) => compare(a.id, b.id) || (a.cause < b.cause ? -1 : 1))
}

/** In a generated scenario the name of a case has that of the scenario before it. */
const named = (scenario: string | undefined, id: string): string => (scenario === undefined ? id : `${scenario}:${id}`)

const caseIn = (name: string): Case => parseCase(name.slice(name.lastIndexOf(":") + 1))

const order = Object.keys(kinds) as ReadonlyArray<Kind>

/** The order in which cases are explored. */
const compare = (a: string, b: string): number => {
  const [left, right] = [caseIn(a), caseIn(b)]
  const more = left.perturbations.length - right.perturbations.length
  if (more !== 0) return more
  for (const [i, one] of left.perturbations.entries()) {
    const other = right.perturbations[i] ?? one
    const difference = order.indexOf(one.kind) - order.indexOf(other.kind) || one.at - other.at
    if (difference !== 0) return difference
  }
  return (left.until ?? 0) - (right.until ?? 0) || (a < b ? -1 : a > b ? 1 : 0)
}
