/**
 * Fault injection: a script of rules that the in-process transport applies to each call. Faults and matchers are data, so a property
 * test can generate, shrink and record a script. The server is unaware of them: each fault is one that a network, a proxy or a stale
 * cache could cause.
 */
import * as Schema from "effect/Schema"
import type { Request } from "../layers/Transport.ts"
import { all as kinds } from "./scheme/resources.ts"

const count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))
const seconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))

/** What happens to a call: as data, so that generators can create and shrink it. */
export const Fault = Schema.Union([
  /** Delays the call. */
  Schema.TaggedStruct("Delay", { millis: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 120_000 })) }),
  /** A response that does not come from the server: 500, 503, 401, 403, … The call is not executed. */
  Schema.TaggedStruct("Status", {
    code: Schema.Literals([400, 401, 403, 404, 409, 415, 422, 429, 500, 502, 503, 504]),
    reason: Schema.optionalKey(Schema.String),
    message: Schema.optionalKey(Schema.String),
    retryAfterSeconds: Schema.optionalKey(seconds)
  }),
  /** 429: the call is not executed. */
  Schema.TaggedStruct("Throttle", { retryAfterSeconds: seconds }),
  /** 409, as if another writer had been faster; the call is not executed. Does not affect reads. */
  Schema.TaggedStruct("Conflict", {}),
  /** The connection is reset before the call reaches the server. */
  Schema.TaggedStruct("Drop", {}),
  /** The call is executed and the connection is reset before the answer arrives. */
  Schema.TaggedStruct("DropAnswer", {}),
  /** Ends a watch after so many events: cleanly, by a reset, or (half open) without any further event. */
  Schema.TaggedStruct("CutWatch", { after: count, how: Schema.Literals(["end", "reset", "silence"]) }),
  /** Every event of a watch arrives twice. */
  Schema.TaggedStruct("DuplicateEvents", {}),
  /** 410: as an ERROR event of a watch after so many events (none by default), or as the answer to anything else. */
  Schema.TaggedStruct("Gone", { after: Schema.optionalKey(count) }),
  /**
   * A list returns the state of so many revisions ago, as from a cache that lags behind. Affects only lists that allow it: those with
   * resourceVersion 0.
   */
  Schema.TaggedStruct("StaleList", { revisions: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })) })
])

export type Fault = typeof Fault.Type

/** Matches the calls that agree in all given members. */
export const Calls = Schema.Struct({
  verb: Schema.optionalKey(
    Schema.Literals(["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"])
  ),
  /** As in `pods`, `deployments.apps` or `deployments.apps/scale`; the group of a built-in resource is required. */
  resource: Schema.optionalKey(Schema.String),
  /** The beginning of the path. */
  path: Schema.optionalKey(Schema.String)
})

export type Calls = typeof Calls.Type

/** A rule that is plain data, for generators and files. */
export const DataRule = Schema.Struct({
  match: Calls,
  fault: Fault,
  /** How many calls it affects before it is used up; unlimited when absent. */
  times: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 })))
})

/** A fault and the calls that it affects. */
export interface Rule {
  /** The calls. */
  readonly match: Calls | ((request: Request) => boolean)
  /** The fault. */
  readonly fault: Fault
  /** How many calls it affects before it is used up; unlimited when absent. */
  readonly times?: number
}

/** Whether a call is a watch. */
export const isWatch = (request: Request): boolean => {
  const value = request.query?.["watch"]
  return value === true || value === "true" || value === 1 || value === "1"
}

// Events exist in the core group too: a resource name without a group means the core one.
const core = new Set(kinds.filter(({ group }) => group === "").map(({ plural }) => plural))
/** Qualified names of built-in resources, by their plural. */
const grouped: ReadonlyMap<string, string> = new Map(
  kinds.filter(({ plural }) => !core.has(plural)).map(({ group, plural }) => [plural, `${plural}.${group}`])
)

/**
 * A built-in resource without its group is a mistake: the rule would match no call, and the test that has it could not fail. An unknown
 * name may be that of a custom resource that is installed later.
 */
const requireGroup = (resource: string): void => {
  const [plural = "", ...rest] = resource.split("/")
  const name = grouped.get(plural)
  if (name === undefined) return
  throw new Error(`no call is about "${resource}": in full it is "${[name, ...rest].join("/")}"`)
}

/** A matcher as a function. Throws when the group of a built-in resource is missing. */
export const on = (what: Calls): ((request: Request) => boolean) => {
  if (what.resource !== undefined) requireGroup(what.resource)
  return (request) =>
    (what.verb === undefined || request.context.verb === what.verb) &&
    (what.resource === undefined || request.context.resource === what.resource) &&
    (what.path === undefined || request.path.startsWith(what.path))
}

/** A matcher of all calls. */
export const always = (): boolean => true

/** The present rules, with the remaining uses of each. */
export interface Script {
  /** Replaces all rules and resets their counts. Throws as `on` does, and keeps the previous rules then. */
  readonly set: (rules: ReadonlyArray<Rule>) => void
  /** The faults that affect this call, in the order of the rules; each use is counted. */
  readonly take: (request: Request) => ReadonlyArray<Fault>
}

const none: ReadonlyArray<Fault> = []

/** A script with these rules. */
export const make = (initial: ReadonlyArray<Rule> = []): Script => {
  let rules: Array<{ readonly rule: Rule; readonly matches: (request: Request) => boolean; left: number }> = []
  const set = (next: ReadonlyArray<Rule>): void => {
    rules = next.map((rule) => ({
      rule,
      matches: typeof rule.match === "function" ? rule.match : on(rule.match),
      left: rule.times ?? Number.POSITIVE_INFINITY
    }))
  }
  set(initial)
  return {
    set,
    take: (request) => {
      if (rules.length === 0) return none
      const matched = rules.filter((entry) => entry.left > 0 && entry.matches(request))
      for (const entry of matched) entry.left--
      return matched.map((entry) => entry.rule.fault)
    }
  }
}
