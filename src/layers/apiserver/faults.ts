/**
 * Bad luck on order: a script of rules that the in-process transport consults on every call. Rules are values, in order;
 * each says which calls it meets, what happens to them and how often. The server itself knows nothing of them.
 */
import type * as Duration from "effect/Duration"
import type { Request } from "../Transport.ts"

export type Fault =
  /** The call starts later. */
  | { readonly _tag: "Delay"; readonly duration: Duration.Input }
  /** An answer that the server never gave: 429, 500, 503, 401, … The call is not executed. */
  | {
      readonly _tag: "Status"
      readonly code: number
      readonly reason?: string
      readonly message?: string
      readonly retryAfterSeconds?: number
    }
  /** The connection is reset before the call reaches the server. */
  | { readonly _tag: "Drop" }
  /** The call is executed and the connection is reset before the answer arrives. */
  | { readonly _tag: "DropAnswer" }
  /** A watch ends after so many events: cleanly, by a reset, or (half open) by falling silent for ever. */
  | { readonly _tag: "CutWatch"; readonly after: number; readonly how: "end" | "reset" | "silence" }
  /** 410: as an ERROR event of a watch after so many events, or as the answer to anything else. */
  | { readonly _tag: "Gone"; readonly after?: number }

export interface Rule {
  readonly match: (request: Request) => boolean
  readonly fault: Fault
  /** How many calls it meets before it is used up; for ever when absent. */
  readonly times?: number
}

export const isWatch = (request: Request): boolean => {
  const value = request.query?.["watch"]
  return value === true || value === "true" || value === 1 || value === "1"
}

/** A matcher for the usual case: verb, resource as in `pods` or `deployments.apps`, or the beginning of the path. */
export const on =
  (what: { readonly verb?: string; readonly resource?: string; readonly path?: string }) =>
  (request: Request): boolean =>
    (what.verb === undefined || request.context.verb === what.verb) &&
    (what.resource === undefined || request.context.resource === what.resource) &&
    (what.path === undefined || request.path.startsWith(what.path))

export const always = (): boolean => true

/** The rules in force and what is left of them. */
export interface Script {
  readonly set: (rules: ReadonlyArray<Rule>) => void
  /** The faults that meet this call, in the order of the rules; each counts as used. */
  readonly take: (request: Request) => ReadonlyArray<Fault>
}

const none: ReadonlyArray<Fault> = []

export const make = (initial: ReadonlyArray<Rule> = []): Script => {
  let rules: Array<{ readonly rule: Rule; left: number }> = []
  const set = (next: ReadonlyArray<Rule>): void => {
    rules = next.map((rule) => ({ rule, left: rule.times ?? Number.POSITIVE_INFINITY }))
  }
  set(initial)
  return {
    set,
    take: (request) => {
      if (rules.length === 0) return none
      const met = rules.filter((entry) => entry.left > 0 && entry.rule.match(request))
      for (const entry of met) entry.left--
      return met.map((entry) => entry.rule.fault)
    }
  }
}
