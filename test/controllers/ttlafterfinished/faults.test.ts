/**
 * Fault injection for the TTL controller: while requests fail, the cache lags and the process is killed, a Job is deleted only when its TTL has expired
 * in the API server, no new Job of the same name is deleted, and in the end every expired Job is deleted.
 */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as TtlAfterFinished from "../../../src/controllers/TtlAfterFinished.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { Job } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type * as Faults from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import type { Request } from "../../../src/layers/Transport.ts"
import { leaderLost } from "../../support/cluster.ts"
import { Crash, faultOf, inBackground, Lag, lagging } from "../../support/faultSteps.ts"
import { checkSequences } from "../../support/property.ts"
import { runs, seed } from "../../support/runs.ts"
import * as Harness from "../job/harness.ts"

const Name = Schema.Literals(["a", "b"])

/** A Job finishes, and before the controller deletes it, a user extends its TTL or recreates it. */
const Race = Schema.TaggedStruct("Race", {
  name: Name,
  fault: Schema.Literals(["none", "Forbidden", "Delay"]),
  next: Schema.Literals(["Nothing", "Ttl", "Replace"]),
  millis: Schema.Literals([0, 1000])
})

const Step = Schema.Union([
  Schema.TaggedStruct("Make", { name: Name, ttl: Schema.UndefinedOr(Schema.Literals([0, 1, 30])) }),
  Schema.TaggedStruct("End", { name: Name, how: Schema.Literals(["Complete", "Failed"]) }),
  Schema.TaggedStruct("Ttl", { name: Name, seconds: Schema.Literals([0, 1, 30, 3600]) }),
  Race,
  Race,
  /** A user deletes and recreates the Job. */
  Schema.TaggedStruct("Replace", { name: Name }),
  Schema.TaggedStruct("Fault", {
    fault: Schema.Literals(["Delay", "Drop", "DropAnswer", "Forbidden"]),
    times: Schema.Literals([1, 2, 3])
  }),
  Crash,
  Schema.TaggedStruct("Pass", { seconds: Schema.Literals([0, 1, 5, 40]) })
])

type Step = typeof Step.Type

const History = Schema.Struct({
  lag: Lag,
  steps: Schema.Array(Step).check(Schema.isMaxLength(12))
})

type History = typeof History.Type

/** A delay applies to deletions, so that the Job can change between the controller's read and its deletion. */
const ruleOf = (fault: "Delay" | "Drop" | "DropAnswer" | "Forbidden", times: number): Faults.Rule => {
  if (fault === "Delay")
    return {
      match: (call) => isOurs(call) && call.context.verb === "delete",
      fault: { _tag: fault, millis: 2000 },
      times
    }
  return { match: isOurs, fault: faultOf(fault), times }
}

/** Whether the request is the controller's: users of this test do not read, and delete with background propagation. */
const isOurs = ({ body, context: { resource, verb } }: Request): boolean =>
  resource === "jobs.batch" &&
  (verb === "get" ||
    (verb === "delete" && (body as { readonly propagationPolicy?: string }).propagationPolicy !== "Background"))

const target = (name: string) => ({ namespace: "default", name })

/** The uids of the Jobs that were created and have not finished, by name: they must not be deleted. */
type Unfinished = Map<string, string | undefined>

const make = (unfinished: Unfinished, name: string, ttl: number | undefined) =>
  Effect.flatMap(KubeClient, (client) =>
    Effect.map(
      client.create(Job, Harness.job(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }, { name }) as never),
      ({ metadata }) => unfinished.set(name, metadata.uid)
    )
  )

const finish = Effect.fnUntraced(function* (unfinished: Unfinished, name: string, how: "Complete" | "Failed") {
  unfinished.delete(name)
  const at = Time.format(yield* Clock.currentTimeMillis)
  const client = yield* KubeClient
  yield* inBackground(
    client.patch(Job, { ...target(name), subresource: "status" }, Patch.merge(Harness.ended(how, at)))
  )
})

const change = (name: string, seconds: number) =>
  Effect.flatMap(KubeClient, (client) =>
    inBackground(client.patch(Job, target(name), Patch.merge({ spec: { ttlSecondsAfterFinished: seconds } })))
  )

const replace = Effect.fnUntraced(function* (unfinished: Unfinished, name: string) {
  unfinished.delete(name)
  const client = yield* KubeClient
  const deletion = Effect.ignore(client.delete(Job, target(name), { propagationPolicy: "Background" }))
  yield* inBackground(Effect.andThen(deletion, make(unfinished, name, 0)))
})

const take = Effect.fnUntraced(function* (
  step: Exclude<Step, { readonly _tag: "Crash" }>,
  unfinished: Unfinished,
  always: ReadonlyArray<Faults.Rule>
) {
  const cluster = yield* ClusterTest
  switch (step._tag) {
    case "Make":
      return yield* inBackground(make(unfinished, step.name, step.ttl))
    case "End":
      return yield* finish(unfinished, step.name, step.how)
    case "Ttl":
      return yield* change(step.name, step.seconds)
    case "Replace":
      return yield* replace(unfinished, step.name)
    case "Race":
      yield* replace(unfinished, step.name)
      yield* cluster.settle
      yield* (yield* ApiServer).setFaults([...always, ...(step.fault === "none" ? [] : [ruleOf(step.fault, 1)])])
      yield* finish(unfinished, step.name, "Failed")
      yield* cluster.advance(step.millis)
      if (step.next === "Ttl") yield* change(step.name, 3600)
      if (step.next === "Replace") yield* replace(unfinished, step.name)
      return yield* cluster.advance("3 seconds")
    case "Fault":
      return yield* (yield* ApiServer).setFaults([...always, ruleOf(step.fault, step.times)])
    case "Pass":
      return yield* cluster.advance(`${step.seconds} seconds`)
  }
})

/** Whether the TTL of the stored Job has expired. */
const isExpired = ({ metadata, spec, status }: Job, now: number): boolean => {
  const end = status?.conditions?.find(({ type }) => type === "Complete" || type === "Failed")
  const at = Time.parse(end?.lastTransitionTime)
  const ttl = spec?.ttlSecondsAfterFinished
  return metadata.deletionTimestamp === undefined && at !== undefined && ttl !== undefined && at + ttl * 1000 <= now
}

/** Returns all violations. */
const play = (history: History) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    const clock = yield* TestClock.testClockWith(Effect.succeed)
    const violations: Array<string> = []
    const unfinished: Unfinished = new Map()
    /** Checks each deletion that the controller sends and whose precondition holds. No time passes between this check and the deletion. */
    const checkDeletions: Faults.Rule = {
      match: ({ body, context: { name, resource, verb } }) => {
        const { preconditions, propagationPolicy } = (body ?? {}) as {
          readonly preconditions?: { readonly uid?: string }
          readonly propagationPolicy?: string
        }
        if (resource !== "jobs.batch" || verb !== "delete" || propagationPolicy === "Background") return false
        const jobs = Effect.runSync(cluster.snapshot(Job))
        const stored = jobs.find(({ metadata }) => metadata.name === name)
        if (propagationPolicy !== "Foreground") violations.push("the deletion does not use foreground propagation")
        const uid = preconditions?.uid
        const isEffective = stored !== undefined && (uid === undefined || stored.metadata.uid === uid)
        if (isEffective && !isExpired(stored, clock.currentTimeMillisUnsafe()))
          violations.push(`${name} is deleted before its TTL has expired`)
        return false
      },
      fault: { _tag: "Drop" }
    }
    const always = [checkDeletions, ...lagging(history.lag, "jobs.batch")]
    yield* server.setFaults(always)
    let running = yield* cluster.run(TtlAfterFinished.make())
    for (const step of history.steps) {
      if (step._tag !== "Crash") yield* take(step, unfinished, always)
      else {
        yield* running.stop(leaderLost)
        running = yield* cluster.run(TtlAfterFinished.make())
      }
    }
    yield* server.setFaults([checkDeletions])
    yield* cluster.advance("2 hours")
    const before = yield* server.revision
    const now = yield* Clock.currentTimeMillis
    const jobs = yield* cluster.snapshot(Job)
    for (const [name, uid] of unfinished)
      if (!jobs.some(({ metadata }) => metadata.uid === uid && metadata.deletionTimestamp === undefined))
        violations.push(`${name} is deleted and has not finished`)
    for (const job of jobs)
      if (isExpired(job, now)) violations.push(`${job.metadata.name} has expired and is not deleted`)
    yield* cluster.advance("2 hours")
    return (yield* server.revision) === before
      ? violations
      : [...violations, "the controller still writes after two hours"]
  }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ cache: { streamingList: "never" } })))

describe("TtlAfterFinished under fault injection", () => {
  checkSequences("deletes finished Jobs when their TTL has expired and not before", Arbitrary.schema(History), play, {
    size: 25,
    seed,
    runs: runs(40),
    timeout: 600_000
  })
})
