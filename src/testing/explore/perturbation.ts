/**
 * What can be made to happen to a controller at one point of a run: a process ends, a response is lost, a cache lags, a user edits an object
 * between a read and a write. A perturbation is data, named by its kind and its point: `crash@write#7`.
 */
import * as Data from "effect/Data"

/** What the number of a perturbation counts: writes of the controllers, their calls, events that they received, steps of the scenario. */
export type Point = "write" | "call" | "event" | "step"

/** The kinds, in the order in which they are explored: at which points, and what happens there. */
export const kinds = {
  crash: { at: "write", does: "the process ends after the write, and another one starts" },
  "crash-before": { at: "write", does: "the process ends before the write is sent, and another one starts" },
  lost: { at: "write", does: "the write is executed, and its response is lost" },
  conflict: { at: "call", does: "the call fails with a conflict" },
  throttled: { at: "call", does: "the call fails with 429 Too Many Requests" },
  error: { at: "call", does: "the call fails with 500 Internal Server Error" },
  timeout: { at: "call", does: "the call is not executed, and times out" },
  late: { at: "event", does: "the event and those of its kind after it arrive 100 ms later" },
  lag: { at: "event", does: "the event and those of its kind after it arrive 30 s later" },
  relist: { at: "event", does: "the watch ends before the event, and the kind is listed again" },
  gap: { at: "event", does: "the watch delivers nothing for 30 s from the event on, then the kind is listed again" },
  "travel-1": { at: "write", does: "the process ends, and the next one reads a cache that lags by 1 write for 30 s" },
  "travel-2": { at: "write", does: "the process ends, and the next one reads a cache that lags by 2 writes for 30 s" },
  "travel-4": { at: "write", does: "the process ends, and the next one reads a cache that lags by 4 writes for 30 s" },
  touch: { at: "write", does: "a user annotates the object just before the write" },
  delete: { at: "write", does: "a user deletes the object just before the write" },
  handoff: {
    at: "write",
    does: "leadership is lost while the write is on its way; it arrives 2 s after another process leads"
  },
  "jump-ahead": { at: "step", does: "the wall clock jumps ahead by an hour before the step" },
  "jump-back": { at: "step", does: "the wall clock jumps back by an hour before the step" }
} as const satisfies Readonly<Record<string, { readonly at: Point; readonly does: string }>>

/** The name of a kind. */
export type Kind = keyof typeof kinds

/** One perturbation. Points are counted from 1. */
export interface Perturbation {
  readonly kind: Kind
  readonly at: number
}

/** Its name: `crash@write#7`. */
export const idOf = ({ at, kind }: Perturbation): string => `${kind}@${kinds[kind].at}#${at}`

/** What happens in one run. */
export interface Case {
  /** None: the undisturbed run. */
  readonly perturbations: ReadonlyArray<Perturbation>
  /** The scenario ends after that step, so that no later one covers up what went wrong. Undefined: all of it. */
  readonly until?: number | undefined
}

/** Its name: `crash@write#7`, `lost@write#2+conflict@call#9`; `crash@write#7~2` where the scenario ends after its second step. */
export const nameOf = ({ perturbations, until }: Case): string =>
  perturbations.map(idOf).join("+") + (until === undefined ? "" : `~${until}`)

/** A name of a case cannot be read. */
export class InvalidCase extends Data.TaggedError("InvalidCase")<{ readonly message: string }> {}

/** Reads what {@link nameOf} writes. Throws {@link InvalidCase}. */
export const parseCase = (name: string): Case => {
  const [, all = "", until] = /^([^~]*)(?:~([1-9][0-9]{0,8}))?$/.exec(name) ?? [name, name]
  return {
    perturbations: all === "" ? [] : all.split("+").map(parse),
    ...(until === undefined ? {} : { until: Number(until) })
  }
}

const parse = (text: string): Perturbation => {
  const [, kind = "", point = "", at = ""] = /^([a-z0-9-]+)@(write|call|event|step)#([0-9]{1,9})$/.exec(text) ?? []
  if (!isKind(kind) || kinds[kind].at !== point || Number(at) < 1) {
    throw new InvalidCase({
      message: `${JSON.stringify(text)} is no perturbation: one is crash@write#1, and the kinds are ${Object.keys(kinds).join(", ")}`
    })
  }
  return { kind, at: Number(at) }
}

const isKind = (text: string): text is Kind => Object.hasOwn(kinds, text)
