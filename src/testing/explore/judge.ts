/** What is wrong with a run, compared with the run that has the same operations and no faults. */
import type { KubeObject } from "../../kube/Meta.ts"
import * as Key from "../../kube/Key.ts"
import { type Comparable, describe, differences, type FinalState, finalState, kindOf, touched } from "./finalState.ts"
import type { Outcome } from "./run.ts"
import * as Record from "./record.ts"

/** Which rule a run has broken. */
export type Rule =
  | "defect"
  | "invariant"
  | "stale term"
  | "scenario"
  | "not converged"
  | "depends on the past"
  | "write loop"
  | "leak"
  | "lost edit"
  | "too many writes"
  | "too many runs"

/** One thing that is wrong. */
export interface Verdict {
  readonly rule: Rule
  /** Runs with the same cause fail in the same way: the rule, and what it is about without numbers. */
  readonly cause: string
  /** One sentence. */
  readonly message: string
  readonly details: ReadonlyArray<string>
  /** The objects that it is about: `Deployment.apps default/web`. */
  readonly objects: ReadonlyArray<string>
}

/** What runs are compared with. */
export interface Reference {
  readonly final: FinalState
  readonly outcome: Outcome
  readonly writes: number
  readonly runs: number
  readonly leaks: ReadonlySet<string>
}

export const referenceOf = (outcome: Outcome, comparable: Comparable | undefined): Reference => ({
  outcome,
  final: finalState(outcome.objects, comparable),
  writes: writesOf(outcome.entries).length,
  runs: runsOf(outcome.entries),
  leaks: new Set(leaksOf(outcome.objects).map(({ what }) => what))
})

/** Everything that is wrong, the most specific first. */
export const judge = (
  outcome: Outcome,
  reference: Reference,
  settings: { readonly comparable: Comparable | undefined; readonly hasOwnCheck: boolean }
): ReadonlyArray<Verdict> => [
  ...problems(outcome),
  ...violations(outcome),
  ...scenario(outcome, reference),
  ...lostEdits(outcome),
  ...leaks(outcome, reference),
  ...(settings.hasOwnCheck
    ? ownCheck(outcome)
    : [...final(outcome, reference, settings.comparable), ...silence(outcome, reference)]),
  ...bounded(outcome, reference)
]

const verdict = (
  rule: Rule,
  about: string,
  message: string,
  details: ReadonlyArray<string> = [],
  objects: ReadonlyArray<string> = []
): Verdict => ({ rule, cause: `${rule}: ${about}`, message, details, objects })

const problems = ({ entries, kinds }: Outcome): ReadonlyArray<Verdict> =>
  entries.flatMap((entry) => {
    if (entry.type === "run" && entry.outcome === "Defect") {
      const message = `${entry.controller} died in the run of ${entry.key}: ${entry.error ?? ""}`
      return [
        verdict(
          "defect",
          `${entry.controller} ${entry.error ?? ""}`,
          message,
          [],
          [`${kinds.get(entry.resource ?? "")} ${entry.key}`]
        )
      ]
    }
    return entry.type === "problem" ? [ofProblem(entry)] : []
  })

/** Each with the write that broke it. */
const violations = ({ entries, violations: found }: Outcome): ReadonlyArray<Verdict> =>
  found.map(({ invariant, message, revision }) => {
    const by = entries.find((entry) => (entry.type === "call" || entry.type === "other") && entry.revision === revision)
    const name = by?.type === "call" ? Record.nameOf(by) : by?.type === "other" ? `${by.verb} ${by.path}` : undefined
    return verdict("invariant", invariant, `${invariant}: ${message}`, name === undefined ? [] : [`broken by ${name}`])
  })

const ofProblem = ({ kind, message }: Record.Problem): Verdict => {
  switch (kind) {
    case "stale term":
      return verdict("stale term", message, message)
    case "endless":
      return verdict("write loop", "endless", message)
    case "failed":
      return verdict("defect", message, `the process ended by itself: ${message}`)
  }
}

const scenario = ({ scenarioError }: Outcome, reference: Reference): ReadonlyArray<Verdict> =>
  scenarioError === undefined || scenarioError === reference.outcome.scenarioError
    ? []
    : [verdict("scenario", scenarioError, `a step of the scenario failed: ${scenarioError}`)]

/** The annotation that a user has written must still be there, if the object is. */
const lostEdits = ({ edits, objects }: Outcome): ReadonlyArray<Verdict> =>
  edits.flatMap(({ entry, uid }) => {
    const object = objects.find(({ metadata }) => metadata.uid === uid)
    if (object === undefined || object.metadata.annotations?.[touched] !== undefined) return []
    const message = `the annotation that a user had written to ${object.kind} ${Key.of(object)} just before ${Record.nameOf(entry)} is gone`
    return [
      verdict("lost edit", `${entry.verb} ${entry.resource}`, message, [], [`${kindOf(object)} ${Key.of(object)}`])
    ]
  })

interface Leak {
  readonly what: string
  readonly object: string
  readonly message: string
}

/** Objects whose owners are all gone, and objects that wait for a finalizer. */
const leaksOf = (objects: ReadonlyArray<KubeObject>): ReadonlyArray<Leak> => {
  const uids = new Set(objects.map(({ metadata }) => metadata.uid))
  return objects.flatMap((object) => {
    const { deletionTimestamp, finalizers = [], ownerReferences = [] } = object.metadata
    const key = Key.of(object)
    const name = `${kindOf(object)} ${key}`
    if (deletionTimestamp !== undefined && finalizers.length > 0) {
      const message = `${object.kind} ${key} is being deleted and still has the finalizers ${finalizers.join(", ")}`
      return [{ what: `${object.kind} finalizers`, object: name, message }]
    }
    return ownerReferences.length > 0 && ownerReferences.every(({ uid }) => !uids.has(uid))
      ? [{ what: `${object.kind} owner`, object: name, message: `${object.kind} ${key} is left without its owner` }]
      : []
  })
}

const leaks = ({ objects }: Outcome, reference: Reference): ReadonlyArray<Verdict> =>
  leaksOf(objects)
    .filter(({ what }) => !reference.leaks.has(what))
    .map(({ message, object, what }) => verdict("leak", what, message, [], [object]))

const final = (outcome: Outcome, reference: Reference, comparable: Comparable | undefined): ReadonlyArray<Verdict> => {
  const found = differences(reference.final, finalState(outcome.objects, comparable))
  const [first] = found
  if (first === undefined) return []
  const about = `${first.object.split(" ")[0]} ${first.path === "" ? (first.actual === undefined ? "missing" : "left over") : first.path.replaceAll(/\d+/g, "*")}`
  const objects = [...new Set(found.map(({ object }) => object))]
  return [verdict("not converged", about, describe(first), found.slice(1).map(describe), objects)]
}

const ownCheck = ({ notConverged }: Outcome): ReadonlyArray<Verdict> =>
  notConverged === undefined ? [] : [verdict("not converged", notConverged.replaceAll(/\d+/g, "*"), notConverged)]

/** The writes of the controllers, those included that were refused or have changed nothing. */
const writesOf = (entries: ReadonlyArray<Record.Entry>): ReadonlyArray<Record.Call> =>
  entries.filter((entry): entry is Record.Call => entry.type === "call" && entry.write !== undefined)

const runsOf = (entries: ReadonlyArray<Record.Entry>): number => entries.filter(({ type }) => type === "run").length

const silence = ({ converged, entries }: Outcome, reference: Reference): ReadonlyArray<Verdict> => {
  const after = writesOf(entries.slice(converged))
  const expected = writesOf(reference.outcome.entries.slice(reference.outcome.converged))
  const [first] = after
  if (first === undefined || after.length <= expected.length) return []
  return [
    verdict(
      "write loop",
      `${first.verb} ${first.resource}`,
      `after the cluster had time to converge, the controllers made ${after.length} writes, first ${Record.subjectOf(first)}`
    )
  ]
}

/** Three times as much as without faults is no sign of a mistake, nor are retries with backoff while a cache lags: 13 in 30 s. */
const bounded = ({ case: { perturbations }, entries }: Outcome, reference: Reference): ReadonlyArray<Verdict> => {
  const writes = writesOf(entries).length
  const runs = runsOf(entries)
  const faults = Math.max(perturbations.length, 1)
  const mostWrites = 3 * reference.writes + 20 * faults
  const mostRuns = 5 * reference.runs + 100 * faults
  return [
    ...(writes > mostWrites
      ? [verdict("too many writes", "", `${writes} writes, and ${reference.writes} without faults`)]
      : []),
    ...(runs > mostRuns ? [verdict("too many runs", "", `${runs} runs, and ${reference.runs} without faults`)] : [])
  ]
}
