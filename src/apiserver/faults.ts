/**
 * Bad luck on order: a script of rules that the in-process transport consults on every call. A fault is data, and so can the
 * calls be that it meets, so a property test can generate a script, shrink it and write it down. The server itself knows nothing
 * of them: what a script does to a call, a network, a proxy or an old cache could do to it too.
 */
import * as Schema from "effect/Schema"
import type { Request } from "../layers/Transport.ts"
import { all as kinds } from "./scheme/kinds.ts"

const count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))
const seconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))

/** What happens to a call. */
export const Fault = Schema.Union([
  /** The call starts later. */
  Schema.TaggedStruct("Delay", { millis: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 120_000 })) }),
  /** An answer that the server never gave: 500, 503, 401, 403, … The call is not executed. */
  Schema.TaggedStruct("Status", {
    code: Schema.Literals([400, 401, 403, 404, 409, 415, 422, 429, 500, 502, 503, 504]),
    reason: Schema.optionalKey(Schema.String),
    message: Schema.optionalKey(Schema.String),
    retryAfterSeconds: Schema.optionalKey(seconds)
  }),
  /** 429: the call is not executed. */
  Schema.TaggedStruct("Throttle", { retryAfterSeconds: seconds }),
  /** 409, as if another writer had been faster; the call is not executed. Reads are left alone. */
  Schema.TaggedStruct("Conflict", {}),
  /** The connection is reset before the call reaches the server. */
  Schema.TaggedStruct("Drop", {}),
  /** The call is executed and the connection is reset before the answer arrives. */
  Schema.TaggedStruct("DropAnswer", {}),
  /** A watch ends after so many events: cleanly, by a reset, or (half open) by falling silent for ever. */
  Schema.TaggedStruct("CutWatch", { after: count, how: Schema.Literals(["end", "reset", "silence"]) }),
  /** Every event of a watch arrives twice. */
  Schema.TaggedStruct("DuplicateEvents", {}),
  /** 410: as an ERROR event of a watch after so many events (none unless said), or as the answer to anything else. */
  Schema.TaggedStruct("Gone", { after: Schema.optionalKey(count) }),
  /**
   * A list shows the state of so many revisions ago, as a cache that lags behind does. Only lists that allow it: those at
   * version 0, which accept any state.
   */
  Schema.TaggedStruct("StaleList", { revisions: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })) })
])

export type Fault = typeof Fault.Type

/** Which calls: all that agree in what is said. */
export const Calls = Schema.Struct({
  verb: Schema.optionalKey(
    Schema.Literals(["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"])
  ),
  /** As in `pods`, `deployments.apps` or `deployments.apps/scale`; a built-in kind's group may not be left out. */
  resource: Schema.optionalKey(Schema.String),
  /** The beginning of the path. */
  path: Schema.optionalKey(Schema.String)
})

export type Calls = typeof Calls.Type

/** A rule that is all data: for generators, and for files. */
export const DataRule = Schema.Struct({
  match: Calls,
  fault: Fault,
  /** How many calls it meets before it is used up; for ever when absent. */
  times: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 })))
})

/** A fault and the calls that it meets. */
export interface Rule {
  /** Which calls. */
  readonly match: Calls | ((request: Request) => boolean)
  /** What happens to them. */
  readonly fault: Fault
  /** How many it meets before it is used up; for ever when absent. */
  readonly times?: number
}

/** Whether a call is a watch. */
export const isWatch = (request: Request): boolean => {
  const value = request.query?.["watch"]
  return value === true || value === "true" || value === 1 || value === "1"
}

// Events are of the core, too: what no group is said of is theirs.
const core = new Set(kinds.filter(({ group }) => group === "").map(({ plural }) => plural))
/** Names in full of built-in kinds, by what is left of them without their group. */
const grouped: ReadonlyMap<string, string> = new Map(
  kinds.filter(({ plural }) => !core.has(plural)).map(({ group, plural }) => [plural, `${plural}.${group}`])
)

/**
 * A built-in kind that is named without its group is a mistake: such a rule would meet no call, and the test that has it could not fail. A name
 * that is nobody's may be that of a custom kind that comes later.
 */
const mustBeInFull = (resource: string): void => {
  const [plural = "", ...rest] = resource.split("/")
  const name = grouped.get(plural)
  if (name === undefined) return
  throw new Error(`no call is about "${resource}": in full it is "${[name, ...rest].join("/")}"`)
}

/** A matcher for the usual case, where a function is wanted. Throws when the group of a built-in kind is left out. */
export const on = (what: Calls): ((request: Request) => boolean) => {
  if (what.resource !== undefined) mustBeInFull(what.resource)
  return (request) =>
    (what.verb === undefined || request.context.verb === what.verb) &&
    (what.resource === undefined || request.context.resource === what.resource) &&
    (what.path === undefined || request.path.startsWith(what.path))
}

/** A matcher of all calls. */
export const always = (): boolean => true

/** The rules in force and what is left of them. */
export interface Script {
  /** Replaces all rules; each counts anew. Throws as `on` does, and leaves the rules before in force. */
  readonly set: (rules: ReadonlyArray<Rule>) => void
  /** The faults that meet this call, in the order of the rules; each counts as used. */
  readonly take: (request: Request) => ReadonlyArray<Fault>
}

const none: ReadonlyArray<Fault> = []

/** The script of some rules. */
export const make = (initial: ReadonlyArray<Rule> = []): Script => {
  let rules: Array<{ readonly rule: Rule; readonly meets: (request: Request) => boolean; left: number }> = []
  const set = (next: ReadonlyArray<Rule>): void => {
    rules = next.map((rule) => ({
      rule,
      meets: typeof rule.match === "function" ? rule.match : on(rule.match),
      left: rule.times ?? Number.POSITIVE_INFINITY
    }))
  }
  set(initial)
  return {
    set,
    take: (request) => {
      if (rules.length === 0) return none
      const met = rules.filter((entry) => entry.left > 0 && entry.meets(request))
      for (const entry of met) entry.left--
      return met.map((entry) => entry.rule.fault)
    }
  }
}
