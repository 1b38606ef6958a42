/**
 * Fault injection for the TTL controller: whichever requests fail, however far the cache is behind and wherever the process stops, a Job is
 * deleted only when its TTL has expired in the API server, never a new Job of the same name, and in the end every expired Job is deleted.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
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
import { LeaderLost } from "../../../src/layers/Leadership.ts"
import type { Request } from "../../../src/layers/Transport.ts"
import { runs, seed } from "../../support/runs.ts"
import * as Harness from "../job/harness.ts"

const Name = Schema.Literals(["a", "b"])

/** It finishes, and before the cache shows that, a user extends its TTL or recreates it. */
const Race = Schema.TaggedStruct("Race", {
  name: Name,
  luck: Schema.Literals(["none", "Forbidden", "Delay"]),
  next: Schema.Literals(["Nothing", "Ttl", "Replace"]),
  millis: Schema.Literals([0, 1000])
})

const Step = Schema.Union([
  Schema.TaggedStruct("Make", { name: Name, ttl: Schema.UndefinedOr(Schema.Literals([0, 1, 30])) }),
  Schema.TaggedStruct("End", { name: Name, how: Schema.Literals(["Complete", "Failed"]) }),
  Schema.TaggedStruct("Ttl", { name: Name, seconds: Schema.Literals([0, 1, 30, 3600]) }),
  Race,
  Race,
  /** A user deletes and recreates it. */
  Schema.TaggedStruct("Replace", { name: Name }),
  Schema.TaggedStruct("Fault", {
    fault: Schema.Literals(["Delay", "Drop", "DropAnswer", "Forbidden"]),
    times: Schema.Literals([1, 2, 3])
  }),
  /** The process ends without a word, at whatever it was doing, and another one comes. */
  Schema.TaggedStruct("Crash", {}),
  Schema.TaggedStruct("Pass", { seconds: Schema.Literals([0, 1, 5, 40]) })
])

type Step = typeof Step.Type

const History = Schema.Struct({
  /** The cache sees so many changes, loses its watch, and comes back a little later, again and again; or it is never behind. */
  lag: Schema.Literals(["none", 0, 1, 2]),
  steps: Schema.Array(Step).check(Schema.isMaxLength(12))
})

type History = typeof History.Type

const lagging = ({ lag }: History): ReadonlyArray<Faults.Rule> =>
  lag === "none"
    ? []
    : [{ match: { verb: "watch", resource: "jobs.batch" }, fault: { _tag: "CutWatch", after: lag, how: "reset" } }]

/** A delay is that of a deletion: the Job was looked at, and changes before it goes. */
const ruleOf = (fault: "Delay" | "Drop" | "DropAnswer" | "Forbidden", times: number): Faults.Rule => {
  if (fault === "Delay")
    return {
      match: (call) => isOurs(call) && call.context.verb === "delete",
      fault: { _tag: fault, millis: 2000 },
      times
    }
  return { match: isOurs, fault: fault === "Forbidden" ? { _tag: "Status", code: 403 } : { _tag: fault }, times }
}

/** What the loop asks: users read nothing, and delete in the background. */
const isOurs = ({ body, context: { resource, verb } }: Request): boolean =>
  resource === "jobs.batch" &&
  (verb === "get" ||
    (verb === "delete" && (body as { readonly propagationPolicy?: string }).propagationPolicy !== "Background"))

const ask = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.asVoid(Effect.forkScoped(Effect.ignore(effect), { startImmediately: true }))

const ended = (type: "Complete" | "Failed", at: string) => {
  const condition = { status: "True", reason: "Because", message: "", lastTransitionTime: at, lastProbeTime: at }
  const first = type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget"
  const completionTime = type === "Complete" ? { completionTime: at } : {}
  return {
    status: {
      startTime: at,
      ...completionTime,
      conditions: [
        { type: first, ...condition },
        { type, ...condition }
      ]
    }
  }
}

const target = (name: string) => ({ namespace: "default", name })

/** Uids of Jobs that must not be deleted: created, and not finished. */
type Living = Map<string, string | undefined>

const make = (living: Living, name: string, ttl: number | undefined) =>
  Effect.flatMap(KubeClient, (client) =>
    Effect.map(
      client.create(Job, Harness.job(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }, { name }) as never),
      ({ metadata }) => living.set(name, metadata.uid)
    )
  )

const finish = Effect.fnUntraced(function* (living: Living, name: string, how: "Complete" | "Failed") {
  living.delete(name)
  const at = Time.format(yield* Clock.currentTimeMillis)
  const client = yield* KubeClient
  yield* ask(client.patch(Job, { ...target(name), subresource: "status" }, Patch.merge(ended(how, at))))
})

const change = (name: string, seconds: number) =>
  Effect.flatMap(KubeClient, (client) =>
    ask(client.patch(Job, target(name), Patch.merge({ spec: { ttlSecondsAfterFinished: seconds } })))
  )

const replace = Effect.fnUntraced(function* (living: Living, name: string) {
  living.delete(name)
  const client = yield* KubeClient
  const gone = Effect.ignore(client.delete(Job, target(name), { propagationPolicy: "Background" }))
  yield* ask(Effect.andThen(gone, make(living, name, 0)))
})

const take = Effect.fnUntraced(function* (
  step: Exclude<Step, { readonly _tag: "Crash" }>,
  living: Living,
  always: ReadonlyArray<Faults.Rule>
) {
  const cluster = yield* ClusterTest
  switch (step._tag) {
    case "Make":
      return yield* ask(make(living, step.name, step.ttl))
    case "End":
      return yield* finish(living, step.name, step.how)
    case "Ttl":
      return yield* change(step.name, step.seconds)
    case "Replace":
      return yield* replace(living, step.name)
    case "Race":
      yield* replace(living, step.name)
      yield* cluster.settle
      yield* (yield* ApiServer).setFaults([...always, ...(step.luck === "none" ? [] : [ruleOf(step.luck, 1)])])
      yield* finish(living, step.name, "Failed")
      yield* cluster.advance(step.millis)
      if (step.next === "Ttl") yield* change(step.name, 3600)
      if (step.next === "Replace") yield* replace(living, step.name)
      return yield* cluster.advance("3 seconds")
    case "Fault":
      return yield* (yield* ApiServer).setFaults([...always, ruleOf(step.fault, step.times)])
    case "Pass":
      return yield* cluster.advance(`${step.seconds} seconds`)
  }
})

/** Whether the server's Job is to go now. */
const isOver = ({ metadata, spec, status }: Job, now: number): boolean => {
  const end = status?.conditions?.find(({ type }) => type === "Complete" || type === "Failed")
  const at = Time.parse(end?.lastTransitionTime)
  const ttl = spec?.ttlSecondsAfterFinished
  return metadata.deletionTimestamp === undefined && at !== undefined && ttl !== undefined && at + ttl * 1000 <= now
}

/** Returns everything that was wrong at any time. */
const play = (history: History) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    const clock = yield* TestClock.testClockWith(Effect.succeed)
    const wrong: Array<string> = []
    const living: Living = new Map()
    /** Deletions of the loop that the server will carry out: of a Job that is there by that uid. Between look and deletion no time passes. */
    const watching: Faults.Rule = {
      match: ({ body, context: { name, resource, verb } }) => {
        const { preconditions, propagationPolicy } = (body ?? {}) as {
          readonly preconditions?: { readonly uid?: string }
          readonly propagationPolicy?: string
        }
        if (resource !== "jobs.batch" || verb !== "delete" || propagationPolicy === "Background") return false
        const jobs = Effect.runSync(cluster.snapshot(Job))
        const stored = jobs.find(({ metadata }) => metadata.name === name)
        if (propagationPolicy !== "Foreground") wrong.push("the pods do not go first")
        const uid = preconditions?.uid
        const isMeant = stored !== undefined && (uid === undefined || stored.metadata.uid === uid)
        if (isMeant && !isOver(stored, clock.currentTimeMillisUnsafe()))
          wrong.push(`${name} is deleted before its time`)
        return false
      },
      fault: { _tag: "Drop" }
    }
    const always = [watching, ...lagging(history)]
    yield* server.setFaults(always)
    let running = yield* cluster.run(TtlAfterFinished.make())
    for (const step of history.steps) {
      if (step._tag !== "Crash") yield* take(step, living, always)
      else {
        yield* running.stop(Exit.fail(new LeaderLost({ reason: "Stolen", message: "the process is gone" })))
        running = yield* cluster.run(TtlAfterFinished.make())
      }
    }
    yield* server.setFaults([watching])
    yield* cluster.advance("2 hours")
    const before = yield* server.revision
    const now = yield* Clock.currentTimeMillis
    const jobs = yield* cluster.snapshot(Job)
    for (const [name, uid] of living)
      if (!jobs.some(({ metadata }) => metadata.uid === uid && metadata.deletionTimestamp === undefined))
        wrong.push(`${name} is deleted and has not ended`)
    for (const job of jobs) if (isOver(job, now)) wrong.push(`${job.metadata.name} stays`)
    yield* cluster.advance("2 hours")
    return (yield* server.revision) === before ? wrong : [...wrong, "it goes on writing"]
  }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ cache: { streamingList: "never" } })))

const check = Arbitrary.checkEffect(
  Arbitrary.schema(History),
  (history) =>
    Effect.flatMap(play(history), (wrong) => (wrong.length === 0 ? Effect.succeed(true) : Effect.fail(wrong))),
  { size: 25, seed, runs: runs(40) }
)

describe("TtlAfterFinished under fault injection", () => {
  it.effect(
    "deletes finished Jobs when their TTL has expired and not before",
    () =>
      Effect.map(check, (result) => assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))),
    600_000
  )
})
