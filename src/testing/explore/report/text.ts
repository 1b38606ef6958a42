/** A report for a terminal. */
import type { Failure } from "../failures.ts"
import type { Report } from "../search.ts"

export const text = (report: Report): string => {
  const { failures, name, problem, runs } = report
  if (problem !== undefined) return `${name} cannot be explored: ${problem}`
  return [
    `${name}: ${failures.length} failures in ${runs} runs`,
    ...failures.map((failure) => ofFailure(name, failure))
  ].join("\n\n")
}

const ofFailure = (name: string, { details, id, message, rule, scenario, where, writes }: Failure): string =>
  [
    `${rule}: ${message}`,
    ...details.map((detail) => `  ${detail}`),
    ...where.map((one) => `  at ${one}`),
    ...writes.map((one) => `  ${one}`),
    `  repeat it with: explore --replay '${name}${scenario === undefined ? "" : `/${scenario}`}:${id}'`
  ].join("\n")
