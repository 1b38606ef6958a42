/**
 * Label and field selectors: parsing the query form, matching objects, printing canonically. Pure; an unparsable selector
 * is a value (`Result`), because it may come from a user. Source: apimachinery pkg/labels and pkg/fields.
 */
import * as Result from "effect/Result"
import type { KubeObject } from "./Meta.ts"

/** How a requirement compares. `Gt` and `Lt` compare whole numbers. */
export type Operator = "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt"

/** One condition on a label. */
export interface Requirement {
  /** The label. */
  readonly key: string
  /** How it is compared. */
  readonly operator: Operator
  /** The values to compare with: none for `Exists` and `DoesNotExist`, one for `Gt` and `Lt`. */
  readonly values: ReadonlyArray<string>
}

/** All requirements must hold; none matches everything. */
export type LabelSelector = ReadonlyArray<Requirement>

/** The structured form inside specs. Source: meta/v1 LabelSelector. */
export interface LabelSelectorSpec {
  /** Labels with exactly these values. */
  readonly matchLabels?: Readonly<Record<string, string>> | undefined
  /** Further requirements; all must hold. */
  readonly matchExpressions?:
    | ReadonlyArray<{
        readonly key: string
        readonly operator: string
        readonly values?: ReadonlyArray<string> | undefined
      }>
    | undefined
}

type Labels = Readonly<Record<string, string>> | undefined

/** The selector without requirements, which selects all objects. */
export const everything: LabelSelector = []

/**
 * Whether labels fulfil all requirements. Source: apimachinery labels.Requirement.Matches.
 *
 * @example
 * ```ts
 * const selector = Result.getOrThrow(Selector.parseLabels("app=web,tier notin (cache)"))
 * assert.equal(Selector.matchesLabels(selector, { app: "web" }), true)
 * assert.equal(Selector.matchesLabels(selector, { app: "web", tier: "cache" }), false)
 * ```
 */
export const matchesLabels = (selector: LabelSelector, labels: Labels): boolean =>
  selector.every((requirement) =>
    holds(
      requirement,
      labels !== undefined && Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined
    )
  )

const holds = (requirement: Requirement, value: string | undefined): boolean => {
  switch (requirement.operator) {
    case "In":
      return value !== undefined && requirement.values.includes(value)
    case "NotIn":
      return value === undefined || !requirement.values.includes(value)
    case "Exists":
      return value !== undefined
    case "DoesNotExist":
      return value === undefined
    case "Gt":
    case "Lt": {
      const left = integer(value)
      const right = integer(requirement.values[0])
      if (left === undefined || right === undefined) return false
      return requirement.operator === "Gt" ? left > right : left < right
    }
  }
}

const integer = (text: string | undefined): bigint | undefined =>
  text !== undefined && /^[+-]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, "")) : undefined

/** From the query form: `app=web,tier in (a,b),!legacy,gen>2`. The failure is one sentence that names the part at fault. */
export const parseLabels = (text: string): Result.Result<LabelSelector, string> => {
  const requirements: Array<Requirement> = []
  for (const part of splitOutsideParentheses(text)) {
    const requirement = parseRequirement(part)
    if (requirement === undefined) return Result.fail(`unable to parse requirement: ${JSON.stringify(part)}`)
    requirements.push(requirement)
  }
  return Result.succeed(requirements)
}

/** A trailing or doubled comma is an error, as in Go; the empty string is everything. */
const splitOutsideParentheses = (text: string): Array<string> => {
  if (text.trim() === "") return []
  const parts: Array<string> = []
  let depth = 0
  let start = 0
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (c === "(") depth++
    else if (c === ")") depth--
    else if (c === "," && depth === 0) {
      parts.push(text.slice(start, i).trim())
      start = i + 1
    }
  }
  parts.push(text.slice(start).trim())
  return parts
}

const labelKey = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const labelValue = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/

const comparisons: Readonly<Record<string, Operator>> = { "=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt" }

const parseRequirement = (part: string): Requirement | undefined => {
  const absent = /^!\s*(\S+)$/.exec(part)
  if (absent) return valid({ key: absent[1] ?? "", operator: "DoesNotExist", values: [] })
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(part)
  if (set) {
    const values = (set[3] ?? "").split(",").map((value) => value.trim())
    return valid({ key: set[1] ?? "", operator: set[2] === "in" ? "In" : "NotIn", values })
  }
  const equality = /^([^\s=!<>]+)\s*(==|=|!=|>|<)\s*([^\s=!<>]*)$/.exec(part)
  if (equality) {
    const operator = comparisons[equality[2] ?? ""] ?? "In"
    const values = [equality[3] ?? ""]
    if ((operator === "Gt" || operator === "Lt") && integer(values[0]) === undefined) return undefined
    return valid({ key: equality[1] ?? "", operator, values })
  }
  return valid({ key: part, operator: "Exists", values: [] })
}

const valid = (requirement: Requirement): Requirement | undefined =>
  labelKey.test(requirement.key) && requirement.values.every((value) => labelValue.test(value))
    ? requirement
    : undefined

/**
 * As Go prints a selector in messages: `nil`, or `&LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]…{},}`.
 * Source: meta/v1: LabelSelector.String.
 */
export const goString = (spec: LabelSelectorSpec | undefined): string => {
  if (spec === undefined) return "nil"
  const { matchExpressions = [], matchLabels = {} } = spec
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key]},`)
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`
}

/** From the structured form. An empty selector matches everything; an absent one matches nothing, which the caller has to handle. */
export const fromSpec = (spec: LabelSelectorSpec): Result.Result<LabelSelector, string> => {
  const requirements: Array<Requirement> = []
  for (const key of Object.keys(spec.matchLabels ?? {})) {
    requirements.push({ key, operator: "In", values: [spec.matchLabels?.[key] ?? ""] })
  }
  for (const { key, operator, values = [] } of spec.matchExpressions ?? []) {
    if (operator !== "In" && operator !== "NotIn" && operator !== "Exists" && operator !== "DoesNotExist") {
      return Result.fail(`${JSON.stringify(operator)} is not a valid label selector operator`)
    }
    if ((operator === "In" || operator === "NotIn") === (values.length === 0)) {
      return Result.fail(
        `values of ${JSON.stringify(key)} must ${values.length === 0 ? "not be empty" : "be empty"} for operator ${operator}`
      )
    }
    requirements.push({ key, operator, values })
  }
  return Result.succeed(requirements)
}

/** The query form, requirements sorted by key as Go prints them. */
export const formatLabels = (selector: LabelSelector): string =>
  [...selector]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ key, operator, values }) => {
      switch (operator) {
        case "In":
          return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${[...values].sort().join(",")})`
        case "NotIn":
          return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${[...values].sort().join(",")})`
        case "Exists":
          return key
        case "DoesNotExist":
          return `!${key}`
        case "Gt":
          return `${key}>${values[0]}`
        case "Lt":
          return `${key}<${values[0]}`
      }
    })
    .join(",")

/** One term of a field selector: `metadata.name=a` or `status.phase!=Running`. */
export interface FieldTerm {
  /** `metadata.name`, `spec.nodeName`: a field that the server can select by. */
  readonly field: string
  /** Whether the field must have the value, or must not. */
  readonly equal: boolean
  /** To compare with; never an expression. */
  readonly value: string
}

/** Conditions on fields; all must hold. */
export type FieldSelector = ReadonlyArray<FieldTerm>

/** From the query form; backslash escapes comma, equals sign and backslash. */
export const parseFields = (text: string): Result.Result<FieldSelector, string> => {
  const terms: Array<FieldTerm> = []
  for (const part of text.match(/(?:\\.|[^,\\])+/gs) ?? []) {
    const match = /^((?:\\.|[^=!\\])+?)(!=|==|=)((?:\\.|[^\\])*)$/s.exec(part.trim())
    if (match === null) return Result.fail(`invalid selector: '${part}'; can't understand '${part}'`)
    terms.push({ field: unescape(match[1] ?? ""), equal: match[2] !== "!=", value: unescape(match[3] ?? "") })
  }
  return Result.succeed(terms)
}

const unescape = (text: string): string => text.replace(/\\(.)/gs, "$1")

/** As in a query: `spec.nodeName=worker-1,status.phase!=Failed`. */
export const formatFields = (selector: FieldSelector): string =>
  selector
    .map(({ field, equal, value }) => `${field}${equal ? "=" : "!="}${value.replace(/[\\,=]/g, "\\$&")}`)
    .join(",")

/** `fieldOf` reads a field's text; a field that is absent reads as the empty string, as on the server. */
export const matchesFields = (
  selector: FieldSelector,
  object: KubeObject,
  fieldOf: (object: KubeObject, field: string) => string
): boolean => selector.every(({ field, equal, value }) => (fieldOf(object, field) === value) === equal)
