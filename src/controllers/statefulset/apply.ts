/**
 * What a step asks for, done: one deed after the other in an ordered set, in batches that grow in a parallel one. The phase in which something
 * fails is the last. Source: spec G.8.3.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { StatefulSet } from "../../kube/resources.ts"
import * as SlowStart from "../shared/workload/slowStart.ts"
import * as Claims from "./claims.ts"
import type * as Failed from "./failed.ts"
import * as Metrics from "./metrics.ts"
import type { Deed, Step } from "./plan/step.ts"
import * as Steps from "./plan/step.ts"
import * as Pods from "./pods.ts"
import type { Ports } from "./deps.ts"
import * as Spec from "./spec.ts"

/** So many replicas are worked on at a time, by all syncs together; over HTTP/1.1 each call is a connection. */
const atOnce = 64

/** What syncs share. */
export interface Work {
  readonly ports: Ports
  /** Whether several replicas may be replaced at a time. */
  readonly severalAtOnce: boolean
  readonly permits: Semaphore.Semaphore
}

export const make = (shared: Omit<Work, "permits">): Work => ({ ...shared, permits: Semaphore.makeUnsafe(atOnce) })

/** Answers with the first failure. */
export const carryOut = Effect.fnUntraced(function* (
  work: Work,
  set: StatefulSet,
  step: Step
): Effect.fn.Return<Failed.Failed | undefined> {
  yield* Metrics.asked(step)
  yield* log(step)
  for (const phase of step.phases) {
    const failure = yield* Spec.isOrdered(set) ? inOrder(work, set, phase) : together(work, set, phase)
    if (failure !== undefined) return failure
  }
  return undefined
})

const log = (step: Step): Effect.Effect<void> => {
  const all = Steps.deeds(step)
  if (all.length === 0) return Effect.void
  const count = (tag: Deed["_tag"]): number => all.filter(({ _tag }) => _tag === tag).length
  const counts = { created: count("Create"), deleted: count("Delete"), mended: count("Mend") }
  const told = { ...counts, replicas: all.map(({ ordinal }) => ordinal).join(","), waiting: step.waiting?.for }
  return Effect.annotateLogs(Effect.logDebug("Replicas are brought in order"), told)
}

const inOrder = (work: Work, set: StatefulSet, phase: ReadonlyArray<Deed>): Effect.Effect<Failed.Failed | undefined> =>
  Effect.matchEager(
    Effect.forEach(phase, (deed) => work.permits.withPermit(carry(work.ports, set, deed)), { discard: true }),
    { onSuccess: () => undefined, onFailure: (failure) => failure }
  )

const together = (
  work: Work,
  set: StatefulSet,
  phase: ReadonlyArray<Deed>
): Effect.Effect<Failed.Failed | undefined> => {
  let next = 0
  const call = Effect.suspend(() => {
    const deed = phase[next++]
    return deed === undefined ? Effect.void : work.permits.withPermit(carry(work.ports, set, deed))
  })
  return Effect.map(SlowStart.run(phase.length, call), ({ failure }) => failure?.error)
}

const carry = (ports: Ports, set: StatefulSet, deed: Deed): Effect.Effect<void, Failed.Failed> => {
  switch (deed._tag) {
    case "Create":
      return Pods.create(ports, set, deed)
    case "Mend":
      return Pods.mend(ports, set, deed)
    case "Delete":
      return Pods.remove(ports, set, deed)
    case "Provide":
      return Pods.provide(ports, set, deed)
    case "Disown":
      return Claims.own(ports, { set, ordinal: deed.ordinal }, deed.storage)
  }
}
