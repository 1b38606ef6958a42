/**
 * A report for continuous integration, as JUnit XML: a suite for each exploration, with a test case for whether it could be explored and one for each
 * rule, so that the names of test cases do not depend on what fails. Source: the schema of Jenkins' xUnit plugin, junit-10.xsd. Pure.
 */
import { printable } from "../../../kube/printable.ts"
import type { Rule } from "../judge.ts"
import type { Failure } from "../failures.ts"
import type { Explored } from "./json.ts"
import { ofFailure, summaryOf } from "./text.ts"

/** A text with a final line feed. */
export const junit = (explored: ReadonlyArray<Explored>): string =>
  ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", ...explored.map(suite), "</testsuites>", ""].join("\n")

const rules = Object.keys({
  defect: true,
  invariant: true,
  "stale term": true,
  scenario: true,
  "not converged": true,
  "write loop": true,
  leak: true,
  "depends on the past": true,
  "lost edit": true,
  "too many writes": true,
  "too many runs": true
} satisfies Readonly<Record<Rule, true>>) as ReadonlyArray<Rule>

interface Fault {
  readonly element: "error" | "failure"
  readonly type: string
  readonly message: string
  readonly text: string
}

const suite = ({ file, report }: Explored): string => {
  const { failures, millis, name, problem } = report
  const seconds = (millis / 1000).toFixed(3)
  const error: Fault | undefined =
    problem === undefined ? undefined : { element: "error", type: "problem", message: problem, text: problem }
  const found = rules.map((rule) => ({ rule, own: failures.filter((one) => one.rule === rule) }))
  const failing = found.filter(({ own }) => own.length > 0).length
  const testcase = (title: string, time: string, fault: Fault | undefined): string => {
    const head = `    <testcase classname="${attribute(file)}" name="${attribute(`${name}: ${title}`)}" time="${time}"`
    if (fault === undefined) return `${head}/>`
    const { element, message, text, type } = fault
    const opening = `<${element} type="${attribute(type)}" message="${attribute(message)}">`
    return `${head}>\n      ${opening}${content(text)}</${element}>\n    </testcase>`
  }
  const faultOf = (rule: Rule, own: ReadonlyArray<Failure>): Fault | undefined =>
    own[0] === undefined
      ? undefined
      : {
          element: "failure",
          type: rule,
          message: own.length === 1 ? own[0].message : `${own.length} failures: ${own[0].message}`,
          text: own.map((failure, i) => ofFailure(report, failure, i + 1)).join("\n\n")
        }
  return [
    `  <testsuite name="${attribute(name)}" tests="${1 + rules.length}" failures="${failing}" errors="${error === undefined ? 0 : 1}" time="${seconds}">`,
    testcase("can be explored", seconds, error),
    ...found.map(({ own, rule }) => testcase(rule, "0.000", faultOf(rule, own))),
    ...(problem === undefined ? [`    <system-out>${content(summaryOf(report))}</system-out>`] : []),
    "  </testsuite>"
  ].join("\n")
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;"
}

/** XML 1.0 has no way to write control characters, lone surrogates and U+FFFE and U+FFFF: they are shown as escapes of JSON. */
const content = (text: string): string =>
  printable(text)
    .replaceAll(/[\ufffe\uffff]|\p{Cs}/gu, (one) => `\\u${one.charCodeAt(0).toString(16)}`)
    .replaceAll(/[&<>"']/g, (one) => entities[one] ?? "")

/** Line feeds and tabs of attributes become blanks when they are read, so they are written as references. */
const attribute = (text: string): string => content(text).replaceAll("\n", "&#10;").replaceAll("\t", "&#9;")
